"""Modules of the ops and types that the engine has kernels for beside those of models: each is planned as a
whole, evaluates nothing, and gives what the interpreter gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import torchere
from torchere.interpreter import interpret

pytest.importorskip("jaxlib")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = Path(torchere.__file__).parent / "lib" / "libtorchere_cpu.so"

# Runs each module on arguments from a file, and the executable that it becomes once more as it is stored and
# loaded again; results go to another file. The modules go to the plugin's client as
# text: jax's own reader has no quantized types.
SERVER = """
import os, sys
import jax, numpy
sys.path.insert(0, os.environ["CORPUS"])
from jax._src import xla_bridge
from jaxlib import xla_client
from xla_options import compile_options

jax.config.update("jax_enable_x64", True)
backend = xla_bridge.get_backend("torchere_cpu")
device = backend.devices()[0]
results = []
for text, arguments in numpy.load(sys.argv[1], allow_pickle=True):
    print("begins", file=sys.stderr, flush=True)
    devices = xla_client.DeviceList((device,))
    executable = backend.compile_and_load(text.encode(), devices, compile_options(False))
    executables = [executable, executable]
    try:
        stored = executable.serialize()
    except jax.errors.JaxRuntimeError:  # jaxlib stores only what it can turn into HLO
        pass
    else:
        executables.append(backend.deserialize_executable(stored, devices, compile_options(False)))
    for executable in executables:
        parts = executable.execute_sharded([jax.device_put(value, device) for value in arguments])
        given = [numpy.asarray(value[0]) for value in parts.disassemble_into_single_device_arrays()]
        results.append(given)
    results += [None] * (3 - len(executables))
