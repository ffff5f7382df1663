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
            for size in (larger, smaller, [7, 16, 5][:rank]):
                yield (image(dtype, rank), size, *options, *last), {}, None
            yield by_factors(image(dtype, rank), *options), {}, None

    return calls


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
