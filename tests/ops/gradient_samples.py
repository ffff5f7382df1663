"""Samples of gradients: of pooling, resampling, padding, convolutions and embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from layer_samples import grid_sampling, image
from order_samples import segments
from sample_values import Call, drawn, is_floating

_ATEN = torch.ops.aten
Maker = Callable[[torch.dtype], Iterator[Call]]


def resampling_backward(rank: int, *, corners: bool) -> Maker:
    """Larger and smaller images, by sizes and by factors."""
    sizes = [[12, 15, 7][:rank], [3, 5, 1][:rank], [7, 16, 5][:rank]]

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        given = [2, 3, *[7, 8, 5][:rank]]
        for options in ([False], [True]) if corners else ([],):
            for size in sizes:
                yield (drawn(dtype, 2, 3, *size), size, given, *options), {}, None
        scaled = [int(size * factor) for size, factor in zip(given[2:], (2.0, 1.7, 0.6), strict=False)]
        options = [False] if corners else []
        gradient = drawn(dtype, 2, 3, *scaled)
        yield (gradient, scaled, given, *options, *[2.0, 1.7, 0.6][:rank]), {}, None

    return calls


def average_backward(rank: int) -> Maker:
    """Strides, padding, ceil_mode, one sample, whether padding counts, another divisor."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        forward = getattr(_ATEN, f"avg_pool{rank}d").default
        for size, stride, padding, *options in (
            (2, 2, 0, False, True, None),
            (3, 2, 1, False, True, None),
            (3, 2, 1, True, False, None),
            (3, 2, 1, True, True, None),
            (2, 3, 0, False, True, 5),
        ):
            window = ([size] * rank, [stride] * rank, [padding] * rank, *options)
            for value in (image(dtype, rank), image(dtype, rank)[0]):
                gradient = torch.randn(forward(value.float(), *window).shape).to(dtype)
                yield (gradient, value, *window), {}, None

    return calls


def adaptive_average_backward(rank: int) -> Maker:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if is_floating(dtype):
            for size in ([1] * rank, [3, 1, 2][:rank], [5, 8, 9][:rank]):
                yield (drawn(dtype, 2, 3, *size), image(dtype, rank)), {}, None

    return calls


def maximum_backward(rank: int) -> Maker:
    """Windows that lie apart, and ones that share maxima."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        forward = getattr(_ATEN, f"max_pool{rank}d_with_indices").default
        for size, stride, padding, dilation, ceil in (
            (2, 2, 0, 1, False),
            (3, 1, 1, 1, False),
            (3, 2, 1, 2, True),
        ):
            window = ([size] * rank, [stride] * rank, [padding] * rank, [dilation] * rank, ceil)
            for value in (image(dtype, rank), image(dtype, rank)[0]):
                output, indices = forward(value.float(), *window)
                yield (torch.randn(output.shape).to(dtype), value, *window, indices), {}, None

    return calls


def adaptive_maximum_backward(rank: int) -> Maker:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        forward = getattr(_ATEN, f"adaptive_max_pool{rank}d").default
        for size in ([1] * rank, [3, 1, 2][:rank], [5, 8, 9][:rank]):
            value = image(dtype, rank)
            output, indices = forward(value.float(), size)
            yield (torch.randn(output.shape).to(dtype), value, indices), {}, None

    return calls


def fractional_maximum_backward(rank: int) -> Maker:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if dtype not in (torch.float32, torch.float64):
            return
        forward = getattr(_ATEN, f"fractional_max_pool{rank}d").default
        value = image(dtype, rank)[:1]  # with a size that may change, torch.export refuses the op
        window = ([2] * rank, [3] * rank)
        output, indices = forward(value, *window, torch.rand(1, 3, rank, dtype=dtype))
        yield (torch.randn(output.shape).to(dtype), value, *window, indices), {}, None

    return calls


def unpooling(rank: int) -> Maker:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        value = image(dtype, rank)
        options = ([2] * rank, [0] * rank) if rank == 3 else ()
        output, indices = getattr(_ATEN, f"max_pool{rank}d_with_indices").default(value, [2] * rank)
        for size in ([7, 8, 5][:rank], [8, 9, 6][:rank]):
            yield (output, indices, size, *options), {}, None
            yield (output[0], indices[0], size, *options), {}, None

    return calls


def padding_backward(kind: str, rank: int) -> Maker:
    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if not is_floating(dtype):
            return
        forward = getattr(_ATEN, f"{kind}_pad{rank}d").default
        for amounts in ([1, 2, 3, 0, 2, 1], [0, 0, 2, 2, 1, 1]):
            value = image(dtype, rank)
            padding = amounts[: 2 * rank]
            yield (torch.randn(forward(value.float(), padding).shape).to(dtype), value, padding), {}, None

    return calls


def padding(rank: int) -> Maker:
    """All sides, some, one that is cut, one sample."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        for amounts in ([1, 2, 3, 0, 2, 1], [0, 0, 2, 2, 1, 1], [-1, 2, 1, -2, 0, 1]):
            yield (image(dtype, rank), amounts[: 2 * rank]), {}, None
        yield (image(dtype, rank)[0], [2, 1] * rank), {}, None

    return calls