numpy.save(sys.argv[2], numpy.array([*results, None], dtype=object), allow_pickle=True)
"""


def function(result, body, *arguments):
    """A module with one function; its arguments are %0, %1, ..."""
    names = ", ".join(f"%{i}: tensor<{kind}>" for i, kind in enumerate(arguments))
    results = ", ".join(f"tensor<{kind}>" for kind in result.split(" ") if kind)
    values = ", ".join(f"%r{i}" for i in range(len(result.split(" "))))
    return f"func.func @main({names}) -> ({results}) {{\n{body}\n  return {values} : {results}\n}}"


def elementwise(op, kind, count=1):
    operands = ", ".join(f"%{i}" for i in range(count))
    return function(kind, f"  %r0 = stablehlo.{op} {operands} : tensor<{kind}>", *[kind] * count)


MODULES: dict[str, str] = {}

for part in ("f32", "f64"):
    number = f"complex<{part}>"
    for size in (8, 30, 37):
        half = size // 2 + 1
        for kind in ("FFT", "IFFT"):
            MODULES[f"{kind} {size} {part}"] = function(
                f"3x{size}x{number}",
                f"  %r0 = stablehlo.fft %0, type = {kind}, length = [{size}] : "
                f"(tensor<3x{size}x{number}>) -> tensor<3x{size}x{number}>",
                f"3x{size}x{number}",
            )
        MODULES[f"RFFT {size} {part}"] = function(
            f"3x4x{half}x{number}",
            f"  %r0 = stablehlo.fft %0, type = RFFT, length = [4, {size}] : "
            f"(tensor<3x4x{size}x{part}>) -> tensor<3x4x{half}x{number}>",
            f"3x4x{size}x{part}",
        )
        MODULES[f"IRFFT {size} {part}"] = function(
            f"3x4x{size}x{part}",
            f"  %r0 = stablehlo.fft %0, type = IRFFT, length = [4, {size}] : "
            f"(tensor<3x4x{half}x{number}>) -> tensor<3x4x{size}x{part}>",
            f"3x4x{half}x{number}",
        )
    for op, count in {
        "add": 2,
        "subtract": 2,
        "multiply": 2,
        "divide": 2,
        "negate": 1,
        "exponential": 1,
        "log": 1,
        "tanh": 1,
        "sqrt": 1,
        "sine": 1,
        "power": 2,
        "logistic": 1,
    }.items():
        MODULES[f"{op} {part}"] = elementwise(op, f"5x70x{number}", count)
    MODULES[f"parts {part}"] = function(
        f"70x{part} 70x{part} 70x{part} 70x{number}",
        f"""  %r0 = stablehlo.real %0 : (tensor<70x{number}>) -> tensor<70x{part}>
  %r1 = stablehlo.imag %0 : (tensor<70x{number}>) -> tensor<70x{part}>
  %p = stablehlo.multiply %0, %0 : tensor<70x{number}>
  %r2 = stablehlo.abs %p : (tensor<70x{number}>) -> tensor<70x{part}>
  %r3 = stablehlo.complex %r1, %r2 : tensor<70x{number}>""",
        f"70x{number}",
    )
    MODULES[f"choice {part}"] = function(
        f"70xi1 70x{number}",
        f"""  %r0 = stablehlo.compare NE, %0, %1 : (tensor<70x{number}>, tensor<70x{number}>) -> tensor<70xi1>
  %r1 = stablehlo.select %r0, %0, %1 : tensor<70xi1>, tensor<70x{number}>""",
        f"70x{number}",
        f"70x{number}",
    )
    MODULES[f"sum of {number}"] = function(
        f"4x{number}",
        f"""  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<{number}>
  %r0 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<4x70x{number}>, tensor<{number}>) -> tensor<4x{number}>""",
        f"4x70x{number}",
    )
    for lower in ("true", "false"):
        MODULES[f"triangular_solve {lower} {part}"] = function(
            f"2x5x3x{number}",
            f"""  %r0 = "stablehlo.triangular_solve"(%0, %1) <{{left_side = true, lower = {lower},
    unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}}>
    : (tensor<2x5x5x{number}>, tensor<2x5x3x{number}>) -> tensor<2x5x3x{number}>""",
            f"2x5x5x{number}",
            f"2x5x3x{number}",
        )

for left, right, result in (
    ("f32", "f32", "f32"), ("f64", "f64", "f64"), ("f16", "f16", "f16"), ("bf16", "bf16", "bf16"),
    ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("f32", "f32", "f64"), ("f8E4M3FN", "f8E4M3FN", "f32"),
    ("f8E5M2", "f8E5M2", "f8E5M2"), ("i8", "i8", "i32"), ("i8", "i8", "i8"), ("i16", "i16", "i16"),
    ("i32", "i32", "i32"), ("i64", "i64", "i64"), ("ui8", "ui8", "ui8"), ("ui32", "ui32", "ui32"),
    ("ui8", "ui8", "i32"), ("ui8", "ui8", "ui32"), ("i8", "i8", "i64"), ("i8", "i8", "i16"),
    ("i4", "i4", "i4"), ("ui4", "ui4", "i32"), ("i1", "i1", "i1"),
    ("complex<f32>", "complex<f32>", "complex<f32>"), ("complex<f64>", "complex<f64>", "complex<f64>"),
):  # fmt: skip
    MODULES[f"dot {left} {right} {result}"] = function(
        f"2x4x6x{result}",
        f"""  %r0 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x4x5x{left}>, tensor<2x5x6x{right}>) -> tensor<2x4x6x{result}>""",
        f"2x4x5x{left}",
        f"2x5x6x{right}",
    )

MODULES["dot of nothing"] = function(
    "4x6xf32",
    "  %r0 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]"
    " : (tensor<4x0xf32>, tensor<0x6xf32>) -> tensor<4x6xf32>",
    "4x0xf32",
    "0x6xf32",
)

for kind in ("f32", "f64", "f16", "bf16", "i32", "i8", "f8E4M3FN", "complex<f32>"):
    for name, groups, window in (
        (
            "strides",
            "feature_group_count = 1",
            "stride = [2, 1], pad = [[1, 2], [0, 1]], rhs_dilate = [1, 2]",
        ),
        (
            "transposed",
            "feature_group_count = 2",
            "stride = [1, 1], pad = [[1, -1], [0, 1]], lhs_dilate = [2, 3]",
        ),
        ("batches", "batch_group_count = 2", "stride = [1, 1], reverse = [true, false]"),
    ):
        batch = 1 if "batch" in groups else 2
        channels = 2 if "= 2" in groups and batch == 2 else 4
        other = "batch_group_count = 1" if batch == 2 else "feature_group_count = 1"
        height, width = {"strides": (5, 5), "transposed": (15, 21), "batches": (7, 6)}[name]
        MODULES[f"convolution {name} {kind}"] = function(
            f"{batch}x6x{height}x{width}x{kind}",
            f"""  %r0 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {{{window}}} {{{groups} : i64, {other} : i64}}
    : (tensor<2x4x9x8x{kind}>, tensor<6x{channels}x3x3x{kind}>)
    -> tensor<{batch}x6x{height}x{width}x{kind}>""",
            f"2x4x9x8x{kind}",
            f"6x{channels}x3x3x{kind}",
        )

for kind in ("f8E4M3FN", "f8E5M2FNUZ", "f4E2M1FN", "i4", "ui4", "i2"):
    for op in ("add", "multiply", "maximum"):
        MODULES[f"{op} {kind}"] = elementwise(op, f"5x9x{kind}", 2)
    MODULES[f"chain {kind}"] = function(
        f"40x{kind} 40xi1",
        f"""  %w = stablehlo.convert %0 : (tensor<40x{kind}>) -> tensor<40xf32>
  %s = stablehlo.sine %w : tensor<40xf32>
  %n = stablehlo.convert %s : (tensor<40xf32>) -> tensor<40x{kind}>
  %r1 = stablehlo.compare LT, %n, %0 : (tensor<40x{kind}>, tensor<40x{kind}>) -> tensor<40xi1>
  %r0 = stablehlo.select %r1, %n, %0 : tensor<40xi1>, tensor<40x{kind}>""",
        f"40x{kind}",
    )
    MODULES[f"iota {kind}"] = function(f"3x2x{kind}", f"  %r0 = stablehlo.iota dim = 1 : tensor<3x2x{kind}>")
MODULES["sum of f8"] = function(
    "2xf8E5M2",
    """  %zero = stablehlo.constant dense<0.0> : tensor<f8E5M2>
  %r0 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [1]
    : (tensor<2x70xf8E5M2>, tensor<f8E5M2>) -> tensor<2xf8E5M2>""",
    "2x70xf8E5M2",
)
MODULES["sum of i4"] = function(
    "2xi4",
    """  %zero = stablehlo.constant dense<1> : tensor<i4>
  %r0 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<2x70xi4>, tensor<i4>) -> tensor<2xi4>""",
    "2x70xi4",
)

for algorithm, state in (("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2)):
    for kind in ("ui32", "ui64", "i8", "ui4", "f32"):
        MODULES[f"bits {algorithm} {state} {kind}"] = function(
            f"{state}xui64 3x5x7x{kind}",
            f"  %r0, %r1 = stablehlo.rng_bit_generator %0, algorithm = {algorithm}"
            f" : (tensor<{state}xui64>) -> (tensor<{state}xui64>, tensor<3x5x7x{kind}>)",
            f"{state}xui64",
        )

OTHER = "!quant.uniform<i8:f32, 0.1:-5>"
WIDE = "!quant.uniform<i32:f32, 0.001>"
Q8 = "!quant.uniform<i8:f32, 0.04:3>"
PER_AXIS = "!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125, 0.3, 0.2, 0.1}>"
MODULES["quantized chain"] = function(
    "4x6xf32",
    f"""  %x = stablehlo.uniform_quantize %0 : (tensor<4x6xf32>) -> tensor<4x6x{Q8}>
  %y = stablehlo.add %x, %x : (tensor<4x6x{Q8}>, tensor<4x6x{Q8}>) -> tensor<4x6x{OTHER}>
  %z = stablehlo.transpose %y, dims = [1, 0] : (tensor<4x6x{OTHER}>) -> tensor<6x4x{OTHER}>
  %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<6x4x{OTHER}>) -> tensor<4x6x{OTHER}>
  %r0 = stablehlo.uniform_dequantize %t : (tensor<4x6x{OTHER}>) -> tensor<4x6xf32>""",
    "4x6xf32",
)  # fmt: skip
MODULES["quantized dot"] = function(
    "4x6xi32",
    f"""  %x = stablehlo.uniform_quantize %0 : (tensor<4x5xf32>) -> tensor<4x5x{Q8}>
  %w = stablehlo.uniform_quantize %1 : (tensor<5x6xf32>) -> tensor<5x6x{PER_AXIS}>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x5x{Q8}>, tensor<5x6x{PER_AXIS}>) -> tensor<4x6x!quant.uniform<i32:f32, 0.01>>
  %r0 = stablehlo.bitcast_convert %y : (tensor<4x6x!quant.uniform<i32:f32, 0.01>>) -> tensor<4x6xi32>""",
    "4x5xf32",
    "5x6xf32",
)
CENTERED = "!quant.uniform<i8:f32, 0.0213>"
UNSIGNED = "!quant.uniform<u8:f32, 0.0317:130>"
SUMS = "!quant.uniform<i32:f32, 0.01003>"
COLUMNS = "!quant.uniform<i8:f32:2, {0.5, 0.25, 0.125, 0.3, 0.2, 0.1}>"
for name, left, right in (
    ("without zero points", CENTERED, CENTERED),
    ("with a zero point", Q8, CENTERED),
    ("of unsigned rows", UNSIGNED, CENTERED),
    ("of unsigned rows by columns", UNSIGNED, COLUMNS),
):
    MODULES[f"quantized dot {name}"] = function(
        "2x4x6xf32",
        f"""  %x = stablehlo.uniform_quantize %0 : (tensor<2x4x5xf32>) -> tensor<2x4x5x{left}>
  %w = stablehlo.uniform_quantize %1 : (tensor<5x2x6xf32>) -> tensor<5x2x6x{right}>
  %y = stablehlo.dot_general %x, %w, batching_dims = [0] x [1], contracting_dims = [2] x [0]
    : (tensor<2x4x5x{left}>, tensor<5x2x6x{right}>) -> tensor<2x4x6x{SUMS}>
  %r0 = stablehlo.uniform_dequantize %y : (tensor<2x4x6x{SUMS}>) -> tensor<2x4x6xf32>""",
        "2x4x5xf32",
        "5x2x6xf32",
    )
MODULES["float times quantized"] = function(
    "4x6xf32",
    f"""  %w = stablehlo.uniform_quantize %1 : (tensor<5x6xf32>) -> tensor<5x6x{PER_AXIS}>
  %r0 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
    : (tensor<4x5xf32>, tensor<5x6x{PER_AXIS}>) -> tensor<4x6xf32>""",
    "4x5xf32",
    "5x6xf32",
)
MODULES["quantized convolution"] = function(
    "1x6x4x4xf32",
    f"""  %x = stablehlo.uniform_quantize %0 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6x{Q8}>
  %w = stablehlo.uniform_quantize %1 : (tensor<6x4x3x3xf32>) -> tensor<6x4x3x3x{Q8}>
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<1x4x6x6x{Q8}>, tensor<6x4x3x3x{Q8}>)
    -> tensor<1x6x4x4x{WIDE}>
  %r0 = stablehlo.uniform_dequantize %y : (tensor<1x6x4x4x{WIDE}>) -> tensor<1x6x4x4xf32>""",
    "1x4x6x6xf32",
    "6x4x3x3xf32",
)

for kind in ("f32", "f64", "bf16"):
    whole, vector = f"tensor<3x4x5x{kind}>", f"tensor<4x{kind}>"
    attributes = "<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>"
    MODULES[f"batch norm {kind}"] = function(
        f"3x4x5x{kind} 4x{kind} 4x{kind} 3x4x5x{kind}",
        f"""  %r0, %r1, %r2 = "stablehlo.batch_norm_training"(%0, %1, %2) {attributes}
    : ({whole}, {vector}, {vector}) -> ({whole}, {vector}, {vector})
  %r3 = "stablehlo.batch_norm_inference"(%0, %1, %2, %r1, %r2) {attributes}
    : ({whole}, {vector}, {vector}, {vector}, {vector}) -> {whole}""",
        f"3x4x5x{kind}",
        f"4x{kind}",
        f"4x{kind}",
    )
MODULES["indices along each dimension"] = function(
    "3x4x200xi32 3x4x200xf32 3x4x200xi32",
    """  %r0 = stablehlo.iota dim = 0 : tensor<3x4x200xi32>
  %i = stablehlo.iota dim = 1 : tensor<3x4x200xf32>
  %r1 = stablehlo.add %i, %i : tensor<3x4x200xf32>
  %r2 = stablehlo.iota dim = 2 : tensor<3x4x200xi32>""",
)
MODULES["map"] = function(
    "4x5xf32",
    """  %k = stablehlo.constant dense<3.0> : tensor<f32>
  %r0 = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    %d = stablehlo.multiply %a, %c : tensor<f32>
    %e = stablehlo.add %d, %b : tensor<f32>
    %f = stablehlo.add %e, %k : tensor<f32>
    "stablehlo.return"(%f) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>""",
    "4x5xf32",
    "4x5xf32",
)
MODULES["total order"] = function(
    "9xi1 9xi1",
    """  %r0 = stablehlo.compare LT, %0, %1, TOTALORDER : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
  %h = stablehlo.convert %0 : (tensor<9xf32>) -> tensor<9xbf16>
  %g = stablehlo.convert %1 : (tensor<9xf32>) -> tensor<9xbf16>
  %r1 = stablehlo.compare GE, %h, %g, TOTALORDER : (tensor<9xbf16>, tensor<9xbf16>) -> tensor<9xi1>""",
    "9xf32",
    "9xf32",
)
MODULES["bits of other sizes"] = function(
    "3x4xui8 3xf32 3xi64",
    """  %r0 = stablehlo.bitcast_convert %0 : (tensor<3xf32>) -> tensor<3x4xui8>
  %r1 = stablehlo.bitcast_convert %r0 : (tensor<3x4xui8>) -> tensor<3xf32>
  %r2 = stablehlo.bitcast_convert %1 : (tensor<3x2xf32>) -> tensor<3xi64>""",
    "3xf32",
    "3x2xf32",
)
MODULES["bits of elements of less than a byte"] = function(
    "3x8xui4 3xui32 3x2x4xui2",
    """  %r0 = stablehlo.bitcast_convert %0 : (tensor<3xui32>) -> tensor<3x8xui4>
  %r1 = stablehlo.bitcast_convert %r0 : (tensor<3x8xui4>) -> tensor<3xui32>
  %r2 = stablehlo.bitcast_convert %1 : (tensor<3x2xui8>) -> tensor<3x2x4xui2>""",
    "3xui32",
    "3x2xui8",
)


def computed(kind, **lists):
    """Lists of integers that nothing knows before the program runs."""
    return "".join(
        f"""  %{name}_ = stablehlo.constant dense<{values}> : tensor<{len(values)}x{kind}>
  %{name} = stablehlo.optimization_barrier %{name}_ : tensor<{len(values)}x{kind}>
