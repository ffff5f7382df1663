"""The directory of a program: read as PyTorch/XLA reads it, in every dtype of torch, the same to the byte."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import torchere

# numpy has names for these; of the others a file holds the raw bytes.
NAMED = [torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16]
NAMED += [torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]
NAMED += [torch.complex64, torch.complex128]
RAW = [torch.bfloat16, torch.complex32, torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2]
RAW += [torch.float8_e5m2fnuz, torch.float8_e8m0fnu]


def make_values(dtype):
    size = 12 * dtype.itemsize
    data = torch.arange(1, size + 1, dtype=torch.uint8)
    return (data % 2 if dtype is torch.bool else data).view(dtype).reshape(3, 4)


def bytes_of(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


class Everything(nn.Module):
    """Buffers of every dtype, tied and transposed weights, a state, a keyword, a large constant."""

    def __init__(self):
        super().__init__()
        for dtype in NAMED + RAW:
            self.register_buffer(f"of_{dtype}".replace("torch.", ""), make_values(dtype))
        self.linear = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.linear.weight
        self.turned = nn.Parameter(torch.arange(12.0).reshape(3, 4).t())
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.table = torch.arange(100.0)

    def forward(self, x, *, scale):
        self.calls += 1
        return self.tied(self.linear(x)) @ self.turned * scale + self.table.sum(), self.calls + 0


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    torch.manual_seed(0)
    module = Everything()
    state = {name: value.clone() for name, value in module.state_dict().items()}
    arguments, keywords = (torch.ones(2, 4),), {"scale": torch.full((), 2.0)}
    path = tmp_path_factory.mktemp("saved") / "program"
    torchere.export(module, arguments, keywords).save(path)
    return path, state, arguments, keywords, module(*arguments, **keywords)


def test_the_meta_has_exactly_pytorch_xlas_keys(saved):
    meta = json.loads((saved[0] / "functions/forward.meta").read_text())
    assert set(meta) == {
        "name", "stablehlo_version", "input_signature", "output_signature",
        "input_locations", "unused_inputs", "input_pytree_spec", "output_pytree_spec",
    }  # fmt: skip
    unused = [signature for _, signature in meta["unused_inputs"]]
    for signature in meta["input_signature"] + meta["output_signature"] + unused:
        assert set(signature) == {"shape", "dtype", "dynamic_dims"}
    for location in meta["input_locations"] + [location for location, _ in meta["unused_inputs"]]:
        assert set(location) == {"type_", "position", "name"}
        assert location["type_"] in ("input_arg", "parameter", "constant")
    assert len(meta["input_locations"]) == len(meta["input_signature"])
    assert pytree.treespec_loads(meta["input_pytree_spec"]).num_leaves == 2
    assert pytree.treespec_loads(meta["output_pytree_spec"]).num_leaves == 2


def test_every_weight_is_a_file_that_numpy_reads(saved):
    path, state, *_ = saved
    assert {file.name for file in (path / "data").iterdir()} == set(state)
    for name, value in state.items():
        array = np.load(path / "data" / name)
        assert array.shape == tuple(value.shape)
        assert array.tobytes() == bytes_of(value), name
        if value.dtype in NAMED:
            assert array.dtype == value.numpy().dtype
        else:
            assert array.dtype == np.dtype(f"V{value.dtype.itemsize}")


def test_arguments_of_the_function_are_in_the_files(saved):
    path = saved[0]
    meta = json.loads((path / "functions/forward.meta").read_text())
    for location, signature in zip(meta["input_locations"], meta["input_signature"], strict=True):
        if location["type_"] == "input_arg":
            continue
        file = (
            f"data/{location['name']}"
            if location["type_"] == "parameter"
            else f"constants/{location['position']}"
        )
        assert list(np.load(path / file).shape) == signature["shape"]
    assert np.load(path / "constants/0").tolist() == list(range(100))


def test_tied_weights_are_one_file(saved):
    path = saved[0]
    assert os.path.samefile(path / "data/linear.weight", path / "data/tied.weight")
    state = torchere.load(path).state_dict()
    assert state["linear.weight"].data_ptr() == state["tied.weight"].data_ptr()


def test_a_file_and_a_directory_of_one_name(tmp_path):
    module = nn.Module()
    module.weights = nn.ParameterDict({"a": torch.ones(2), "a/b": torch.zeros(2)})
    module.forward = lambda x: x * module.weights["a"] + module.weights["a/b"]
    program = torchere.export(module, (torch.ones(2),))
    with pytest.raises(torchere.errors.InvalidArgumentError) as error:
        program.save(tmp_path / "program")
    assert str(error.value) == (
        "[save] the weights 'weights.a' and 'weights.a/b' would be a file and a directory of one name: "
        "expected other names, or one file (PATH.torchere)"
    )
    assert not (tmp_path / "program").exists()
    program.save(tmp_path / "program.torchere")
    assert torch.equal(torchere.load(tmp_path / "program.torchere")(torch.ones(2)), torch.ones(2))


def test_loads_every_dtype(saved):
    path, state, *_ = saved
    loaded = torchere.load(path).state_dict()
    assert set(loaded) == set(state)
    for name, value in state.items():
        assert loaded[name].dtype == value.dtype
        assert bytes_of(loaded[name]) == bytes_of(value), name


def test_runs_in_a_process_without_the_models_code(saved, tmp_path):
    path, _, arguments, keywords, expected = saved
    torch.save((arguments, keywords, expected), tmp_path / "case")
    script = (
        "import sys, torch, torchere\n"
        "arguments, keywords, expected = torch.load(sys.argv[2])\n"
        "program = torchere.load(sys.argv[1])\n"
        "first, calls = program(*arguments, **keywords)\n"
        "assert torch.allclose(first, expected[0], atol=1e-5), (first, expected)\n"
        "assert int(calls) == 1 and int(program(*arguments, **keywords)[1]) == 2\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(torchere.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script, path, tmp_path / "case"], check=True, env=environment)


def test_two_exports_are_the_same_to_the_byte(tmp_path):
    for name in ("a", "b"):
        torch.manual_seed(0)
        torchere.export(Everything(), (torch.ones(2, 4),), {"scale": torch.ones(())}).save(tmp_path / name)
    files = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in "ab"
    ]
    assert files[0] == files[1]
    for file in files[0]:
        if (tmp_path / "a" / file).is_file():
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_writing_into_a_loaded_weight_leaves_the_file(saved):
    path = saved[0]
    before = (path / "data/linear.bias").read_bytes()
    torchere.load(path).state_dict()["linear.bias"].data.add_(1)
    assert (path / "data/linear.bias").read_bytes() == before


def test_a_directory_with_pytorch_xlas_bytecode_alone_runs(tmp_path):
    """PyTorch/XLA writes bytecode by StableHLO's own library, as jaxlib does, and text only if asked to."""
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

        def forward(self, x):
            return torch.tanh(x * self.factor)

    module = Scaled()
    program = torchere.export(module, (torch.ones(2, 3),))
    program.save(tmp_path / "p")
    for ours in ("manifest.json", "functions/forward.signature.json", "functions/forward.mlir"):
        (tmp_path / "p" / ours).unlink()
    with mlir.make_ir_context():
        theirs = ir.Module.parse(program.get_stablehlo_text())
        for version in ("1.17.0", "1.9.5", "0.9.0"):
            artifact = stablehlo.serialize_portable_artifact(theirs, version)
            (tmp_path / "p/functions/forward.bytecode").write_bytes(artifact)
            loaded = torchere.load(tmp_path / "p")
            x = torch.tensor([[0.5, -1.0, 0.25], [0.0, 2.0, -0.5]])
            torch.testing.assert_close(loaded(x), module(x))
            assert loaded.get_stablehlo_text().strip() == program.get_stablehlo_text().strip()
