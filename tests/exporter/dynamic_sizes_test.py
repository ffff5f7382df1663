"""Dynamic dimensions: a call may have the sizes that torch's own guards take, 0 and 1 included."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim

import torchere

SIZES = (0, 1, 2, 3, 7)


pytestmark = pytest.mark.usefixtures("on_ours")


class Model(torch.nn.Module):
    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def tensor(size: int, shape: tuple[int, ...] = (6, 4), axis: int = 0) -> torch.Tensor:
    sizes = [*shape[:axis], size, *shape[axis + 1 :]]
    return torch.arange(1.0, 1 + torch.Size(sizes).numel()).reshape(sizes) / 7


def judged(call: Callable, *args: Any) -> Any:
    """The result, or the exception."""
    try:
        return call(*args)
    except Exception as error:  # torch raises whatever its op does
        return error


# Function, shape, axis; the sizes of which some are refused are those of SIZES and the example's.
PROGRAMS: dict[str, tuple] = {
    "elementwise": (lambda x: x.exp() + 1, (6, 4), 0),
    "mean": (lambda x: x.mean(0), (6, 4), 0),
    "flattened": (lambda x: x.view(-1), (6, 4), 0),
    "another shape": (lambda x: x.reshape(x.shape[0] * 2, 2), (6, 4), 0),
    "product": (lambda x: x @ x.T, (6, 4), 0),
    "softmax": (lambda x: F.softmax(x, 0), (6, 4), 0),
    "attention by any width": (lambda x: F.scaled_dot_product_attention(x, x, x), (1, 2, 6, 4), 3),
    "einsum": (lambda x: torch.einsum("ij,kj->ki", x, x[:3] + 1), (6, 4), 1),
    "two dimensions joined": (lambda x: torch.cat([x, x[:1]]), (6, 4), 0),
    "every second": (lambda x: x[::2], (6, 4), 0),
    "without the ends": (lambda x: x[1:-1], (6, 4), 0),
    "a symbolic end": (lambda x: x[:, : x.shape[1] - 3], (2, 9), 1),
    "the second half": (lambda x: x[x.shape[0] // 2 :], (6, 4), 0),
    "padded to a multiple": (lambda x: F.pad(x, (0, 0, 0, -x.shape[0] % 4)), (6, 4), 0),
    "at most four": (lambda x: x[: min(x.shape[0], 4)], (6, 4), 0),
    "stride of two": (lambda x: F.conv1d(x, torch.ones(3, 4, 3), stride=2, padding=1), (2, 4, 6), 2),
    "pooled, rounded up": (lambda x: F.avg_pool1d(x, 2, stride=2, ceil_mode=True), (2, 4, 6), 2),
    "windows": (lambda x: x.unfold(0, 2, 2), (6, 4), 0),
    "chunks": (lambda x: x.chunk(2), (6, 4), 0),
    "every second of a range": (lambda x: torch.arange(0, x.shape[0], 2) + x.sum(), (6, 4), 0),
    "steps of a half": (lambda x: torch.arange(0, x.shape[0], 0.5) + x.sum(), (6, 4), 0),
    "twice the size": (lambda x: F.interpolate(x, scale_factor=2), (1, 2, 6), 2),
    "three times the size": (lambda x: F.interpolate(x, scale_factor=3), (1, 2, 6), 2),
    "half the size": (lambda x: F.interpolate(x, scale_factor=0.5), (1, 2, 6), 2),
    "a third of the size": (lambda x: F.interpolate(x, scale_factor=1 / 3), (1, 2, 6), 2),
    "scaled by 1.7": (lambda x: F.interpolate(x, scale_factor=1.7, mode="linear"), (1, 2, 6), 2),
    "a squeezed dimension": (lambda x: x.squeeze(0), (6, 4), 0),
    "a branch": (lambda x: x + 1 if x.shape[0] > 2 else x - 1, (6, 4), 0),
    "the square root of a size": (lambda x: x * x.shape[0] ** -0.5, (6, 4), 0),
}
# What an op itself raises in eager mode: an artifact has no exceptions.
RAISING = {
    ("twice the size", 0),
    ("three times the size", 0),
    ("half the size", 0),
    ("half the size", 1),
    ("a third of the size", 0),
    ("scaled by 1.7", 0),
    ("stride of two", 0),
    ("pooled, rounded up", 0),
    ("windows", 0),
    ("windows", 1),
    ("the square root of a size", 0),
}
# Where eager mode's result has fewer dimensions than the captured one.
OTHER_RANK = {("a squeezed dimension", 1)}


@pytest.mark.parametrize("dim", [Dim.AUTO, Dim.DYNAMIC, "named"], ids=["AUTO", "DYNAMIC", "named"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_torch_takes_is_taken(name, dim):
    function, shape, axis = PROGRAMS[name]
    if dim != Dim.AUTO and name not in (
        "elementwise",
        "two dimensions joined",
        "a squeezed dimension",
        "a branch",
    ):
        pytest.skip("as with Dim.AUTO")
    dim = Dim("rows") if dim == "named" else dim
    try:
        captured = torch.export.export(
            Model(function), (tensor(6, shape, axis),), dynamic_shapes=({axis: dim},)
        )
    except torch._dynamo.exc.UserError:
        assert isinstance(dim, Dim)  # a named one has to be free
        return
    program, module = torchere.export(captured), captured.module()
    for size in SIZES:
        x = tensor(size, shape, axis)
        expected, got = judged(module, x), judged(program, x)
        if isinstance(expected, AssertionError) or (name, size) in OTHER_RANK:
            assert isinstance(got, torchere.errors.InvalidArgumentError), (size, got)
        elif isinstance(expected, Exception):
            assert isinstance(got, torchere.Error) or (name, size) in RAISING, (size, expected, got)
        else:
            assert not isinstance(got, Exception), (size, got)
            torch.testing.assert_close(got, expected, equal_nan=True)


REFUSED = {
    "a branch on two sizes": (
        lambda x: x.sum() if x.shape[0] > x.shape[1] else x,
        tensor(3),
        "x.shape[0] = 3, x.shape[1] = 4, expected x.shape[0] > x.shape[1]",
    ),
    "a multiple": (
        lambda x: x.sum() if x.shape[0] % 3 == 0 else x,
        tensor(4),
        "x.shape[0] = 4, expected Mod(x.shape[0], 3) == 0",
    ),
    "not one": (
        lambda x: x[1:-1],
        tensor(3),
        "x.shape[0] = 3, expected x.shape[0] - 2 != 1",
    ),
}


@pytest.mark.parametrize(("function", "x", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals_are_in_the_users_words(function, x, message):
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    program = torchere.export(Model(function), tensor(6), dynamic_shapes=shapes)
    with pytest.raises(torchere.errors.InvalidArgumentError) as refused:
        program(x)
    assert str(refused.value) == f"[forward] the capture assumed another relation of sizes: got {message}"


def test_a_minimum_of_the_users_own_is_checked():
    """torch itself does not compare minimums up to 2."""
    for dim in (Dim("rows", min=2, max=9), Dim.AUTO(min=2, max=9)):
        program = torchere.export(Model(lambda x: x + 1), tensor(6), dynamic_shapes=({0: dim},))
        with pytest.raises(torchere.errors.InvalidArgumentError, match="got 1, expected 2 to 9"):
            program(tensor(1))


class Longer(torch.nn.Module):
    def forward(self, x, y, n):
        return (x.sum() if x.shape[0] > y.shape[0] else y.sum()) + torch.zeros(n)


def test_a_program_from_a_file_keeps_its_guards():
    """It has them only as text."""
    captured = torch.export.export(
        Longer(), (tensor(6), tensor(3), 4), dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}, Dim.DYNAMIC)
    )
    file = io.BytesIO()
    torch.export.save(captured, file)
    file.seek(0)
    program = torchere.export(torch.export.load(file))
    assert program(tensor(4), tensor(3), 3).shape == (3,)
    with pytest.raises(torchere.errors.InvalidArgumentError, match=r"expected x.shape\[0\] > y.shape\[0\]$"):
        program(tensor(4), tensor(4), 3)
    with pytest.raises(
        torchere.errors.InvalidArgumentError, match=r"\[n\] value out of range: got 1, expected at least 2"
    ):
        program(tensor(4), tensor(3), 1)