"""
        for name, values in lists.items()
    )


for kind in ("i32", "ui64"):
    types = ", ".join([f"tensor<2x{kind}>"] * 3)
    MODULES[f"slices at computed places {kind}"] = function(
        "3x2xf32 1x1xf32 0x5xf32",
        computed(kind, a=[2, 1], b=[7, 5], c=[2, 2], d=[2, 6], e=[4, 7], f=[100, 1], g=[8, 0], h=[8, 5])
        + f"""  %one = stablehlo.constant dense<1> : tensor<2x{kind}>
  %r0 = stablehlo.real_dynamic_slice %0, %a, %b, %c : (tensor<8x5xf32>, {types}) -> tensor<3x2xf32>
  %t = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x5xf32>) -> tensor<5x8xf32>
  %r1 = stablehlo.real_dynamic_slice %t, %d, %e, %f : (tensor<5x8xf32>, {types}) -> tensor<1x1xf32>
  %r2 = stablehlo.real_dynamic_slice %0, %g, %h, %one : (tensor<8x5xf32>, {types}) -> tensor<0x5xf32>""",
        "8x5xf32",
    )
# By name: the amounts below, above and between, and the shape.
PADS = {
    "": ([2, 1], [1, 0], [1, 0], "10x6"),
    ", which cut": ([-3, 5], [1, -2], [0, 0], "2x8"),
    " between, of which few stay": ([-1, 3], [-8, -3], [4, 2], "7x13"),
    " beyond": ([9, 0], [-5, -2], [0, 0], "8x3"),
}
for name, (low, high, interior, shape) in PADS.items():
    types = ", ".join(["tensor<2xi32>"] * 3)
    MODULES[f"pad by computed amounts{name}"] = function(
        f"{shape}xf32 3xf32",
        computed("i32", low=low, high=high, interior=interior, size=[3])
        + f"""  %r0 = stablehlo.dynamic_pad %0, %1, %low, %high, %interior :
    (tensor<4x5xf32>, tensor<f32>, {types}) -> tensor<{shape}xf32>
  %r1 = stablehlo.dynamic_iota %size, dim = 0 : (tensor<1xi32>) -> tensor<3xf32>""",
        "4x5xf32",
        "f32",
    )
# By name: the dimension, the shared ones, and the shapes of operand, indices and result.
SELECTIONS = {
    "": (1, 0, "4x100x3", "5", "4x5x3"),
    " by a matrix": (0, 0, "100x3", "2x5", "2x5x3"),
    " by a scalar": (1, 0, "3x100", "", "3"),
    " in batches": (1, 1, "4x100x3", "4x2x5", "4x2x5x3"),
    " in batches, further behind": (2, 1, "4x3x100", "4x5", "4x3x5"),
}
for name, (dimension, batch, operand, indices, shape) in SELECTIONS.items():
    for kind, index in (("f32", "i32"), ("ui8", "i64"), ("complex<f32>", "ui8")):
        types = [
            f"{size}x{element}" if size else element
            for size, element in ((operand, kind), (indices, index), (shape, kind))
        ]
        MODULES[f"torch_index_select{name} {kind}"] = function(
            types[2],
            f'  %r0 = "stablehlo.torch_index_select"(%0, %1) <{{dim = {dimension} : i64, '
            f"batch_dims = {batch} : i64}}> : (tensor<{types[0]}>, tensor<{types[1]}>) -> tensor<{types[2]}>",
            *types[:2],
        )
for index in ("i32", "i64"):
    places = f"tensor<3x1x{index}>"
    taken = f"(tensor<2x7x5xf32>, {places}) -> tensor<2x3x5xf32>"
    attributes = (
        "<{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], "
        "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 5>, "
        "indices_are_sorted = false}>"
    )
    MODULES[f"interpolation {index}"] = function(
        "2x3x5xf32",
        f"""  %i = stablehlo.constant dense<[[6], [0], [-3]]> : {places}
  %j = stablehlo.constant dense<[[2], [9], [1]]> : {places}
  %a = "stablehlo.gather"(%0, %i) {attributes} : {taken}
  %b = "stablehlo.gather"(%0, %j) {attributes} : {taken}
  %u = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xf32>) -> tensor<2x3x5xf32>
  %v = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf32>) -> tensor<2x3x5xf32>
  %c = stablehlo.multiply %a, %u : tensor<2x3x5xf32>
  %d = stablehlo.multiply %v, %b : tensor<2x3x5xf32>
  %r0 = stablehlo.add %c, %d : tensor<2x3x5xf32>""",
        "2x7x5xf32",
        "3xf32",
        "3xf32",
    )
# By name: the padding, the strides, the dilations, and the shapes of the input, the window and the result.
PADDINGS = {
    "": ([[1, 1], [2, 0]], "1, 1", "1, 1", "1, 1", "2x9x8x3", "3x3x3x5", "2x9x8x5"),
    ", not all read": ([[1, 1], [0, 2]], "3, 2", "1, 1", "1, 1", "2x9x8x3", "3x3x3x5", "2x3x4x5"),
    ", which cuts": ([[-2, 1], [3, -4]], "2, 1", "1, 1", "1, 1", "2x9x8x3", "3x3x3x5", "2x3x5x5"),
    " of a dilated input": ([[2, -1], [0, 3]], "1, 2", "2, 3", "2, 1", "2x5x4x3", "3x3x3x5", "2x6x6x5"),
    ", without outputs": ([[0, 0], [0, 0]], "1, 1", "1, 1", "1, 1", "2x2x8x3", "3x3x3x5", "2x0x6x5"),
}
for name, (padding, strides, dilations, reach, *shapes) in PADDINGS.items():
    for kind, index in (("f32", "i32"), ("bf16", "i64"), ("i16", "i8"), ("complex<f32>", "i32")):
        types = [f"tensor<{shape}x{kind}>" for shape in shapes] + [f"tensor<2x2x{index}>"]
        for known in ("constant", "computed"):
            barrier = f"  %c = stablehlo.optimization_barrier %p : {types[3]}" if known == "computed" else ""
            MODULES[f"convolution with {known} padding{name} {kind}"] = function(
                types[2][7:-1],
                f"""  %p = stablehlo.constant dense<{padding}> : {types[3]}
{barrier}
  %r0 = "stablehlo.dynamic_conv"(%0, %1, %{"c" if barrier else "p"}) <{{
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: {strides}>,
    lhs_dilation = array<i64: {dilations}>, rhs_dilation = array<i64: {reach}>}}> :
    ({types[0]}, {types[1]}, {types[3]}) -> {types[2]}""",
                *(type_[7:-1] for type_ in types[:2]),
            )
# By the equation: the operands' and the result's shapes.
EINSUMS = {
    "ij,jk->ki": ("3x4", "4x5", "5x3"),
    "bij,bkj->bik": ("2x3x4", "2x5x4", "2x3x5"),
    "iij,ji->i": ("4x4x3", "3x4", "4"),
    "ijm,kn->kj": ("2x3x4", "5x2", "5x3"),
    "i,j->ji": ("3", "4", "4x3"),
    "ij->ji": ("3x4", "4x3"),
    "ijij->j": ("3x4x3x4", "4"),
    "ij->": ("3x4", ""),
}
for equation, (*operands, shape) in EINSUMS.items():
    for kind in ("f32", "bf16", "i32", "complex<f32>"):
        types = [f"{size}x{kind}" if size else kind for size in (*operands, shape)]
        names = ", ".join(f"%{i}" for i in range(len(operands)))
        op = "einsum" if len(operands) == 2 else "unary_einsum"
        given = ", ".join(f"tensor<{type_}>" for type_ in types[:-1])
        MODULES[f"{op} {equation} {kind}"] = function(
            types[-1],
            f'  %r0 = "stablehlo.{op}"({names}) <{{einsum_config = "{equation}"}}> : '
            f"({given}) -> tensor<{types[-1]}>",
            *types[:-1],
        )
for part in ("f32", "f64"):
    number = f"complex<{part}>"
    MODULES[f"sort of {number} by keys"] = function(
        f"4x6x{part} 4x6x{number} 4x6x{number}",
        f"""  %r0, %r1, %r2 = "stablehlo.sort"(%0, %1, %2) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<{part}>, %b: tensor<{part}>, %c: tensor<{number}>, %d: tensor<{number}>,
       %e: tensor<{number}>, %f: tensor<{number}>):
    %less = stablehlo.compare GT, %a, %b, FLOAT : (tensor<{part}>, tensor<{part}>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) : (tensor<4x6x{part}>, tensor<4x6x{number}>, tensor<4x6x{number}>) ->
    (tensor<4x6x{part}>, tensor<4x6x{number}>, tensor<4x6x{number}>)""",
        f"4x6x{part}",
        f"4x6x{number}",
        f"4x6x{number}",
    )
    MODULES[f"sort of {number} by imaginary parts"] = function(
        f"4x6x{number}",
        f"""  %r0 = "stablehlo.sort"(%0) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<{number}>, %b: tensor<{number}>):
    %left = stablehlo.imag %a : (tensor<{number}>) -> tensor<{part}>
    %right = stablehlo.imag %b : (tensor<{number}>) -> tensor<{part}>
    %less = stablehlo.compare LT, %left, %right, TOTALORDER : (tensor<{part}>, tensor<{part}>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) : (tensor<4x6x{number}>) -> tensor<4x6x{number}>""",
        f"4x6x{number}",
    )
    product = f"""({{
  ^bb0(%a: tensor<{number}>, %b: tensor<{number}>):
    %p = stablehlo.multiply %a, %b : tensor<{number}>
    stablehlo.return %p : tensor<{number}>
  }}) : (tensor<4x6x{number}>, tensor<{number}>)"""
    MODULES[f"sums of {number} in windows"] = function(
        f"4x6x{number}",
        f"""  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<{number}>
  %r0 = "stablehlo.reduce_window"(%0, %zero) <{{window_dimensions = array<i64: 1, 6>,
    padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>}}> {product.replace("multiply", "add")} ->
    tensor<4x6x{number}>""",
        f"4x6x{number}",
    )
    for join in ("add", "multiply"):
        MODULES[f"scatter that {join}s {number}"] = function(
            f"4x6x{number}",
            f"""  %i = stablehlo.constant dense<[[2], [0], [2], [9], [3]]> : tensor<5x1xi32>
  %r0 = "stablehlo.scatter"(%0, %i, %1) <{{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
    index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<{number}>, %b: tensor<{number}>):
    %p = stablehlo.{join} %a, %b : tensor<{number}>
    stablehlo.return %p : tensor<{number}>
  }}) : (tensor<4x6x{number}>, tensor<5x1xi32>, tensor<5x6x{number}>) -> tensor<4x6x{number}>""",
            f"4x6x{number}",
            f"5x6x{number}",
        )
    MODULES[f"products of {number}"] = function(
        f"4x{number} 6x{number} 4x6x{number}",
        f"""  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<{number}>
  %r0 = "stablehlo.reduce"(%0, %one) <{{dimensions = array<i64: 1>}}> {product} -> tensor<4x{number}>
  %r1 = "stablehlo.reduce"(%0, %1) <{{dimensions = array<i64: 0>}}> {product} -> tensor<6x{number}>
  %r2 = "stablehlo.reduce_window"(%0, %one) <{{window_dimensions = array<i64: 1, 6>,
    padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>}}> {product} -> tensor<4x6x{number}>""",
        f"4x6x{number}",
        number,
    )
# Windows that meet the input at one place, some of which negative padding has taken away.
for name, (numbering, padding, *shapes) in {
    "": ("[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "[[-1, -1], [-2, 0]]", "2x3x6x6", "5x3x4x4", "2x5x1x1"),
    ", features first": ("[f, 0, b]x[i, 0, o]->[0, b, f]", "[[-1, -1]]", "4x3x2", "4x1x3", "1x2x3"),
}.items():
    for kind in ("f32", "f64", "bf16"):
        types = [f"tensor<{shape}x{kind}>" for shape in shapes]
        MODULES[f"convolution at one place of a cut input{name} {kind}"] = function(
            types[2][7:-1],
            f"""  %r0 = stablehlo.convolution(%0, %1) dim_numbers = {numbering}, window = {{pad = {padding}}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} :
    ({types[0]}, {types[1]}) -> {types[2]}""",
            *(type_[7:-1] for type_ in types[:2]),
        )
# Of several tensors that are scattered to in their own memory, one is a view with strides of its own.
for name, view in {
    "reversed": "stablehlo.reverse %s, dims = [0, 1] : tensor<6x6xi32>",
    "transposed": "stablehlo.transpose %s, dims = [1, 0] : (tensor<6x6xi32>) -> tensor<6x6xi32>",
}.items():
    for order in (("%t", "%1"), ("%1", "%t")):
        MODULES[f"scatter to two tensors, one {name}, {order[0]}"] = function(
            "6x6xi32 6x6xi32",
            f"""  %s = "stablehlo.sort"(%0) <{{dimension = 1 : i64}}> ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) : (tensor<6x6xi32>) -> tensor<6x6xi32>
  %t = {view}
  %i = stablehlo.constant dense<[[5], [1]]> : tensor<2x1xi32>
  %p:2 = "stablehlo.scatter"({order[0]}, {order[1]}, %i, %2, %3) <{{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %x = stablehlo.add %a, %c : tensor<i32>
    %y = stablehlo.add %b, %d : tensor<i32>
    stablehlo.return %x, %y : tensor<i32>, tensor<i32>
  }}) : (tensor<6x6xi32>, tensor<6x6xi32>, tensor<2x1xi32>, tensor<2x6xi32>, tensor<2x6xi32>)
    -> (tensor<6x6xi32>, tensor<6x6xi32>)
  %r0 = stablehlo.abs %p#0 : tensor<6x6xi32>
  %r1 = stablehlo.abs %p#1 : tensor<6x6xi32>""",
            "6x6xi32",
            "6x6xi32",
            "2x6xi32",
            "2x6xi32",
        )
