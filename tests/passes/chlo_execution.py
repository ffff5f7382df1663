"""Runs modules with CHLO in them: expanded by torchere-opt, compiled by jaxlib's XLA for the CPU."""

import subprocess

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import ml_dtypes  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402
from judges import find_tool  # noqa: E402
from xla_options import compile_options  # noqa: E402

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
C64, C128 = np.dtype(np.complex64), np.dtype(np.complex128)
NAMES = {
    BF16: "bf16", F16: "f16", F32: "f32", F64: "f64", C64: "complex<f32>", C128: "complex<f64>",
    np.dtype(bool): "i1",
} | {np.dtype(f"int{width}"): f"i{width}" for width in (8, 16, 32, 64)} | {
    np.dtype(f"uint{width}"): f"ui{width}" for width in (8, 16, 32, 64)
}  # fmt: skip
INF, NAN = np.inf, np.nan
# Zeros, ones and what is no number.
SPECIAL_POINTS = np.array([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN])


TOOL = find_tool()
needs_tool = pytest.mark.skipif(TOOL is None, reason="torchere-opt is not built")


def legalized(text, *options):
    command = [TOOL, "--chlo-legalize-to-stablehlo", *options]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "chlo." not in result.stdout
    return result.stdout


def run(text, *arguments):
    """The results of @main of a module with CHLO in it."""
    client = jax.devices("cpu")[0].client
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    expanded = legalized(text, "--torchere-prepare-xla-cpu-arc-tangents")
    executable = client.compile_and_load(expanded, devices, compile_options())
    with jax.enable_x64(True):
        buffers = [jax.device_put(argument) for argument in arguments]
    results = executable.execute_sharded(buffers)
    return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]


def type_of(array, dynamic=False):
    sizes = "".join("?x" if dynamic else f"{size}x" for size in array.shape)
    return f"tensor<{sizes}{NAMES[array.dtype]}>"


def apply(op, *arguments):
    """An elementwise op of arrays of one shape, which gives elements of their type."""
    arguments = [np.asarray(argument) for argument in arguments]
    types = [type_of(argument) for argument in arguments]
    names = [f"%{index}" for index in range(len(arguments))]
    signature = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    call = f'"chlo.{op}"({", ".join(names)}) : ({", ".join(types)}) -> {types[0]}'
    text = f"func.func @main({signature}) -> {types[0]} {{ %r = {call} return %r : {types[0]} }}"
    return run(text, *arguments)[0]


def spread(low, high, count=150, seed=0):
    return np.random.default_rng(seed).uniform(low, high, count)


def magnitudes(low, high, count=100):
    """Powers of ten of both signs."""
    values = 10.0 ** spread(low, high, count, 1)
    return np.concatenate([values, -values])
