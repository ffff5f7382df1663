"""What a captured program took for granted about sizes is checked at each call."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import torchere

DYNAMIC = ({0: Dim.AUTO}, {0: Dim.AUTO})


class Longer(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() if x.shape[0] > y.shape[0] else 2 * y.sum()


class Unequal(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() if x.shape[0] != y.shape[0] else x @ y


class Quarters(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() if x.shape[0] % 4 == 0 else y.sum()


def sizes(*lengths):
    return tuple(torch.randn(length) for length in lengths)


@pytest.mark.parametrize(
    ("module", "good", "bad", "message"),
    [
        (
            Longer(),
            (5, 4),
            (3, 8),
            r"got x.shape\[0\] = 3, y.shape\[0\] = 8, expected x.shape\[0\] > y.shape\[0\]$",
        ),
        (
            Longer(),
            (5, 4),
            (4, 4),
            r"got x.shape\[0\] = 4, y.shape\[0\] = 4, expected x.shape\[0\] > y.shape\[0\]$",
        ),
        (Unequal(), (6, 3), (5, 5), r"= 5, expected x.shape\[0\] != y.shape\[0\]$"),
        (Quarters(), (12, 3), (10, 3), r"got x.shape\[0\] = 10, expected Mod\(x.shape\[0\], 4\) == 0$"),
    ],
)
def test_sizes_that_take_another_way_are_refused(module, good, bad, message):
    program = torchere.export(module, sizes(8, 3), dynamic_shapes=DYNAMIC)
    x, y = sizes(*good)
    torch.testing.assert_close(program(x, y), module(x, y))
    with pytest.raises(torchere.errors.InvalidArgumentError, match=message):
        program(*sizes(*bad))


def test_a_saved_program_still_refuses_them(tmp_path):
    torchere.export(Longer(), sizes(8, 3), dynamic_shapes=DYNAMIC).save(tmp_path / "program")
    program = torchere.load(tmp_path / "program")
    x, y = sizes(7, 6)
    torch.testing.assert_close(program(x, y), x.sum())
    with pytest.raises(torchere.errors.InvalidArgumentError, match=r"expected x\.shape"):
        program(*sizes(6, 7))


def test_a_dimension_alone_is_a_range():
    """What a guard says of one dimension is in its range, which the error names as such."""

    class Small(torch.nn.Module):
        def forward(self, x, y):
            return x.sum() if x.shape[0] < 10 else y.sum()

    program = torchere.export(Small(), sizes(8, 3), dynamic_shapes=DYNAMIC)
    with pytest.raises(
        torchere.errors.InvalidArgumentError, match=r"dimension 0 .* got 12, expected at most 9"
    ):
        program(*sizes(12, 3))
