"""Dynamic int inputs: as sizes, as places of slices and as numbers; their ranges and their signs."""

from __future__ import annotations

import math

import pytest
import torch
from torch.export import Dim

import torchere
from torchere.errors import InvalidArgumentError, UnimplementedError

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


#: What the capture took an int for: (function, example, values that fit, others, the error's text, its line
#: in the signature).
FIXED = {
    "one": (
        lambda x, n, m: x.reshape(2, 5).diagonal(n) * m,
        (1, 3),
        (1, 4),
        (2, 4),
        r"^\[n\] wrong constant: got 2, expected 1, with which the program was captured$",
        "n = 1",
    ),
    "zero": (
        lambda x, n, m: x + m if n == 0 else x - m,
        (0, 3),
        (0, -4),
        (1, 3),
        r"^\[n\] wrong constant: got 1, expected 0, with which the program was captured$",
        "n = 0",
    ),
    "another int": (
        lambda x, n, m: x + 1 if n == m else x - 1,
        (3, 3),
        (5, 5),
        (4, 5),
        r"^\[m\] wrong value \(n\): got 5, expected 4, as in n$",
        "m: int = n",
    ),
    "another int and a number": (
        lambda x, n, m: x + m if n == m + 1 else x - m,
        (4, 3),
        (6, 5),
        (6, 6),
        r"^\[n\] wrong value \(m \+ 1\): got 6, expected 7 for m = 6$",
        "n: int = m + 1",
    ),
    "a size": (
        lambda x, n, m: x + m if n == x.shape[0] else x - m,
        (10, 3),
        (10, 5),
        (9, 5),
        r"^\[n\] wrong value: got 9, expected 10, as in dimension 0 of x$",
        "x: float32[n]",
    ),
}


class TwoInts(Model):
    def forward(self, x, n, m):
        return self.function(x, n, m)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("is_from_file", [False, True], ids=["captured", "loaded"])
def test_an_int_that_the_capture_took_for_something_is_checked(name, is_from_file, tmp_path):
    function, example, good, bad, message, line = FIXED[name]
    shapes = ({0: Dim.DYNAMIC} if name == "a size" else None, Dim.DYNAMIC, Dim.DYNAMIC)
    captured = torch.export.export(TwoInts(function), (X, *example), dynamic_shapes=shapes)
    if is_from_file:
        torch.export.save(captured, tmp_path / "captured.pt2")
        captured = torch.export.load(tmp_path / "captured.pt2")
    torchere.export(captured).save(tmp_path / "program")
    for program in (torchere.export(captured), torchere.load(tmp_path / "program")):
        assert f"\n    {line}" in str(program.signature())
        torch.testing.assert_close(program(X, *good), function(X, *good))
        with pytest.raises(InvalidArgumentError, match=message):
            program(X, *bad)


def test_an_int_that_became_a_constant_is_used_and_returned():
    def function(x, i):
        y = x * i
        return (y if i == 1 else x), i, i + 1

    got = exported(function, i=1)(X, 1)
    assert torch.equal(got[0], X) and got[1:] == (1, 2)


CONSTANTS = {
    "a step": (lambda x, i: x[::i], r"^\[aten.slice.Tensor\] argument 'step'"),
    "a padding": (
        lambda x, i: torch.nn.functional.conv1d(x.reshape(1, 1, 10), torch.ones(1, 1, 2), padding=i),
        r"^\[aten.conv1d.default\] argument 'padding'",
    ),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_an_int_that_has_to_be_a_constant_is_told(name):
    function, start = CONSTANTS[name]
    with pytest.raises(
        UnimplementedError, match=start + " cannot change from call to call: .*dynamic_shapes"
    ):
        exported(function, i=3)
    program = torchere.export(Model(function), (X, 3))
    torch.testing.assert_close(program(X, 3), function(X, 3))
