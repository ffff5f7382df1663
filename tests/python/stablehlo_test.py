"""PyTorch/XLA's names and options: what they export, and what a bundle says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim, export

import torchere
from torchere import _core
from torchere.errors import Error, NotFoundError, UnimplementedError
from torchere.stablehlo import (
    StableHLOExportOptions,
    StableHLOGraphModule,
    VariableType,
    exported_program_to_stablehlo,
    save_as_stablehlo,
    save_torch_model_as_stablehlo,
)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.register_buffer("table", torch.arange(4.0).to(torch.bfloat16))
        self.register_buffer("flipped", torch.arange(8.0).reshape(2, 4).t()[1:])

    def forward(self, x, unused, scale=2):
        offset = torch.tensor([1.0, 2.0, 3.0, 4.0])
        return self.layer(x) * scale + self.table + offset + self.flipped.sum()


@pytest.fixture(scope="module")
def exported():
    batch = Dim("batch", max=100)
    args = (torch.ones(2, 3), torch.ones(5), 3)
    return export(Net(), args, dynamic_shapes=({0: batch}, None, None))


@pytest.fixture(scope="module")
def program(exported):
    return exported_program_to_stablehlo(exported)


def test_meta_describes_the_function(program):
    (function,) = program._bundle.stablehlo_funcs
    meta = function.meta
    assert meta.name == "forward"
    user = [i for i, place in enumerate(meta.input_locations) if place.type_ is VariableType.INPUT_ARG]
    assert [meta.input_locations[i].position for i in user] == [0]
    (x,) = (meta.input_signature[i] for i in user)
    assert (x.shape, x.dtype, x.dynamic_dims) == ([-1, 3], "float32", [0])
    names = {place.name for place in meta.input_locations if place.type_ is VariableType.PARAMETER}
    assert names == {"layer.weight", "layer.bias", "table", "flipped"}
    assert {place.position for place, _ in meta.unused_inputs} == {1, 2}
    assert [signature.shape for place, signature in meta.unused_inputs if place.position == 1] == [[5]]
    assert function.text == program.get_stablehlo_text() == program.get_stablehlo_text("forward")
    assert "tensor<?x3xf32>" in function.text


def test_state_dict_is_arrays_of_the_same_memory(program, exported):
    state = program._bundle.state_dict
    assert isinstance(state["layer.weight"], np.ndarray)
    assert state["layer.weight"].ctypes.data == exported.state_dict["layer.weight"].data_ptr()
    np.testing.assert_array_equal(state["flipped"], [[1, 5], [2, 6], [3, 7]])
    assert torch.equal(state["table"], torch.arange(4.0).to(torch.bfloat16))  # numpy has no bfloat16
    weights = program.state_dict()
    assert all(torch.equal(weights[name], value) for name, value in exported.state_dict.items())


def test_bytecode_is_the_module_of_a_version(program):
    bytecode = program.get_stablehlo_bytecode()
    assert bytecode.startswith(b"ML\xefR") and b"StableHLO_v1.16.0\0" in bytecode
    assert program._bundle.stablehlo_funcs[0].bytecode == bytecode
    assert _core.deserialize_portable_artifact(bytecode).text() == program.get_stablehlo_text()
    old = program.get_stablehlo_bytecode("forward", "1.0.0")
    assert b"StableHLO_v1.0.0\0" in old
    assert _core.deserialize_portable_artifact(old).text() == program.get_stablehlo_text()


@pytest.mark.parametrize("version", ["1.99.0", "0.8.0"])
def test_targets_out_of_range_are_refused(program, version):
    with pytest.raises(ValueError) as error:
        program.get_stablehlo_bytecode(target_version=version)
    assert str(error.value) == (
        f"[target_version] StableHLO {version} cannot be written: expected 0.9.0 to 1.20.0"
    )


def test_what_a_version_lacks_is_named_with_the_users_line(tmp_path):
    class Narrowed(torch.nn.Module):
        def forward(self, x):
            return x.to(torch.float8_e4m3fnuz).to(torch.float32)

    with pytest.raises(Error) as error:
        torchere.export(Narrowed(), (torch.ones(2),), target_version="0.9.0")
    message, place = str(error.value).split("; at ")
    assert message == (
        "[stablehlo.convert] StableHLO 0.9.0 has no type tensor<2xf8E4M3FNUZ>: it came with 0.10.0"
    )
    assert place.startswith(f"{__file__}:")
    program = torchere.export(Narrowed(), (torch.ones(2),), target_version="0.10.0")
    program.save(tmp_path / "narrowed")
    assert b"StableHLO_v0.10.0\0" in (tmp_path / "narrowed/functions/forward.bytecode").read_bytes()


def test_what_an_old_version_has_under_other_names_is_written_in_them(tmp_path):
    class Tangent(torch.nn.Module):
        def forward(self, x):
            return torch.tan(x)

    program = torchere.export(Tangent(), (torch.ones(2),), target_version="1.3.0")
    program.save(tmp_path / "tangent")
    saved = (tmp_path / "tangent/functions/forward.bytecode").read_bytes()
    for bytecode in (saved, program.get_stablehlo_bytecode(target_version="1.0.0")):
        text = _core.deserialize_portable_artifact(bytecode).text()
        assert all(op in text for op in ("stablehlo.sine", "stablehlo.cosine", "stablehlo.divide"))
        assert "stablehlo.tan " not in text
    assert "stablehlo.tan " in program.get_stablehlo_text()
    newer = torchere.export(Tangent(), (torch.ones(2),)).get_stablehlo_bytecode(target_version="1.4.0")
    assert "stablehlo.tan " in _core.deserialize_portable_artifact(newer).text()


def test_unknown_functions_are_named(program):
    for request in (program.get_stablehlo_text, program.get_stablehlo_bytecode):
        with pytest.raises(NotFoundError) as error:
            request("backward")
        assert str(error.value) == "[backward] no such function: expected one of forward"


def test_large_constants_are_arguments_when_asked(exported):
    (inlined,) = exported_program_to_stablehlo(exported)._bundle.stablehlo_funcs
    options = StableHLOExportOptions(inline_all_constant=False)
    bundle = exported_program_to_stablehlo(exported, options)._bundle
    assert VariableType.CONSTANT not in {place.type_ for place in inlined.meta.input_locations}
    assert VariableType.CONSTANT in {place.type_ for place in bundle.stablehlo_funcs[0].meta.input_locations}
    tensor, number = bundle.additional_constants
    np.testing.assert_array_equal(tensor, [1, 2, 3, 4])
    assert number == 3 and number.shape == ()


@torch.library.custom_op("torchere_test::scaled", mutates_args=())
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@scaled.register_fake
def _(x):
    return torch.empty_like(x)


def test_allowed_custom_ops_become_custom_calls():
    class Custom(nn.Module):
        def forward(self, x):
            return torch.ops.torchere_test.scaled(x) + 1

    custom = export(Custom(), (torch.ones(2),))
    options = StableHLOExportOptions(custom_ops_allowed_in_graph={"torchere_test"})
    text = exported_program_to_stablehlo(custom, options).get_stablehlo_text()
    assert "stablehlo.custom_call @torchere_test.scaled" in text
    with pytest.raises(UnimplementedError, match=r"torchere_test\.scaled\.default: 1 use, first at"):
        exported_program_to_stablehlo(custom)


def test_node_metadata_is_in_the_text(exported):
    plain = exported_program_to_stablehlo(exported).get_stablehlo_text()
    options = StableHLOExportOptions(export_node_metadata=True)
    program = exported_program_to_stablehlo(exported, options)
    assert "loc(" not in plain
    assert r"{\22name\22:" in program.get_stablehlo_text()
    assert r"\22stack_trace\22:" in program.get_stablehlo_text()


def test_saving_writes_pytorch_xlas_files(exported, tmp_path):
    save_as_stablehlo(exported, tmp_path / "a")
    files = {str(path.relative_to(tmp_path / "a")) for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert files >= {"functions/forward.meta", "functions/forward.mlir", "data/layer.weight", "data/table"}
    loaded = StableHLOGraphModule.load(tmp_path / "a")
    assert loaded.get_stablehlo_text() == exported_program_to_stablehlo(exported).get_stablehlo_text()
    assert torch.equal(loaded.state_dict()["table"], exported.state_dict["table"])
    assert loaded.program is None

    save_torch_model_as_stablehlo(nn.Linear(2, 2), (torch.ones(1, 2),), tmp_path / "deep" / "b")
    assert (tmp_path / "deep" / "b" / "functions" / "forward.mlir").is_file()


def test_weights_can_be_left_out(exported, tmp_path):
    save_as_stablehlo(exported, tmp_path / "a", StableHLOExportOptions(save_weights=False))
    assert not list((tmp_path / "a" / "data").glob("*"))
    program = exported_program_to_stablehlo(exported, StableHLOExportOptions(export_weights=False))
    assert program._bundle.state_dict == {}


def test_a_program_is_not_overwritten_unasked(program, tmp_path):
    program.save(tmp_path / "a")
    with pytest.raises(torchere.Error):
        program.save(tmp_path / "a")
    program.save(tmp_path / "a", overwrite=True)


def test_override_arguments_export_again(exported):
    args = (torch.ones(2, 3), torch.ones(5), 3)
    options = StableHLOExportOptions(override_tracing_arguments=args)
    assert "tensor<2x3xf32>" in exported_program_to_stablehlo(exported, options).get_stablehlo_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((torch.ones(5, 4),), "size of dimension 0: got 5, expected 3\n  to do: capture it with"),
        ((torch.ones(4),), "rank: got 1, expected 2"),
    ],
)
def test_overrides_of_other_sizes_are_refused(args, message):
    exported = torch.export.export(nn.Linear(4, 4), (torch.ones(3, 4),))
    with pytest.raises(torchere.errors.InvalidArgumentError) as error:
        exported_program_to_stablehlo(exported, StableHLOExportOptions(override_tracing_arguments=args))
    assert f"[override_tracing_arguments] 'input' has another {message}" in str(error.value)


def test_a_guard_that_overrides_violate_is_named():
    rows = torch.export.Dim("rows", min=2, max=8)
    exported = torch.export.export(nn.ReLU(), (torch.ones(3, 4),), dynamic_shapes=({0: rows},))
    options = StableHLOExportOptions(override_tracing_arguments=(torch.ones(2, 4),))
    assert "tensor<2x4xf32>" in exported_program_to_stablehlo(exported, options).get_stablehlo_text()
    options = StableHLOExportOptions(override_tracing_arguments=(torch.ones(9, 4),))
    with pytest.raises(torchere.errors.CaptureError, match="not captured for: got others, expected input"):
        exported_program_to_stablehlo(exported, options)


def test_timings_and_the_program_are_kept():
    program = torchere.export(nn.Linear(2, 2), torch.ones(1, 2))
    assert list(program.timings) == ["export", "walk", "expand", "functionalize", "lower", "verify"]
    assert all(seconds >= 0 for seconds in program.timings.values())
    assert "torch.ops.aten.linear.default(" in str(program.program)


def test_exporting_twice_gives_the_same_files(tmp_path):
    model = Net()
    for name in ("a", "b"):
        torchere.export(model, (torch.ones(2, 3), torch.ones(5), 3)).save(tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
