"""Several entry points of one program: their names, the weights and the state that they share."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import torchere
from torchere.errors import InvalidArgumentError, NotFoundError


class Translator(nn.Module):
    """An encoder and a decoder with a cache that one of its methods fills and another reads and extends."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.encoder = nn.Linear(8, 8)
        self.decoder = nn.Linear(8, 8)
        self.register_buffer("cache", torch.zeros(4, 8))

    def prefill(self, ids):
        hidden = torch.tanh(self.encoder(self.embedding(ids)))
        self.cache.copy_(hidden)
        return hidden.sum(-1)

    def step(self, token):
        hidden = self.decoder(self.embedding(token) + self.cache.mean(0))
        self.cache[0] = hidden
        return hidden @ self.embedding.weight.T


class Inner(nn.Module):
    """The translator's cache and decoder under other names."""

    def __init__(self, translator):
        super().__init__()
        self.linear = translator.decoder
        self.register_buffer("memory", translator.cache)

    def forward(self, scale):
        self.memory.mul_(scale)
        return self.linear(self.memory)


IDS, TOKEN, SCALE = torch.tensor([3, 1, 4, 1]), torch.tensor(5), torch.tensor(0.5)


def entry_points(model):
    return {
        "prefill": (model.prefill, (IDS,)),
        "step": {"target": model.step, "args": (TOKEN,)},
        "inner": torch.export.export(Inner(model), (SCALE,)),
    }


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Translator().eval()


@pytest.fixture
def program(model):
    return torchere.export(entry_points(model))


@torch.no_grad()
def check_calls(program, model, rounds=2):
    """The calls give what the module's methods give, whose state is that of a copy."""
    inner = Inner(model)
    for _ in range(rounds):
        torch.testing.assert_close(program["prefill"](IDS), model.prefill(IDS))
        torch.testing.assert_close(program["step"](TOKEN), model.step(TOKEN))
        torch.testing.assert_close(program.evaluate("inner", (SCALE,)), inner(SCALE))
        torch.testing.assert_close(program["step"](TOKEN), model.step(TOKEN))


@pytest.mark.parametrize("way", ["exported", "directory", "pickle", "deepcopy", "file"])
def test_state_is_shared(model, program, way, tmp_path):
    if way in ("directory", "file"):
        path = tmp_path / ("program" if way == "directory" else "program.torchere")
        program.save(path)
        program = torchere.load(path)
    elif way == "pickle":
        program = pickle.loads(pickle.dumps(program))
    elif way == "deepcopy":
        program = copy.deepcopy(program)
    check_calls(program, copy.deepcopy(model))


@pytest.mark.parametrize("way", ["directory", "pickle", "deepcopy", "file"])
def test_present_state_goes_along(model, program, way, tmp_path):
    reference = copy.deepcopy(model)
    check_calls(program, reference, rounds=1)
    if way in ("directory", "file"):
        path = tmp_path / ("program" if way == "directory" else "program.torchere")
        program.save(path, state="present")
        other = torchere.load(path)
    else:
        other = pickle.loads(pickle.dumps(program)) if way == "pickle" else copy.deepcopy(program)
    with torch.no_grad():
        expected = reference.step(TOKEN)
        torch.testing.assert_close(other["step"](TOKEN), expected)
        torch.testing.assert_close(other["inner"](SCALE), Inner(reference)(SCALE))  # tied to the same state


def test_weights_are_stored_once(model, program, tmp_path):
    names = {*model.state_dict(), "linear.weight", "linear.bias", "memory"}
    assert set(program.state_dict()) == names
    assert len(list(program.parameters())) == len(list(model.parameters()))
    program.save(tmp_path / "directory", digests=True)
    files = {os.stat(file).st_ino: file.stat().st_size for file in (tmp_path / "directory/data").iterdir()}
    assert len(files) == len(model.state_dict())
    loaded = torchere.load(tmp_path / "directory", verify=True)
    weights = loaded.state_dict()
    assert weights["linear.weight"].data_ptr() == weights["decoder.weight"].data_ptr()
    for name in program.functions:
        assert (tmp_path / f"directory/functions/{name}.meta").exists()


