"""`torchere verify`: two programs, or one on two plugins, output by output."""

import json
import shutil

import numpy as np
import pytest
import torch

import torchere as package


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, ids, n=2):
        self.calls += 1
        y = torch.nn.functional.silu(self.linear(x))
        return y, ids.sum(-1) + n, (y * 8).half()


def quick(x):
    return x * torch.sigmoid(1.1 * x)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Two programs of one module with a dynamic dimension of at least 20, the second with a wrong silu."""
    folder, batch = tmp_path_factory.mktemp("programs"), torch.export.Dim("batch", min=20)
    args, module = (torch.randn(30, 4), torch.arange(60).view(30, 2)), Counted()
    for name, decompositions in {"right": {}, "wrong": {torch.ops.aten.silu.default: quick}}.items():
        program = package.export(
            module, args, dynamic_shapes=({0: batch}, {0: batch}), decompositions=decompositions
        )
        program.save(folder / name)
    return folder / "right", folder / "wrong"


@pytest.mark.parametrize("other", ["interpreter", "cpu"])
def test_one_program_on_two_plugins(torchere, programs, plugin, other):
    right, _ = programs
    code, out, error = torchere("verify", right, "--plugin", other, PJRT_DEVICE=plugin)
    assert (code, error) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"forward: {right} on {plugin} against {right} on {other}"
    assert lines[1].split() == ["value", "dtype", "shape", "error", "relative", "verdict"]
    names = [line.split()[0] for line in lines[2:]]
    assert names == ["output_0", "output_1", "output_2", "calls"]
    assert "float32  (20, 4)" in lines[2]  # the least size that the program takes
    assert all(line.endswith("ok") for line in lines[2:])


def test_two_programs_that_differ(torchere, programs, plugin):
    right, wrong = programs
    code, out, error = torchere("verify", right, "--against", wrong, "--json", PJRT_DEVICE=plugin)
    assert code == 1
    assert error == f"torchere: [{right}] 2 of 4 values differ from those of {wrong} on {plugin}\n"
    values = json.loads(out)["values"]
    assert [value["verdict"] == "ok" for value in values] == [False, True, False, True]
    assert values[0]["verdict"].startswith("got ")
    assert values[0]["verdict"].endswith(", expected at most 1.0e-04")
    assert 1e-3 < values[0]["relative"] < 1
    code, _, _ = torchere("verify", right, "--against", wrong, "--tolerance", 1, PJRT_DEVICE=plugin)
    assert code == 0
    # Another seed, other numbers.
    other = torchere("verify", right, "--against", wrong, "--json", "--seed", 5, PJRT_DEVICE=plugin)
    assert json.loads(other[1])["values"][0]["error"] != values[0]["error"]


def test_given_inputs(torchere, programs, tmp_path, plugin):
    right, wrong = programs
    np.save(tmp_path / "x.npy", np.zeros((25, 4), np.float32))
    np.save(tmp_path / "ids.npy", np.zeros((25, 2), np.int64))
    inputs = ("--input", tmp_path / "x.npy", "--input", f"ids={tmp_path / 'ids.npy'}")
    code, out, _ = torchere("verify", right, "--against", wrong, *inputs, PJRT_DEVICE=plugin)
    assert code == 1 and "(25, 4)" in out


def test_damaged_state_is_a_difference(torchere, programs, tmp_path, plugin):
    right, _ = programs
    other = tmp_path / "other"
    shutil.copytree(right, other)
    np.save(other / "data/calls", np.float32(7))
    (other / "data/calls.npy").rename(other / "data/calls")
    code, out, _ = torchere("verify", right, "--against", other, PJRT_DEVICE=plugin)
    assert code == 1
    assert [line.split()[0] for line in out.splitlines()[2:] if not line.endswith("ok")] == ["calls"]


def test_misuse_is_named(torchere, programs, affine, plugin):
    right, _ = programs
    code, out, error = torchere("verify", right)
    expected = "expected --against DIR2, --plugin NAME, or both"
    assert (code, out) == (1, "")
    assert error == f"torchere: [verify] nothing to compare {right} with: {expected}\n"
    code, _, error = torchere("verify", right, "--against", affine, PJRT_DEVICE=plugin)
    assert (code, error) == (1, "torchere: [args_0] wrong size of dimension 0: got 20, expected 4\n")
