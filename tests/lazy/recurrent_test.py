"""Recurrent layers, attention and batch norm train on the device as on the CPU, and nothing is computed
there."""

import copy

import pytest
import torch

from torchere import lazy

NN = torch.nn


class Last(NN.Module):
    """The sequence that a recurrent layer gives."""

    def __init__(self, layer, *inputs):
        super().__init__()
        self.layer, self.inputs = layer, inputs

    def forward(self, x):
        return self.layer(x, *(tensor.to(x.device) for tensor in self.inputs))[0]


class Packed(NN.Module):
    """A recurrent layer of sequences of several lengths."""

    def __init__(self, layer, *, is_sorted):
        super().__init__()
        self.layer, self.is_sorted = layer, is_sorted

    def forward(self, x):
        lengths = torch.tensor([5, 3, 3, 1] if self.is_sorted else [2, 5, 1, 4])
        packed = NN.utils.rnn.pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=self.is_sorted
        )
        result, state = self.layer(packed)
        padded, found = NN.utils.rnn.pad_packed_sequence(result, batch_first=True)
        assert found.tolist() == lengths.tolist()
        state = state[0] if isinstance(state, tuple) else state
        return padded.mean(1) + state.mean(0)[:, :1]


class Own(NN.Module):
    """Attention of a sequence to itself."""

    def __init__(self):
        super().__init__()
        self.attention = NN.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        mask = torch.ones(5, 5, device=x.device).triu(1).bool()
        return self.attention(x, x, x, attn_mask=mask, need_weights=True)[0]


class Cells(NN.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = NN.LSTMCell(8, 6), NN.GRUCell(6, 6), NN.RNNCell(6, 8)

    def forward(self, x):
        state = None
        for step in x.unbind(1):
            state = self.lstm(step, state)
        return self.rnn(self.gru(state[0]))


LAYERS = {
    "lstm": lambda: Last(NN.LSTM(8, 6, batch_first=True)),
    "lstm of two layers, both directions": lambda: Last(NN.LSTM(8, 6, num_layers=2, bidirectional=True)),
    "lstm with a projection": lambda: Last(NN.LSTM(8, 6, proj_size=3, batch_first=True)),
    "gru": lambda: Last(NN.GRU(8, 6, batch_first=True), torch.ones(1, 4, 6)),
    "gru of two layers, without bias": lambda: Last(NN.GRU(8, 6, num_layers=2, bias=False)),
    "lstm of several lengths": lambda: Packed(NN.LSTM(8, 6, batch_first=True), is_sorted=True),
    "gru of several lengths, both directions": lambda: Packed(
        NN.GRU(8, 6, bidirectional=True), is_sorted=False
    ),
    "rnn": lambda: Last(NN.RNN(8, 6, nonlinearity="relu", bidirectional=True)),
    "cells": Cells,
    "attention": Own,
    "transformer layer": lambda: NN.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
    "transformer layer, norm first": lambda: NN.TransformerEncoderLayer(
        8, 2, 16, dropout=0.0, batch_first=True, norm_first=True, activation="gelu"
    ),
    "batch norm": lambda: NN.Sequential(NN.Conv1d(5, 7, 3, padding=1), NN.BatchNorm1d(7), NN.ReLU()),
    "group norm": lambda: NN.Sequential(NN.GroupNorm(5, 5), NN.Linear(8, 4)),
}


def trained(model, device, steps=3):
    model = copy.deepcopy(model).to(device)
    x = torch.linspace(-1, 1, 4 * 5 * 8).sin().reshape(4, 5, 8).to(device)
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(x) - 0.3).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [loss.item() for loss in losses], {k: v.cpu() for k, v in model.state_dict().items()}


@pytest.mark.parametrize("name", LAYERS)
def test_training_equals_the_cpu(name):
    torch.manual_seed(0)
    model = LAYERS[name]()
    expected = trained(model, "cpu")
    lazy.reset_counters()
    losses, state = trained(model, "xla")
    assert not [counter for counter in lazy.counters() if counter.startswith("aten::")]
    assert losses == pytest.approx(expected[0], rel=1e-5)
    for key, wanted in expected[1].items():
        torch.testing.assert_close(state[key], wanted, rtol=1e-4, atol=1e-5, msg=lambda m, k=key: f"{k}: {m}")


def test_batch_norm_in_inference_has_a_gradient():
    torch.manual_seed(0)
    model, x = NN.BatchNorm2d(3).eval(), torch.randn(2, 3, 4, 4)

    def gradients(device):
        layer, value = copy.deepcopy(model).to(device), x.to(device).requires_grad_()
        layer(value).square().sum().backward()
        return [value.grad.cpu(), layer.weight.grad.cpu(), layer.bias.grad.cpu()]

    for ours, expected in zip(gradients("xla"), gradients("cpu"), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)
    assert not [name for name in lazy.counters() if name.startswith("aten::")]


def test_packing_refuses_what_the_cpu_refuses():
    x = torch.randn(2, 3, 4)
    for given, lengths in (
        (x, torch.tensor([1, 3])),
        (x, torch.tensor([3, 0])),
        (x, torch.tensor([3])),
        (x[:, :, :0], torch.tensor([3, 1])),
    ):
        messages = []
        for device in ("cpu", "xla"):
            with pytest.raises(RuntimeError) as raised:
                torch._VF._pack_padded_sequence(given.to(device), lengths, True)
            messages.append(str(raised.value).splitlines()[0])
        assert messages[1] == messages[0]
    with pytest.raises(RuntimeError, match="Expected sequence length to be larger than 4, but got 3"):
        torch._VF._pack_padded_sequence(x.to("xla"), torch.tensor([4, 1]), True)
