"""Bundles made by hand of their fields, as programs for PyTorch/XLA make them; .meta as it writes it."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest
import torch
from torch import nn

import torchere
from torchere import stablehlo
from torchere.errors import Error, InvalidArgumentError
from torchere.stablehlo import (
    InputLocation,
    StableHLOFunc,
    StableHLOFunctionMeta,
    StableHLOGraphModule,
    StableHLOJSONSerializer,
    StableHLOModelBundle,
    VariableSignature,
    VariableType,
    stablehlo_obj_hook,
)

TEXT = """module @hand attributes {} {
  func.func @main(%w: tensor<3xf32>, %c: tensor<f32>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}
"""


def meta(**changes):
    return StableHLOFunctionMeta(
        **{
            "name": "forward",
            "stablehlo_version": "0.0.0",
            "input_signature": [
                VariableSignature([3], "float32"),
                VariableSignature([], "float32"),
                VariableSignature([2, 3], "float32"),
            ],
            "output_signature": [VariableSignature([2, 3], "float32")],
            "input_locations": [
                InputLocation.parameter("scale"),
                InputLocation.constant(0),
                InputLocation.input_arg(1),
            ],
            "unused_inputs": [(InputLocation.input_arg(0), VariableSignature([], "int"))],
            **changes,
        }
    )


def bundle(bytecode=b"", text=TEXT, **changes):
    return StableHLOModelBundle(
        state_dict={"scale": np.array([1, 2, 3], np.float32)},
        additional_constants=[np.array(0.5, np.float32)],
        stablehlo_funcs=[StableHLOFunc(meta(**changes), bytecode, text)],
    )


X = torch.arange(6.0).reshape(2, 3)
EXPECTED = X * torch.tensor([1.0, 2.0, 3.0]) + 0.5


def check(program):
    result = program(7, X)
    assert torch.equal(result[0] if isinstance(result, (list, tuple)) else result, EXPECTED)


def bytecode():
    program = StableHLOGraphModule(bundle())
    return program.get_stablehlo_bytecode()


def test_locations_have_constructors():
    assert InputLocation.parameter("w") == InputLocation(VariableType.PARAMETER, -1, "w")
    assert InputLocation.parameter(name="w").name == "w"
    assert InputLocation.input_arg(2) == InputLocation(type_=VariableType.INPUT_ARG, position=2)
    assert InputLocation.constant(position=1) == InputLocation(VariableType.CONSTANT, 1, "")


@pytest.mark.parametrize("form", ["text", "bytecode", "both"])
def test_a_bundle_made_by_hand_is_a_program(form, tmp_path):
    made = {
        "text": lambda: bundle(),
        "bytecode": lambda: bundle(bytecode(), None),
        "both": lambda: bundle(bytecode()),
    }[form]()
    program = StableHLOGraphModule(made)
    check(program)
    check(StableHLOGraphModule(bundle=made))
    assert "stablehlo.multiply" in program.get_stablehlo_text("forward")
    assert list(program.state_dict()) == ["scale"]
    assert program._bundle.stablehlo_funcs[0].meta.input_locations == meta().input_locations
    program.save(tmp_path / "made")
    check(StableHLOGraphModule.load(tmp_path / "made"))
    check(copy.deepcopy(program))
    check(pickle.loads(pickle.dumps(program)))


def test_bundles_are_copied_and_pickled():
    for made in (bundle(), torchere.export(nn.Linear(3, 2), (torch.ones(1, 3),))._bundle):
        copies = (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)))
        for other in copies:
            assert isinstance(other, StableHLOModelBundle)
            (function,), (known,) = other.stablehlo_funcs, made.stablehlo_funcs
            assert (function.meta, function.bytecode, function.text) == (
                known.meta,
                known.bytecode,
                known.text,
            )
            assert function == known
            assert other.state_dict.keys() == made.state_dict.keys()
            for name, value in made.state_dict.items():
                np.testing.assert_array_equal(other.state_dict[name], value)
        assert copies[1].state_dict is not made.state_dict
        with pytest.raises(AttributeError, match="'StableHLOModelBundle' object has no attribute 'funcs'"):
            _ = made.funcs


def test_a_programs_bundle_is_a_program_again():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))
            self.linear = nn.Linear(3, 2).bfloat16()

        def forward(self, x, *, scale):
            self.count.add_(1)
            return {"y": self.linear(x) * scale, "n": self.count * 1}

    x = torch.ones(1, 3, dtype=torch.bfloat16)
    program = torchere.export(Counter(), (x,), {"scale": x[:, :2]})
    for made in (
        program._bundle,
        pickle.loads(pickle.dumps(program._bundle)),
        copy.deepcopy(program._bundle),
    ):
        again = StableHLOGraphModule(made)
        for count in (1, 2):  # state and keyword arguments, which a .meta does not have
            result = again(x, scale=x[:, :2])
            assert result["n"] == count and torch.equal(result["y"], program(x, scale=x[:, :2])["y"])
    changed = program._bundle
    changed.state_dict["linear.weight"] = torch.zeros(2, 3, dtype=torch.bfloat16)
    changed.state_dict["linear.bias"] = torch.ones(2, dtype=torch.bfloat16)
    assert torch.equal(StableHLOGraphModule(changed)(x, scale=x[:, :2])["y"], x[:, :2])


def test_parts_are_dataclasses():
    assert [field.name for field in dataclasses.fields(StableHLOFunc)] == ["meta", "bytecode", "text"]
    assert [field.name for field in dataclasses.fields(StableHLOModelBundle)] == [
        "state_dict",
        "additional_constants",
        "stablehlo_funcs",
    ]
    function = torchere.export(nn.Linear(3, 2), (torch.ones(1, 3),))._bundle.stablehlo_funcs[0]
    renamed = dataclasses.replace(function, meta=dataclasses.replace(function.meta, name="other"))
    assert renamed.bytecode == function.bytecode
    with pytest.raises(TypeError):
        StableHLOFunc()


def test_a_renamed_function_is_called_by_its_name():
    made = bundle(name="backward")
    program = StableHLOGraphModule(made)
    result = program.evaluate("backward", (7, X))
    assert torch.equal(torch.as_tensor(result[0] if isinstance(result, (list, tuple)) else result), EXPECTED)


def test_json_of_a_description_is_read_again():
    text = json.dumps(meta(), cls=StableHLOJSONSerializer)
    assert json.loads(text)["input_locations"][0] == {"type_": "parameter", "position": -1, "name": "scale"}
    assert json.loads(text)["unused_inputs"] == [
        [{"type_": "input_arg", "position": 0, "name": ""}, {"shape": [], "dtype": "int", "dynamic_dims": []}]
    ]
    read = json.loads(text, object_hook=stablehlo_obj_hook)
    assert isinstance(read, StableHLOFunctionMeta)
    assert read == meta(unused_inputs=[list(pair) for pair in meta().unused_inputs])
    assert json.loads('{"other": {"a": 1}}', object_hook=stablehlo_obj_hook) == {"other": {"a": 1}}
    with pytest.raises(TypeError):
        json.dumps(object(), cls=StableHLOJSONSerializer)


def test_the_file_is_what_the_serializer_writes(tmp_path):
    program = torchere.export(nn.Linear(3, 2), (torch.ones(1, 3),))
    program.save(tmp_path / "linear")
    written = json.loads((tmp_path / "linear/functions/forward.meta").read_text())
    ours = json.dumps(program._bundle.stablehlo_funcs[0].meta, cls=StableHLOJSONSerializer)
    assert json.loads(ours) == written


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: StableHLOModelBundle({}, [], []), "[stablehlo_funcs] a bundle without functions"),
        (lambda: bundle(b"", None), "[forward] no module: got neither bytecode nor text"),
        (lambda: bundle(b"nonsense", None), "[forward]"),
        (
            lambda: StableHLOModelBundle({"scale": [1, 2, 3]}, [], [StableHLOFunc(meta(), b"", TEXT)]),
            "[scale] no array: got a list, expected an array or a tensor",
        ),
        (
            lambda: StableHLOModelBundle(
                {"scale": np.ones(4, np.float32)}, [np.float32(1)], [StableHLOFunc(meta(), b"", TEXT)]
            ),
            "[scale]",
        ),
        (
            lambda: StableHLOModelBundle({"constant_0": X}, [X], [StableHLOFunc(meta(), b"", TEXT)]),
            "[constant_0] a weight has the name of a constant: expected another",
        ),
        (
            lambda: StableHLOModelBundle(
                {"scale": np.ones(3, np.float32)}, [], [StableHLOFunc(meta(), b"", TEXT)]
            ),
            "constant",
        ),
    ],
    ids=["empty", "module", "bytecode", "list", "shape", "names", "missing"],
)
def test_what_is_wrong_with_a_bundle_is_said(made, message):
    with pytest.raises((Error, InvalidArgumentError, ValueError)) as error:
        StableHLOGraphModule(made())(7, X)
    assert message in str(error.value)


def test_numbers_of_numpy_are_constants():
    made = dataclasses.replace(bundle(), additional_constants=[np.float32(0.5)])
    check(StableHLOGraphModule(made))


# ---- .meta


class Scaled(nn.Module):
    def forward(self, x, times=2, factor=0.5, negate=True, mode="plain", nothing=None):
        x = x * times * factor
        return -x if negate else x


KINDS = [(1, "int"), (2, "float"), (3, "bool"), (4, "str"), (5, "NoneType")]


def test_non_tensor_inputs_have_the_names_of_their_types(tmp_path):
    program = torchere.export(Scaled(), (X, 3, 0.25, True, "plain", None))
    described = program._bundle.stablehlo_funcs[0].meta.unused_inputs
    assert [(place.position, item.dtype) for place, item in described] == KINDS
    program.save(tmp_path / "scaled")
    file = (tmp_path / "scaled/functions/forward.meta").read_text()
    assert "<class" not in file and '"dtype":"int"' in file.replace(" ", "")


@pytest.mark.parametrize("style", ["2.3", "2.2"])
@pytest.mark.parametrize("has_trees", [True, False])
def test_directories_of_pytorch_xla_with_non_tensor_inputs_are_read(tmp_path, style, has_trees):
    """Written here as PyTorch/XLA writes them: without our files, with either name of each type."""
    args = (X, 3, 0.25, True, "plain", None)
    torchere.export(Scaled(), args).save(tmp_path / "old")
    folder = tmp_path / "old"
    (folder / "manifest.json").unlink()
    (folder / "functions/forward.signature.json").unlink()
    file = folder / "functions/forward.meta"
    fields = json.loads(file.read_text())
    for _, item in fields["unused_inputs"]:
        item["dtype"] = f"<class '{item['dtype']}'>" if style == "2.2" else item["dtype"]
    if not has_trees:
        fields["input_pytree_spec"] = fields["output_pytree_spec"] = None
    file.write_text(json.dumps(fields))
    program = StableHLOGraphModule.load(folder)
    result = program(*args)
    result = result[0] if isinstance(result, (list, tuple)) else result
    assert torch.equal(result, -(X * 0.75))
    program.save(tmp_path / "new")
    assert torch.equal(stablehlo.StableHLOGraphModule.load(tmp_path / "new")(*args)[0], result[0])
