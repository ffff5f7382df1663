"""Samples of special functions, orthogonal polynomials and common divisors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from rows import words
from sample_values import Call, drawn, is_floating, is_number

_REAL = (torch.float32, torch.float64)


def divided(dtype: torch.dtype) -> Iterator[Call]:
    """Without the least int32 and int64, which eager divides by -1; multiples of short integers overflow."""
    if is_floating(dtype) or not is_number(dtype):
        return
    values = torch.tensor([0, 1, 6, 9, 12, 5], dtype=dtype)
    yield (values.reshape(-1, 1), values), {}, None
    yield (values, drawn(dtype, 3, 1, low=0, high=10)), {}, None
    if dtype.is_signed:
        yield (-values.reshape(-1, 1), values[:5]), {}, None
    yield (drawn(dtype, 0, low=0), drawn(dtype, 2, 1, low=0)), {}, None
    if dtype.itemsize < 4:
        ends = torch.iinfo(dtype)
        large = torch.tensor([ends.min, ends.min + 1, ends.max, ends.max - 1, 99, 123, 4, 0, 1], dtype=dtype)
        yield (large.reshape(-1, 1), torch.cat([large, large // 3 - 1])), {}, None


def derivatives_of_digamma(dtype: torch.dtype) -> Iterator[Call]:
    if not is_number(dtype):
        return
    for order in (0, 1, 2, 5):
        yield (order, drawn(dtype, 6, low=1, high=9)), {}, None
    if is_floating(dtype):
        yield (2, torch.tensor([0.0, 0.1, 30.0, float("nan")], dtype=dtype)), {}, None


def zeta(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        x = torch.tensor([[1.0], [1.1], [2.0], [7.5], [0.5], [float("nan")]], dtype=dtype)
        yield (x, torch.tensor([0.25, 1.0, 3.0, 40.0, 0.0, -2.0], dtype=dtype)), {}, None
        yield (2.5, drawn(dtype, 5, low=0.5, high=9)), {}, None
        yield (drawn(dtype, 5, low=1.5, high=9), 3), {}, None


def incomplete_gamma(dtype: torch.dtype) -> Iterator[Call]:
    """Both sides of a = x, small and large, the ends."""
    if dtype not in _REAL:
        return
    infinity, nan = float("inf"), float("nan")
    a = torch.tensor([0.1, 0.5, 1.0, 2.5, 9.0, 15.0], dtype=dtype)
    yield (a.reshape(-1, 1), torch.tensor([0.9, 1.1, 2.6, 8.0, 20.0], dtype=dtype)), {}, None
    ends = torch.tensor([0.0, 1.0, infinity, -1.0, nan, 5.0], dtype=dtype)
    yield (ends.reshape(-1, 1), ends), {}, None
    yield (drawn(dtype, 0), drawn(dtype, 2, 1)), {}, None


def probabilities(dtype: torch.dtype) -> Iterator[Call]:
    """Both tails of a distribution."""
    if dtype in _REAL:
        values = [0.0, 1e-30, 1e-5, 0.1, 0.13, 0.2, 0.5, 0.8, 0.9, 0.999, 1.0, -0.5, 1.5, float("nan")]
        yield (torch.tensor(values, dtype=dtype),), {}, None


def arguments(dtype: torch.dtype) -> Iterator[Call]:
    """Of special functions: where their formulas meet, and far out."""
    if dtype in _REAL:
        values = [1e-3, 0.3, 1.0, 1.9, 2.1, 4.9, 5.1, 7.9, 8.1, 12.0, 25.0, 80.0]
        yield (torch.tensor(values, dtype=dtype),), {}, None
        yield (-torch.tensor(values, dtype=dtype),), {}, None


def polynomial(dtype: torch.dtype) -> Iterator[Call]:
    """Degrees of all kinds, beside numbers in and out of [-1, 1]."""
    if dtype not in _REAL:
        return
    degrees = torch.tensor([0, 1, 2, 3, 5, 6, -1], dtype=dtype)
    x = torch.tensor([[0.3], [-0.7], [1.5], [0.0], [1.0], [-1.0]], dtype=dtype)
    yield (x, degrees), {}, None
    yield (x, 4), {}, None
    if dtype.is_floating_point:
        yield (x, torch.tensor([2.75, -0.5, -1.5], dtype=dtype)), {}, None
    yield (drawn(dtype, 0), drawn(dtype, 2, 1)), {}, None


def polynomial_of_number(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in _REAL:
        degrees = torch.tensor([[0, 1, 2], [3, 5, -1]], dtype=dtype)
        for x in (0.3, -1.0, 2):
            yield (x, degrees), {}, None


_SPECIAL = words(
    """special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0
    special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0"""
)

_POLYNOMIALS = words(
    """chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l
    legendre_polynomial_p"""
)

SPECIAL: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    **dict.fromkeys(("gcd.default", "lcm.default"), divided),
    "polygamma.default": derivatives_of_digamma,
    **{f"special_zeta.{kind}": zeta for kind in ("default", "self_scalar", "other_scalar")},
    **dict.fromkeys(("igamma.default", "igammac.default"), incomplete_gamma),
    "special_ndtri.default": probabilities,
    **{f"{op}.default": arguments for op in _SPECIAL},
    **{f"special_{op}.{kind}": polynomial for op in _POLYNOMIALS for kind in ("default", "n_scalar")},
    **{f"special_{op}.x_scalar": polynomial_of_number for op in _POLYNOMIALS},
}
