"""SavedModels: written without TensorFlow, run by TensorFlow in every way that it has, equal to eager."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import torchere
from torchere import tf_saved_model_integration as integration

FOLDER = Path(__file__).parent / "saved_models"
sys.path.insert(0, str(FOLDER))

import cases  # noqa: E402  what the processes below run

LOADERS = ["functions", "signatures", "session", "c", "resaved"]
PROGRAM = Path(torchere.__file__).parent / "bin" / "torchere"

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="TensorFlow is not here: `make test` installs it",
)


def run(script, *arguments):
    environment = os.environ | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_ENABLE_ONEDNN_OPTS": "0",
    }
    command = [sys.executable, FOLDER / script, *arguments]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]


CHECKS = ["damage", "tf_function", "tf_function_with_variables", "other_numbers", "alias", "assertions"]


def outcomes_of(script, folder, *names):
    results = folder / f"{script}.json"
    run(script, folder, results, *names)
    return json.loads(results.read_text())


@needs_tensorflow
@pytest.mark.slow
def test_tensorflow_runs_every_case(tmp_path):
    """One process writes them all, and fails if TensorFlow is in it; two others have TensorFlow. One test, so
    that each process starts once, however many run the tests."""
    run("cases.py", tmp_path, *cases.NAMES)
    outcomes = outcomes_of("loaders.py", tmp_path, *cases.NAMES)
    for name in cases.NAMES:
        assert outcomes[name] == dict.fromkeys(LOADERS, ""), f"{name}: {outcomes[name]}"
    assert outcomes_of("checks.py", tmp_path) == dict.fromkeys(CHECKS, "")


@needs_tensorflow
@pytest.mark.sweep
def test_more_than_two_gigabytes_of_variables(tmp_path):
    run("cases.py", tmp_path, "large")
    assert outcomes_of("loaders.py", tmp_path, "large")["large"] == dict.fromkeys(LOADERS, "")


def affine(path):
    module = nn.Linear(3, 2)
    torchere.export(module, (torch.randn(4, 3),)).save(path)
    return module


def files_of(path):
    return {
        str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()
    }


FILES = ["saved_model.pb", "variables/variables.data-00000-of-00001", "variables/variables.index"]


def test_two_writes_are_the_same_bytes(tmp_path):
    torch.manual_seed(0)
    program = torchere.export(cases.EveryType(), (torch.ones(2),))
    for name in ("first", "second"):
        integration.save_stablehlo_graph_as_tf(program, tmp_path / name, function_alias="alias")
    first = files_of(tmp_path / "first")
    assert sorted(first) == FILES
    assert first == files_of(tmp_path / "second")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_the_command_needs_neither_python_nor_tensorflow(tmp_path):
    affine(tmp_path / "program")
    libraries = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in libraries.splitlines()}
    assert "libtorchere.so" in names
    assert not [name for name in names if re.match("libtensorflow|libpython|libtorch[_.]|libprotobuf", name)]
    command = [PROGRAM, "to-saved-model", tmp_path / "program", tmp_path / "tf" / "1"]
    done = subprocess.run([*command, "-k", "predict", "-a", "linear"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(files_of(tmp_path / "tf" / "1")) == FILES
    program = torchere.load(tmp_path / "program")
    integration.save_stablehlo_graph_as_tf(program, tmp_path / "other", "predict", "linear")
    assert files_of(tmp_path / "other") == files_of(tmp_path / "tf" / "1")


def test_pytorch_xlas_command_is_the_same(tmp_path, monkeypatch):
    """stablehlo-to-saved-model, which a wheel installs; the directory may be one of PyTorch/XLA's."""
    from torchere import command_line

    affine(tmp_path / "program")
    for path in [
        tmp_path / "program/manifest.json",
        *(tmp_path / "program").glob("functions/*.signature.json"),
    ]:
        path.unlink()
    monkeypatch.setattr(sys, "argv", ["stablehlo-to-saved-model", "program", "resnet_tf/1"])
    called = []
    monkeypatch.setattr(command_line.os, "execv", lambda path, arguments: called.append((path, arguments)))
    command_line.to_saved_model()
    ((path, arguments),) = called
    assert arguments == ["torchere", "to-saved-model", "program", "resnet_tf/1"]
    subprocess.run([path, *arguments[1:]], check=True, cwd=tmp_path)
    assert sorted(files_of(tmp_path / "resnet_tf" / "1")) == FILES


