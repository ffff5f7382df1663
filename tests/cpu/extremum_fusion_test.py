"""Places of extreme elements on the CPU engine: which forms become one kernel, by the names in the log, and
the results beside those of eager PyTorch and of JAX's own platform."""

from __future__ import annotations

import pytest
from engine_test import run
from fusion_log import JAX, TORCH, log_of, run_jax

#: Few values, so that many are equal.
FEW = "torch.randn(6, 40, 30).mul(2).round()"

#: By name: the call of check() without it, and what is fused.
TORCH_CASES = {
    "argmax": (f"lambda x: x.argmax(-1), {FEW}", "extremum=1"),
    "argmin across rows": (f"lambda x: x.argmin(1), {FEW}", "extremum=1"),
    "argmax of all": (f"lambda x: x.argmax(), {FEW}", "extremum=1"),
    "argmax of integers": (f"lambda x: x.argmax(0, True), {FEW}.int()", "extremum=1"),
    "argmax in bf16": (f"lambda x: x.argmax(1), {FEW}.bfloat16()", "none"),
    "the largest and its place": (f"lambda x: x.max(1)[0] + x.max(1)[1], {FEW}", "extremum=1"),
    "argmax with infinities and NaN": (
        "lambda x: x.argmax(1), torch.tensor([[1, torch.nan, 2, torch.nan], [-torch.inf] * 4, "
        "[2, torch.inf, 1, 2]]).repeat(9, 9)",
        "extremum=1",
    ),
    "the place of another tensor's extreme": (
        "lambda x, y: torch.where(x == y.amax(1, True), torch.arange(4), 2 ** 63 - 1).amin(1), "
        "torch.tensor([[1, 2, 3, 4]]), torch.tensor([[4, 1, 3, 0]])",
        "none",
    ),
    "the place along another dimension": (
        "lambda x: torch.where(x == x.amax(0, True), torch.arange(4), 2 ** 63 - 1).amin(1), "
        "torch.tensor([[1, 5, 3, 4], [4, 1, 3, 0]])",
        "none",
    ),
    "the last place": (
        "lambda x: torch.where(x == x.amax(1, True), torch.arange(4), -1).amax(1), "
        "torch.tensor([[1, 5, 5, 4], [4, 1, 4, 0]])",
        "none",
    ),
    "pooling with places": (
        f"lambda x: F.max_pool2d(x[None], 3, 2, 1, return_indices=True)[1], {FEW}",
        "extremum=1",
    ),
    "pooling with dilations": (
        f"lambda x: F.max_pool2d(x[None], (2, 3), 3, 1, 2, return_indices=True)[1], {FEW}",
        "extremum=1",
    ),
    "pooling of lines": (f"lambda x: F.max_pool1d(x, 4, return_indices=True)[1], {FEW}", "extremum=1"),
    "pooling of volumes": (
        f"lambda x: F.max_pool3d(x[None], 3, 2, 1, return_indices=True)[1], {FEW}",
        "extremum=1",
    ),
    "pooling with NaN": (
        "lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True)[1], "
        "torch.tensor([[1, torch.nan, 2, torch.nan], [-torch.inf] * 4, [2, torch.inf, 1, 2]])"
        ".repeat(1, 1, 3, 2)",
        "extremum=1",
    ),
    "pooling in bf16": (f"lambda x: F.max_pool2d(x, 2, return_indices=True)[1], {FEW}.bfloat16()", "none"),
    "pooling's gradient": (
        f"lambda x: torch.func.grad(lambda x: F.max_pool2d(x, 3, 2, 1).square().sum())(x), {FEW}",
        "own_places=1 extremum=1",
    ),
}

PAIRS = """
def pairs(choose, first):
    def join(a, b):
        takes_left = choose(a, b)
        return jnp.where(takes_left, a[0], b[0]), jnp.where(takes_left, a[1], b[1])
    def function(x):
        x = jnp.round(2 * x)
        places = lax.broadcasted_iota(jnp.int32, x.shape, 1)
        return lax.reduce((x, places), (jnp.float32(first), jnp.int32(0)), join, (1,))[1]
    return function
"""

JAX_CASES = {
    "argmax": ("lambda x: jnp.argmax(jnp.round(2 * x), -1), (6, 40, 30)", "extremum=1"),
    "argmin across rows": ("lambda x: jnp.argmin(jnp.round(2 * x), 1), (6, 40, 30)", "extremum=1"),
    "argmax with NaN": (
        "lambda x: jnp.argmax(jnp.where(x > 1, jnp.nan, x), 0), (50, 30)",
        "extremum=1",
    ),
    "argmax of integers": ("lambda x: jnp.argmax(jnp.int32(2 * x), 1), (20, 30)", "extremum=1"),
    "the last of equal elements": (
        "pairs(lambda a, b: (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] > b[1])), -jnp.inf), (20, 30)",
        "none",
    ),
    "a sum of places": (
        "lambda x: lax.reduce((x, lax.broadcasted_iota(jnp.int32, x.shape, 1)), (-jnp.inf, 0), lambda a, b: "
        "(jnp.maximum(a[0], b[0]), a[1] + b[1]), (1,))[1], (20, 30)",
        "none",
    ),
    "a beginning that may win": (
        "pairs(lambda a, b: (a[0] > b[0]) | (a[0] != a[0]) | ((a[0] == b[0]) & (a[1] < b[1])), 3), (20, 30)",
        "none",
    ),
    "the rule in other words": (
        "pairs(lambda a, b: jnp.where(a[0] != a[0], True, jnp.where(b[0] < a[0], True, (b[0] == a[0]) & "
        "(b[1] > a[1]))), -jnp.inf), (20, 30)",
        "extremum=1",
    ),
}


@pytest.fixture(scope="module")
def torch_log():
    return log_of(run, TORCH, TORCH_CASES)


@pytest.fixture(scope="module")
def jax_log():
    pytest.importorskip("jax")
    return log_of(run_jax, JAX + PAIRS, JAX_CASES)


@pytest.mark.parametrize("name", TORCH_CASES)
def test_forms_of_the_exporter(torch_log, name):
    assert torch_log[name] == TORCH_CASES[name][1]


@pytest.mark.parametrize("name", JAX_CASES)
def test_forms_of_jax(jax_log, name):
    assert jax_log[name] == JAX_CASES[name][1]
