"""Random programs of convolutions and of what lies between them give on the engine what they give on the
interpreter, in a second call and from an executable that was stored as well."""

from __future__ import annotations

import numpy
import pytest
from random_comparison import check
from random_convolutions import random_program

pytest.importorskip("jaxlib")

#: Relative to the largest magnitude of a result. Narrow types round after each of a dozen ops.
TOLERANCE = {"float64": 1e-11, "float32": 3e-5, "float16": 3e-2, "bfloat16": 0.2}


def is_wrong(got, expected):
    tolerance = TOLERANCE[got.dtype.name]
    got, expected = got.astype(float), expected.astype(float)
    scale = abs(expected[numpy.isfinite(expected)]).max(initial=1e-3)
    return ~numpy.isclose(got, expected, rtol=0, atol=tolerance * scale, equal_nan=True)


def test_some_agree(engine):
    check(engine, random_program, is_wrong, range(80))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_many_agree(engine, part):
    check(engine, random_program, is_wrong, range(1000 + 300 * part, 1300 + 300 * part))
