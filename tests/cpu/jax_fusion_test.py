"""What the engine fuses of JAX's programs, by the names in its log, and that the results stay. No module may
call its kernels by name."""

from __future__ import annotations

import pytest
from fusion_log import ATTENTION, CAUSAL, JAX, log_of, run_jax

JAX_CASES = {
    "softmax": ("lambda x: nn.softmax(x, -1), (3, 4, 37)", "softmax=1"),
    "log_softmax": ("lambda x: nn.log_softmax(x, -1), (5, 100)", "softmax=1"),
    "softmax of the middle": ("lambda x: nn.softmax(x, 1), (5, 10, 70)", "softmax=1"),
    "log_softmax of the middle": ("lambda x: nn.log_softmax(x, 1), (5, 10, 70)", "softmax=1"),
    "layer norm": ("layer_norm, (3, 5, 70)", "norm=1"),
    "layer norm as in flax": ("flax_norm, (3, 5, 70), (70,), (70,)", "norm=1"),
    "gelu": ("lambda x: nn.gelu(x, approximate=False), (40, 60)", "gelu=1"),
    "gelu by tanh": ("nn.gelu, (40, 60)", "gelu=1"),
    "erf": ("erf, (40, 60)", "erf=1"),
    "silu": ("nn.silu, (40, 60)", "silu=1"),
    "x over 1 + exp(-x)": ("lambda x: x / (1 + jnp.exp(-x)), (40, 60)", "silu=1"),
    "attention": ("nn.dot_product_attention, *[(2, 40, 4, 16)] * 3", ATTENTION),
    "causal attention": (
        "lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), *[(2, 40, 4, 16)] * 3",
        CAUSAL,
    ),
    "keys that serve several heads": (
        "lambda q, *kv: (lambda k, v: jnp.einsum('bhqk,bhkd->bhqd', nn.softmax("
        "jnp.einsum('bhqd,bhkd->bhqk', q, k) / 4, -1), v))(*[jnp.broadcast_to(each[:, :, None], "
        "(2, 2, 3, 9, 16)).reshape(2, 6, 9, 16) for each in kv]), "
        "(2, 6, 9, 16), (2, 2, 9, 16), (2, 2, 9, 16)",
        ATTENTION,
    ),
    "attention by einsum": (
        "lambda q, k, v, m: jnp.einsum('bhqk,bkhd->bqhd', nn.softmax("
        "jnp.einsum('bqhd,bkhd->bhqk', q, k) / jnp.sqrt(16.) + m, -1), v), "
        "*[(2, 40, 4, 16)] * 3, (2, 1, 40, 40)",
        ATTENTION,
    ),
    "attention with a mask of where": (
        "lambda q, k, v, m: jnp.einsum('bhqk,bkhd->bqhd', nn.softmax(jnp.where(m > 0, "
        "jnp.einsum('bqhd,bkhd->bhqk', q / 4, k), jnp.finfo(jnp.float32).min), -1), v), "
        "*[(2, 40, 4, 16)] * 3, (2, 1, 40, 40)",
        ATTENTION,
    ),
    "linear": ("lambda x, w, b: nn.relu(x @ w + b), (4, 60), (60, 33), (33,)", "dot=1"),
    "one of several matrices": (
        "lambda x, w: jnp.stack([x @ lax.dynamic_slice(w, (jnp.int32(x[0, 0] * 0) + k, 0, 0), "
        "(1, 60, 33))[0] for k in (-2, 0, 3, 9)]), (4, 60), (5, 60, 33)",
        "chosen_matrix=4",
    ),
    "one of several matrices, transposed": (
        "lambda x, w: x @ lax.dynamic_slice(w, (jnp.int32(x[0, 0] * 0) + 2, 0, 0), (1, 33, 60))[0].T, "
        "(4, 60), (5, 33, 60)",
        "chosen_matrix=1",
    ),
    "a matrix that is read elsewhere too": (
        "lambda x, w: (lambda m: (x @ m, m))(lax.dynamic_slice(w, (jnp.int32(x[0, 0] * 0) + 2, 0, 0), "
        "(1, 60, 33))[0])[0], (4, 60), (5, 60, 33)",
        "chosen_matrix=1",
    ),
    "two of several matrices": (
        "lambda x, w: x @ lax.dynamic_slice(w, (jnp.int32(x[0, 0] * 0), 0, 0), (2, 60, 33)).reshape(60, 66), "
        "(4, 60), (5, 60, 33)",
        "none",
    ),
    "RMS norm": (
        "lambda x, w: w * x * lax.rsqrt(jnp.mean(x ** 2, -1, keepdims=True) + 1e-6), (4, 60), (60,)",
        "norm=1",
    ),
    "RMS norm of rows that are scaled before": (
        "lambda x, w: (w * x) * lax.rsqrt(jnp.mean((w * x) ** 2, -1, keepdims=True) + 1e-6), (4, 60), (60,)",
        "norm=1",
    ),
    "RMS norm of another value": (
        "lambda x, y, w: w * y * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6), *[(4, 60)] * 2, (60,)",
        "none",
    ),
    "RMS norm, then its scale": (
        "lambda x, w: w * (x * lax.rsqrt(jnp.mean(x ** 2, -1, keepdims=True) + 1e-6)), (4, 60), (60,)",
        "norm=1",
    ),
}


@pytest.fixture(scope="module")
def jax_log():
    pytest.importorskip("jax")
    return log_of(run_jax, JAX, JAX_CASES)


@pytest.mark.parametrize("name", JAX_CASES)
def test_forms_of_jax(jax_log, name):
    assert jax_log[name] == JAX_CASES[name][1]


REFUSED = """
import jax, jax.numpy as jnp
x = jnp.ones(4)
try:
    jax.jit(lambda x: jax.ffi.ffi_call("torchere_cpu.silu", jax.ShapeDtypeStruct(x.shape, x.dtype))(x))(x)
except Exception as error:
    print(error)
"""


def test_a_module_may_not_call_the_engines_kernels():
    lines, _ = run_jax(REFUSED)
    assert (
        "[stablehlo.custom_call] a target of the engine's own: got 'torchere_cpu.silu', expected no name "
        "that begins with 'torchere_cpu.'" in "\n".join(lines)
    )
