"""Random programs of loops and branches give on the engine what they give on the interpreter, in a second
call and from an executable that was stored as well."""

from __future__ import annotations

import numpy
import pytest
from random_comparison import check
from random_loops import random_program

pytest.importorskip("jaxlib")


def is_wrong(got, expected):
    rtol = 1e-5 if got.dtype.kind == "f" else 0
    return ~numpy.isclose(got, expected, rtol=rtol, atol=1e-5, equal_nan=True)


def test_some_agree(engine):
    check(engine, random_program, is_wrong, range(100))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_many_agree(engine, part):
    check(engine, random_program, is_wrong, range(1000 + 300 * part, 1300 + 300 * part))
