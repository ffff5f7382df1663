"""Samples of Fourier transforms, complex numbers and the bits of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from rows import words
from sample_values import Call, drawn, edges, is_floating

_TRANSFORMED = (torch.complex64, torch.complex128)
_REAL = (torch.float32, torch.float64)


def complex_transform(dtype: torch.dtype) -> Iterator[Call]:
    """Both ways, each normalization, odd sizes, dimensions in any order, more than three, no elements."""
    if dtype not in _TRANSFORMED:
        return
    for mode, forward in [(0, True), (1, True), (2, True), (0, False), (1, False), (2, False)]:
        yield (drawn(dtype, 3, 10), [1], mode, forward), {}, None
    yield (drawn(dtype, 7, 3), [0], 0, True), {}, None
    yield (drawn(dtype, 4, 3, 5), [-1, 0], 0, True), {}, None
    yield (drawn(dtype, 4, 3, 5), [0, 1, 2], 1, False), {}, None
    yield (drawn(dtype, 2, 3, 4, 2, 3), [0, 1, 2, 3, 4], 2, False), {}, None
    yield (drawn(dtype, 6, 4)[:, ::2].T, [0], 0, True), {}, None
    yield (drawn(dtype, 0, 4), [1], 0, True), {}, None
    yield (drawn(dtype, 1), [0], 0, True), {}, None
    yield (drawn(dtype, 3), [], 0, True), {}, None


def real_transform(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in _REAL:
        return
    for mode, onesided in [(0, True), (1, True), (2, True), (0, False), (2, False)]:
        yield (drawn(dtype, 3, 10), [1], mode, onesided), {}, None
    yield (drawn(dtype, 7, 3), [0], 0, True), {}, None
    yield (drawn(dtype, 3, 4, 5), [2, 0], 0, True), {}, None
    yield (drawn(dtype, 3, 4, 5), [1, 2, 0], 0, False), {}, None
    yield (drawn(dtype, 2, 3, 2, 3, 4), [0, 1, 2, 3, 4], 0, True), {}, None
    yield (drawn(dtype, 0, 4), [1], 0, True), {}, None
    yield (drawn(dtype, 1), [0], 0, True), {}, None


def inverse_real_transform(dtype: torch.dtype) -> Iterator[Call]:
    """Results of even and odd size."""
    if dtype not in _TRANSFORMED:
        return
    for mode in (0, 1, 2):
        yield (drawn(dtype, 3, 6), [1], mode, 10), {}, None
    yield (drawn(dtype, 3, 6), [1], 2, 11), {}, None
    yield (drawn(dtype, 4, 3), [0], 0, 7), {}, None
    yield (drawn(dtype, 3, 4, 5), [2, 0], 2, 4), {}, None
    yield (drawn(dtype, 2, 3, 2, 3, 4), [0, 1, 2, 3, 4], 2, 6), {}, None
    yield (drawn(dtype, 0, 4), [1], 0, 6), {}, None
    yield (drawn(dtype, 1), [0], 0, 1), {}, None


def frequencies(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        for count, distance in [(7, 1.0), (8, 0.25), (1, 2.0), (2, 1.0)]:
            yield (count, distance), {"dtype": dtype}, None


def overlapped(dtype: torch.dtype) -> Iterator[Call]:
    """Windows that overlap, touch, or leave gaps; those of one row for all."""
    yield (drawn(dtype, 1, 4, 5), [2, 11], 1, 5, 2), {}, None
    yield (drawn(dtype, 2, 4, 5), [2, 11], 1, 5, 2), {}, None
    yield (drawn(dtype, 3, 2, 4), [12, 2], 0, 4, 4), {}, None
    yield (drawn(dtype, 3, 2), [9], -1, 2, 3), {}, None


def pairs_as_complex(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in _REAL:
        for shape in [(3, 2), (2,), (0, 2), (2, 3, 2)]:
            yield (drawn(dtype, *shape),), {}, None


def complex_numbers(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in _TRANSFORMED:
        for shape in [(3, 4), (), (0, 3)]:
            yield (drawn(dtype, *shape),), {}, None
        yield (drawn(dtype, 4, 6)[:, ::2].T,), {}, None


def any_numbers(dtype: torch.dtype) -> Iterator[Call]:
    if dtype == torch.bool:
        return
    yield (drawn(dtype, 3, 4),), {}, None
    yield (drawn(dtype),), {}, None


def magnitudes_and_angles(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in _REAL:
        yield (drawn(dtype, 3, 1), drawn(dtype, 4)), {}, None
        yield (drawn(dtype), drawn(dtype, 0, 2)), {}, None


def viewed(dtype: torch.dtype) -> Iterator[Call]:
    """As every dtype, wider, narrower, complex, bool."""
    kinds = words("float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 complex64 complex128")
    for target in (getattr(torch, kind) for kind in kinds):
        has_nan = is_floating(target) or target.is_complex  # among arbitrary bits
        numbers = torch.ones(2, 16, dtype=dtype) if has_nan else drawn(dtype, 2, 16)
        yield (numbers, target), {}, None
    yield (drawn(dtype, 0, 16), torch.uint8), {}, None
    yield (drawn(dtype), torch.int32), {}, None
    if dtype == torch.uint8:
        yield (torch.tensor([0, 1, 1], dtype=dtype), torch.bool), {}, None


def decimals(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in _REAL:
        for places in (0, 1, 3, -1):
            yield (drawn(dtype, 5, low=-100, high=100),), {"decimals": places}, None
        yield (edges(dtype),), {"decimals": 1}, None


def sign_of_number(dtype: torch.dtype) -> Iterator[Call]:
    for number in (2, -0.0, -3.5):
        yield (edges(dtype), number), {}, None


def exponents(dtype: torch.dtype) -> Iterator[Call]:
    """Also numbers below the normal ones."""
    if is_floating(dtype):
        yield (edges(dtype),), {}, None
        info = torch.finfo(dtype)
        least = info.tiny * info.eps
        values = [info.max, info.tiny, least, -7 * least, info.tiny / 4]
        yield (torch.tensor(values, dtype=dtype),), {}, None


def powers_of_two(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3), torch.tensor([0, 3, -2])), {}, None
    if is_floating(dtype):
        yield (drawn(dtype, 2, 3), drawn(dtype, 3, low=-3, high=3)), {}, None


_CONJUGATES = words("_conj _conj_copy _conj_physical view_as_real view_as_real_copy")

SIGNALS: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    "_fft_c2c.default": complex_transform,
    "_fft_r2c.default": real_transform,
    "_fft_c2r.default": inverse_real_transform,
    **dict.fromkeys(("fft_fftfreq.default", "fft_rfftfreq.default"), frequencies),
    "unfold_backward.default": overlapped,
    **dict.fromkeys(("view_as_complex.default", "view_as_complex_copy.default"), pairs_as_complex),
    **{f"{op}.default": complex_numbers for op in _CONJUGATES},
    **dict.fromkeys(("_neg_view.default", "_neg_view_copy.default"), any_numbers),
    **dict.fromkeys(("polar.default", "complex.default"), magnitudes_and_angles),
    "view.dtype": viewed,
    "round.decimals": decimals,
    "copysign.Scalar": sign_of_number,
    "frexp.Tensor": exponents,
    "ldexp.Tensor": powers_of_two,
}
