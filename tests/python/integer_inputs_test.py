"""Dynamic int inputs: as sizes, as places of slices and as numbers; their ranges and their signs."""

from __future__ import annotations

import math

import pytest
import torch
from torch.export import Dim

import torchere
from torchere.errors import InvalidArgumentError

X = torch.arange(10.0)


class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, i):
        return self.function(x, i)


def exported(function, i=5):
    exported = torch.export.export(Model(function), (X, i), dynamic_shapes=(None, Dim.DYNAMIC))
    return torchere.export(exported)


def refuses(program, value, expected):
    message = rf"^\[i\] value out of range: got {value}, expected {expected}$"
    with pytest.raises(InvalidArgumentError, match=message):
        program(X, value)


SHAPES = {
    "slice": (lambda x, i: x[:i], (2, 3, 10)),
    "slice from": (lambda x, i: x[i:], (0, 1, 8)),
    "ones": (lambda x, i: torch.ones(i) + x[0], (2, 3, 100)),
    "arange": (lambda x, i: torch.arange(i) + x[0].long(), (2, 3, 100)),
    "inner size": (lambda x, i: torch.ones(i).sum() + x, (2, 3, 100)),
    "narrow": (lambda x, i: x.narrow(0, i, 3), (0, 1, 7)),
    "select": (lambda x, i: x[i], (0, 9)),
    "roll": (lambda x, i: torch.roll(x, i), (0, 3, -3, 12)),
}


@pytest.mark.parametrize(("function", "values"), SHAPES.values(), ids=SHAPES)
def test_sizes_and_places(function, values):
    program = exported(function)
    for value in values:
        torch.testing.assert_close(program(X, value), function(X, value))


def test_a_saved_program_takes_sizes(tmp_path):
    exported(lambda x, i: (x[:i], i)).save(tmp_path / "program")
    program = torchere.load(tmp_path / "program")
    for value in (3, 4, 3):
        got, integer = program(X, value)
        assert torch.equal(got, X[:value]) and integer == value
    with pytest.raises(InvalidArgumentError, match=r"^\[i\] value out of range: got 0, expected 2 to 10$"):
        program(X, 0)
    with pytest.raises(InvalidArgumentError, match=r"^\[i\] value out of range: got -3, expected 2 to 10$"):
        program(X, -3)


def test_a_number_is_no_size():
    """It stays an argument: other values need no other executable."""
    program = exported(lambda x, i: x * i)
    for value in (5, 0, -3):
        torch.testing.assert_close(program(X, value), X * value)
    assert (
        "%arg1: tensor<i64>" in program.get_stablehlo_text()
        and "tensor<?" not in program.get_stablehlo_text()
    )


def test_a_branch_taken_for_granted_is_checked():
    program = exported(lambda x, i: x + i if i >= 0 else x - i)
    torch.testing.assert_close(program(X, 0), X)
    with pytest.raises(
        InvalidArgumentError, match=r"^\[i\] value out of range: got -1, expected at least 0$"
    ):
        program(X, -1)


DIVISIONS = {
    "floor": lambda i: i // 2,
    "floor of a difference": lambda i: (i - 7) // 2,
    "negative divisor": lambda i: i // -3,
    "ceiling": lambda i: -(i // -4),
    "modulo": lambda i: i % 4,
    "modulo of a negative number": lambda i: i % -3,
}


@pytest.mark.parametrize("function", DIVISIONS.values(), ids=DIVISIONS)
def test_division_of_negative_values_is_pythons(function):
    program = exported(lambda x, i: x + function(i))
    for value in (-8, -7, -1, 0, 1, 6, 7):
        torch.testing.assert_close(program(X, value), X + function(value))


def test_division_towards_zero():
    class Truncated(torch.nn.Module):
        def forward(self, x):
            return torch.full((2,), math.trunc((x.shape[0] - 9) / 2)), torch.ones(math.trunc(x.shape[0] / 4))

    program = torchere.export(Truncated(), torch.ones(12), dynamic_shapes=({0: Dim.DYNAMIC},))
    for size in (8, 9, 13, 14, 17):
        full, ones = program(torch.ones(size))
        assert full.tolist() == [int((size - 9) / 2)] * 2 and ones.shape == (size // 4,)
