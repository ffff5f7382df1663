"""Tensors that samples are made of: drawn at random, at the edges of a dtype, in every layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing import make_tensor

# (positional arguments, keyword arguments, the function if it is not the row's own overload)
Call = tuple[tuple, dict[str, Any], Callable[..., Any] | None]

EDGES_FLOAT = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    1e-4,
    -30.0,
    30.0,
    float("inf"),
    -float("inf"),
]
EDGES_FLOAT += [float("nan")]


def is_floating(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point


def is_number(dtype: torch.dtype) -> bool:
    return dtype != torch.bool and not dtype.is_complex


def drawn(dtype: torch.dtype, *shape: int, **options: Any) -> torch.Tensor:
    return make_tensor(shape, dtype=dtype, device="cpu", **options)


def edges(dtype: torch.dtype) -> torch.Tensor:
    """The values at which functions change: zeros, halves, the ends of the range, infinities, NaN."""
    if dtype.is_complex:
        return torch.tensor([0j, 1j, -1 + 0.5j, 2.0 - 3j], dtype=dtype)
    if is_floating(dtype):
        return torch.tensor(EDGES_FLOAT, dtype=dtype)
    if dtype == torch.bool:
        return torch.tensor([False, True])
    limits = torch.iinfo(dtype)
    return torch.tensor([0, 1, 2, 7, limits.max, limits.min], dtype=dtype)


def layouts(dtype: torch.dtype) -> Iterator[torch.Tensor]:
    """0-d, empty, size 1, strided and expanded tensors."""
    yield drawn(dtype)
    yield drawn(dtype, 0, 3)
    yield drawn(dtype, 1)
    yield drawn(dtype, 4, 6)[:, ::2].T
    yield drawn(dtype, 3, 1).expand(3, 4)
