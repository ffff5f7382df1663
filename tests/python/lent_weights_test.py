"""Weights that are the memory of a module's tensors: in-place writes to them are seen by the next call."""

import copy

import pytest
import torch
from torch import nn

import torchere


class Model(nn.Module):
    """Weights that engines pack, weights that they read where they lie, a buffer and a constant."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.norm = nn.LayerNorm(64)
        self.second = nn.Linear(64, 64)
        self.register_buffer("scale", torch.rand(64))
        self.shift = torch.rand(64)

    def forward(self, x):
        return self.second(self.norm(self.first(x))) * self.scale + self.shift


@pytest.fixture
def x():
    return torch.randn(5, 64)


def assert_equal(got, expected):
    torch.testing.assert_close(got, expected.detach(), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def change(model):
    for tensor in [*model.parameters(), *model.buffers(), model.shift]:
        tensor.mul_(0.5).add_(0.1)


def test_a_program_follows_its_module(x):
    model = Model()
    program = torchere.export(model, x)
    change(model)  # before the first call
    assert_equal(program(x), model(x))
    for _ in range(3):
        change(model)
        assert_equal(program(x), model(x))
        assert_equal(program(x), model(x))  # the second call may find what the first one packed


def test_training_a_module_trains_its_program(x):
    model = Model()
    program = torchere.export(model, x)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        assert_equal(program(x), model(x))
    model.load_state_dict(Model().state_dict())
    assert_equal(program(x), model(x))


def test_nothing_is_compiled_again(x):
    model = Model()
    program = torchere.export(model, x)
    program(x)
    before = torchere.plugins.client().compile_counts
    change(model)
    program(x)
    after = torchere.plugins.client().compile_counts
    assert after == before | {"reused": before["reused"] + 1}


def test_given_weights_are_followed_instead(x):
    model, other = Model(), Model()
    program = torchere.export(model, x)
    program(x)
    exchanged = program.with_weights(other.state_dict())
    other.shift = model.shift
    assert_equal(exchanged(x), other(x))
    change(other)
    assert_equal(exchanged(x), other(x))
    assert_equal(program(x), model(x))


def test_loaded_weights_are_copies(x):
    model, other = Model(), Model()
    program = torchere.export(model, x)
    program(x)
    program.load_state_dict(other.state_dict())
    other.shift = model.shift
    expected = other(x)
    assert_equal(program(x), expected)
    with torch.no_grad():
        other.first.weight.zero_()
        model.first.weight.zero_()
    assert_equal(program(x), expected)


def test_copies_of_a_program_follow_too(x):
    model = Model()
    program = torchere.export(model, x)
    program(x)
    copied = copy.deepcopy(program)
    change(model)
    assert_equal(copied(x), model(x))
    assert_equal(program(x), model(x))


def test_functions_that_share_weights_follow(x):
    model = Model()
    program = torchere.export({"whole": (model, (x,)), "first": (model.first, (x,))})
    for _ in range(2):
        assert_equal(program.evaluate("first", (x,)), model.first(x))
        assert_equal(program.evaluate("whole", (x,)), model(x))
        change(model)


def test_state_is_the_programs_own(x):
    model = nn.BatchNorm1d(64, momentum=0.5)
    program = torchere.export(model, x)
    program(x)
    mean = program.state_dict()["running_mean"].clone()
    with torch.no_grad():
        model.running_mean.fill_(7.0)
        model.weight.fill_(2.0)
    expected = nn.functional.batch_norm(x, None, None, model.weight, model.bias, training=True)
    assert_equal(program(x), expected)
    torch.testing.assert_close(program.state_dict()["running_mean"], 0.5 * mean + 0.5 * x.mean(0))


def test_tensors_made_in_inference_mode_have_no_versions(x):
    with torch.inference_mode():
        model = nn.Linear(64, 64)
        model.requires_grad_(False)
    program = torchere.export(model, x)
    assert_equal(program(x), model(x).clone())