def test_snapshot_reset_and_load_state_dict(model, program):
    check_calls(program, copy.deepcopy(model), rounds=1)
    snapshot = program.snapshot()
    assert set(snapshot) == {"cache", "memory"} and snapshot["cache"].equal(snapshot["memory"])
    first = program["step"](TOKEN)
    program.load_state_dict(snapshot, strict=False)
    assert program["step"](TOKEN).equal(first)
    program.reset()
    check_calls(program, copy.deepcopy(model), rounds=1)
    program.load_state_dict({"memory": torch.ones(4, 8)}, strict=False)  # by either name
    assert program.state_dict()["cache"].equal(torch.ones(4, 8))
    other = Translator()
    values = program.state_dict() | other.state_dict() | dict(Inner(other).state_dict())
    program.load_state_dict(values)
    check_calls(program, copy.deepcopy(other))
    program.load_state_dict(other.state_dict())  # without the names of the inner module, which are tied
    check_calls(program, other)
    with pytest.raises(InvalidArgumentError, match=r'Missing key\(s\) in state_dict: "encoder.bias"'):
        program.load_state_dict({k: v for k, v in other.state_dict().items() if k != "encoder.bias"})
    assert len(list(program.parameters())) == len(list(other.parameters()))  # still tied


def test_with_weights(model, program):
    other = Translator()
    check_calls(program.with_weights(other.state_dict()), copy.deepcopy(other))  # tied names follow


def test_names_in_conflict(tmp_path):
    """Modules with weights of one name: the entry points' names come first."""
    encoder, decoder = nn.Linear(4, 8), nn.Linear(8, 3)
    x, y = torch.randn(2, 4), torch.randn(2, 8)
    program = torchere.export({"encode": (encoder, x), "decode": (decoder, y), "again": (encoder, x)})
    assert set(program.state_dict()) == {"encode.weight", "encode.bias", "decode.weight", "decode.bias"}
    program.save(tmp_path / "program")
    loaded = torchere.load(tmp_path / "program")
    for one in (program, loaded):
        torch.testing.assert_close(one["encode"](x), encoder(x))
        torch.testing.assert_close(one["decode"](y), decoder(y))
        torch.testing.assert_close(one["again"](x), encoder(x))


def test_weights_without_data(model):
    with FakeTensorMode():
        fake = Translator().eval()
    program = torchere.export({"prefill": (fake.prefill, (IDS,)), "step": (fake.step, (TOKEN,))})
    assert "cache" in program._core_bundle.names_without_data
    filled = program.with_weights(model.state_dict())
    torch.testing.assert_close(filled["prefill"](IDS), copy.deepcopy(model).prefill(IDS))


def test_random_numbers_are_one_stream():
    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.rand_like(x)

    x = torch.zeros(8)
    both, alone = torchere.export({"a": (Noise(), x), "b": (Noise(), x)}), torchere.export(Noise(), x)
    drawn = [both["a"](x), both["b"](x), both["a"](x)]
    assert all(one.equal(alone(x)) for one in drawn)


