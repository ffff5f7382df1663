"""Conversions to and from float8 on the engine, which looks them up: the interpreter's results to the bit."""

from __future__ import annotations

import ml_dtypes
import numpy
import pytest
from engine_modules_test import function, on_engine
from reduced_precision_test import patterns

from torchere.interpreter import interpret

pytest.importorskip("jaxlib")

FLOAT8 = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E3M4": ml_dtypes.float8_e3m4,
}


def operands(kind: str) -> numpy.ndarray:
    """Of f32, the neighbours of what lies between two numbers of a format, and of ties, as well."""
    if kind != "f32":
        return patterns(kind)
    halves = numpy.arange(2**16, dtype=numpy.uint32) << 16
    near = numpy.concatenate([halves, halves + 1, halves - 1, halves + 0x8000])
    return numpy.concatenate([patterns(kind), near.view(numpy.float32)])


def test_the_interpreters_bits(tmp_path):
    cases = {}
    for wide in ("f32", "bf16", "f16"):
        values = operands(wide)
        for narrow in FLOAT8:
            length = len(values)
            body = f"  %r0 = stablehlo.convert %0 : (tensor<{length}x{wide}>) -> tensor<{length}x{narrow}>"
            cases[f"{wide} to {narrow}"] = (
                function(f"{length}x{narrow}", body, f"{length}x{wide}"),
                [values],
            )
    for narrow, dtype in FLOAT8.items():
        turned = f"(tensor<4x64x{narrow}>) -> tensor<64x4x{narrow}>"
        body = f"""  %t = stablehlo.transpose %0, dims = [1, 0] : {turned}
  %r0 = stablehlo.convert %t : (tensor<64x4x{narrow}>) -> tensor<64x4xf32>"""
        values = numpy.arange(256, dtype=numpy.uint8).view(dtype).reshape(4, 64)
        cases[f"{narrow} to f32"] = (function("64x4xf32", body, f"4x64x{narrow}"), [values])
    results, _ = on_engine(cases, tmp_path)
    for (name, (text, arguments)), (got, _) in zip(cases.items(), results, strict=True):
        (expected,) = interpret(text, *arguments)
        assert got[0].shape == expected.shape, name
        wrong = got[0].view(numpy.uint8).ravel() != expected.view(numpy.uint8).ravel()
        assert not wrong.any(), (name, numpy.flatnonzero(wrong)[:5])