MODULES["cholesky"] = function(
    "2x20x20xf64",
    """  %t = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<2x20x20xf64>) -> tensor<2x20x20xf64>
  %s = stablehlo.dot_general %0, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x20x20xf64>, tensor<2x20x20xf64>) -> tensor<2x20x20xf64>
  %r0 = stablehlo.cholesky %s, lower = true : tensor<2x20x20xf64>""",
    "2x20x20xf64",
)


def numbers(shape, dtype, generator, name):
    """Random numbers; those whose order is asked for with zeros of both signs, NaN and infinities."""
    if dtype.name == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if "int" in dtype.name:
        return generator.integers(0, 4 if "2" in dtype.name[-2:] else 100, shape).astype(dtype)
    values = generator.normal(size=shape)
    if name == "total order":
        values[:5] = generator.permutation([0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf])
    if dtype.kind == "c":
        return (values + 1j * generator.normal(size=shape)).astype(dtype)
    if "triangular" in name:
        values += 3 * numpy.eye(*shape[-2:])
    return values.astype(dtype)


@pytest.fixture(scope="module")
def cases():
    sys.path.insert(0, str(ROOT / "interpreter"))
    import xla

    made = {}
    for name, text in MODULES.items():
        generator = numpy.random.default_rng(0)
        arguments = []
        for kind in re.findall(r"%\d+: tensor<([\w<]+>?)>", text.splitlines()[0]):
            *sizes, element = re.fullmatch(r"((?:\d+x)*)(.*)", kind).groups()
            shape = [int(size) for size in sizes[0].split("x")[:-1]]
            arguments.append(numbers(shape, xla.dtypes()[element], generator, name))
        made[name] = (text, arguments)
    return made


