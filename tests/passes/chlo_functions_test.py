"""The expansions of CHLO's functions of real numbers, compared with mpmath: full ranges and special values.

An error is counted in units in the last place (ulp) of the exact result.
"""

import itertools

import numpy as np
import pytest

mpmath = pytest.importorskip("mpmath")
import ml_dtypes  # noqa: E402
from chlo_execution import (  # noqa: E402
    BF16,
    F16,
    F32,
    F64,
    INF,
    NAN,
    SPECIAL_POINTS,
    apply,
    magnitudes,
    needs_tool,
    spread,
)

pytestmark = needs_tool


def exact_lgamma(x):
    return INF if x <= 0 and x == int(x) else mpmath.re(mpmath.loggamma(x))


def exact_digamma(x):
    return NAN if x <= 0 and x == int(x) else mpmath.digamma(x)


def exact_erfinv(x):
    return mpmath.erfinv(x) if abs(x) < 1 else INF * x if abs(x) == 1 else NAN


def real_part_only(function, domain):
    return lambda x: function(x) if domain(x) else NAN


# Name: the function, points, and the ulps allowed in float32 and in float64.
FUNCTIONS = {
    "acos": (real_part_only(mpmath.acos, lambda x: abs(x) <= 1), spread(-1, 1), 4),
    "acosh": (real_part_only(mpmath.acosh, lambda x: x >= 1), 1 + 10 ** spread(-6, 30), 4),
    "asin": (real_part_only(mpmath.asin, lambda x: abs(x) <= 1), spread(-1, 1), 4),
    "asinh": (mpmath.asinh, np.concatenate([spread(-5, 5), magnitudes(-30, 30)]), 4),
    "atan": (mpmath.atan, np.concatenate([spread(-5, 5), magnitudes(-30, 30)]), 4),
    # XLA's log_plus_one of float64 is off by 120 ulps near -0.414.
    "atanh": (real_part_only(mpmath.atanh, lambda x: abs(x) < 1), spread(-1, 1), 130),
    "bessel_i1e": (
        lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
        np.concatenate([spread(-20, 20), magnitudes(-30, 3)]),
        8,
    ),
    "cosh": (mpmath.cosh, spread(-88, 88), 6),
    "digamma": (exact_digamma, np.concatenate([spread(0, 10), 10 ** spread(-30, 30)]), 8),
    "erf": (mpmath.erf, np.concatenate([spread(-5, 5), magnitudes(-30, 1)]), 6),
    "erf_inv": (exact_erfinv, np.concatenate([spread(-1, 1), magnitudes(-30, -1)]), 8),
    "erfc": (mpmath.erfc, np.concatenate([spread(-5, 9), magnitudes(-30, 0)]), 8),
    "lgamma": (exact_lgamma, np.concatenate([spread(0, 10), 10 ** spread(-30, 30)]), 12),
    "sinh": (mpmath.sinh, np.concatenate([spread(-88, 88), magnitudes(-30, 0)]), 6),
    "square": (lambda x: x * x, np.concatenate([spread(-5, 5), magnitudes(-15, 15)]), 1),
    "tan": (mpmath.tan, spread(-1.5, 1.5), 6),
}
# At the special points but NaN.
SPECIAL_VALUES = {
    "acos": [np.pi / 2, np.pi / 2, 0.0, np.pi, NAN, NAN],
    "acosh": [NAN, NAN, 0.0, NAN, INF, NAN],
    "asin": [0.0, -0.0, np.pi / 2, -np.pi / 2, NAN, NAN],
    "asinh": [0.0, -0.0, np.arcsinh(1), -np.arcsinh(1), INF, -INF],
    "atan": [0.0, -0.0, np.pi / 4, -np.pi / 4, np.pi / 2, -np.pi / 2],
    "atanh": [0.0, -0.0, INF, -INF, NAN, NAN],
    "bessel_i1e": [0.0, -0.0, 0.2079104153497085, -0.2079104153497085, 0.0, -0.0],
    "cosh": [1.0, 1.0, np.cosh(1), np.cosh(1), INF, INF],
    "digamma": [-INF, INF, -0.5772156649015329, NAN, INF, NAN],
    "erf": [0.0, -0.0, 0.8427007929497149, -0.8427007929497149, 1.0, -1.0],
    "erf_inv": [0.0, -0.0, INF, -INF, NAN, NAN],
    "erfc": [1.0, 1.0, 0.15729920705028513, 1.8427007929497148, 0.0, 2.0],
    "lgamma": [INF, INF, 0.0, INF, INF, INF],
    "sinh": [0.0, -0.0, np.sinh(1), -np.sinh(1), INF, -INF],
    "square": [0.0, 0.0, 1.0, 1.0, INF, INF],
    "tan": [0.0, -0.0, np.tan(1), -np.tan(1), NAN, NAN],
}


def exactly(function, points):
    with mpmath.workdps(40):
        return [
            function(*(mpmath.mpf(float(value)) for value in point)) for point in zip(*points, strict=True)
        ]


