"""program.inputs, program.outputs and program.signature(): what a function takes and gives."""

from __future__ import annotations

import json
from collections import namedtuple

import pytest
import torch
from torch import nn
from torch.export import Dim

import torchere
from torchere.signature import ValueInfo, read_signature

Pair = namedtuple("Pair", ["first", "second"])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x, n, mode="sum", *, options):
        self.count += 1
        y = self.layer(x) * options["scale"]
        return {"y": y, "pair": Pair(y.sum() * n, [x.shape[0] * 2, mode]), "both": torch.cat([x, x])}


@pytest.fixture(scope="module")
def program():
    shapes = {
        "x": {0: Dim("batch", min=2, max=64)},
        "n": Dim.DYNAMIC,
        "mode": None,
        "options": {"scale": None, "unread": {0: Dim("other")}},
    }
    options = {"scale": torch.ones(4, dtype=torch.float64), "unread": torch.ones(7)}
    return torchere.export(Net(), (torch.randn(5, 3), 9, "mean"), {"options": options}, dynamic_shapes=shapes)


INPUTS = (
    ValueInfo("x", "tensor", torch.float32, ("batch", 3)),
    ValueInfo("n", "int", torch.int64, ()),
    ValueInfo("mode", "constant", value="mean"),
    ValueInfo("options_scale", "tensor", torch.float64, (4,)),
    ValueInfo("options_unread", "tensor", torch.float32, ("other",)),
)
OUTPUTS = (
    ValueInfo("y", "tensor", torch.float64, ("batch", 4)),
    ValueInfo("pair_first", "tensor", torch.float64, ()),
    ValueInfo("pair_second_0", "int", torch.int64, ()),
    ValueInfo("pair_second_1", "constant", value="mean"),
    ValueInfo("both", "tensor", torch.float32, ("2*batch", 3)),
)


def test_inputs_and_outputs(program, tmp_path):
    program.save(tmp_path / "net")
    for described in (program, torchere.load(tmp_path / "net")):
        assert described.inputs == INPUTS
        assert described.outputs == OUTPUTS
        signature = described.signature("forward")
        assert signature.name == "forward" and signature.ranges["batch"] == (2, 64)


def test_the_text(program):
    lines = str(program.signature()).splitlines()
    assert lines[:12] == [
        "forward(",
        "    x: float32[batch, 3]",
        "    n: int",
        "    mode = 'mean'",
        "    options_scale: float64[4]",
        "    options_unread: float32[other]",
        ") ->",
        "    y: float64[batch, 4]",
        "    pair_first: float64[]",
        "    pair_second_0: int",
        "    pair_second_1 = 'mean'",
        "    both: float32[2*batch, 3]",
    ]
    assert lines[12] == "where" and "    batch: 2 to 64" in lines[13:]


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: x + 1, ["output"]),
        (lambda x: (x + 1, [x, x + 2]), ["output_0", "output_1_0", "output_1_1"]),
        (lambda x: {"a b": x + 1, 3: x}, ["a_b", "output_3"]),
        (lambda x: (), []),
    ],
)
def test_results_are_named_by_the_way_to_them(function, names):
    program = torchere.export(function, torch.ones(2))
    assert [value.name for value in program.outputs] == names


def test_ranges_and_functions_of_other_tools():
    """Without trees, as PyTorch/XLA saves them."""
    entry = {"source": "user_input", "name": "x", "position": 0, "dtype": "bfloat16", "shape": []}
    result = {"destination": "user_output", "name": "a", "position": 0, "dtype": "int8", "shape": [2]}
    ranges = [("a", None, None), ("b", 2, None), ("c", None, 9)]
    fields = {
        "name": "main",
        "inputs": [entry],
        "unused_inputs": [],
        "constant_inputs": [],
        "outputs": [result, result | {"position": 1}],
        "user_output_count": 2,
        "output_tree": {"tree": None},
        "range_constraints": [dict(zip(("expression", "min", "max"), row, strict=True)) for row in ranges],
    }
    assert str(read_signature(json.dumps(fields), {}, {})).splitlines() == [
        "main(",
        "    x: bfloat16[]",
        ") ->",
        "    output_0: int8[2]",
        "    output_1: int8[2]",
        "where",
        "    a: any",
        "    b: at least 2",
        "    c: at most 9",
    ]


def test_a_selection_of_open_size_has_no_bound():
    def chosen(x):
        return x[x > 0]

    text = str(torchere.export(chosen, (torch.ones(3),), dynamic_shapes=({0: Dim.AUTO},)).signature())
    assert "    u0: any\n" in text


def test_an_unknown_function(program):
    with pytest.raises(torchere.errors.NotFoundError) as error:
        program.signature("backward")
    assert str(error.value) == "[backward] no such function: expected one of forward"
