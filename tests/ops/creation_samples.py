"""Samples of tensors that are made of numbers, and of views that copy or reinterpret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from sample_values import Call, drawn, is_floating, is_number

_ATEN = torch.ops.aten


def emptied(op: Any) -> Callable[..., torch.Tensor]:
    """What an uninitialized tensor holds is nobody's business: it is written over."""
    return lambda *args, **options: op(*args, **options).fill_(3)


def empty(dtype: torch.dtype) -> Iterator[Call]:
    yield ([2, 3],), {"dtype": dtype}, emptied(torch.empty)
    yield ([],), {"dtype": dtype}, emptied(torch.empty)


def empty_strided(dtype: torch.dtype) -> Iterator[Call]:
    yield ([2, 3], [3, 1]), {"dtype": dtype}, emptied(torch.empty_strided)


def empty_permuted(dtype: torch.dtype) -> Iterator[Call]:
    yield ([2, 3, 4], [0, 2, 1]), {"dtype": dtype}, emptied(torch.empty_permuted)


def zero_tensor(dtype: torch.dtype) -> Iterator[Call]:
    """Eager's has no memory."""
    made = _ATEN._efficientzerotensor.default
    yield ([2, 3],), {"dtype": dtype}, lambda *args, **options: made(*args, **options).clone()
    yield ([],), {"dtype": dtype}, lambda *args, **options: made(*args, **options).clone()


def empty_like(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3),), {}, emptied(torch.empty_like)
    yield (drawn(dtype),), {"dtype": torch.float64}, emptied(torch.empty_like)


def new_empty(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 3), [2, 3]), {}, emptied(_ATEN.new_empty.default)


def new_empty_strided(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 3), [2, 3], [3, 1]), {}, emptied(_ATEN.new_empty_strided.default)


def steps(dtype: torch.dtype, *, most: int) -> Iterator[Call]:
    """Up to an end, between two ends, by a step: as many of these numbers as the overload has."""
    if not is_number(dtype):
        return
    for numbers in ((0, 5, 1), (2, 9, 3), (0, 0, 1)):
        end_only = numbers[1:2] if most == 1 else numbers[:most]
        yield end_only, {"dtype": dtype}, None
    if is_floating(dtype) and most == 3:
        yield (0.5, 2.0, 0.25), {"dtype": dtype}, None


def up_to(dtype: torch.dtype) -> Iterator[Call]:
    yield from steps(dtype, most=1)


def between(dtype: torch.dtype) -> Iterator[Call]:
    yield from steps(dtype, most=2)


def by_steps(dtype: torch.dtype) -> Iterator[Call]:
    yield from steps(dtype, most=3)


def line(dtype: torch.dtype) -> Iterator[Call]:
    if dtype == torch.bool:
        return
    for start, end, count in ((0, 10, 5), (-3, 4, 8), (5, 1, 3), (2, 7, 1), (2, 7, 0)):
        if start < 0 and dtype == torch.uint8:
            continue
        yield (start, end, count), {"dtype": dtype}, None
    if is_floating(dtype):
        yield (-1.0, 1.0, 64), {"dtype": dtype}, None


def identity(dtype: torch.dtype) -> Iterator[Call]:
    for size in (3, 1, 0):
        yield (size,), {"dtype": dtype}, None


def oblong_identity(dtype: torch.dtype) -> Iterator[Call]:
    for rows, columns in ((2, 4), (4, 2), (0, 3)):
        yield (rows, columns), {"dtype": dtype}, None


def window(*options: float) -> Callable[[torch.dtype], Iterator[Call]]:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if is_floating(dtype):
            for length in (12, 7, 3, 1, 0):
                yield (length, *options), {"dtype": dtype}, None

    return calls


def periodic_window(*options: float) -> Callable[[torch.dtype], Iterator[Call]]:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        for periodic in (True, False):
            yield from window(periodic, *options)(dtype)

    return calls


def copies(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3),), {}, None
    yield (drawn(dtype),), {}, None


def view_copies(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 6), [3, 4]), {}, None
    yield (drawn(dtype, 2, 6), [-1]), {}, None