def convolution_backward(dtype: torch.dtype) -> Iterator[Call]:
    """1 to 3 dimensions, stride, padding, dilation, groups, depthwise, transposed; some gradients only."""
    if not is_floating(dtype):
        return

    def call(
        input_shape, weight_shape, stride, padding, dilation, *, mask=(True, True, True), **options: Any
    ):
        output = options.get("output", [0] * len(stride))
        transposed, groups = options.get("transposed", False), options.get("groups", 1)
        rest = (stride, padding, dilation, transposed, output, groups)
        value, weight = drawn(dtype, *input_shape), drawn(dtype, *weight_shape)
        shape = _ATEN.convolution.default(value.float(), weight.float(), None, *rest).shape
        gradient = torch.randn(shape).to(dtype)
        return (gradient, value, weight, [shape[1]], *rest, list(mask)), {}, None

    yield call((2, 3, 8), (4, 3, 3), [1], [0], [1])
    yield call((2, 3, 9), (4, 3, 3), [2], [1], [2], mask=(True, False, False))
    yield call((2, 3, 8, 7), (4, 3, 3, 2), [2, 1], [0, 2], [1, 1], mask=(False, True, True))
    yield call((2, 4, 8, 7), (6, 2, 3, 2), [3, 2], [1, 2], [1, 2], groups=2)
    yield call((2, 4, 6, 6), (4, 1, 3, 3), [1, 1], [1, 1], [1, 1], groups=4)
    yield call((1, 2, 5, 4, 6), (3, 2, 2, 2, 3), [1, 2, 1], [0, 1, 1], [1, 1, 2])
    yield call((2, 4, 6), (4, 3, 3), [1], [0], [1], transposed=True)
    yield call((2, 4, 5, 6), (4, 3, 3, 2), [2, 1], [1, 0], [1, 2], transposed=True, output=[1, 0])
    yield call((2, 4, 5, 6), (4, 3, 3, 3), [2, 2], [1, 1], [1, 1], transposed=True, output=[1, 1], groups=2)


def embedding_backward(dtype: torch.dtype) -> Iterator[Call]:
    if not is_floating(dtype):
        return
    indices = torch.tensor([[0, 3, 3], [4, 1, 0]])
    for padding, scales in ((-1, False), (3, False), (3, True)):
        yield (drawn(dtype, 2, 3, 4), indices, 5, padding, scales), {}, None


def layer_norm_backward(dtype: torch.dtype) -> Iterator[Call]:
    """With and without weight and bias; one axis, two; some gradients only."""
    if not is_floating(dtype):
        return
    for shape, kept, affine, mask in (
        ((4, 6), [6], True, [True, True, True]),
        ((2, 3, 4, 5), [4, 5], True, [True, True, False]),
        ((3, 4), [4], False, [True, False, False]),
        ((2, 3), [2, 3], True, [False, True, True]),
    ):
        value = drawn(dtype, *shape)
        weight, bias = (drawn(dtype, *kept), drawn(dtype, *kept)) if affine else (None, None)
        _, mean, deviation = _ATEN.native_layer_norm.default(value, kept, weight, bias, 1e-5)
        yield (drawn(dtype, *shape), value, kept, mean, deviation, weight, bias, mask), {}, None


