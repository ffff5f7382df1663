"""Programs of a few PyTorch ops, on the CPU engine and in eager PyTorch.

    python bench/torch_programs_bench.py [--only REGEX] [--rounds 5] [--seconds 0.1] [--threads 2]

Gradients, norms and losses of rows, elementwise ops, scans and moves; products with one vector, windows,
searches, scatters and volumes. Both take turns in one process, and a ratio is that of the medians of one
round. "error" is the largest difference from eager's results over the largest of these; of what is drawn it
says nothing.
"""

from __future__ import annotations

import argparse
import functools
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.func import grad
from torch.nn import functional

import torchere

#: By name: a function, and its arguments.
Programs = dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]]

aten = torch.ops.aten


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape)


def gradient(function: Callable[..., Tensor], *args: Tensor) -> tuple[Callable[..., Any], tuple[Tensor, ...]]:
    """Of all floating-point arguments, as long as each element of the result has a factor of its own."""
    places = tuple(i for i, arg in enumerate(args) if arg.is_floating_point())

    def gradients(*args: Tensor) -> Any:
        def weighed(*args: Tensor) -> Tensor:
            result = function(*args)
            return (result * result.detach()).sum()

        return grad(weighed, argnums=places)(*args)

    return gradients, args


def gradients() -> Programs:
    x, g, row = drawn(512, 768), drawn(512, 768), drawn(768)
    images, weights = drawn(8, 64, 56, 56), drawn(64)
    heads = (drawn(4, 12, 128, 64), drawn(4, 12, 128, 64), drawn(4, 12, 128, 64))
    attention = functional.scaled_dot_product_attention
    mean, deviation = images.mean((0, 2, 3)), 1 / images.std((0, 2, 3))
    batch = (images.flip(0), images, weights, mean, deviation)

    def batch_norm(g: Tensor, x: Tensor, w: Tensor, mean: Tensor, deviation: Tensor) -> Any:
        masks = [True] * 3
        return aten.native_batch_norm_backward(g, x, w, None, None, mean, deviation, True, 1e-5, masks)

    return {
        "gelu": (aten.gelu_backward, (g, x)),
        "silu": (aten.silu_backward, (g, x)),
        "softmax 96x128x128": (
            lambda g, y: aten._softmax_backward_data(g, y, -1, torch.float32),
            (drawn(96, 128, 128), drawn(96, 128, 128).softmax(-1)),
        ),
        "layer norm 512x768": gradient(
            lambda x, w, b: functional.layer_norm(x, (768,), w, b), x, row, row + 1
        ),
        "group norm 8x64x56x56": gradient(
            lambda x, w, b: functional.group_norm(x, 8, w, b), images, weights, weights + 1
        ),
        "batch norm 8x64x56x56": (batch_norm, batch),
        "attention 48x128x64": gradient(attention, *heads),
        "causal attention 48x128x64": gradient(lambda *a: attention(*a, is_causal=True), *heads),
        "cross entropy 512x1000": gradient(functional.cross_entropy, drawn(512, 1000), torch.arange(512)),
        "cross entropy 128x30522": gradient(functional.cross_entropy, drawn(128, 30522), torch.arange(128)),
        "linear 512x768": gradient(functional.linear, x, drawn(768, 768), row),
        "convolution 3x3": gradient(
            lambda x, w: functional.conv2d(x, w, padding=1), images, drawn(64, 64, 3, 3)
        ),
        "depthwise convolution 3x3": gradient(
            lambda x, w: functional.conv2d(x, w, padding=1, groups=64), images, drawn(64, 1, 3, 3)
        ),
        "max pooling 3x3": gradient(lambda x: functional.max_pool2d(x, 3, 2, 1), images),
    }


def rows() -> Programs:
    x, g = drawn(512, 768), drawn(512, 768)
    labels = torch.randint(0, 768, (512,))

    def quantized(x: Tensor) -> tuple[Tensor, Tensor]:
        scale = x.abs().amax(-1, keepdim=True) / 127
        return torch.round(x / scale).to(torch.int8), scale

    return {
        "cross entropy of rows": (functional.cross_entropy, (x, labels)),
        "normalized rows": (lambda x: functional.normalize(x, dim=-1), (x,)),
        "standardized rows": (lambda x: (x - x.mean(-1, True)) / x.std(-1, keepdim=True), (x,)),
        "quantized rows": (quantized, (x,)),
        "cosine similarity": (lambda x, y: functional.cosine_similarity(x, y, -1), (x, g)),
        "divergence": (
            lambda x, y: (x.softmax(-1) * (x.log_softmax(-1) - y.log_softmax(-1))).sum(-1),
            (x, g),
        ),
        "cumulative sum": (lambda x: x.cumsum(-1), (x,)),
        "sort": (lambda x: x.sort(-1)[0], (x,)),
    }


