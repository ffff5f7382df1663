"""Capture: the program of the core says what the ExportedProgram says, and prints as it does."""

from __future__ import annotations

import gc
import json
import re
import weakref

import pytest
import torch
from models import MODELS
from torch import nn
from torch.export import Dim, export

from torchere.capture import capture
from torchere.errors import InvalidArgumentError, UnimplementedError


def lines(program):
    """As torch 2.13 writes them, but for the space that it leaves at the end of one; 2.9 indents comments by
    one more and leaves some empty, 2.14 writes complex numbers as calls."""
    text = re.sub(
        r"complex\(([^(),]+), ([^(),]+)\)",
        lambda parts: str(complex(*map(float, parts.groups()))),
        str(program),
    )
    text = re.sub(
        r"^((?: {4})+) # *$", r"\1# No stacktrace found for following nodes", text, flags=re.MULTILINE
    )
    text = re.sub(r"^((?: {4})+) # File:", r"\1# File:", text, flags=re.MULTILINE)
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("decomposed", [False, True], ids=["raw", "decomposed"])
def test_prints_as_torch_does(name, decomposed):
    if name == "data_dependent" and torch.__version__ < "2.10":
        pytest.skip("PyTorch 2.9 makes a guard of the parity of a pooled size")
    exported = MODELS[name]()
    if decomposed:
        exported = exported.run_decompositions()
    assert lines(capture(exported)) == lines(exported)


