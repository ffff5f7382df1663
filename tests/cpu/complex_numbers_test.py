"""Complex numbers on the CPU engine: what vector programs make of special ones, beside the interpreter."""

from __future__ import annotations

import numpy
import pytest
from engine_modules_test import on_engine

from torchere.interpreter import interpret

MODULE = """
module @quotients {{
  func.func public @main(
      %a: tensor<{n}xcomplex<{t}>>, %b: tensor<{n}xcomplex<{t}>>) -> tensor<{n}xcomplex<{t}>> {{
    %r = stablehlo.divide %a, %b : tensor<{n}xcomplex<{t}>>
    return %r : tensor<{n}xcomplex<{t}>>
  }}
}}
"""
PARTS = [0.0, -0.0, 1.5, -2.0, numpy.inf, -numpy.inf, numpy.nan, 3e-20, 1e30]
TYPES = {"f32": numpy.complex64, "f64": numpy.complex128}


@pytest.mark.parametrize("name", TYPES)
def test_quotients_of_special_numbers(name, tmp_path):
    numbers = numpy.array([complex(a, b) for a in PARTS for b in PARTS], TYPES[name])
    left, right = numpy.repeat(numbers, len(numbers)), numpy.tile(numbers, len(numbers))
    text = MODULE.format(n=len(left), t=name)
    results, (log,) = on_engine({"quotients": (text, [left, right])}, tmp_path)
    assert "1 steps" in log
    (expected,) = interpret(text, left, right)
    ((got, _),) = results
    for part in ("real", "imag"):
        one, other = getattr(got[0], part), getattr(expected, part)
        # A sum of two products that nearly cancel is not compared: no two numbers here are that near.
        numpy.testing.assert_allclose(one, other, rtol=2e-6, atol=0, equal_nan=True)
