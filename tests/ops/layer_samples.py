"""Samples of whole layers: recurrent nets, pooling and resampling in every dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from sample_values import Call, drawn, is_floating


def weights(
    dtype: torch.dtype, gates: int, sizes: tuple[int, int, int], **options: Any
) -> list[torch.Tensor]:
    """The parameters of a recurrent net: of each layer, and of each direction in it."""
    width, hidden, projected = sizes
    out = projected or hidden
    tensors = []
    for layer in range(options.get("layers", 1)):
        given = width if layer == 0 else out * (2 if options.get("bidirectional") else 1)
        for _ in range(2 if options.get("bidirectional") else 1):
            shapes = [(gates * hidden, given), (gates * hidden, out)]
            if options.get("biases", True):
                shapes += [(gates * hidden,)] * 2
            if projected:
                shapes.append((projected, hidden))
            tensors += [drawn(dtype, *shape, low=-0.5, high=0.5) for shape in shapes]
    return tensors


def recurrent(dtype: torch.dtype, gates: int) -> Iterator[Call]:
    """Layers, directions, biases, projections, batch first, one step."""
    if not is_floating(dtype):
        return
    batch, width, hidden = 2, 3, 4
    configurations: list[dict[str, Any]] = [
        {},
        {"layers": 2, "bidirectional": True},
        {"biases": False, "batch_first": True},
        {"bidirectional": True, "steps": 1, "training": True},
    ]
    if gates == 4:
        configurations += [{"projected": 2}, {"projected": 2, "layers": 2, "bidirectional": True}]
    for options in configurations:
        layers, both = options.get("layers", 1), options.get("bidirectional", False)
        projected, batch_first = options.get("projected", 0), options.get("batch_first", False)
        shape = (options.get("steps", 5), batch)
        states = [drawn(dtype, layers * (2 if both else 1), batch, projected or hidden)]
        if gates == 4:
            states.append(drawn(dtype, layers * (2 if both else 1), batch, hidden))
        yield (
            (
                drawn(dtype, *(reversed(shape) if batch_first else shape), width),
                states if gates == 4 else states[0],
                weights(dtype, gates, (width, hidden, projected), **options),
                options.get("biases", True),
                layers,
                0.0,
                options.get("training", False),
                both,
                batch_first,
            ),
            {},
            None,
        )


def lstm(dtype: torch.dtype) -> Iterator[Call]:
    yield from recurrent(dtype, 4)


def gru(dtype: torch.dtype) -> Iterator[Call]:
    yield from recurrent(dtype, 3)


def rnn(dtype: torch.dtype) -> Iterator[Call]:
    yield from recurrent(dtype, 1)


def image(dtype: torch.dtype, rank: int) -> torch.Tensor:
    return drawn(dtype, 2, 3, *(7, 8, 5)[:rank])


def pooling(rank: int, *, dilates: bool) -> Callable[[torch.dtype], Iterator[Call]]:
    """Strides, padding, one sample, ceil_mode; dilation, or whether padding counts and another divisor."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        dilation = ([2] * rank,) if dilates else ()
        yield (image(dtype, rank), [2] * rank), {}, None
        yield (
            (image(dtype, rank), [3] * rank, [2] * rank, [1] * rank, *([1] * rank for _ in dilation)),
            {},
            None,
        )
        yield (image(dtype, rank)[0], [2] * rank, [3] * rank, [0] * rank, *dilation), {}, None
        yield (image(dtype, rank), [3] * rank, [2] * rank, [1] * rank), {"ceil_mode": True}, None
        if not dilates:
            window = ([3] * rank, [2] * rank, [1] * rank)
            yield (image(dtype, rank), *window, False, False), {}, None
            yield (image(dtype, rank), *window, True, False), {}, None
        if not dilates and rank > 1:
            yield (image(dtype, rank), *window, False, True, 5), {}, None

    return calls


