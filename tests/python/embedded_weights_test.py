"""Modules with their weights as constants: what is embedded, what stays, who reads it."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import torchere
from torchere.errors import Error, InvalidArgumentError


class Model(nn.Module):
    """Weights of many dtypes and layouts, tied ones, and a state."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("mask", torch.tensor([True, False, True, True]))
        self.register_buffer("halves", torch.rand(4).to(torch.bfloat16))
        self.register_buffer("turned", torch.randn(4, 4).T)
        self.register_buffer("wave", torch.randn(4, dtype=torch.complex64))
        self.register_buffer("octets", torch.arange(4, dtype=torch.uint8))
        self.register_buffer("nothing", torch.zeros(0, 4))
        self.table = torch.arange(100.0)

    def forward(self, x):
        self.calls.add_(1)
        y = self.second(self.first(x)) @ self.turned + torch.cat([self.halves.float()[None], self.nothing])
        return torch.where(self.mask, y, self.wave.real) + self.octets + self.calls + self.table.sum()


X = torch.randn(3, 4)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Model().eval()


@pytest.fixture(scope="module")
def program(model):
    batch = torch.export.Dim("batch")
    return torchere.export(model, X, dynamic_shapes=({0: batch},))


@pytest.mark.parametrize("name", ["model", "model.torchere"])
def test_saved_and_loaded(model, program, name, tmp_path):
    program.save(tmp_path / name, embed_weights=True, digests=True)
    loaded, reference = torchere.load(tmp_path / name, verify=True), copy.deepcopy(model)
    assert list(loaded.state_dict()) == ["calls"]  # what is written stays state
    with torch.no_grad():
        for size in (3, 5):
            x = torch.randn(size, 4)
            torch.testing.assert_close(loaded(x), reference(x))
    assert loaded.state_dict()["calls"] == 2


def test_the_module_alone(program):
    text = program.get_stablehlo_text(embed_weights=True)
    main = re.search(r"func\.func public @main\((.*?)\) ->", text) or re.search(r"@main\((.*?)\) ->", text)
    assert len(re.findall(r"%arg\d+:", main[1])) == 2  # the state and x
    assert program.get_stablehlo_bytecode(embed_weights=True) != program.get_stablehlo_bytecode()
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jaxlib.mlir.dialects import stablehlo

    with ir.Context() as context:
        stablehlo.register_dialect(context)
        artifact = program.get_stablehlo_bytecode(embed_weights=True)
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        assert module.operation.verify() and "stablehlo.constant" in str(module)


def test_a_module_without_arguments_of_weights():
    module = nn.Linear(4, 3).eval()
    program = torchere.export(module, X)
    x = np.ones((3, 4), dtype=np.float32)
    text = program.get_stablehlo_text(embed_weights=True)
    (result,) = torchere.interpreter.interpret(text, x)
    torch.testing.assert_close(torch.tensor(result), module(torch.from_numpy(x)).detach())


def test_state_of_another_entry_point_stays():
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(4))
            self.scale = nn.Parameter(torch.full((4,), 2.0))

        def fill(self, x):
            self.cache.copy_(x * self.scale)
            return x + 0

        def read(self):
            return self.cache * self.scale

    module = Cache()
    program = torchere.export({"fill": (module.fill, (torch.ones(4),)), "read": (module.read, ())})
    text = program.get_stablehlo_text("read", embed_weights=True)
    assert len(re.findall(r"%arg\d+: tensor", text)) == 1


def test_present_state(program, model, tmp_path):
    other = copy.deepcopy(program)
    other(X)
    other.save(tmp_path / "model", embed_weights=True, state="present")
    assert torchere.load(tmp_path / "model").state_dict()["calls"] == 1


def test_too_large_for_a_module():
    class Large(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("small", torch.zeros(8))
            self.register_buffer("table", torch.empty(1 << 31, dtype=torch.int8))  # never touched

        def forward(self, x):
            return x + self.table[:8] + self.small

    program = torchere.export(Large(), torch.ones(8))
    message = (
        r"\[forward\] its weights are too large to be embedded: got 2147483680 bytes, expected 2147483647 at "
        r"most \(the largest: table \(2147483648 bytes\), small \(32 bytes\)\); save it without embed_weights"
    )
    with pytest.raises(InvalidArgumentError, match=message):
        program.get_stablehlo_bytecode(embed_weights=True)
    with pytest.raises(InvalidArgumentError, match=message):
        program.save("/nonexistent/model", embed_weights=True)


def test_weights_without_data():
    with FakeTensorMode():
        fake = nn.Linear(4, 3)
    program = torchere.export(fake, X)
    with pytest.raises(Error, match=r"\[(weight|bias)\] has no data"):
        program.get_stablehlo_text(embed_weights=True)
