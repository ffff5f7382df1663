"""What a captured program took for granted about sizes is checked at each call."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import torchere
from torchere.guards import _expression_text

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


BRANCHES = {
    "bits": (lambda n: (n & 3) == 1 or (n | 8) == 9, 9, 10),
    "root": (lambda n: torch.sym_sqrt(n) > 3.5, 13, 12),
    "power": (lambda n: n**1.5 > 26.5, 9, 8),
    "round": (lambda n: round(n / 4) > 2, 11, 10),
    "floor": (lambda n: (n * 0.5) // 1.5 > 2, 9, 7),
    "quotient": (lambda n: (n / 2) / 1.5 > 3, 10, 9),
    "abs": (lambda n: abs(n - 12) < 4, 9, 20),
}


class Branch(torch.nn.Module):
    def __init__(self, condition):
        super().__init__()
        self.condition = condition

    def forward(self, x):
        return x * 2 if self.condition(x.shape[0]) else x * 3


@pytest.mark.parametrize("name", BRANCHES)
def test_functions_in_guards_of_a_program_from_a_file(name, tmp_path):
    """torch writes them as text: "round(L['x'].size()[0] / 4) > 2"."""
    condition, good, bad = BRANCHES[name]
    captured = torch.export.export(Branch(condition), sizes(good), dynamic_shapes=({0: Dim.AUTO},))
    torch.export.save(captured, tmp_path / "captured.pt2")
    for program in (captured, torch.export.load(tmp_path / "captured.pt2")):
        (x,) = sizes(good)
        exported = torchere.export(program)
        torch.testing.assert_close(exported(x), x * 2)
        with pytest.raises(
            torchere.errors.InvalidArgumentError, match="the capture assumed another relation"
        ):
            exported(*sizes(bad))


def test_a_guard_that_is_not_understood_is_told(tmp_path):
    captured = torch.export.export(Quarters(), sizes(8, 3), dynamic_shapes=DYNAMIC)
    torch.export.save(captured, tmp_path / "captured.pt2")
    loaded = torch.export.load(tmp_path / "captured.pt2")
    loaded._guards_code = [*loaded._guards_code, "math.tau(L['x'].size()[0]) == 0"]
    with pytest.warns(UserWarning, match=r"do not check what torch assumed of sizes: got .math.tau"):
        program = torchere.export(loaded)
    with pytest.raises(torchere.errors.InvalidArgumentError, match=r"Mod\(x.shape\[0\], 4\) == 0"):
        program(*sizes(10, 3))


def test_a_text_does_not_depend_on_what_was_printed_before():
    """Texts of parts are kept, and some numbers of other kinds are equal."""
    sympy = pytest.importorskip("sympy")
    size = sympy.Symbol("s0", integer=True)
    for given, text in [(1, "1"), (True, "True"), (sympy.Float(1.0), "1.0"), (sympy.Integer(1), "1")]:
        assert _expression_text(sympy.sympify(given)) == text
    third = sympy.Float(1) / 3
    assert _expression_text(third * size) == f"{float(third)!r}*s0"
    assert _expression_text(2 ** (third * size)) == f"2**({float(third)!r}*s0)"
