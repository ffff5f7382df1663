"""Runs cases of a program in one process, and reads from its log what the engine fused of each."""

from __future__ import annotations

import re

from engine_test import LIBRARY, run

TORCH = """
import sys
import torch, torchere
from torch.nn import functional as F

class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, *args):
        return self.function(*args)

def bf16(*sizes):
    return torch.randn(sizes).bfloat16()

def f16(*sizes):
    return torch.randn(sizes).half()

def repeated(x, count):
    batch, heads, length, width = x.shape
    return x[:, :, None].expand(batch, heads, count, length, width).reshape(batch, -1, length, width)

def turned(x):
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)

def block(x, inner, b_inner, outer, b_outer, up, b_up, down, b_down):
    batch, length, width = x.shape
    heads = F.linear(F.layer_norm(x, (width,)), inner, b_inner).view(batch, length, 3, 4, width // 4)
    q, k, v = heads.permute(2, 0, 3, 1, 4)
    seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width)
    x = x + F.linear(seen, outer, b_outer)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (width,)), up, b_up)), down, b_down)

def check(name, function, *args):
    torch.manual_seed(0)
    args = [torch.randn(arg) if isinstance(arg, tuple) else arg for arg in args]
    expected = function(*args)
    exact = function(*[arg.double() if arg.is_floating_point() else arg for arg in args])
    print("case", name, file=sys.stderr, flush=True)
    program = torchere.export(Model(function), tuple(args))
    for _ in range(2):
        result = program(*args)
        assert result.dtype == expected.dtype and result.shape == expected.shape
        if not result.numel():
            continue
        scale = exact.abs().max().clamp(min=1e-30)
        error = (result.double() - exact).abs().max() / scale
        eager = (expected.double() - exact).abs().max() / scale
        assert error <= max(5e-6, 3 * eager), (name, error, eager)
"""

ATTENTION = "softmax=1 attention=1"
CAUSAL = "softmax=1 attention=1 causal_mask=1"

#: By name: the call of check() without it, and what is fused.

JAX = """
import sys
import jax, numpy
from jax import lax, nn, numpy as jnp
from jax.scipy.special import erf

def flax_norm(x, w, b):
    mean, squares = x.mean(-1), (x * x).mean(-1)
    factor = lax.rsqrt(jnp.expand_dims(jnp.maximum(0., squares - mean * mean), -1) + 1e-6) * w
    return (x - jnp.expand_dims(mean, -1)) * factor + b

def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

def check(name, function, *args):
    generator = numpy.random.default_rng(0)
    args = [generator.normal(size=arg).astype(numpy.float32) for arg in args]
    jitted = jax.jit(function)
    with jax.default_device(jax.devices("cpu")[0]):
        expected = numpy.asarray(jitted(*args), numpy.float64)
    print("case", name, file=sys.stderr, flush=True)
    for _ in range(2):
        result = numpy.asarray(jitted(*args), numpy.float64)
        scale = numpy.abs(expected).max()
        assert numpy.abs(result - expected).max() <= 5e-6 * scale, (name, numpy.abs(result - expected).max())
"""


def run_jax(source, **environment):
    library = f"torchere_cpu:{LIBRARY}"
    return run(source, JAX_PLATFORMS="torchere_cpu,cpu", PJRT_NAMES_AND_LIBRARY_PATHS=library, **environment)


def fused_by_case(log):
    """What is logged as fused, by case."""
    parts = re.split(r"^case (.*)$", log, flags=re.MULTILINE)[1:]
    found = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        found[name] = re.search(r"\[main\] fused: (.*)", text)[1]
    return found


def log_of(run, beginning, cases):
    """Of all cases in one process."""
    calls = [f"check({name!r}, {call})" for name, (call, _) in cases.items()]
    _, log = run("\n".join([beginning, *calls]), TORCHERE_LOG="debug")
    return fused_by_case(log)
