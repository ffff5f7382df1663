"""Samples of rows that choose elements by a mask, or repeat them: of which none, some or all are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from sample_values import Call, drawn


def masks() -> list[torch.Tensor]:
    some = torch.tensor([[True, False, True], [False, False, True]])
    return [torch.zeros(2, 3, dtype=torch.bool), some, torch.ones(2, 3, dtype=torch.bool)]


def chosen(dtype: torch.dtype) -> Iterator[Call]:
    for mask in masks():
        yield (mask.to(dtype),), {}, None
    yield (drawn(dtype, 2, 0, 3),), {}, None
    yield (torch.zeros((), dtype=dtype),), {}, None
    yield (torch.ones((), dtype=dtype),), {}, None


def chosen_by_condition(dtype: torch.dtype) -> Iterator[Call]:
    if dtype == torch.bool:
        yield from chosen(dtype)


def of_fixed_number(dtype: torch.dtype) -> Iterator[Call]:
    for (value, *_), _, _ in chosen(dtype):
        for size in (0, 2, 7):
            yield (value,), {"size": size, "fill_value": -5}, None


def selected(dtype: torch.dtype) -> Iterator[Call]:
    for mask in masks():
        yield (drawn(dtype, 2, 3), mask), {}, None
        yield (drawn(dtype, 4, 1, 3), mask), {}, None
        yield (drawn(dtype, 4, 2, 1), mask[:, :1]), {}, None
    yield (drawn(dtype, 0, 3), torch.ones(0, 3, dtype=torch.bool)), {}, None


def kept(dtype: torch.dtype) -> Iterator[Call]:
    """With neighbours that are equal, and equal ones apart."""
    values = torch.tensor([[1, 1, 0], [0, 2, 2], [1, 1, 0]]).to(dtype)
    for inverse, counts in [(True, True), (False, True), (False, False)]:
        yield (values,), {"return_inverse": inverse, "return_counts": counts}, None
    yield (drawn(dtype, 0),), {"return_inverse": True, "return_counts": True}, None


def kept_slices(dtype: torch.dtype) -> Iterator[Call]:
    values = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 2, 2], [1, 1, 0]]).to(dtype)
    for dim in (0, 1, -1):
        yield (values, dim), {"return_inverse": True, "return_counts": True}, None
    yield (values.reshape(2, 2, 3), 1), {}, None


def kept_neighbours(dtype: torch.dtype) -> Iterator[Call]:
    yield from kept(dtype)
    for (values, dim), flags, _ in kept_slices(dtype):
        yield (values,), {**flags, "dim": dim % values.dim()}, None


def repeats(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.int64, torch.int32):
        return
    for numbers in ([2, 0, 3], [0, 0], [1], [0, 4, 0], []):
        yield (torch.tensor(numbers, dtype=dtype),), {}, None
    yield (torch.tensor([2, 0, 3], dtype=dtype),), {"output_size": 5}, None


def repeated(dtype: torch.dtype) -> Iterator[Call]:
    value = drawn(dtype, 3, 2)
    yield (value, torch.tensor([2, 0, 1]), 0), {}, None
    yield (value, torch.tensor([0, 0]), 1), {}, None
    yield (value, torch.tensor([2]), -1), {}, None
    yield (value, torch.tensor(3)), {}, None
    yield (value, torch.tensor([1, 0, 2, 0, 0, 1])), {"output_size": 4}, None


def counted(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.int64, torch.int32, torch.uint8):
        return
    for numbers in ([3, 0, 3, 1], [], [0]):
        values = torch.tensor(numbers, dtype=dtype)
        yield (values,), {}, None
        yield (values,), {"minlength": 6}, None
        if numbers:  # of nothing, eager counts in integers, and its own fake kernel in floats
            yield (values, torch.rand(len(numbers), dtype=torch.float64)), {}, None


def summed(dtype: torch.dtype) -> Iterator[Call]:
    """Every form of an equation: sums, diagonals, an ellipsis, sizes of 1, several operands."""
    forms = {
        "ij,jk->ik": [(2, 3), (3, 4)],
        "ij,jk": [(2, 3), (3, 4)],
        "bij, bkj -> bik": [(2, 3, 4), (2, 5, 4)],
        "ij,ij->ij": [(2, 3), (2, 3)],
        "ij,ij->": [(2, 3), (2, 3)],
        "i,j->ij": [(2,), (3,)],
        "i,j->ji": [(2,), (3,)],
        "ij,k->j": [(2, 3), (4,)],
        "ii,ij->j": [(3, 3), (3, 2)],
        "iji,j->i": [(2, 3, 2), (3,)],
        "...ij,...jk->...ik": [(2, 1, 2, 3), (4, 3, 2)],
        "...ij,jk": [(2, 2, 3), (3, 4)],
        "i...,i...->...": [(2, 3), (2, 1)],
        "...,...": [(2, 3), (3,)],
        "...ik, ...j -> ij": [(2, 2, 3), (2, 4)],
        "ij,kj->ik": [(2, 3), (1, 3)],
        "ij,Ab->ijAb": [(2, 3), (4, 4)],
        "ijk,ik->j": [(1, 2, 3), (1, 3)],
        "ij,ij->i": [(2, 1), (2, 3)],
        "ij,ji->j": [(1, 3), (3, 4)],
        "Ab,bA->A": [(2, 3), (3, 2)],
        "ij,jk,kl->il": [(2, 3), (3, 4), (4, 2)],
        "ij,kj,j->ik": [(2, 3), (4, 3), (3,)],
        "bythwc,hkc->bythwk": [(1, 2, 2, 3, 2, 4), (3, 2, 4)],
        "ij,jk->ki": [(0, 3), (3, 2)],
    }
    if dtype.is_floating_point:  # torch's own fake kernels take no integers here
        forms["ij,jk->i"] = [(2, 0), (0, 2)]
    for equation, shapes in forms.items():
        yield (equation, [drawn(dtype, *shape) for shape in shapes]), {}, None


SELECTIONS: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    **dict.fromkeys(("nonzero.default", "argwhere.default", "nonzero_numpy.default"), chosen),
    "where.default": chosen_by_condition,
    "nonzero_static.default": of_fixed_number,
    "masked_select.default": selected,
    "_unique2.default": kept,
    "unique_dim.default": kept_slices,
    "unique_consecutive.default": kept_neighbours,
    "repeat_interleave.Tensor": repeats,
    "repeat_interleave.self_Tensor": repeated,
    "bincount.default": counted,
    "einsum.default": summed,
}
