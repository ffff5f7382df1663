"""Programs that write to memory of which they hold several tensors: their table."""

from __future__ import annotations

import torch

PROGRAMS: dict[str, tuple] = {}


def matrix(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    count = int(torch.tensor(shape).prod()) if shape else 1
    values = torch.arange(count, dtype=torch.float64).reshape(shape) - count // 3
    return values.to(dtype)


def program(*inputs: torch.Tensor):
    """Adds a program with its inputs; a matrix of 4 by 6 where none are given."""

    def add(function):
        PROGRAMS[function.__name__] = (function, inputs or (matrix(4, 6),))
        return function

    return add