def on_engine(cases, folder):
    """The results of each case, and of each the lines that the engine logged."""
    given, taken = folder / "cases.npy", folder / "results.npy"
    table = numpy.empty(len(cases), dtype=object)
    table[:] = list(cases.values())
    numpy.save(given, table, allow_pickle=True)
    result = subprocess.run(
        [sys.executable, "-c", SERVER, str(given), str(taken)],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "CORPUS": str(ROOT / "corpus"),
            "JAX_PLATFORMS": "torchere_cpu",
            "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{LIBRARY}",
            "TORCHERE_LOG": "debug",
        },
    )
    assert result.returncode == 0, result.stderr[-3000:]
    _, *logs = result.stderr.split("begins\n")
    results = numpy.load(taken, allow_pickle=True)[:-1]
    return list(zip(results[1::3], results[2::3], strict=True)), logs


# Of floats, relative to the largest magnitude of the tensor.
TOLERANCE = {"float64": 1e-13, "complex128": 1e-13, "float32": 1e-6, "complex64": 1e-6, "float16": 1e-3}


def assert_same(got, expected, name):
    assert got.dtype == expected.dtype and got.shape == expected.shape, name
    kind = got.dtype.name
    if got.dtype.kind not in "fc" and "float" not in kind:
        numpy.testing.assert_array_equal(got, expected, err_msg=name)
        return
    tolerance = TOLERANCE.get(kind, 1e-2 if kind == "bfloat16" else 0.26)
    wide = complex if got.dtype.kind == "c" else float
    got, expected = got.astype(wide), expected.astype(wide)
    scale = max((abs(value) for value in expected.flat if numpy.isfinite(value)), default=0)
    numpy.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale, err_msg=name)