def narrowed(dtype: torch.dtype) -> Iterator[Call]:
    for dim, start, length in ((0, 1, 2), (1, -2, 2), (-1, 3, 0)):
        yield (drawn(dtype, 3, 4), dim, start, length), {}, None


def parts(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 5, 4), 2), {}, None
    yield (drawn(dtype, 5, 4), 3, 1), {}, None


def places(dtype: torch.dtype) -> Iterator[Call]:
    """Indices that descend, count from the end, lie outside, and are none."""
    yield (drawn(dtype, 5, 4), [3, 1, 4]), {}, None
    yield (drawn(dtype, 4, 5), [-2, 9, -7], 1), {}, None
    yield (drawn(dtype, 4, 5), [], -1), {}, None
    yield (drawn(dtype, 0, 5), [0, 1]), {}, None


def neighbours(dtype: torch.dtype) -> Iterator[Call]:
    """More differences than elements, none, and other elements before and after."""
    yield (drawn(dtype, 3, 4), 5), {}, None
    yield (drawn(dtype, 3, 4), 0), {}, None
    yield (drawn(dtype, 3, 4), 0, 0, drawn(dtype, 2, 4)), {}, None
    yield (drawn(dtype, 3, 0),), {}, None
    yield (drawn(dtype, 1),), {}, None
    yield (drawn(dtype, 3, 4), 2, 0, drawn(dtype, 2, 4), drawn(dtype, 1, 4)), {}, None


def around(dtype: torch.dtype) -> Iterator[Call]:
    """Each mode, with amounts that cut on one side or both."""
    for mode in ("constant", "reflect", "replicate", "circular"):
        yield (drawn(dtype, 2, 3, 5), [2, 1], mode), {}, None
        yield (drawn(dtype, 2, 3, 5), [2, -1], mode), {}, None
        yield (drawn(dtype, 2, 3, 4, 5), [-1, 3, 2, -2], mode), {}, None
    yield (drawn(dtype, 2, 3), [1, 1, 0, 2]), {"value": 1}, None
    yield (drawn(dtype, 2, 3), [1, 0]), {"value": float("-inf")}, None


def slices(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 5, 4), 0, 1, 4, 2), {}, None
    yield (drawn(dtype, 5, 4), -1, -3), {}, None


def selections(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 5, 4), 0, -2), {}, None
    yield (drawn(dtype, 5, 4), 1, 3), {}, None


def permutations(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3, 4), [2, 0, -2]), {}, None


def truths(dtype: torch.dtype) -> Iterator[Call]:
    if dtype == torch.bool:
        for values in ([True, True], [True, False], [False, False], []):
            yield (torch.tensor(values, dtype=dtype),), {}, None
        yield (torch.tensor(True),), {}, None


def unbound(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 3, 2),), {}, None
    yield (drawn(dtype, 3, 2), -1), {}, None


CREATION: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    "empty.memory_format": empty,
    "empty_strided.default": empty_strided,
    "_efficientzerotensor.default": zero_tensor,
    "empty_permuted.default": empty_permuted,
    "empty_like.default": empty_like,
    "new_empty.default": new_empty,
    "new_empty_strided.default": new_empty_strided,
    "arange.default": up_to,
    **dict.fromkeys(("arange.start", "range.default"), between),
    "range.step": by_steps,
    "linspace.default": line,
    "eye.default": identity,
    "eye.m": oblong_identity,
    **{f"{name}_window.default": window() for name in ("bartlett", "hann", "hamming", "blackman")},
    **{f"{name}_window.periodic": periodic_window() for name in ("bartlett", "hann", "hamming", "blackman")},
    "hamming_window.periodic_alpha": periodic_window(0.6),
    "hamming_window.periodic_alpha_beta": periodic_window(0.6, 0.3),
    "detach_copy.default": copies,
    "view_copy.default": view_copies,
    "narrow_copy.default": narrowed,
    "split_copy.Tensor": parts,
    "tensor_split.indices": places,
    "diff.default": neighbours,
    "pad.default": around,
    "slice_copy.Tensor": slices,
    "select_copy.int": selections,
    "unbind_copy.int": unbound,
    "permute_copy.default": permutations,
    **dict.fromkeys(("_is_all_true.default", "_is_any_true.default"), truths),
}
