"""The program `torchere`, and a saved program that needs no torch to make."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

TEXT = """module @affine {
  func.func @main(%arg0: tensor<3x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<4x3xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0] : \
(tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x2xf32>
    %3 = "stablehlo.add"(%2, %1) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    return %3 : tensor<4x2xf32>
  }
}
"""


@pytest.fixture(scope="session")
def binary():
    return Path(__file__).resolve().parents[2] / "python/torchere/bin/torchere"


@pytest.fixture(scope="session")
def plugin():
    """The default's name."""
    return "torchere_cpu"


@pytest.fixture(scope="session")
def torchere(binary):
    """Runs the program; gives its exit code, stdout and stderr."""

    def run(*arguments, **environment):
        command = [binary, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
        return done.returncode, done.stdout, done.stderr

    return run


def leaf_tuple(count):
    leaf = {"type": None, "context": None, "children_spec": []}
    return {"type": "builtins.tuple", "context": "null", "children_spec": [leaf] * count}


def arguments(count):
    """So many by position, and none by keyword."""
    keywords = {"type": "builtins.dict", "context": "[]", "children_spec": []}
    return leaf_tuple(0) | {"children_spec": [leaf_tuple(count), keywords]}


def describe_affine():
    def signature(*shape):
        return {"shape": shape, "dtype": "float32", "dynamic_dims": []}

    def location(type_, position=-1, name=""):
        return {"type_": type_, "position": position, "name": name}

    flag = {"shape": [], "dtype": "<class 'int'>", "dynamic_dims": []}
    return {
        "name": "forward",
        "stablehlo_version": "0.0.0",
        "input_signature": [signature(3, 2), signature(2), signature(4, 3)],
        "output_signature": [signature(4, 2)],
        "input_locations": [
            location("parameter", name="weight"),
            location("constant", 0),
            location("input_arg", 0),
        ],
        "unused_inputs": [[location("input_arg", 1), flag]],
        "input_pytree_spec": json.dumps([1, arguments(2)]),
        "output_pytree_spec": json.dumps([1, leaf_tuple(1)]),
    }


@pytest.fixture
def affine(tmp_path):
    """f(x, flag) = x @ weight + 2 * bias, in a directory as PyTorch/XLA writes it, with nothing of ours."""
    root = tmp_path / "affine"
    for folder in ("functions", "data", "constants"):
        (root / folder).mkdir(parents=True)
    (root / "functions/forward.meta").write_text(json.dumps(describe_affine()))
    (root / "functions/forward.mlir").write_text(TEXT)
    with open(root / "data/weight", "wb") as file:
        np.save(file, np.arange(6, dtype=np.float32).reshape(3, 2))
    with open(root / "constants/0", "wb") as file:
        np.save(file, np.array([1, 2], np.float32))
    return root


@pytest.fixture
def x(tmp_path):
    """An input of `affine`: the array and its file."""
    array = np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "x.npy", array)
    return array, tmp_path / "x.npy"