def ulps(got, exact, dtype):
    """The distance of finite results from exact ones, in units in the last place of the exact ones."""
    info = ml_dtypes.finfo(dtype)
    worst = 0.0
    for value, truth in zip(got.astype(np.float64).ravel(), exact, strict=True):
        if not mpmath.isfinite(truth) or abs(truth) < float(info.tiny) or abs(truth) > float(info.max):
            continue
        exponent = mpmath.floor(mpmath.log(abs(truth), 2))
        unit = mpmath.mpf(2) ** (exponent - info.nmant)
        assert np.isfinite(value), (value, truth)
        worst = max(worst, float(abs(mpmath.mpf(float(value)) - truth) / unit))
    return worst


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_function(op, dtype):
    function, points, allowed = FUNCTIONS[op]
    points = points.astype(dtype)
    assert ulps(apply(op, points), exactly(function, [points]), dtype) <= allowed


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_half_precision_is_rounded_once(op, dtype):
    function, points, _ = FUNCTIONS[op]
    points = points[np.abs(points) < 1e3].astype(dtype)
    assert ulps(apply(op, points), exactly(function, [points.astype(np.float64)]), dtype) < 0.55


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
@pytest.mark.parametrize("op", SPECIAL_VALUES)
def test_special_values(op, dtype):
    got = apply(op, SPECIAL_POINTS.astype(dtype)).astype(np.float64)
    expected = np.array([*SPECIAL_VALUES[op], NAN])
    np.testing.assert_allclose(got, expected, rtol=4 * float(ml_dtypes.finfo(dtype).eps))
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize(("op", "exact"), [("lgamma", exact_lgamma), ("digamma", exact_digamma)])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_reflection_is_accurate_beside_one(op, exact, dtype):
    """Below zero both functions have zeros, where digits of a difference are lost."""
    points = np.concatenate([-spread(0, 20, 200), -(10.0 ** spread(-20, -3, 50))]).astype(dtype)
    got = apply(op, points).astype(np.float64)
    for value, truth in zip(got, exactly(exact, [points]), strict=True):
        assert abs(mpmath.mpf(value) - truth) <= 16 * ml_dtypes.finfo(dtype).eps * (1 + abs(truth))


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_lgamma_and_digamma_far_below_zero(dtype):
    integers = -(2.0 ** np.arange(1, 60))
    assert np.isposinf(apply("lgamma", integers.astype(dtype))).all()
    assert np.isnan(apply("digamma", integers.astype(dtype))).all()


def exact_zeta(s, q):
    return mpmath.zeta(s, q)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_zeta(dtype):
    s = np.concatenate([spread(1.01, 3, 100), spread(1, 15, 100, 3)]).astype(dtype)
    q = np.concatenate([10 ** spread(-1, 6, 100, 4), spread(0, 20, 100, 5)]).astype(dtype)
    assert ulps(apply("zeta", s, q), exactly(exact_zeta, [s, q]), dtype) <= 40


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_zeta_of_negative_q(dtype):
    s = np.array([2, 3, 4, 5, 6] * 10, dtype)
    q = -spread(0, 12, 50).astype(dtype)

    def total(s, q):  # the terms below zero and those above
        below = int(mpmath.ceil(-q))
        return sum(1 / (q + k) ** int(s) for k in range(below)) + mpmath.zeta(s, q + below)

    got = apply("zeta", s, q).astype(np.float64)
    for value, truth, power in zip(got, exactly(total, [s, q]), s, strict=True):
        scale = 2.0 ** float(power)  # of the terms beside zero, which may cancel
        assert abs(mpmath.mpf(value) - truth) <= 64 * ml_dtypes.finfo(dtype).eps * max(abs(truth), scale)


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_special_values_of_zeta(dtype):
    s, q, expected = np.array(
        [
            (1, 2, INF), (0.5, 2, NAN), (2, 0, INF), (2, -0.0, INF), (2, -3, INF), (2.5, -0.5, NAN),
            (2, INF, 0), (INF, 2, 0), (INF, 1, 1), (INF, 0.5, INF), (NAN, 1, NAN), (2, NAN, NAN),
        ]
    ).T  # fmt: skip
    np.testing.assert_array_equal(
        apply("zeta", s.astype(dtype), q.astype(dtype)).astype(np.float64), expected
    )


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_polygamma(dtype):
    n = np.array([0, 1, 2, 3, 5, 10, 20, 30] * 15, dtype)
    x = (10 ** spread(-0.5, 1.5, 120)).astype(dtype)
    got = apply("polygamma", n, x)
    exact = exactly(lambda n, x: mpmath.polygamma(int(n), x), [n, x])
    assert ulps(got, exact, dtype) <= 120
    few = n <= 3
    assert ulps(got[few], list(itertools.compress(exact, few)), dtype) <= 24


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_polygamma_where_the_factorial_overflows(dtype):
    n, x = (40, 10) if dtype == F32 else (180, 40)
    got = apply("polygamma", np.array([n], dtype), np.array([x], dtype))
    exact = exactly(lambda n, x: mpmath.polygamma(int(n), x), [[n], [x]])
    assert ulps(got, exact, dtype) <= 2000  # the logarithm of the factorial is rounded


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_special_values_of_polygamma(dtype):
    n, x, expected = np.array(
        [(1, 0, INF), (1, -1, INF), (2, -2, -INF), (0.5, 1, NAN), (-1, 1, NAN), (INF, 1, NAN), (0, INF, INF),
         (1, INF, 0), (NAN, 1, NAN), (1, NAN, NAN)]
    ).T  # fmt: skip
    got = apply("polygamma", n.astype(dtype), x.astype(dtype)).astype(np.float64)
    np.testing.assert_array_equal(got, expected)
