"""Exported programs that together hold every kind of input, output, argument and subgraph."""

from __future__ import annotations

from collections import namedtuple

import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

Pair = namedtuple("Pair", ["first", "second"])


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        y = self.head(torch.relu(self.hidden(x)))
        return {"out": torch.softmax(y, -1), "size": x.shape[0] * 2 + 1, "none": None}


def mlp() -> ExportedProgram:
    batch = Dim("batch", min=1, max=64)
    return export(Mlp(), (torch.randn(2, 4),), dynamic_shapes=({0: batch},))


def resnet18() -> ExportedProgram:
    """In train mode, with its mutated running statistics."""
    import torchvision_schemas  # noqa: F401

    # isort: split
    import torchvision

    return export(torchvision.models.resnet18(), (torch.randn(2, 3, 64, 64),))


class Keywords(nn.Module):
    """A subgraph for each branch, nested arguments, constants of every kind."""

    def forward(self, x, flag, *, scale, rest):
        y = torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,))
        parts = torch.split(y, 2)
        half = parts[1].to(torch.float16)
        return Pair(y * rest["s"], half), scale, flag, [torch.full((2,), 1e-5, dtype=torch.float64), "text"]


def keywords() -> ExportedProgram:
    rest = {"s": torch.randn(4, 4), "q": 2.5, "n": None}
    return export(Keywords(), (torch.randn(4, 4), 3), {"scale": True, "rest": rest})


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, 2, batch_first=True)

    def forward(self, x):
        return self.lstm(x)


def lstm() -> ExportedProgram:
    return export(Recurrent(), (torch.randn(2, 5, 8),))


class DataDependent(nn.Module):
    """Unbacked symbols, a float that is computed at run time, expressions of two symbols."""

    def forward(self, x):
        half = x.new_ones(x.shape[0] // 2 + 1, (x.shape[1] - 1) ** 2)
        pooled = nn.functional.max_pool2d(x[None, None], 3, stride=2, padding=1)
        return x[x > 0], half, pooled, x.mean().item(), torch.cat([x, x], 1)


def data_dependent() -> ExportedProgram:
    sizes = {0: Dim("rows", min=4), 1: Dim("columns", min=4, max=100)}
    return export(DataDependent(), (torch.randn(7, 9),), dynamic_shapes=(sizes,))


class Mutating(nn.Module):
    """Mutates a buffer and an input; holds a constant, a tied weight, complex and string arguments."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
        self.tied = self.weight
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("scale", torch.ones(3), persistent=False)

    def forward(self, x):
        self.count.add_(1)
        x.mul_(self.scale)
        y = nn.functional.gelu(x @ self.weight, approximate="tanh") + torch.tensor([1.0, 2.0, 3.0])
        return (y * 2j).real + self.tied + self.count


def mutating() -> ExportedProgram:
    return export(Mutating(), (torch.randn(3, 3),))


class Loop(nn.Module):
    """A while loop around a branch: graphs in graphs."""

    def forward(self, x):
        def body(i, y):
            return i + 1, torch.cond(y.sum() > 3, lambda a: a - 1, lambda a: a * 2, (y,))

        return torch.while_loop(lambda i, y: i < 4, body, (torch.zeros((), dtype=torch.int64), x))


def loop() -> ExportedProgram:
    return export(Loop(), (torch.ones(3),))


class NoInputs(nn.Module):
    def forward(self):
        return torch.ones(2, 3, device="cpu").contiguous(memory_format=torch.contiguous_format)


def no_inputs() -> ExportedProgram:
    return export(NoInputs(), ())


MODELS = {
    function.__name__: function
    for function in (mlp, resnet18, keywords, lstm, data_dependent, mutating, loop, no_inputs)
}
