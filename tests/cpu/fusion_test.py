"""What the engine fuses, by the names in its log, and that the results stay: forms as our exporter writes
them, as JAX writes them, and forms that only look like one."""

from __future__ import annotations

import re

import pytest
from engine_test import LIBRARY, run


def run_jax(source, **environment):
    library = f"torchere_cpu:{LIBRARY}"
    return run(source, JAX_PLATFORMS="torchere_cpu", PJRT_NAMES_AND_LIBRARY_PATHS=library, **environment)


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

#: By name: the call of check() without it, and what is fused.
TORCH_CASES = {
    "silu": ("F.silu, (4, 6)", "silu=1"),
    "silu of an empty tensor": ("F.silu, (0, 6)", "silu=1"),
    "silu in f64": ("F.silu, torch.linspace(-9, 9, 50).double()", "silu=1"),
    "silu in bf16": ("F.silu, torch.linspace(-9, 9, 50).bfloat16()", "silu=1"),
    "a gate of another value": ("lambda x, y: x * y.sigmoid(), (4, 6), (4, 6)", "none"),
    "a gate that is used twice": ("lambda x: x * x.sigmoid() + x.sigmoid(), (4, 6)", "none"),
}


def fused_by_case(log):
    """What is logged as fused, by case."""
    parts = re.split(r"^case (.*)$", log, flags=re.MULTILINE)[1:]
    found = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        (line,) = set(re.findall(r"\[main\] fused: (.*)", text)) or {"no module"}
        found[name] = line
    return found


@pytest.fixture(scope="module")
def torch_log():
    """All cases in one process."""
    calls = [f"check({name!r}, {call})" for name, (call, _) in TORCH_CASES.items()]
    _, log = run("\n".join([TORCH, *calls]), TORCHERE_LOG="debug")
    return fused_by_case(log)


@pytest.mark.parametrize("name", TORCH_CASES)
def test_forms_of_the_exporter(torch_log, name):
    assert torch_log[name] == TORCH_CASES[name][1]


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
