"""Programs of thousands of ops that wait for each other: they are planned on a small stack, in far less time
than plans of squares or cubes of their length would take, and give what numpy gives."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from engine_test import LIBRARY

pytest.importorskip("jaxlib")

BEGINNING = """
import threading
import jax, numpy
from jax._src import xla_bridge
from jaxlib import xla_client

VECTOR, WIDE, FLOAT = "tensor<8xi32>", "tensor<4x16xi32>", "tensor<8xf32>"
backend = xla_bridge.get_backend("torchere_cpu")
device = backend.devices()[0]

def run(module, x):
    devices = xla_client.DeviceList((device,))
    executable = backend.compile_and_load(module.encode(), devices, xla_client.CompileOptions())
    parts = executable.execute_sharded([jax.device_put(x, device)])
    results.append(numpy.asarray(parts.disassemble_into_single_device_arrays()[0][0]))

def check(type, x, lines, expected):
    body = "\\n".join(lines)
    module = f"func.func @main(%x: {type}) -> {type} {{\\n{body}\\nreturn %p{len(expected) - 1} : {type}\\n}}"
    results.clear()
    thread = threading.Thread(target=run, args=(module, x))
    thread.start()
    thread.join()
    numpy.testing.assert_array_equal(results[0], expected[-1])

def before(i):
    return f"%p{i - 1}" if i else "%x"

results = []
threading.stack_size(256 * 1024)
"""

#: By name: the program's lines, and its values one after the other.
CASES = {
    "a chain": """
x = numpy.arange(1, 9, dtype=numpy.int32)
lines, values = [], []
for i in range(20000):
    name = ("add", "xor")[i % 2]
    lines.append(f"%p{i} = stablehlo.{name} {before(i)}, %x : {VECTOR}")
    last = values[-1] if values else x
    values.append(last + x if name == "add" else last ^ x)
check(VECTOR, x, lines, values)
""",
    "a sum of many": """
x = numpy.arange(1, 9, dtype=numpy.float32)
lines = [f"%p{i} = stablehlo.add {before(i)}, %x : {FLOAT}" for i in range(20000)]
check(FLOAT, x, lines, [x * (i + 2) for i in range(20000)])
""",
    "a sum of as many values": """
x = numpy.arange(1, 9, dtype=numpy.int32)
lines = [f"%n{i} = stablehlo.not %x : {VECTOR}" for i in range(10000)]
lines += [f"%p{i} = stablehlo.add {before(i)}, %n{i} : {VECTOR}" for i in range(10000)]
check(VECTOR, x, lines, [x + (i + 1) * ~x for i in range(10000)])
""",
    "a chain of scalars beside it": """
x = numpy.arange(1, 9, dtype=numpy.int32)
lines, values, scalar = ["%t = stablehlo.constant dense<3> : tensor<i32>"], [], 3
for i in range(10000):
    lines.append(f"%t{i} = stablehlo.not %t{i - 1 if i else ''} : tensor<i32>")
    lines.append(f"%b{i} = stablehlo.broadcast_in_dim %t{i}, dims = [] : (tensor<i32>) -> {VECTOR}")
    lines.append(f"%p{i} = stablehlo.xor {before(i)}, %b{i} : {VECTOR}")
    scalar = ~scalar
    values.append((values[-1] if values else x) ^ scalar)
check(VECTOR, x, lines, values)
""",
    "reductions of rows": """
x = numpy.arange(64, dtype=numpy.int32).reshape(4, 16)
lines, values = ["%z = stablehlo.constant dense<0> : tensor<i32>"], []
for i in range(2000):
    last = values[-1] if values else x
    lines.append(f"%r{i} = stablehlo.reduce({before(i)} init: %z) applies stablehlo.add "
                 f"across dimensions = [1] : ({WIDE}, tensor<i32>) -> tensor<4xi32>")
    lines.append(f"%b{i} = stablehlo.broadcast_in_dim %r{i}, dims = [0] : (tensor<4xi32>) -> {WIDE}")
    lines.append(f"%p{i} = stablehlo.xor {before(i)}, %b{i} : {WIDE}")
    values.append(last ^ last.sum(1, dtype=numpy.int32)[:, None])
check(WIDE, x, lines, values)
""",
    "reductions of all": """
x = numpy.arange(8, dtype=numpy.int32)
lines, values = ["%z = stablehlo.constant dense<0> : tensor<i32>"], []
for i in range(2000):
    last = values[-1] if values else x
    lines.append(f"%r{i} = stablehlo.reduce({before(i)} init: %z) applies stablehlo.add "
                 f"across dimensions = [0] : ({VECTOR}, tensor<i32>) -> tensor<i32>")
    lines.append(f"%t{i} = stablehlo.not %r{i} : tensor<i32>")
    lines.append(f"%b{i} = stablehlo.broadcast_in_dim %t{i}, dims = [] : (tensor<i32>) -> {VECTOR}")
    lines.append(f"%p{i} = stablehlo.xor {before(i)}, %b{i} : {VECTOR}")
    values.append(last ^ ~last.sum(dtype=numpy.int32))
check(VECTOR, x, lines, values)
""",
}


@pytest.mark.parametrize("name", CASES)
def test_long_programs(name):
    settings = {
        "JAX_PLATFORMS": "torchere_cpu",
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{LIBRARY}",
        "TORCHERE_CACHE": "0",
    }
    # About a second, most of it for jax; minutes if each op went through all that wait.
    result = subprocess.run(
        [sys.executable, "-c", BEGINNING + CASES[name]],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