class Affine(nn.Module):
    """A parameter, two kinds of buffers, a constant, a mutation; the weight is tied."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(12.0).reshape(3, 4))
        self.tied = self.weight
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("scale", torch.ones(4)[1:], persistent=False)

    def forward(self, x, mode, *, shift=None, pair):
        self.count += 1
        y = x @ self.weight.t() + x @ self.tied.t() + torch.tensor([1.0, 2.0, 3.0])
        if shift is not None:
            y = y + shift
        return {"y": y + self.count, "sum": (pair[0] + self.scale, mode, None)}


@pytest.fixture(scope="module")
def affine():
    module = Affine()
    kwargs = {"pair": [torch.ones(3), 2.5], "shift": torch.ones(3)}
    return module, export(module, (torch.ones(2, 4), "mean"), kwargs).run_decompositions()


def test_arguments_have_schema_names(affine):
    named = {node[1]: node[2] for node in capture(affine[1]).nodes()}
    assert named["aten.add.Tensor"] == ("self", "other")
    assert named["aten.permute.default"] == ("self", "dims")


def test_weights_are_views_of_the_modules_storages(affine):
    module, exported = affine
    program = capture(exported)
    dtype, shape, strides, offset, address = program.state_dict["weight"]
    assert (dtype, shape, strides, offset) == ("float32", [3, 4], [4, 1], 0)
    assert address == module.weight.untyped_storage().data_ptr()
    assert program.state_dict["tied"] == program.state_dict["weight"]
    assert "scale" not in program.state_dict
    assert program.constants["scale"][1:4] == ([3], [1], 1)
    assert any("tensor" in name for name in program.constants)


def test_trees_need_no_torch(affine):
    program = capture(affine[1])
    leaf = {"kind": "leaf"}
    arguments, keywords = json.loads(program.input_tree)["children"]
    assert arguments == {"kind": "tuple", "children": [leaf, leaf]}
    assert keywords["keys"] == ["pair", "shift"]
    assert keywords["children"] == [{"kind": "list", "children": [leaf, leaf]}, leaf]
    assert json.loads(program.output_tree)["keys"] == ["y", "sum"]
    assert program.argument_names == ["x", "mode"]


def test_arguments_left_out_are_not_there():
    class Total(nn.Module):
        def forward(self, x):
            return torch.sum(x, (0,), dtype=torch.float64)

    program = capture(export(Total(), (torch.ones(2, 3),)))
    assert {node[1]: node[2] for node in program.nodes()}["aten.sum.dim_IntList"] == ("self", "dim", "dtype")


def test_the_structural_hash_is_of_what_is_computed():
    def digest(module, x):
        return capture(export(module, (x,))).structural_hash()

    x = torch.ones(3, 2)
    one = digest(nn.Linear(2, 2), x)
    assert len(one) == 32
    assert digest(nn.Linear(2, 2), x) == one
    assert digest(nn.Sequential(nn.Linear(2, 2)), x) == one  # other names, another place
    assert digest(nn.Linear(2, 2, bias=False), x) != one
    assert digest(nn.Linear(2, 2), torch.ones(4, 2)) != one
    assert digest(nn.Linear(2, 2, dtype=torch.float64), x.double()) != one


def test_places_are_the_users(affine):
    places = {node[1]: node[3] for node in capture(affine[1]).nodes()}
    assert places["aten.permute.default"].startswith("capture_test.py:")
    net = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    program = capture(export(net, (torch.ones(1, 2),)))
    assert program.nodes()[-1][3] == "0.0"  # every file is torch's own


def test_storages_live_as_long_as_the_program():
    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1000))

        def forward(self, x):
            return x + self.weight

    module = Holder()
    address = module.weight.data_ptr()
    program = capture(export(module, (torch.ones(1000),)))
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None
    others = [torch.zeros(1000) for _ in range(50)]  # would take the memory if it were free
    assert program.state_dict["weight"][4] == address
    assert all(other.data_ptr() != address for other in others)


def test_conjugated_weights_are_resolved():
    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.tensor([1 + 2j]).conj())

        def forward(self, x):
            return x + self.weight

    module = Holder()
    program = capture(export(module, (torch.ones(1, dtype=torch.complex64),)))
    assert program.state_dict["weight"][4] != module.weight.untyped_storage().data_ptr()


class Two(nn.Module):
    def forward(self, x, y):
        return x - 2 * y


def test_weights_without_plain_memory_are_refused():
    class Holder(nn.Module):
        def __init__(self, weight):
            super().__init__()
            self.register_buffer("weight", weight)

        def forward(self, x):
            return x + 1

    exported = export(Holder(torch.ones(2)), (torch.ones(2),))
    exported.state_dict["weight"] = torch.ones(2).to_sparse()
    with pytest.raises(UnimplementedError) as error:
        capture(exported)
    assert str(error.value).splitlines() == [
        "[weight 'weight'] has no plain memory: got torch.sparse_coo, expected a dense tensor",
        "  to do: load the weights before the export; to_dense() and dequantize() make others dense",
    ]
    exported.state_dict["weight"] = torch.ones(2, device="meta")
    assert capture(exported).state_dict["weight"] == ("float32", [2], [1], 0, 0)


def test_arguments_that_no_program_holds_are_named():
    exported = export(Two(), (torch.ones(3), torch.ones(3)))
    node = next(node for node in exported.graph.nodes if node.op == "call_function")
    node.args = (node.args[0], 1 << 70)
    with pytest.raises(InvalidArgumentError) as error:
        capture(exported)
    assert str(error.value).startswith(
        "[mul] an integer of more than 64 bits: got 1180591620717411303424, expected at most "
        "9223372036854775807; at capture_test.py:"
    )
    node.args = (node.args[0], slice(1, 2))
    with pytest.raises(UnimplementedError) as error:
        capture(exported)
    assert str(error.value).startswith(
        "[mul] argument 'other' cannot be captured: got slice(1, 2, None) of type slice; at capture_test.py:"
    )


def test_unknown_element_types_are_named():
    exported = export(Two(), (torch.ones(3), torch.ones(3)))
    node = next(node for node in exported.graph.nodes if node.op == "call_function")
    with node.meta["val"].fake_mode:
        node.meta["val"] = torch.empty(3, dtype=torch.bits8)
    with pytest.raises(
        UnimplementedError, match=r"^\[mul\] unknown element type: got torch.bits8; at capture_test.py:"
    ):
        capture(exported)


def test_sizes_that_are_no_integer_expression_are_named():
    exported = export(nn.ReLU(), (torch.ones(3),), dynamic_shapes=({0: Dim.AUTO},))
    symbolic = next(iter(exported.graph.nodes)).meta["val"].shape[0]
    assert str(symbolic) in str(capture(exported))
    symbolic.node._expr = torch.utils._sympy.functions.OpaqueUnaryFn_sin(symbolic.node.expr)
    with pytest.raises(
        UnimplementedError,
        match=r"a size is not understood: .* unknown function at column 1: got OpaqueUnaryFn_sin of 1 oper",
    ):
        capture(exported)