def group_norm_backward(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.float32, torch.float64):
        return
    for groups, affine, mask in (
        (1, True, [True] * 3),
        (3, True, [True] * 3),
        (2, False, [True, False, False]),
    ):
        value, weight = drawn(dtype, 2, 6, 3, 4), drawn(dtype, 6) if affine else None
        _, mean, deviation = _ATEN.native_group_norm.default(value, weight, None, 2, 6, 12, groups, 1e-5)
        yield (drawn(dtype, 2, 6, 3, 4), value, mean, deviation, weight, 2, 6, 12, groups, mask), {}, None


def batch_norm_backward(dtype: torch.dtype) -> Iterator[Call]:
    """In training and in inference; without weight; of a batch without space; of some gradients only."""
    if dtype not in (torch.float32, torch.float64):
        return
    for shape, affine, train, mask in (
        ((2, 3, 3, 4), True, True, [True] * 3),
        ((2, 3, 3, 4), True, False, [True] * 3),
        ((5, 3), True, True, [True] * 3),
        ((2, 3, 4), False, True, [True, False, False]),
        ((2, 3, 4), False, False, [True, False, False]),
    ):
        value, weight = drawn(dtype, *shape), drawn(dtype, 3) if affine else None
        mean, variance = drawn(dtype, 3), drawn(dtype, 3).square() + 0.5
        saved = _ATEN.native_batch_norm.default(value, weight, None, None, None, True, 0.1, 1e-5)[1:]
        if not train:
            saved = (torch.empty(0), torch.empty(0))
        rest = (weight, mean, variance, *saved, train, 1e-5, mask)
        yield (drawn(dtype, *shape), value, *rest), {}, None


_BAGS = {"indices": torch.tensor([2, 0, 2, 5, 1, 3]), "offsets": torch.tensor([0, 2, 2, 5])}


def _bags(dtype: torch.dtype, mode: int, **options: Any) -> tuple[torch.Tensor, ...]:
    """A table, its indices and offsets, and what the forward op gives for them."""
    table = drawn(dtype, 6, 4)
    results = _ATEN._embedding_bag.default(table, *_BAGS.values(), mode=mode, **options)
    return table, *_BAGS.values(), *results


def bag_backward(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.float32, torch.float64):
        return
    for mode, weighted, padding in ((0, False, -1), (0, True, 2), (1, False, 2), (2, False, -1)):
        factors = drawn(dtype, 6) if weighted else None
        options = {"per_sample_weights": factors, "padding_idx": padding}
        _, indices, offsets, output, _, sizes, maxima = _bags(dtype, mode, **options)
        gradient = torch.randn(output.shape).to(dtype)
        bags = torch.tensor([0, 0, 2, 2, 2, 3])
        rest = (6, False, mode, False, factors, padding)
        yield (gradient, indices, offsets, bags, sizes, maxima, *rest), {}, None
    # Eager looks at the frequencies of other indices than it should where one comes twice before the largest.
    indices = torch.tensor([2, 0, 5, 5, 1, 3])
    yield (gradient, indices, offsets, bags, sizes, maxima, 6, True, 0, False, None, -1), {}, None


def dense_bag_backward(dtype: torch.dtype) -> Iterator[Call]:
    for (gradient, indices, _, bags, sizes, maxima, *rest), _, _ in bag_backward(dtype):
        rest.pop(3)
        yield (gradient, indices, bags, sizes, maxima, *rest), {}, None


def bag_factors_backward(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.float32, torch.float64):
        return
    for padding in (-1, 2):
        table, indices, offsets, output, *_ = _bags(dtype, 0)
        bags = torch.tensor([0, 0, 2, 2, 2, 3])
        yield (torch.randn(output.shape).to(dtype), table, indices, offsets, bags, 0, padding), {}, None


def masked_backward(dtype: torch.dtype) -> Iterator[Call]:
    mask = torch.tensor([[True, False, True], [False, True, True]])
    yield (drawn(dtype, 2, 3), mask, [6]), {}, None
    yield (drawn(dtype, 2, 3), mask, [2, 2]), {}, None