def max_pooling_with_indices(rank: int) -> Callable[[torch.dtype], Iterator[Call]]:
    """Ties, NaN and infinities as well."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        yield from pooling(rank, dilates=True)(dtype)
        flat = torch.zeros(1, 2, *[4] * rank, dtype=dtype)
        yield (flat, [2] * rank), {}, None
        if is_floating(dtype):
            flat[0, 0] = -float("inf")
            flat[0, 1].view(-1)[[0, 1, 7]] = float("nan")
            yield (flat, [3] * rank, [1] * rank, [1] * rank), {}, None

    return calls


def adaptive_pooling(rank: int) -> Callable[[torch.dtype], Iterator[Call]]:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        for size in ([1] * rank, [3, 1, 2][:rank], [5, 8, 9][:rank], [7, 8, 5][:rank]):
            yield (image(dtype, rank), size), {}, None
        yield (image(dtype, rank)[0], [2] * rank), {}, None

    return calls


def group_norm(dtype: torch.dtype) -> Iterator[Call]:
    """One group, some, as many as channels; without weight and bias; a small batch of small images."""
    if not is_floating(dtype):
        return
    for groups, affine in ((1, True), (2, True), (6, True), (3, False)):
        parameters = [drawn(dtype, 6), drawn(dtype, 6)] if affine else [None, None]
        yield (drawn(dtype, 2, 6, 3, 4), *parameters, 2, 6, 12, groups, 1e-5), {}, None


def resampling(rank: int, *, corners: bool, sizes_only: bool) -> Callable[[torch.dtype], Iterator[Call]]:
    """Larger and smaller images, by a size or by factors, of which the latter place the samples."""
    larger, smaller = [12, 15, 7][:rank], [3, 5, 1][:rank]
    multiples = [287, 24, 10][:rank]  # rounding keeps the 41st of each pixel's results from being its
    factors = [2.0, 1.7, 0.6][:rank]

    def by_factors(value: torch.Tensor, *options: Any) -> tuple:
        if not sizes_only:
            return value, None, *options, factors
        scaled = [int(size * factor) for size, factor in zip(value.shape[2:], factors, strict=True)]
        return value, scaled, *options, *factors

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if corners and not is_floating(dtype):
            return
        last = [] if sizes_only else [None]
        for options in ([False], [True]) if corners else ([],):
            for size in (larger, smaller, [7, 16, 5][:rank], multiples):
                yield (image(dtype, rank), size, *options, *last), {}, None
            yield by_factors(image(dtype, rank), *options), {}, None

    return calls


def antialiased(*, sizes_only: bool) -> Callable[[torch.dtype], Iterator[Call]]:
    """As other resampling; images that shrink much."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        yield from resampling(2, corners=True, sizes_only=sizes_only)(dtype)
        if is_floating(dtype):
            last = [] if sizes_only else [None]
            yield (drawn(dtype, 1, 2, 30, 17), [4, 3], False, *last), {}, None

    return calls


def adaptive_maximum(rank: int) -> Callable[[torch.dtype], Iterator[Call]]:
    """Ties and NaN as well."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        yield from adaptive_pooling(rank)(dtype)
        flat = torch.zeros(1, 2, *[4] * rank, dtype=dtype)
        yield (flat, [2] * rank), {}, None
        if is_floating(dtype):
            flat[0, 0] = -float("inf")
            flat[0, 1].view(-1)[[0, 1, 7]] = float("nan")
            yield (flat, [3] * rank), {}, None

    return calls


def fractional_pooling(rank: int) -> Callable[[torch.dtype], Iterator[Call]]:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if dtype not in (torch.float32, torch.float64):
            return
        for size, outs in ((2, [3, 4, 2]), (1, [7, 8, 5]), (3, [1, 1, 1]), (2, [6, 7, 4])):
            samples = torch.rand(2, 3, rank, dtype=dtype)
            yield (image(dtype, rank), [size] * rank, outs[:rank], samples), {}, None
        yield (image(dtype, rank)[0], [2] * rank, [3] * rank, samples[:1]), {}, None
        yield (image(dtype, rank), [1] * rank, [3] * rank, samples - 0.7), {}, None  # others than are drawn

    return calls


def grid_sampling(rank: int) -> Callable[[torch.dtype], Iterator[Call]]:
    """Every interpolation and padding; places in, at the border of and far outside of the image."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if dtype not in (torch.float32, torch.float64):
            return
        value = image(dtype, rank)
        grid = drawn(dtype, 2, *[4, 3, 2][:rank], rank, low=-1.6, high=1.6)
        grid.view(-1)[:4] = torch.tensor([-1.0, 1.0, 0.0, 7.5])
        for mode in (0, 1, 2) if rank == 2 else (0, 1):
            for outside in (0, 1, 2):
                for corners in (False, True):
                    yield (value, grid, mode, outside, corners), {}, None
        yield (value[..., :1], grid, 0, 2, True), {}, None

    return calls


def embedding_bag(name: str) -> Callable[[torch.dtype], Iterator[Call]]:
    """Sums, means and maxima; an empty bag, padding, weights, the end given as an offset. What the op gives
    beside that is for its gradient, and not always defined."""
    packet = getattr(torch.ops.aten, name)
    op = packet.padding_idx if name == "embedding_bag" else packet.default

    def output(*args: Any) -> torch.Tensor:
        return op(*args)[0]

    def with_places(*args: Any) -> tuple[torch.Tensor, ...]:
        results = op(*args)
        return results[0], results[1], results[3]

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        table, indices = drawn(dtype, 6, 4), torch.tensor([2, 0, 2, 5, 1, 3])
        offsets = torch.tensor([0, 2, 2, 5])
        none = None if name == "embedding_bag" else -1
        for mode in (0, 1, 2):
            yield (table, indices, offsets, False, mode, False, None, False, none), {}, output
            yield (table, indices, offsets, False, mode, False, None, False, 2), {}, output
        if name == "embedding_bag":
            yield (table, indices, offsets, False, 0, False, None, False, -1), {}, output
        yield (table, indices, offsets, False, 2, False, None, False, none), {}, with_places
        yield (table, indices, offsets, False, 0, False, drawn(dtype, 6), False, none), {}, output
        ends = torch.tensor([0, 2, 4, 6])
        yield (table, indices, ends, False, 1, False, None, True, none), {}, output

    return calls


