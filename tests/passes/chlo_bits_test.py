"""The expansions of CHLO's next_after and mulhi, to the bit."""

import itertools

import numpy as np
import pytest
from chlo_execution import BF16, F16, F32, F64, INF, NAN, apply, needs_tool

pytestmark = needs_tool

BITS = {F16: np.uint16, BF16: np.uint16, F32: np.uint32, F64: np.uint64}


def bits(values):
    return np.asarray(values).view(BITS[np.asarray(values).dtype])


def next_after(x, y):
    """Of two numbers of one type: by counting up and down among the bit patterns."""
    if np.isnan(x) or np.isnan(y):
        return x + y
    if x == y:
        return y
    kind, step = x.dtype, BITS[x.dtype]
    if x == 0:
        return np.copysign(np.array(1, step).view(kind), y).astype(kind)
    away = (y > x) == (x > 0)
    return (bits(x) + step(1) if away else bits(x) - step(1)).view(kind)


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_next_after(dtype):
    patterns = np.array([1, 2, 0x7F], BITS[dtype]).view(dtype)  # below the normal numbers
    edges = np.array([INF], dtype).view(BITS[dtype]) - BITS[dtype](1)  # the greatest number
    several = [*patterns, *edges.view(dtype), *np.array([0.0, 1.0, 1.5, 2.0, 3.14, 1e-3, INF, NAN], dtype)]
    several += [-value for value in several]
    x, y = (np.array(side, dtype) for side in zip(*itertools.product(several, repeat=2), strict=True))
    with np.errstate(all="ignore"):
        expected = np.array([next_after(*pair) for pair in zip(x, y, strict=True)], dtype)
    got = apply("next_after", x, y)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(got), ~known)
    np.testing.assert_array_equal(bits(got)[known], bits(expected)[known])


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_mulhi(kind):
    info, generator = np.iinfo(kind), np.random.default_rng(0)
    values = [info.min, info.max, info.min // 2, info.max // 2, 0, 1, 3, 2 ** (info.bits // 2) - 1]
    values += generator.integers(info.min, info.max, 40, dtype=kind).tolist()
    pairs = list(itertools.product(values, repeat=2))
    got = apply("mulhi", *np.array(pairs, kind).T)
    np.testing.assert_array_equal(got, [(a * b) >> info.bits for a, b in pairs])