def distances_backward(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in (torch.float32, torch.float64):
        for order in (2.0, 1.0, 0.0, float("inf"), 3.0, 1.5):
            left, right = drawn(dtype, 2, 4, 5), drawn(dtype, 2, 3, 5)
            right[:, 0] = left[:, 1]
            distances = _ATEN._cdist_forward.default(left, right, order, 2)
            yield (drawn(dtype, 2, 4, 3), left, right, order, distances), {}, None


def own_distances_backward(dtype: torch.dtype) -> Iterator[Call]:
    """There are as many distances as there are pairs of rows: they are made in the program."""

    def call(rows: torch.Tensor, order: float) -> torch.Tensor:
        distances = _ATEN._pdist_forward.default(rows, order)
        return _ATEN._pdist_backward.default(distances * 0.5 - 1.0, rows, order, distances)

    if dtype in (torch.float32, torch.float64):
        for order in (2.0, 1.0, 0.0, float("inf"), 3.0, 1.5):
            rows = drawn(dtype, 5, 3)
            rows[3] = rows[1]
            yield (rows, order), {}, call


def grid_sampling_backward(rank: int) -> Maker:
    """Every interpolation and padding, as of grid_sampling; the gradient of the grid alone."""
    packet = getattr(_ATEN, f"grid_sampler_{rank}d_backward").default

    def of_grid(*args: Any) -> torch.Tensor:
        return packet(*args)[1]

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        for args, _, _ in grid_sampling(rank)(dtype):
            value, grid, *options = args
            gradient = drawn(dtype, *value.shape[:2], *grid.shape[1:-1])
            yield (gradient, value, grid, *options, [True, True]), {}, None
            if options == [0, 0, False]:
                yield (gradient, value, grid, *options, [False, True]), {}, of_grid

    return calls


def segments_backward(dtype: torch.dtype) -> Iterator[Call]:
    """As of segments; rows that are equal, zero or NaN."""
    for (data, *rest), options, _ in segments(dtype):
        data = data.clone()
        if data.dim() == 2:
            data[2] = data[4] = 0.0
            data[1] = data[0]
        output = _ATEN.segment_reduce.default(data, *rest, **options)
        yield (drawn(dtype, *output.shape), output, data, *rest), options, None


GRADIENTS: dict[str, Maker] = {
    "_segment_reduce_backward.default": segments_backward,
    "grid_sampler_2d_backward.default": grid_sampling_backward(2),
    "grid_sampler_3d_backward.default": grid_sampling_backward(3),
    "_cdist_backward.default": distances_backward,
    "_pdist_backward.default": own_distances_backward,
    "convolution_backward.default": convolution_backward,
    "native_layer_norm_backward.default": layer_norm_backward,
    "native_group_norm_backward.default": group_norm_backward,
    "native_batch_norm_backward.default": batch_norm_backward,
    "embedding_dense_backward.default": embedding_backward,
    "_embedding_bag_backward.default": bag_backward,
    "_embedding_bag_dense_backward.default": dense_bag_backward,
    "_embedding_bag_per_sample_weights_backward.default": bag_factors_backward,
    "masked_scatter_backward.default": masked_backward,
    "upsample_linear1d_backward.default": resampling_backward(1, corners=True),
    "upsample_trilinear3d_backward.default": resampling_backward(3, corners=True),
    **{
        f"{op}_backward.default": resampling_backward(2, corners=True)
        for op in (
            "upsample_bilinear2d",
            "upsample_bicubic2d",
            "_upsample_bilinear2d_aa",
            "_upsample_bicubic2d_aa",
            "_upsample_lanczos2d_aa",
        )
    },
}
for _rank in (1, 2, 3):
    for _kind in ("upsample_nearest", "_upsample_nearest_exact"):
        GRADIENTS[f"{_kind}{_rank}d_backward.default"] = resampling_backward(_rank, corners=False)
    for _kind in ("reflection", "replication"):
        GRADIENTS[f"{_kind}_pad{_rank}d.default"] = padding(_rank)
        GRADIENTS[f"{_kind}_pad{_rank}d_backward.default"] = padding_backward(_kind, _rank)
for _rank in (2, 3):
    GRADIENTS |= {
        f"avg_pool{_rank}d_backward.default": average_backward(_rank),
        f"_adaptive_avg_pool{_rank}d_backward.default": adaptive_average_backward(_rank),
        f"max_pool{_rank}d_with_indices_backward.default": maximum_backward(_rank),
        f"adaptive_max_pool{_rank}d_backward.default": adaptive_maximum_backward(_rank),
        f"fractional_max_pool{_rank}d_backward.default": fractional_maximum_backward(_rank),
        f"max_unpool{_rank}d.default": unpooling(_rank),
    }
