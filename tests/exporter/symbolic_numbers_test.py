"""Numbers that follow from sizes, from int arguments and from a tensor's elements: in ops, and as results."""

from __future__ import annotations

import math

import pytest
import torch
from torch.export import Dim

import torchere

X = torch.arange(24.0).reshape(6, 4) / 3


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("PJRT_DEVICE", "interpreter")


class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, n):
        return self.function(x, n)


def program_of(function, n, shapes=None):
    return torchere.export(Model(function), (X, n), dynamic_shapes=shapes)


OF_AN_INT = {
    "shifts": lambda n: (n << 2) + (n >> 1),
    "bits": lambda n: (n & 3) | 4,
    "powers": lambda n: n**2 - n**3,
    "extremes": lambda n: torch.sym_min(n, 3) + torch.sym_max(n, 2),
    "absolute": lambda n: abs(n) - n,
    "sum": lambda n: torch.sym_sum([n, 2 * n, 5]),
    "choice": lambda n: torch.sym_ite(n > 3, n, 2 * n),
    "choice of choices": lambda n: torch.sym_ite(n > 3, torch.sym_ite(n > 6, n + 1, n), 2 * n),
    "float": lambda n: torch.sym_float(n) * 0.1,
    "quotient": lambda n: n / 3,
    "root": lambda n: torch.sym_sqrt(n * n + 1),
    "float power": lambda n: (torch.sym_float(n) * torch.sym_float(n) * 1.5) ** 2,
    "power of a float": lambda n: 2.0**n,
    "rounded": lambda n: round(n / 4),
    "rounded to places": lambda n: round(n / 3, 2) + round(n / 7, 1),
    "rounded to tens": lambda n: round(n * 10.5, -1),
    "rounded down": lambda n: math.floor(n * 0.3),
    "rounded up": lambda n: math.ceil(n / 3) + math.ceil(n * 0.7),
    "rounded to zero": lambda n: math.trunc(n / 3),
    "floor of a float": lambda n: n // 2.0,
    "comparison": lambda n: n > 3,
    "comparison of floats": lambda n: n * 0.5 <= 1.5,
    "logic": lambda n: torch.sym_not(n > 3) | (n == 5),
}


@pytest.mark.parametrize("name", OF_AN_INT)
def test_numbers_of_an_int(name):
    """As results, and in arithmetic with a tensor."""
    function = OF_AN_INT[name]
    program = program_of(lambda x, n: (function(n), x * function(n)), 5, (None, Dim.DYNAMIC))
    captured = torch.export.export(
        Model(lambda x, n: (function(n), x * function(n))), (X, 5), dynamic_shapes=(None, Dim.DYNAMIC)
    ).module()
    for n in (5, 0, 1, 2, 3, 7, -4):
        number, scaled = program(X, n)
        expected, expected_scaled = captured(X, n)
        assert type(number) is type(expected)
        assert number == pytest.approx(expected, rel=1e-12)
        torch.testing.assert_close(scaled, expected_scaled)


OF_A_SIZE = {
    "root": lambda n: math.floor(torch.sym_sqrt(n)),
    "power": lambda n: math.ceil(torch.sym_float(n) ** 1.5),
    "rounded to places": lambda n: math.floor(round(n / 3, 1) * 2),
}


@pytest.mark.usefixtures("on_xla")
@pytest.mark.parametrize("name", OF_A_SIZE)
def test_sizes_by_approximated_functions(name):
    """Compilers of fixed sizes get them as constants."""
    function = OF_A_SIZE[name]
    model = Model(lambda x, n: torch.ones(function(x.shape[0])) * n)
    program = torchere.export(model, (X, 2), dynamic_shapes=({0: Dim.AUTO}, None))
    for size in (4, 9, 17):
        x = torch.zeros(size, 4)
        assert torch.equal(program(x, 2), model(x, 2))


AS_ARGUMENTS = {
    "full": lambda x, n: torch.full((2,), n / 2),
    "clamp": lambda x, n: x.clamp(max=n / 2),
    "add": lambda x, n: torch.add(x, x, alpha=n),
    "where": lambda x, n: torch.where(x > n / 2, x, n * 0.25),
    "cond": lambda x, n: torch.cond(n / 2 > 1.2, lambda x: x + 1, lambda x: x - 1, (x,)),
    "size": lambda x, n: torch.ones(math.floor(n * 1.5) + 2),
}


@pytest.mark.parametrize("function", AS_ARGUMENTS.values(), ids=AS_ARGUMENTS)
def test_numbers_as_arguments(function):
    program = program_of(function, 5, (None, Dim.DYNAMIC))
    for n in (5, 3, 2):
        torch.testing.assert_close(program(X, n), function(X, n))


ELEMENTS = {
    "an int": (lambda x, n: (n.item(), x * n.item(), n.item() + 1), (5, -3)),
    "a float": (lambda x, n: (n.item(), x * n.item(), n.item() * 2 + 1), (2.5, -1.0)),
    "a bool": (lambda x, n: (n.item(), x * n.item()), (True, False)),
    "a comparison": (lambda x, n: n.item() > 2, (5, 1)),
    "an index": (lambda x, n: x[n], (0, 5, 2)),
    "a fill value": (lambda x, n: torch.full((3,), n.item()), (4, 7)),
    "a bound": (lambda x, n: x.clamp(max=n.item()), (0.5, 3.0)),
    "a predicate": (lambda x, n: torch.cond(n.item() > 2, lambda x: x + 1, lambda x: x - 1, (x,)), (5, 1)),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_is_a_number(name):
    function, values = ELEMENTS[name]
    program = program_of(function, torch.tensor(values[0]))
    for value in values:
        got, expected = program(X, torch.tensor(value)), function(X, torch.tensor(value))
        torch.testing.assert_close(got, expected)


def row(x, n):
    index = n.item()
    torch._check(index >= 0)
    torch._check(index + 2 <= x.shape[0])
    return x[index : index + 2], x.narrow(0, index, 2)


# Along a dynamic dimension, torch's length of the part depends on the place.
@pytest.mark.parametrize("shapes", [None, ({1: Dim.AUTO}, None)], ids=["static", "dynamic"])
def test_an_element_is_a_place(shapes):
    """A part of fixed length, from a place that only the program knows."""
    program = program_of(row, torch.tensor(1), shapes)
    for value in (0, 1, 4):
        torch.testing.assert_close(program(X, torch.tensor(value)), row(X, torch.tensor(value)))


def test_a_saved_program_has_numbers(tmp_path):
    program_of(lambda x, n: (n / 2, n > 3, n + 1, x[:n]), 5, (None, Dim.DYNAMIC)).save(tmp_path / "program")
    program = torchere.load(tmp_path / "program")
    for n in (2, 5):
        half, is_large, next_one, part = program(X, n)
        assert (half, is_large, next_one) == (n / 2, n > 3, n + 1)
        assert (type(half), type(is_large), type(next_one)) == (float, bool, int)
        assert torch.equal(part, X[:n])


def test_a_constant_int_is_checked():
    program = program_of(lambda x, n: x * n, 5)
    with pytest.raises(
        torchere.errors.InvalidArgumentError, match=r"\[n\] wrong constant: got 3, expected 5"
    ):
        program(X, 3)