def test_a_target_that_is_not_empty_is_refused(tmp_path):
    affine(tmp_path / "program")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    program = torchere.load(tmp_path / "program")
    with pytest.raises(torchere.Error, match=r"there\] is not empty: expected an empty directory"):
        integration.save_stablehlo_graph_as_tf(program, tmp_path / "there")
    assert files_of(tmp_path / "there") == {"notes.txt": b"mine"}


def test_what_a_killed_process_left_is_removed(tmp_path):
    """Its folder is found by its name; one with other files stays."""
    program = torchere.export(nn.ReLU(), (torch.randn(2),))
    dead = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True).stdout.strip()
    left, others = tmp_path / f".model.{dead}.0.tmp", tmp_path / f".model.{dead}.1.tmp"
    for folder in (left, others):
        (folder / "variables").mkdir(parents=True)
        (folder / "variables/variables.data-00000-of-00001").write_bytes(b"half")
    (others / "variables/notes.txt").write_text("mine")
    integration.save_stablehlo_graph_as_tf(program, tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == [others.name, "model"]


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "[serving_key] the name is empty"),
        ("__saved_model_init_op", '[serving_key] "__saved_model_init_op" is one of TensorFlow\'s own names'),
        ("a\0b", '[serving_key] the name "a" has a NUL byte'),
    ],
)
def test_keys_that_tensorflow_would_not_take(key, reason, tmp_path):
    program = torchere.export(nn.ReLU(), (torch.randn(2),))
    with pytest.raises(torchere.Error) as caught:
        integration.save_stablehlo_graph_as_tf(program, tmp_path / "model", serving_key=key)
    assert reason in str(caught.value)
    assert not (tmp_path / "model").exists()


