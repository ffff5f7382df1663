"""Modules that our exporter makes: samples of every row of the op table, and small models."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import torch
from case import Case
from torch import nn
from torch.export import Dim
from torch.nn import functional

import torchere

sys.path.append(str(Path(__file__).resolve().parents[1] / "ops"))
# Rows whose samples share a module, and the types for which each has its own: sizes that depend on data and
# complex numbers, which not every consumer takes.
BATCH = 6
APART = ("tensor<?", "complex<")


def models() -> Iterator[Case]:
    torch.manual_seed(0)
    x, batch = torch.randn(3, 8), Dim("batch", min=2, max=64)
    for dynamic in (None, ({0: batch},)):
        label = "dynamic" if dynamic else "static"
        yield exported(f"mlp/{label}", mlp(), (x,), dynamic_shapes=dynamic)
        yield exported(f"attention/{label}", Attention(), (torch.randn(3, 7, 32),), dynamic_shapes=dynamic)
        yield exported(f"residual/{label}", Residual(), (torch.randn(3, 4, 9, 9),), dynamic_shapes=dynamic)
    yield exported("residual/training", Residual().train(), (torch.randn(3, 4, 9, 9),))
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        yield exported(f"mlp/{dtype}", mlp().to(dtype), (x.to(dtype),))
    yield exported("embedding", Classifier(), (torch.arange(6).reshape(2, 3),))
    for dynamic in (None, ({0: batch},)):
        label = "dynamic" if dynamic else "static"
        yield exported(f"random/{label}", Random(), (torch.randn(3, 8),), dynamic_shapes=dynamic)


def exported(name: str, model: nn.Module, inputs: tuple, **options) -> Case:
    program = torchere.export(model, inputs, **options)
    return Case("torch", name, program.get_stablehlo_text())


def rows() -> Iterator[Case]:
    """One sample of each row, a few rows to a module."""
    from deviations import compared_rows, deviation
    from sample_programs import exported as torch_program
    from samples import DTYPES, samples

    def sample(row: str):
        found = (each for dtype in DTYPES for each in samples(row, dtype, 1)[:1])
        return next((each for each in found if not deviation(each)), None)

    def case(found: list) -> Case:
        text = torchere.export(torch_program(found)).get_stablehlo_text()
        results = tuple(each.row for each in found for _ in each.expected())
        return Case("torch", f"rows/{found[0].row}", text, results)

    for names in batches(compared_rows()):
        found = [each for name in names if (each := sample(name))]
        if not found:
            continue
        module = case(found)
        if any(kind in module.text for kind in APART):
            yield from (case([each]) for each in found)
        else:
            yield module


def batches(names: list[str]) -> Iterator[list[str]]:
    """Of BATCH on average. A name tells whether it begins one, so that a new row changes only its own."""
    batch: list[str] = []
    for name in names:
        if batch and zlib.crc32(name.encode()) % BATCH == 0:
            yield batch
            batch = []
        batch.append(name)
    yield batch


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1)).eval()


class Attention(nn.Module):
    """A transformer's block: causal attention and a gelu MLP, each after a LayerNorm."""

    def __init__(self, width: int = 32, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.second(x))


class Residual(nn.Module):
    """A block of ResNet: two convolutions with batch norms, a shortcut, a pool."""

    def __init__(self, channels: int = 4):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)])
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norms[0](self.first(x)))
        y = functional.relu(self.norms[1](self.second(y)) + x)
        return functional.adaptive_avg_pool2d(functional.max_pool2d(y, 3, 2, 1), 1).flatten(1)


class Classifier(nn.Module):
    """Embedded tokens, their mean, and the loss of its logits."""

    def __init__(self):
        super().__init__()
        self.embedding, self.layer = nn.Embedding(10, 6), nn.Linear(6, 5)
        self.eval()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = self.layer(self.embedding(tokens).mean(1))
        return functional.cross_entropy(logits, tokens[:, 0] % 5)


class Random(nn.Module):
    """Numbers of every kind from the program's generator, some of them in a branch."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = functional.dropout(x, 0.25, training=True)
        noise = torch.cond(x.sum() > 0, lambda x: torch.randn_like(x), lambda x: torch.rand_like(x), (x,))
        return (
            x,
            noise,
            torch.randperm(x.shape[0]),
            torch.multinomial(noise.abs(), 2),
            torch.randint_like(x, 9),
        )