def test_dynamic_shapes_and_keywords():
    batch = torch.export.Dim("batch", min=2)

    class Scale(nn.Module):
        def forward(self, x, *, factor):
            return x * factor

    x, factor = torch.randn(3, 4), torch.tensor(2.0)
    shapes = {"x": {0: batch}, "factor": None}
    program = torchere.export(
        {
            "dynamic": (Scale(), (x,), {"factor": factor}, shapes),
            "static": {"target": Scale(), "args": (x,), "kwargs": {"factor": factor}},
        }
    )
    more = torch.randn(7, 4)
    assert program["dynamic"](more, factor=factor).equal(more * factor)
    with pytest.raises(InvalidArgumentError, match=r"\[static\]|\[x\]"):
        program["static"](more, factor=factor)
    assert program["dynamic"].inputs[0].shape == ("batch", 4)
    assert list(program.functions) == ["dynamic", "static"] and len(program.functions) == 2
    assert "static" in program.functions and program.functions.get("none") is None
    assert program(more, factor=factor).equal(more * factor)  # the first is the default


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({}, r"\[export\] no entry points: got an empty dict, expected name -> program"),
        ({3: (nn.ReLU(), (IDS,))}, r"\[export\] an entry point's name: got 3, expected a string"),
        ({"a/b": (nn.ReLU(), (IDS,))}, r'\[function\] the name "a/b" may not have a "/"'),
        ({"a": ()}, r"\[export\] entry point 'a': got a tuple of 0, expected \(module, args\)"),
        ({"a": {"args": ()}}, r"\[export\] entry point 'a': 'target' is missing, expected a dict with"),
        ({"a": {"target": nn.ReLU(), "arguments": 1}}, r"entry point 'a': got 'arguments', expected a dict"),
    ],
)
def test_refused_targets(targets, message):
    with pytest.raises(InvalidArgumentError, match=message):
        torchere.export(targets)


def test_errors_name_the_entry_point():
    with pytest.raises(InvalidArgumentError, match=r"\[export\] nothing to export: got a str") as raised:
        torchere.export({"good": (nn.ReLU(), (IDS,)), "bad": "nothing"})
    assert raised.value.__notes__ == ["in entry point 'bad'"]


def test_refused_arguments_and_names(program):
    with pytest.raises(InvalidArgumentError, match="entry points have names and arguments of their own"):
        torchere.export({"a": (nn.ReLU(), (IDS,))}, (IDS,))
    with pytest.raises(NotFoundError, match=r"\[x\] no such function: expected one of prefill, step, inner"):
        program["x"](IDS)


def test_other_views_of_a_state_are_refused():
    class Reader(nn.Module):
        def __init__(self, row):
            super().__init__()
            self.register_buffer("row", row)

        def forward(self):
            return self.row + 1

    model = Translator()
    with pytest.raises(InvalidArgumentError, match=r"\[row\] function \"read\" has it as another view"):
        torchere.export({"prefill": (model.prefill, (IDS,)), "read": (Reader(model.cache[1]), ())})


def test_command_line(model, program, tmp_path):
    program.save(tmp_path / "program")
    np.save(tmp_path / "token.npy", TOKEN.numpy())
    command = [sys.executable, "-m", "torchere"]
    text = subprocess.run([*command, "inspect", tmp_path / "program"], capture_output=True, text=True).stdout
    assert all(name in text.splitlines() for name in program.functions)
    run = [*command, "run", tmp_path / "program", "--function", "step", "--input", tmp_path / "token.npy"]
    ran = subprocess.run([*run, "--output", tmp_path / "out.npy"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    expected = copy.deepcopy(model).step(TOKEN).detach()
    torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / "out.npy")), expected)
    ran = subprocess.run([*run[:5], "--function", "none"], capture_output=True, text=True)
    assert "[none] no such function in the program: expected one of prefill, step, inner" in ran.stderr


def test_the_pages_example():
    page = (Path(__file__).resolve().parents[2] / "docs/entry_points.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(4, 4)
            self.register_buffer("cache", torch.zeros(4))

        def prefill(self, ids):
            self.cache.copy_(self.encoder(ids))
            return ids + 1

        def step(self, token, *, scale):
            return self.cache * token * scale

    net, x = Net(), torch.randn(3, 4)
    names = {
        "torchere": torchere,
        "model": net,
        "ids": torch.ones(4),
        "token": torch.tensor(2.0),
        "scale": torch.tensor(3.0),
        "x": x,
        "batch": torch.export.Dim("batch", min=2),
        "exported_program": torch.export.export(net.encoder, (x,)),
    }
    exec(code, names)
    program, expected = names["program"], net.encoder(torch.ones(4)).detach() * 6
    torch.testing.assert_close(program["step"](names["token"], scale=names["scale"]), expected)
    assert list(program.functions) == ["prefill", "step", "encode", "decode"]
    assert set(program.state_dict()) == {"encoder.weight", "encoder.bias", "cache", "weight", "bias"}
