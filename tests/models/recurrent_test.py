"""Recurrent layers as torch.nn has them: loops in the module, whose size does not depend on the steps."""

import itertools
import re

import pytest
import torch
from torch import nn
from torch.export import Dim

import torchere

pytestmark = pytest.mark.skipif(
    torch.__version__ < "2.10", reason="PyTorch 2.9's torch.export cannot capture recurrent layers"
)

KINDS = {
    "LSTM": nn.LSTM,
    "GRU": nn.GRU,
    "RNN tanh": nn.RNN,
    "RNN relu": lambda *args, **options: nn.RNN(*args, nonlinearity="relu", **options),
}
WIDTH, HIDDEN = 5, 7


def assert_same(got, expected):
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def ops_of(program):
    """How often the module's text names each op."""
    names = re.findall(r"= \"?((?:stablehlo|func)\.\w+)", program.get_stablehlo_text())
    return {name: names.count(name) for name in names}


# One way of each kind is quick.
QUICK_WAYS = {
    "LSTM": (True, True),
    "GRU": (True, False),
    "RNN tanh": (False, True),
    "RNN relu": (False, False),
}
WAYS = [
    pytest.param(kind, *way, marks=[] if way == quick else pytest.mark.slow)
    for kind, quick in QUICK_WAYS.items()
    for way in itertools.product([False, True], repeat=2)
]


@pytest.mark.parametrize(("kind", "bidirectional", "batch_first"), WAYS)
def test_a_dynamic_batch(kind, bidirectional, batch_first):
    layer = KINDS[kind](
        WIDTH, HIDDEN, num_layers=2, bidirectional=bidirectional, batch_first=batch_first
    ).eval()
    axis = 0 if batch_first else 1

    def inputs(batch):
        return torch.randn((batch, 6, WIDTH) if batch_first else (6, batch, WIDTH))

    program = torchere.export(layer, (inputs(3),), dynamic_shapes=({axis: Dim("batch", max=64)},))
    loops = 2 * (2 if bidirectional else 1)
    assert ops_of(program)["stablehlo.while"] == loops
    for batch in (2, 5):
        x = inputs(batch)
        assert_same(program(x), layer(x))


@pytest.mark.parametrize("kind", KINDS)
def test_a_given_state(kind):
    layer = KINDS[kind](WIDTH, HIDDEN, num_layers=2, bias=False)
    state = torch.randn(4 if kind == "LSTM" else 2, 3, HIDDEN)
    state = (state[:2], state[2:]) if kind == "LSTM" else state
    x = torch.randn(6, 3, WIDTH)
    assert_same(torchere.export(layer, (x, state))(x, state), layer(x, state))


@pytest.mark.parametrize("bidirectional", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_projection(bidirectional):
    layer = nn.LSTM(WIDTH, HIDDEN, num_layers=2, proj_size=3, bidirectional=bidirectional)
    program = torchere.export(layer, (torch.randn(6, 3, WIDTH),), dynamic_shapes=({1: Dim("batch", max=64)},))
    for batch in (2, 5):
        x = torch.randn(6, batch, WIDTH)
        assert_same(program(x), layer(x))


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_batch(kind):
    layer = KINDS[kind](WIDTH, HIDDEN)
    x = torch.randn(6, WIDTH)
    assert_same(torchere.export(layer, (x,))(x), layer(x))


# torch itself walks through the steps when it captures a layer: hence few of them where it must be quick.
LONG = {"LSTM": 1000, "GRU": 100, "RNN tanh": 100, "RNN relu": 100}


@pytest.mark.parametrize(
    ("kind", "steps"),
    [("LSTM", 13), ("RNN tanh", 13)]
    + [pytest.param(kind, steps, marks=pytest.mark.slow) for kind, steps in LONG.items()],
)
def test_the_modules_size_does_not_depend_on_the_steps(kind, steps):
    layer = KINDS[kind](WIDTH, HIDDEN)
    counts = []
    for length in (10, steps):
        x = torch.randn(length, 2, WIDTH)
        program = torchere.export(layer, (x,))
        assert_same(program(x), layer(x))
        counts.append(ops_of(program))
    assert counts[0] == counts[1]
    assert counts[0]["stablehlo.while"] == 1


def test_dropout_between_layers_in_training():
    """All of the first layer's outputs, or none of them, reach the second."""
    layer = nn.LSTM(WIDTH, HIDDEN, num_layers=2, dropout=1.0).train()
    x = torch.randn(6, 3, WIDTH)
    assert_same(torchere.export(layer, (x,))(x), layer(x))
    layer.dropout = 0.5
    program = torchere.export(layer, (x,))
    first, second = program(x), program(x)
    assert not torch.equal(first[0], second[0])
    assert_same([state[0] for state in first[1]], [state[0] for state in layer(x)[1]])  # of the first layer
    layer.eval()
    assert_same(torchere.export(layer, (x,))(x), layer(x))
