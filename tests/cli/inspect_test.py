"""`torchere inspect`: functions, sizes, ops and weights, of PyTorch/XLA's directories and of ours."""

import json

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import torchere as package
from torchere.stablehlo import StableHLOExportOptions


def test_shows_a_directory_of_pytorch_xla(torchere, affine):
    code, out, _ = torchere("inspect", affine)
    assert code == 0
    assert out == (
        "forward\n"
        "  inputs\n"
        "    args_0  float32 (4, 3)  tensor\n"
        "  outputs\n"
        "    output_0  float32 (4, 2)  tensor\n"
        "  4 ops\n"
        "    2  stablehlo.add\n"
        "    1  stablehlo.broadcast_in_dim\n"
        "    1  stablehlo.dot_general\n"
        "1 weight, 24 B\n"
        "  weight  float32 (3, 2)  24 B\n"
    )


class Counter(nn.Module):
    """Tied weights, a state, a dynamic batch, an int and a constant."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.tied = self.scale
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, n, mode):
        self.calls += 1
        return x * self.scale + self.tied, self.calls + n, None


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    shapes = {"x": {0: Dim("batch", min=2, max=8)}, "n": Dim.DYNAMIC(min=2), "mode": None}
    path = tmp_path_factory.mktemp("saved") / "counter"
    package.export(Counter(), (torch.ones(4, 3), 5, "mean"), dynamic_shapes=shapes).save(path)
    return path


def test_shows_symbols_states_constants_and_ties(torchere, counter):
    document = json.loads(torchere("inspect", counter, "--json")[1])
    (function,) = document["functions"]
    x, n, mode = function["inputs"]
    symbol = x["shape"][0]
    assert x == {"name": "x", "kind": "tensor", "dtype": "float32", "shape": [symbol, 3]}
    assert n == {"name": "n", "kind": "int", "dtype": "int64", "shape": []}
    assert mode == {"name": "mode", "kind": "constant", "value": "mean"}
    assert [(output["kind"], output.get("dtype")) for output in function["outputs"]] == [
        ("state", "int64"),
        ("tensor", "float32"),
        ("tensor", "int64"),
        ("constant", None),
    ]
    assert {"expression": symbol, "min": 2, "max": 8} in function["ranges"]
    assert function["ops"]["stablehlo.multiply"] == 1
    weights = {weight["name"]: weight for weight in document["weights"]}
    assert weights["tied"]["bytes"] == 12
    assert [weight.get("same_as") for weight in weights.values()].count(None) == 2
    assert document["weight_bytes"] == 12 + 8
    assert document["has_weights"] is True
    text = torchere("inspect", counter)[1]
    assert f"    {symbol}  2 to 8\n" in text
    assert "  at least 2\n" in text
    assert "  = scale\n" in text


class Tied(nn.Module):
    def forward(self, x, n, m, k):
        return x + m if n == m + 1 and k == 2 else x - m


def test_shows_what_an_int_has_to_equal(torchere, tmp_path):
    shapes = (None, Dim.AUTO, Dim.AUTO, Dim.AUTO)
    package.export(Tied(), (torch.ones(3), 5, 4, 2), dynamic_shapes=shapes).save(tmp_path / "tied")
    (function,) = json.loads(torchere("inspect", tmp_path / "tied", "--json")[1])["functions"]
    assert [given.get("value") for given in function["inputs"]] == [None, "m + 1", None, 2]
    assert "  not read, equal to m + 1\n" in torchere("inspect", tmp_path / "tied")[1]
    np.save(tmp_path / "x.npy", np.ones(3, np.float32))
    given = ["run", tmp_path / "tied", "--input", tmp_path / "x.npy", "--input", "n=5", "--input"]
    assert torchere(*given, "m=4")[0] == 0
    code, _, error = torchere(*given, "m=5")
    assert code == 1 and "[n] wrong value (m + 1): got 5, expected 6 for m = 5" in error


def test_says_that_weights_were_left_out(torchere, counter, tmp_path):
    package.load(counter).save(tmp_path / "bare", StableHLOExportOptions(save_weights=False))
    code, out, _ = torchere("inspect", tmp_path / "bare")
    assert code == 0
    assert out.endswith("saved without weights\n")


def test_says_what_has_no_data(torchere, tmp_path):
    with torch.device("meta"):
        model = torch.nn.Linear(3, 2)
    program = package.export(model, torch.ones(1, 3)).with_weights({"bias": torch.zeros(2)})
    program.save(tmp_path / "half")
    code, out, _ = torchere("inspect", tmp_path / "half")
    assert code == 0
    assert [line.split() for line in out.splitlines()[-3:]] == [
        ["2", "weights,", "8", "B"],
        ["bias", "float32", "(2,)", "8", "B"],
        ["weight", "float32", "(2,", "3)", "no", "data"],
    ]


def test_says_what_is_broken(torchere, affine):
    (affine / "functions/forward.meta").write_text('{"name": "forw')
    code, _, error = torchere("inspect", affine)
    assert code == 1
    assert error.startswith(f"torchere: [{affine}/functions/forward.meta] is not JSON: ")
    assert error.endswith("at byte 15\n")
