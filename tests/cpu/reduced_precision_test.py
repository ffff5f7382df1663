"""reduce_precision on the engine, as arithmetic on bits: the interpreter's results to the bit."""

from __future__ import annotations

import ml_dtypes
import numpy
import pytest
from engine_modules_test import function, on_engine

from torchere.interpreter import interpret

pytest.importorskip("jaxlib")

FLOATS = {
    "f16": (numpy.float16, numpy.uint16),
    "bf16": (ml_dtypes.bfloat16, numpy.uint16),
    "f32": (numpy.float32, numpy.uint32),
    "f64": (numpy.float64, numpy.uint64),
}
FORMATS = [
    (1, 0),
    (2, 1),
    (4, 3),
    (5, 0),
    (5, 2),
    (5, 10),
    (8, 0),
    (8, 7),
    (8, 23),
    (11, 30),
    (11, 52),
    (8, 52),
]


def patterns(kind: str) -> numpy.ndarray:
    """All of 16 bits; else random bits, and the denormals and specials."""
    dtype, bits = FLOATS[kind]
    width = 8 * bits().itemsize
    if width == 16:
        return numpy.arange(2**16, dtype=bits).view(dtype)
    drawn = numpy.random.default_rng(0).integers(0, 2**width, 2000, dtype=numpy.uint64).astype(bits)
    small = drawn[:200] >> bits(width // 4)  # most of them denormal, or nearly
    special = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1.5, 3.0, -3.0, 65520.0], dtype)
    return numpy.concatenate([drawn.view(dtype), small.view(dtype), special])


def test_the_interpreters_bits(tmp_path):
    cases = {}
    for kind in FLOATS:
        values = patterns(kind)
        for exponent, mantissa in FORMATS:
            tensor = f"{len(values)}x{kind}"
            body = (
                f"  %r0 = stablehlo.reduce_precision %0, format = e{exponent}m{mantissa} : tensor<{tensor}>"
            )
            cases[f"{kind} e{exponent}m{mantissa}"] = (function(tensor, body, tensor), [values])
    results, logs = on_engine(cases, tmp_path)
    for (name, (text, arguments)), (got, _), log in zip(cases.items(), results, logs, strict=True):
        assert "evaluated: none" in log, (name, log)
        (expected,) = interpret(text, *arguments)
        bits = FLOATS[name.split()[0]][1]
        is_nan = numpy.isnan(expected.astype(numpy.float64))
        assert numpy.array_equal(numpy.isnan(got[0].astype(numpy.float64)), is_nan), name
        differ = (got[0].view(bits) != expected.view(bits)) & ~is_nan
        assert not differ.any(), (name, arguments[0][differ][:5], got[0][differ][:5], expected[differ][:5])


@pytest.mark.parametrize(
    ("kind", "exponent", "mantissa", "value", "expected"),
    [
        ("f32", 8, 23, 1e-40, 1e-40),  # a format with all of its own exponents keeps its denormals
        ("f32", 8, 7, 1e-40, float(ml_dtypes.bfloat16(1e-40))),
        ("f32", 5, 10, 3e-5, 0.0),  # another one has none
        ("f32", 5, 10, 65520.0, numpy.inf),
        ("f32", 8, 0, 3.0, 2.0),  # without digits ties go to even exponents
        ("f32", 8, 0, 1.5, 2.0),
        ("f16", 5, 10, 6e-8, 6e-8),
        ("f64", 11, 52, 5e-324, 5e-324),
    ],
)
def test_what_xla_gives(kind, exponent, mantissa, value, expected):
    text = function(
        f"1x{kind}",
        f"  %r0 = stablehlo.reduce_precision %0, format = e{exponent}m{mantissa} : tensor<1x{kind}>",
        f"1x{kind}",
    )
    dtype = FLOATS[kind][0]
    (got,) = interpret(text, numpy.array([value], dtype))
    assert got[0] == dtype(expected)
