"""The kinds of programs with which torch.export's documents explain it: each is exported, run and
compared with eager; what torch refuses is refused; names that torch has removed have successors."""

from __future__ import annotations

import dataclasses
import io

import pytest
import torch
from torch import nn
from torch.export import Dim

import torchere
from torchere.errors import CaptureError, InvalidArgumentError


def assert_equal(program, module, *args, **kwargs):
    torch.testing.assert_close(program(*args, **kwargs), module(*args, **kwargs), rtol=1e-5, atol=1e-5)


class Waves(nn.Module):
    def forward(self, x, y):
        return torch.sin(x) + torch.cos(y)

    def product(self, x, y):
        return torch.sin(x) * torch.cos(y)


def waves(x, y):
    return torch.sin(x) + torch.cos(y)


@pytest.mark.parametrize("target", [Waves(), Waves().product, waves], ids=["module", "method", "function"])
def test_a_module_a_method_and_a_function(target):
    args = torch.randn(10, 10), torch.randn(10, 10)
    assert_equal(torchere.export(target, args), target, *args)


class Vision(nn.Module):
    """A keyword argument, and a write in place to an intermediate value."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, kernel_size=3, padding=1)
        self.pool = nn.MaxPool2d(kernel_size=3)

    def forward(self, x, *, bias=None):
        a = self.conv(x)
        a.add_(bias)
        return self.pool(torch.relu(a))


def test_a_keyword_argument_is_an_input():
    model, x, bias = Vision(), torch.randn(1, 3, 12, 12), torch.randn(1, 4, 12, 12)
    program = torchere.export(model, (x,), {"bias": bias})
    assert_equal(program, model, x, bias=bias)
    with pytest.raises(
        InvalidArgumentError, match=r"\[forward\] arguments are missing: got 1, expected also bias"
    ):
        program(x)


class Branches(nn.Module):
    """Two inputs with one batch, and a tensor that is an attribute and no buffer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(6, 3), nn.ReLU())
        self.second = nn.Sequential(nn.Linear(12, 6), nn.ReLU())
        self.offset = torch.ones(3)

    def forward(self, x, y):
        return self.first(x) + self.offset, self.second(y)


def batch_of(count):
    return torch.randn(count, 6), torch.randn(count, 12)


def test_a_batch_is_shared_by_two_inputs():
    model, batch = Branches(), Dim("batch")
    program = torchere.export(model, batch_of(8), dynamic_shapes={"x": {0: batch}, "y": {0: batch}})
    for count in (2, 5, 8):
        assert_equal(program, model, *batch_of(count))
    with pytest.raises(InvalidArgumentError, match=r"\[y\] .*batch.*got 4, expected 3"):
        program(batch_of(3)[0], batch_of(4)[1])


def test_sizes_are_those_of_the_example_where_none_is_dynamic():
    model = Branches()
    program = torchere.export(model, batch_of(8))
    with pytest.raises(InvalidArgumentError, match=r"\[x\] wrong size of dimension 0: got 5, expected 8"):
        program(*batch_of(5))


def by_size(x):
    return x + 1 if x.shape[0] > 5 else x - 1


def test_a_branch_on_a_size_is_that_of_the_example():
    long, short = torch.rand(10, 2), torch.rand(3, 2)
    assert_equal(torchere.export(by_size, long), by_size, long)
    assert_equal(torchere.export(by_size, short), by_size, short)


def test_a_branch_on_a_dynamic_size_bounds_it():
    program = torchere.export(by_size, torch.rand(10, 2), dynamic_shapes=({0: Dim("n", min=6)},))
    for size in (6, 20):
        assert_equal(program, by_size, torch.rand(size, 2))
    with pytest.raises(
        InvalidArgumentError, match=r"size of dimension 0 \(n\) out of range: got 3, expected"
    ):
        program(torch.rand(3, 2))
    with pytest.raises(CaptureError, match="Constraints violated"):
        torchere.export(by_size, torch.rand(10, 2), dynamic_shapes=({0: Dim("n")},))


def repeated(x, term: int, times: int):
    for _ in range(times):
        x = x + term
    return x


def test_ints_of_the_example_are_part_of_the_program():
    x = torch.rand(2, 2)
    program = torchere.export(repeated, (x, 1, 3))
    assert program.get_stablehlo_text().count("stablehlo.add") == 3
    assert_equal(program, repeated, x, 1, 3)
    with pytest.raises(InvalidArgumentError, match=r"\[times\] .*got 4, expected 3"):
        program(x, 1, 4)


def test_the_only_argument_needs_no_tuple():
    model, x = nn.Softplus(), torch.randn(5)
    with pytest.raises(Exception, match="args` to be a tuple"):
        torch.export.export(model, x)
    assert_equal(torchere.export(model, x), model, x)


def test_an_exported_program_that_was_saved_and_decomposed():
    model, args = Waves(), (torch.randn(3), torch.randn(3))
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    exported = torch.export.load(file)
    for program in (exported, exported.run_decompositions(torch.export.default_decompositions())):
        assert_equal(torchere.export(program), model, *args)


def test_a_graph_that_fx_traced_before():
    model, args = Branches(), batch_of(4)
    assert_equal(torchere.export(torch.fx.symbolic_trace(model), args), model, *args)


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


def test_a_registered_dataclass_is_an_argument():
    def added(pair):
        return pair.left + pair.right

    torch.export.register_dataclass(Pair, serialized_type_name="torchere.tests.Pair")
    pair = Pair(torch.randn(3), torch.randn(3))
    assert_equal(torchere.export(added, (pair,)), added, pair)


def test_weights_have_the_names_that_torch_gives_them():
    model, args = Branches(), batch_of(4)
    exported = torch.export.export(model, args)
    program = torchere.export(exported)
    assert set(program.state_dict()) >= {name for name, _ in exported.named_parameters()}
    torch.testing.assert_close(program(*args), exported.module()(*args), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(program(*args), torch.export.unflatten(exported)(*args), rtol=1e-5, atol=1e-5)


def test_a_branch_on_elements_is_refused():
    with pytest.raises(CaptureError, match="needs a value that only a call has"):
        torchere.export(lambda x: x + 1 if x.sum() > 0 else x - 1, torch.ones(3))


@torch.library.custom_op("torchere_examples::halved", mutates_args=())
def halved(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def test_an_op_without_a_fake_kernel_is_refused():
    with pytest.raises(CaptureError, match="torchere_examples::halved has no fake kernel"):
        torchere.export(lambda x: torch.ops.torchere_examples.halved(x), torch.ones(3))


# What the documents use and torch has removed, with what stands in its place.
SUCCESSORS = {"dynamic_dim": "Dim"}


@pytest.mark.parametrize(("removed", "successor"), SUCCESSORS.items())
def test_removed_names_have_successors(removed, successor):
    assert not hasattr(torch.export, removed)
    assert hasattr(torch.export, successor)


def test_constraints_gave_way_to_dynamic_shapes():
    with pytest.raises(TypeError, match="constraints"):
        torch.export.export(nn.ReLU(), (torch.ones(3),), constraints=[])
    program = torchere.export(nn.ReLU(), torch.ones(3), dynamic_shapes=({0: Dim("n")},))
    assert_equal(program, nn.ReLU(), torch.randn(7))
