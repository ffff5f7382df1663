"""TorchScript: what torch.jit scripts, traces and loads, beside its own results."""

from __future__ import annotations

import io

import pytest
import torch
from torch import nn

import torchere
from torchere.errors import CaptureError


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, doubled: bool = True):
        return self.layer(x) * 2 if doubled else self.layer(x)


class OnData(nn.Module):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            x = x + 1
            y = x * 2
        else:
            y = x - 1
        return y


class Loop(nn.Module):
    def forward(self, x: torch.Tensor):
        for i in range(3):
            x = x * 2 + i
        return x


class Turns(nn.Module):
    def forward(self, x: torch.Tensor, n: int):
        for _ in range(n):
            x = x * 2
        return x


class Sizes(nn.Module):
    def forward(self, x: torch.Tensor):
        return x.view(x.size(0), -1).sum(1) / x.shape[1]


def convolutions():
    layers = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    return nn.Sequential(*layers).eval()


def encoder():
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()


def traced(module, *inputs):
    return torch.jit.trace(module, inputs, check_trace=False)


IMAGE, WORDS, ROWS = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 8), torch.randn(3, 4)
SCRIPTS = {
    "scripted convolutions": lambda: (torch.jit.script(convolutions()), (IMAGE,)),
    "traced convolutions": lambda: (traced(convolutions(), IMAGE), (IMAGE,)),
    "frozen convolutions": lambda: (torch.jit.freeze(torch.jit.script(convolutions())), (IMAGE,)),
    "a traced encoder": lambda: (traced(encoder(), WORDS), (WORDS,)),
    "a traced LSTM": lambda: (traced(nn.LSTM(8, 5), WORDS), (WORDS,)),
    "a branch": lambda: (torch.jit.script(Branch()), (ROWS, False)),
    "a branch on data": lambda: (torch.jit.script(OnData()), (ROWS,)),
    "a loop": lambda: (torch.jit.script(Loop()), (ROWS,)),
    "sizes": lambda: (torch.jit.script(Sizes()), (WORDS,)),
}


def reloaded(script):
    file = io.BytesIO()
    torch.jit.save(script, file)
    file.seek(0)
    return torch.jit.load(file)


def check(program, script, *inputs):
    results = torch.utils._pytree.tree_leaves(program(*inputs))
    expected = torch.utils._pytree.tree_leaves(script(*inputs))
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result.detach(), wanted.detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SCRIPTS)
def test_results_are_those_of_the_script(name):
    script, inputs = SCRIPTS[name]()
    script = reloaded(script)
    program = torchere.export(script, inputs)
    check(program, script, *inputs)
    check(program, script, *(-one if isinstance(one, torch.Tensor) else one for one in inputs))
    assert program.verify(*inputs).ok


class Scaled(nn.Module):
    def forward(self, x):
        count = torch.add(x.shape[0], x.shape[1], alpha=2)  # tensors, in a trace
        return torch.zeros(1).expand(count) + x.sum()


def test_a_factor_of_a_sum_of_sizes_is_kept():
    script = traced(Scaled(), WORDS)
    check(torchere.export(script, (WORDS,)), script, WORDS)


def padded(x):
    mask = torch.zeros(x.shape[:2], dtype=torch.bool)
    mask[0, -1] = True
    return mask


FAST_PATHS = {
    "attention": lambda part, x: part.attention(x, x, x)[0],
    "its weights": lambda part, x: part.attention(x, x, x)[1],
    "weights of heads": lambda part, x: part.attention(x, x, x, average_attn_weights=False)[1],
    "attention, padded": lambda part, x: part.attention(x, x, x, key_padding_mask=padded(x)),
    "attention, a mask": lambda part, x: part.attention(
        x, x, x, attn_mask=torch.ones(x.shape[1], x.shape[1]).triu(1) > 0, need_weights=False
    )[0],
    "a layer": lambda part, x: part.layer(x),
    "a layer, padded": lambda part, x: part.layer(x, src_key_padding_mask=padded(x)),
    "a layer with gelu": lambda part, x: part.gelu(x),
}


class Parts(nn.Module):
    def __init__(self, function):
        super().__init__()
        sizes = {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "batch_first": True}
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(**sizes)
        self.gelu = nn.TransformerEncoderLayer(**sizes, activation="gelu", norm_first=True)
        self.function = function

    def forward(self, x):
        return self.function(self, x)


@pytest.mark.parametrize("name", FAST_PATHS)
def test_fast_paths_that_a_trace_records(name):
    module = Parts(FAST_PATHS[name]).eval()
    with torch.no_grad():
        script = traced(module, WORDS)
    assert any(op in str(script.inlined_graph) for op in ("_native_multi_head", "_transformer_encoder_layer"))
    program = torchere.export(script, (WORDS,))
    check(program, module, torch.randn(2, 3, 8))


def test_weights_keep_their_names():
    script, inputs = SCRIPTS["traced convolutions"]()
    assert {"0.weight", "0.bias", "1.running_mean"} <= set(torchere.export(script, inputs).state_dict())


def test_a_function():
    script = torch.jit.script(scaled)
    program = torchere.export(script, (ROWS, 3.0))
    check(program, script, ROWS, 3.0)


def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@pytest.mark.parametrize("name", ["sizes", "a traced encoder"])
def test_sizes_may_be_dynamic(name):
    script, inputs = SCRIPTS[name]()
    batch = torch.export.Dim("batch", min=2, max=64)
    argument = script.forward.schema.arguments[1].name
    program = torchere.export(script, inputs, dynamic_shapes={argument: {0: batch}})
    for size in (2, 7):
        check(program, script, torch.randn(size, 3, 8))


def test_what_the_converter_refuses():
    with pytest.raises(CaptureError) as error:
        torchere.export(torch.jit.script(Turns()), (ROWS, 3))
    assert "torch cannot convert this TorchScript: TS2EPConverter failed for node prim::Loop" in str(
        error.value
    )
    assert "export the module that was scripted or traced" in error.value.advice