def elementwise() -> Programs:
    x, y = drawn(512, 768), drawn(512, 768)
    unary = {
        "tanh": torch.tanh,
        "erf": torch.erf,
        "sin": torch.sin,
        "clamp": lambda x: x.clamp(-1, 1),
        "hardswish": functional.hardswish,
        "mish": functional.mish,
        "round": torch.round,
        "flip": lambda x: x.flip(-1),
        "to bf16": lambda x: x.bfloat16(),
    }
    binary = {"add": torch.add, "atan2": torch.atan2, "fmod": torch.fmod, "add of bf16": torch.add}
    programs: Programs = {name: (function, (x,)) for name, function in unary.items()}
    for name, function in binary.items():
        programs[name] = (function, (x.bfloat16(), y.bfloat16()) if "bf16" in name else (x, y))
    return programs


def others() -> Programs:
    """Products with one vector, windows, searches and what is drawn, scatters, volumes, narrow floats."""
    matrix, vector, square = drawn(500, 600), drawn(500), drawn(1000, 1000)
    signals, volume = drawn(8, 32, 500), drawn(1, 64, 8, 16, 16)
    row, values = drawn(20000).sort().values, drawn(20000)
    draw = functools.partial(torch.multinomial, num_samples=1000, replacement=True)
    index = torch.randint(0, 1000, (5000,))
    bags = torch.randint(0, 10000, (4000,)), drawn(10000, 64), torch.arange(0, 4000, 20)

    def transposed(padding: int) -> Callable[..., Any]:
        return lambda x, w: functional.conv_transpose3d(x, w, stride=2, padding=padding)

    return {
        "transposed matrix, vector": (lambda a, v: a.t() @ v, (matrix, vector)),
        "transposed matrix of 1000": (lambda a, v: a.t() @ v, (square, drawn(1000))),
        "bytes, vector": (lambda a, v: v @ a, ((matrix * 9).char(), (vector * 9).char())),
        "products of f64, vectors": (torch.bmm, (drawn(8, 100, 200).double(), drawn(8, 200, 1).double())),
        "windows of 7": (lambda x: functional.max_pool1d(x, 7, 1, 3), (signals,)),
        "windows of 25": (lambda x: functional.max_pool1d(x, 25, 1, 12), (signals,)),
        "running largest": (lambda x: x.cummax(2), (drawn(16, 128, 300),)),
        "search": (torch.searchsorted, (row, values)),
        "search in 8 rows": (
            torch.searchsorted,
            (drawn(8, 4000).sort().values, drawn(8, 4000)),
        ),
        "is in": (torch.isin, (torch.randint(0, 100000, (20000,)), torch.randint(0, 100000, (2000,)))),
        "bags of embeddings": (lambda i, w, first: functional.embedding_bag(i, w, first), bags),
        "draws of many": (draw, (torch.rand(16, 2000),)),
        "columns added": (lambda x, i, y: x.index_add(1, i, y), (drawn(64, 1000), index, drawn(64, 5000))),
        "transposed volume, 2": (transposed(0), (volume, drawn(64, 32, 2, 2, 2))),
        "transposed volume, 4": (transposed(1), (volume, drawn(64, 32, 4, 4, 4))),
        "to f8": (lambda x: x.to(torch.float8_e4m3fn), (drawn(300, 400),)),
        "from f8": (lambda x: x.float(), (drawn(300, 400).to(torch.float8_e4m3fn),)),
    }


class Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


def middle(function: Callable[..., Any], args: tuple[Tensor, ...], seconds: float) -> float:
    """Of the calls of a turn, in milliseconds."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        function(*args)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def largest_error(ours: Any, eager: Any) -> float:
    pairs = zip(*(torch.utils._pytree.tree_leaves(each) for each in (ours, eager)), strict=True)
    return max(
        float((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1e-30))
        for a, b in pairs
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="of the programs' names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn")
    parser.add_argument(
        "--threads", type=int, default=2, help="of eager; the engine takes all that it may use"
    )
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    middles = []
    for name, (function, args) in (gradients() | rows() | elementwise() | others()).items():
        if not re.search(options.only, name):
            continue

        eager = Program(function)
        program = torchere.export(eager, args)
        error = largest_error(program(*args), eager(*args))
        ours, peer, ratios = [], [], []
        for turn in range(options.rounds + 1):
            taken = [middle(each, args, options.seconds) for each in (program, eager)]
            if turn:  # the first warms both
                ours.append(taken[0])
                peer.append(taken[1])
                ratios.append(taken[1] / taken[0])
        ratios.sort()
        middles.append(statistics.median(ratios))
        print(
            f"{name:<28} {statistics.median(ours):8.3f} {statistics.median(peer):8.3f} ms, ratio "
            f"{middles[-1]:5.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), error {error:.1e}",
            flush=True,
        )
    if middles:
        print(f"geometric mean {statistics.geometric_mean(middles):.2f} of {len(middles)}")


if __name__ == "__main__":
    main()