def test_modules_are_planned_and_right(cases, tmp_path):
    results, logs = on_engine(cases, tmp_path)
    assert len(logs) == len(cases)
    wrong = []
    for (name, (text, arguments)), (got, stored), log in zip(cases.items(), results, logs, strict=True):
        if not re.search(r"\d+ steps, \d+ bytes .*evaluated: none", log):
            wrong.append(f"{name}: {log.strip()}")
        try:
            for one, other in zip(got, interpret(text, *arguments), strict=True):
                assert_same(one, other, name)
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
        if stored is None:
            continue
        if "bytes of a plan in" not in log and "[elements] a step that is not stored" not in log:
            wrong.append(f"{name}: its plan is not stored: {log.strip()}")
        if [each.tobytes() for each in stored] != [each.tobytes() for each in got]:
            wrong.append(f"{name}: loaded, it gives other bits")
    assert not wrong, "\n".join(wrong)


PADDED = function(
    "1x3xf32",
    """  %z = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<1x8x1xf32>
  %c = "stablehlo.dynamic_conv"(%z, %1, %2) <{
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 3>}> :
    (tensor<1x8x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi32>) -> tensor<1x3x1xf32>
  %r0 = stablehlo.reshape %c : (tensor<1x3x1xf32>) -> tensor<1x3xf32>""",
    "8xf32",
    "3x1x1xf32",
    "1x2xi32",
)


def test_padding_that_gives_another_result_is_refused():
    """A window of 3 with a step of 3 has 3 outputs in 9 to 11 elements."""
    sys.path.insert(0, str(ROOT / "interpreter"))
    import xla

    plugin = xla.Plugin(
        platform="torchere_cpu",
        environment={
            "JAX_PLATFORMS": "torchere_cpu",
            "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{LIBRARY}",
        },
    )
    generator = numpy.random.default_rng(0)
    values = generator.normal(size=8).astype("float32"), generator.normal(size=(3, 1, 1)).astype("float32")

    def run(low, high):
        call = (*values, numpy.array([[low, high]], "int32"))
        (got,) = plugin.run(PADDED, [call])[0]
        (expected,) = interpret(PADDED, *call)
        assert_same(got, expected, f"{low}, {high}")

    try:
        for padding in [(1, 0), (0, 1), (2, 0), (1, 2), (-3, 5), (7, -4), (-1, 4)]:
            run(*padding)
        for padding in [(0, 0), (2, 2), (-8, 0), (-6, 0), (-20, 3)]:
            with pytest.raises(RuntimeError, match=r"dynamic_pad.*expected 9"):
                run(*padding)
    finally:
        plugin.close()