F32 = ([3], "float32")
MAIN = "module {{ func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{ {} return %r : tensor<3xf32> }} }}"
BOUNDED = "tensor<?xf32, #stablehlo.bounds<3>>"
REFUSED = {
    "custom call": (
        "%r = stablehlo.custom_call @mine(%x) : (tensor<3xf32>) -> tensor<3xf32>",
        "custom_call @mine is not known to TensorFlow",
    ),
    "bounded size": (
        "%n = stablehlo.constant dense<2> : tensor<i32> "
        f"%b = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<3xf32>, tensor<i32>) -> {BOUNDED} "
        "%m = stablehlo.constant dense<3> : tensor<i32> "
        f"%r = stablehlo.set_dimension_size %b, %m, dim = 0 : ({BOUNDED}, tensor<i32>) -> tensor<3xf32>",
        "stablehlo.set_dimension_size has sizes with a bound",
    ),
    "size from data": (
        "%i = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xi32> "
        "%s = stablehlo.slice %i [0:1] : (tensor<3xi32>) -> tensor<1xi32> "
        "%d = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32> "
        "%z = stablehlo.constant dense<0.0> : tensor<f32> "
        '%t = "stablehlo.reduce"(%d, %z) <{dimensions = array<i64: 0>}> ({ '
        "^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = stablehlo.add %a, %b : tensor<f32> "
        '"stablehlo.return"(%c) : (tensor<f32>) -> () }) : (tensor<?xf32>, tensor<f32>) -> tensor<f32> '
        "%r = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<3xf32>",
        "stablehlo.dynamic_iota has a shape that depends on the data of an input",
    ),
    "quantization": (
        "%q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>> "
        "%r = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xf32>",
        "stablehlo.uniform_quantize has quantized types",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tensorflow_cannot_run_is_refused_by_name(name, tmp_path):
    body, reason = REFUSED[name]
    program = cases.written_by_hand(tmp_path / "program", MAIN.format(body), [F32], [F32])
    with pytest.raises(torchere.Error) as caught:
        integration.save_stablehlo_graph_as_tf(program, tmp_path / "model")
    assert f"[forward] cannot be a SavedModel: {reason}" in str(caught.value)
    assert not (tmp_path / "model").exists()


def test_an_int_that_shapes_depend_on_is_refused(tmp_path):
    class Repeat(nn.Module):
        def forward(self, x, n):
            return x.new_ones(n) + x

    dynamic = {"x": None, "n": torch.export.Dim.DYNAMIC}
    program = torchere.export(Repeat(), (torch.randn(1), 4), dynamic_shapes=dynamic)
    with pytest.raises(torchere.Error, match="has a shape that depends on the data of an input"):
        integration.save_stablehlo_graph_as_tf(program, tmp_path / "model")


@pytest.mark.parametrize(
    ("inputs", "outputs", "reason"),
    [
        ([([3], "int32")], [F32], "argument 0 of the module is of another type than its description says: "
         "got tensor<3xf32>, expected tensor<3xi32>"),
        ([F32], [([4], "float32")], "result 0 of the module is of another type than its description says: "
         "got tensor<3xf32>, expected tensor<4xf32>"),
        ([F32, F32], [F32], "the module has 1 arguments, expected 2"),
    ],
)  # fmt: skip
def test_types_are_checked_against_the_module(inputs, outputs, reason, tmp_path):
    body = "%r = stablehlo.add %x, %x : tensor<3xf32>"
    program = cases.written_by_hand(tmp_path / "program", MAIN.format(body), inputs, outputs)
    with pytest.raises(torchere.Error) as caught:
        integration.save_stablehlo_graph_as_tf(program, tmp_path / "model")
    assert f"[forward] {reason}" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_a_dtype_that_tensorflow_cannot_hold_is_refused(dtype, tmp_path):
    class Scales(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scales", torch.ones(2).to(getattr(torch, dtype)))

        def forward(self, x):
            return x + self.scales.to(torch.float32)

    with pytest.raises(torchere.Error, match=f"scales\\] TensorFlow cannot hold the dtype {dtype}"):
        integration.save_torch_module_as_tf_saved_model(Scales(), (torch.ones(2),), tmp_path / "model")


def test_weights_have_to_be_there(tmp_path):
    affine(tmp_path / "program")
    options = torchere.stablehlo.StableHLOExportOptions(save_weights=False)
    torchere.load(tmp_path / "program").save(tmp_path / "bare", options)
    with pytest.raises(torchere.Error, match="weight"):
        integration.save_stablehlo_graph_as_tf(torchere.load(tmp_path / "bare"), tmp_path / "model")


def test_the_oldest_stablehlo_that_holds_the_module(tmp_path):
    """A plain module is written for 0.9.0; a composite, which came later, stays one."""
    plain = torchere.export(nn.Linear(3, 2), (torch.randn(4, 3),))
    integration.save_stablehlo_graph_as_tf(plain, tmp_path / "plain")
    assert b"StableHLO_v0.9.0" in (tmp_path / "plain/saved_model.pb").read_bytes()

    class Attention(nn.Module):
        def forward(self, x):
            return nn.functional.scaled_dot_product_attention(x, x, x)

    composite = torchere.export(Attention(), (torch.randn(2, 4, 8),), composites={"sdpa"})
    integration.save_stablehlo_graph_as_tf(composite, tmp_path / "composite")
    written = (tmp_path / "composite/saved_model.pb").read_bytes()
    assert b"StableHLO_v0.9.0" not in written and b"composite" in written


def test_the_pages_examples_run(tmp_path, monkeypatch):
    """docs/saved_model.md, from an empty folder."""
    page = Path(__file__).resolve().parents[2] / "docs/saved_model.md"
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for example in examples:
        exec(compile(example, str(page), "exec"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linear_any_batch_tf", "linear_tf"]