def bounded_rows(dtype: torch.dtype) -> Iterator[Call]:
    """Rows that are read several times, rows of small norms, each norm, no index."""
    if not is_floating(dtype):
        return
    table, indices = drawn(dtype, 6, 4), torch.tensor([[2, 0], [2, 5]])
    table[0] /= 100
    for p in (1.0, 2.0, 3.0, float("inf")):
        yield (table, indices, 0.75, p), {}, None
    yield (table, indices[:0], 0.75, 2.0), {}, None


def blocks(dtype: torch.dtype) -> Iterator[Call]:
    """Blocks apart, overlapping, padded, dilated; one sample."""
    for size, dilation, padding, stride in (
        ([2, 3], [1, 1], [0, 0], [2, 3]),
        ([3, 3], [1, 1], [1, 1], [1, 2]),
        ([2, 3], [2, 1], [1, 0], [1, 1]),
    ):
        yield (image(dtype, 2), size, dilation, padding, stride), {}, None
        yield (image(dtype, 2)[0], size, dilation, padding, stride), {}, None


def columns(dtype: torch.dtype) -> Iterator[Call]:
    if not is_floating(dtype):
        return
    for (value, *options), _, _ in blocks(dtype):
        shape = torch.ops.aten.im2col.default(value.float(), *options).shape
        yield (torch.randn(shape).to(dtype), [7, 8], *options), {}, None


def without_dropout(dtype: torch.dtype, train: list[tuple[float, bool]]) -> Iterator[Call]:
    """Calls that draw no random numbers."""
    if is_floating(dtype):
        for p, training in train:
            yield (drawn(dtype, 3, 4), p, training), {}, None


def dropout_backward(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        yield (drawn(dtype, 3, 4), drawn(torch.bool, 3, 4), 1.25), {}, None


def rrelu(dtype: torch.dtype) -> Iterator[Call]:
    """The slopes of inference, which are the mean."""
    if is_floating(dtype):
        yield (drawn(dtype, 3, 4), 0.1, 0.4, False), {}, None
        yield (drawn(dtype, 5),), {}, None


def rrelu_with_noise(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        yield (drawn(dtype, 3, 4), drawn(dtype, 3, 4), 0.1, 0.4, False), {}, None


LAYERS: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    "lstm.input": lstm,
    "gru.input": gru,
    "rnn_tanh.input": rnn,
    "rnn_relu.input": rnn,
    "native_group_norm.default": group_norm,
    "fractional_max_pool2d.default": fractional_pooling(2),
    "fractional_max_pool3d.default": fractional_pooling(3),
    "im2col.default": blocks,
    "col2im.default": columns,
    "grid_sampler_2d.default": grid_sampling(2),
    "grid_sampler_3d.default": grid_sampling(3),
    "adaptive_max_pool2d.default": adaptive_maximum(2),
    "adaptive_max_pool3d.default": adaptive_maximum(3),
    **{
        f"_embedding_bag{kind}.default": embedding_bag("_embedding_bag" + kind)
        for kind in ("", "_forward_only")
    },
    "embedding_bag.padding_idx": embedding_bag("embedding_bag"),
    "embedding_renorm.default": bounded_rows,
    **{
        f"_upsample_{kind}2d_aa.{overload}": antialiased(sizes_only=overload == "default")
        for kind in ("bilinear", "bicubic", "lanczos")
        for overload in ("vec", "default")
    },
    "native_dropout.default": lambda dtype: without_dropout(dtype, [(0.5, False), (0.0, True)]),
    "native_dropout_backward.default": dropout_backward,
    "rrelu.default": rrelu,
    "rrelu_with_noise_functional.default": rrelu_with_noise,
    **{f"max_pool{rank}d.default": pooling(rank, dilates=True) for rank in (1, 3)},
    **{f"max_pool{rank}d_with_indices.default": max_pooling_with_indices(rank) for rank in (2, 3)},
    **{f"avg_pool{rank}d.default": pooling(rank, dilates=False) for rank in (1, 3)},
    **{f"adaptive_avg_pool{rank}d.default": adaptive_pooling(rank) for rank in (1, 2, 3)},
    **{f"_adaptive_avg_pool{rank}d.default": adaptive_pooling(rank) for rank in (2, 3)},
}
for _rank in (1, 2, 3):
    for _name in ("upsample_nearest", "_upsample_nearest_exact"):
        for _overload in ("vec", "default"):
            LAYERS[f"{_name}{_rank}d.{_overload}"] = resampling(
                _rank, corners=False, sizes_only=_overload == "default"
            )
for _row, _rank in (
    ("upsample_linear1d.vec", 1),
    ("upsample_linear1d.default", 1),
    ("upsample_bilinear2d.vec", 2),
    ("upsample_bicubic2d.vec", 2),
    ("upsample_trilinear3d.vec", 3),
    ("upsample_trilinear3d.default", 3),
):
    LAYERS[_row] = resampling(_rank, corners=True, sizes_only=_row.endswith("default"))
