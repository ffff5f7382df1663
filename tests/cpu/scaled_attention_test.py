"""Attention whose scores are multiplied by a tensor, as Swin's second version has them: what is fused, and
that the results stay."""

from __future__ import annotations

import pytest
from engine_test import run
from fusion_log import ATTENTION, JAX, TORCH, log_of, run_jax

HEADS = "*[(2, 3, 9, 16)] * 3"

#: By name: the call of check() without it, and what is fused.
TORCH_CASES = {
    "cosines": (
        "lambda q, k, v, s, b: (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT * s.clamp(max=4).exp()"
        f" + b).softmax(-1) @ v, {HEADS}, (3, 1, 1), (1, 3, 9, 9)",
        ATTENTION,
    ),
    "a number of each head": (
        f"lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, {HEADS}, (3, 1, 1)",
        ATTENTION,
    ),
    "a number of each batch": (
        f"lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, {HEADS}, (2, 1, 1, 1)",
        ATTENTION,
    ),
    "a number of all": (f"lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, {HEADS}, ()", ATTENTION),
    "a number of each query": (
        f"lambda q, k, v, s: (s * (q @ k.mT)).softmax(-1) @ v, {HEADS}, (2, 3, 9, 1)",
        ATTENTION,
    ),
    "a number of each key": (
        "lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, (2, 3, 9, 16), (2, 3, 11, 16), (2, 3, 11, 5), "
        "(3, 1, 11)",
        ATTENTION,
    ),
    "a number of each query, from keys": (
        f"lambda q, k, v, s: (k @ q.mT * s).mT.softmax(-1) @ v, {HEADS}, (1, 9)",
        ATTENTION,
    ),
    "one head and one query": (
        "lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, (2, 1, 1, 16), *[(2, 1, 9, 16)] * 2, "
        "(2, 1, 1, 1)",
        ATTENTION,
    ),
    "without batches": (
        "lambda q, k, v, s: (q @ k.T * s).softmax(-1) @ v, *[(9, 16)] * 3, (9, 1)",
        ATTENTION,
    ),
    "with a scale and a mask that chooses": (
        "lambda q, k, v, s, m: (q @ k.mT / 4 * s).masked_fill(m, -torch.inf).softmax(-1) @ v, "
        f"{HEADS}, (3, 1, 1), torch.arange(81).reshape(9, 9) % 7 == 3",
        ATTENTION,
    ),
    "keys that serve several heads": (
        "lambda q, k, v, s: (q @ repeated(k, 4).mT * s).softmax(-1) @ repeated(v, 4), (2, 8, 9, 16), "
        "*[(2, 2, 9, 16)] * 2, (8, 1, 1)",
        ATTENTION,
    ),
    "transposed heads": (
        "lambda q, k, v, s: (q.mT @ k * s).softmax(-1) @ v.mT, *[(2, 3, 16, 9)] * 3, (3, 1, 1)",
        ATTENTION,
    ),
    "a number of each query and key": (
        f"lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, {HEADS}, (9, 9)",
        "softmax=1",
    ),
    "numbers twice": (
        f"lambda q, k, v, s, t: (q @ k.mT * s * t).softmax(-1) @ v, {HEADS}, (3, 1, 1), (9, 1)",
        "softmax=1",
    ),
    "behind a mask": (
        f"lambda q, k, v, s, m: ((q @ k.mT + m) * s).softmax(-1) @ v, {HEADS}, (3, 1, 1), (9, 9)",
        "softmax=1 dot=1",
    ),
    "in front of a bound": (
        f"lambda q, k, v, s: (torch.tanh(q @ k.mT * s) * 5).softmax(-1) @ v, {HEADS}, (3, 1, 1)",
        ATTENTION,
    ),
    "behind a bound": (
        f"lambda q, k, v, s: (torch.tanh(q @ k.mT / 5) * s).softmax(-1) @ v, {HEADS}, (3, 1, 1)",
        "softmax=1",
    ),
    "scores that are used twice": (
        f"lambda q, k, v, s: (lambda x: (x * s).softmax(-1) @ v + x.sum())(q @ k.mT), {HEADS}, (3, 1, 1)",
        "softmax=1 dot=1",
    ),
    "no queries": (
        "lambda q, k, v, s: (q @ k.mT * s).softmax(-1) @ v, (2, 3, 0, 16), *[(2, 3, 9, 16)] * 2, (3, 1, 1)",
        "none",
    ),
}

JAX_CASES = {
    "heads that share keys": (
        "lambda q, k, v, s: jnp.einsum('bhgqk,bhkd->bhgqd', nn.softmax("
        "jnp.einsum('bhgqd,bhkd->bhgqk', q, k) * s[None, :, :, None, None], -1), v), "
        "(2, 3, 2, 9, 16), *[(2, 3, 9, 16)] * 2, (3, 2)",
        ATTENTION,
    ),
    "queries in front of heads": (
        "lambda q, k, v, s: jnp.einsum('bhqk,bkhd->bqhd', nn.softmax("
        "s[:, None, None] * jnp.einsum('bqhd,bkhd->bhqk', q, k), -1), v), *[(2, 9, 3, 16)] * 3, (3,)",
        ATTENTION,
    ),
}


@pytest.fixture(scope="module")
def torch_log():
    return log_of(run, TORCH, TORCH_CASES)


@pytest.fixture(scope="module")
def jax_log():
    pytest.importorskip("jax")
    return log_of(run_jax, JAX, JAX_CASES)


@pytest.mark.parametrize("name", TORCH_CASES)
def test_forms_of_the_exporter(torch_log, name):
    assert torch_log[name] == TORCH_CASES[name][1]


@pytest.mark.parametrize("name", JAX_CASES)
def test_forms_of_jax(jax_log, name):
    assert jax_log[name] == JAX_CASES[name][1]
