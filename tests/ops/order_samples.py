"""Samples of rows that put elements in order, or look for extremes and places among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from sample_values import Call, drawn, edges, is_floating


def ordered(dtype: torch.dtype) -> Iterator[Call]:
    """Ties, NaN, infinities, every axis."""
    if dtype.is_complex:
        return
    ties = torch.tensor([[1, 3, 3], [2, 0, 2]], dtype=dtype)
    for dim, descending in [(0, False), (1, True), (-1, False)]:
        yield (ties,), {"stable": True, "dim": dim, "descending": descending}, None
    yield (edges(dtype),), {"stable": True}, None
    yield (edges(dtype),), {"stable": True, "descending": True}, None


def largest(dtype: torch.dtype) -> Iterator[Call]:
    """Without ties, whose places torch chooses as it comes."""
    if dtype.is_complex or dtype == torch.bool:
        return
    values = torch.tensor([[4, 1, 7, 2], [0, 9, 3, 5]], dtype=dtype)
    for k, dim, way in [(2, 1, True), (1, 0, False), (4, -1, True), (0, 1, True)]:
        yield (values, k, dim, way), {}, None
    if is_floating(dtype):
        infinity, nan = float("inf"), float("nan")
        yield (torch.tensor([1.0, nan, -infinity, infinity], dtype=dtype), 3), {}, None


def middle(dtype: torch.dtype) -> Iterator[Call]:
    if dtype.is_complex or dtype == torch.bool:
        return
    values = torch.tensor([[4, 1, 7, 2], [0, 9, 3, 5]], dtype=dtype)
    for dim, keep in [(0, False), (1, True), (-1, False)]:
        yield (values, dim, keep), {}, None
    yield (drawn(dtype), 0), {}, None
    if is_floating(dtype):
        yield (torch.tensor([[1.0, float("nan"), 0.0], [float("inf"), 1.0, 2.0]], dtype=dtype), 1), {}, None


def middle_of_all(dtype: torch.dtype) -> Iterator[Call]:
    for (values, *_), _, _ in middle(dtype):
        yield (values,), {}, None
    if is_floating(dtype):  # eager makes NaN an integer
        yield (drawn(dtype, 0),), {}, None
        yield (torch.full((2, 2), float("nan"), dtype=dtype),), {}, None


def middle_of_numbers(dtype: torch.dtype) -> Iterator[Call]:
    yield from middle(dtype)
    if is_floating(dtype):
        nan = float("nan")
        yield (torch.tensor([[nan, 1.0, nan, 0.0], [nan, 3.0, nan, nan]], dtype=dtype), 1), {}, None


def most_frequent(dtype: torch.dtype) -> Iterator[Call]:
    """Several that come as often, one of each, rows of one element."""
    if dtype.is_complex or dtype == torch.bool:
        return
    values = torch.tensor([[4, 1, 4, 1], [0, 9, 3, 9], [5, 2, 7, 1]], dtype=dtype)
    for dim, keep in [(1, False), (1, True), (-2, False)]:
        yield (values, dim, keep), {}, None
    yield (drawn(dtype), 0), {}, None
    yield (drawn(dtype, 3, 1), 1), {}, None


def buckets(dtype: torch.dtype) -> Iterator[Call]:
    for (row, values), options, _ in search(dtype):
        if row.dim() == 1 and not options.keys() & {"side", "sorter"}:
            yield (values, row), options, None


def number_in_buckets(dtype: torch.dtype) -> Iterator[Call]:
    for (_, row), options, _ in buckets(dtype):
        for number in (0, 3, 3.5, 9):
            yield (number, row), options, None


def number_in_row(dtype: torch.dtype) -> Iterator[Call]:
    for (number, row), options, _ in number_in_buckets(dtype):
        yield (row, number), options, None


def histogram(dtype: torch.dtype) -> Iterator[Call]:
    """The range of the data, a range of one point, elements at the edges and outside, NaN."""
    if dtype not in (torch.float32, torch.float64):
        return
    values = torch.tensor([[0, 1, 2, 2.5], [3, 4, 4, 7], [1.5, -1, 0.1, 0.3]], dtype=dtype)
    yield (values,), {}, None
    yield (values, 4, 0, 4), {}, None
    yield (values, 8, -1, 3), {}, None
    yield (torch.full((3,), 2.0, dtype=dtype), 5), {}, None
    yield (torch.arange(8, dtype=dtype), 8, 0, 7), {}, None
    yield (torch.tensor([float("nan"), 1.0, float("inf")], dtype=dtype), 3, 0, 3), {}, None
    yield (drawn(dtype, 0), 3, 0, 1), {}, None
    yield (drawn(dtype, 0), 3), {}, None


def weighed_bins(dtype: torch.dtype) -> Iterator[Call]:
    """Bins of the data, of a range, of one point, of nothing; weights, densities, NaN, elements outside."""
    for (values, *bins), _, _ in histogram(dtype):
        ends = [float(end) for end in bins[1:]]
        options = {"range": ends} if ends else {}
        if not ends and not values.isfinite().all():
            continue
        for more in ({}, {"weight": values.abs() + 1}, {"density": True}):
            yield (values, bins[0] if bins else 10), options | more, None


def bins_between_edges(dtype: torch.dtype) -> Iterator[Call]:
    """Bins of several widths."""
    edges = torch.tensor([-1, 0, 0.25, 2, 4], dtype=dtype)
    for (values, _), options, _ in weighed_bins(dtype):
        yield (values, edges), {name: options[name] for name in options if name != "range"}, None


def bins_of_points(dtype: torch.dtype) -> Iterator[Call]:
    """Points outside along one axis alone, at edges, NaN; equal points; one coordinate; no points."""
    if dtype not in (torch.float32, torch.float64):
        return
    points = drawn(dtype, 40, 3)
    points[:3, 0] = points.new_tensor([2.0, -1.0, 5.0])
    odd = points.clone()
    odd[4, 1], odd[5, 2] = float("nan"), float("inf")
    ends = [-1.0, 2.0, -0.5, 0.5, -2.0, 2.0]
    calls: list[tuple[torch.Tensor, list[int], dict[str, Any]]] = [
        (points, [4, 3, 5], {}),
        (points, [4, 1, 2], {"range": ends}),
        (odd, [3, 2, 2], {"range": ends}),
        (points.reshape(5, 8, 3).transpose(0, 1), [2, 3, 4], {}),
        (points[:, :1], [6], {}),
        (torch.ones(4, 2, dtype=dtype), [3, 2], {}),
        (torch.ones(0, 2, dtype=dtype), [3, 2], {}),
    ]
    for values, counts, options in calls:
        for more in ({}, {"weight": drawn(dtype, *values.shape[:-1]).abs()}, {"density": True}):
            yield (values, counts), options | more, None


def points_between_edges(dtype: torch.dtype) -> Iterator[Call]:
    """Bins of several widths along each axis."""
    for (values, counts), options, _ in bins_of_points(dtype):
        bounds = [values.new_tensor(e) for e in ([-1, 0, 2], [-2, -0.5, 0, 0.25, 1], [-1, 1])]
        yield (values, bounds[: len(counts)]), {k: options[k] for k in options if k != "range"}, None


def segments(dtype: torch.dtype) -> Iterator[Call]:
    """Segments of no rows, rows of no segment, segments of each row of a matrix, NaN, an initial value."""
    if not is_floating(dtype):
        return
    rows, matrix = drawn(dtype, 5, 2), drawn(dtype, 2, 5, 3)
    rows[3, 1] = float("nan")
    lengths = torch.tensor([[0, 2, 3], [4, 1, 0]])
    for reduce in ("sum", "mean", "max", "min", "prod"):
        for options in ({}, {"initial": 2.0}):
            yield (rows, reduce), {"lengths": torch.tensor([2, 0, 3]), **options}, None
            yield (rows, reduce), {"offsets": torch.tensor([1, 1, 4]), **options}, None
            yield (matrix, reduce), {"lengths": lengths, "axis": 1, **options}, None
        yield (drawn(dtype, 0), reduce), {"lengths": torch.tensor([0, 0])}, None


def kth(dtype: torch.dtype) -> Iterator[Call]:
    for (values, *options), _, _ in middle(dtype):
        yield (values, 1, *options), {}, None
        if values.dim() > 0:
            yield (values, values.shape[options[0]], *options), {}, None


def search(dtype: torch.dtype) -> Iterator[Call]:
    """One row for all values, a row for each, both sides, an order given beside the rows."""
    if dtype.is_complex or dtype == torch.bool:
        return
    row = torch.tensor([1, 3, 3, 5], dtype=dtype)
    values = torch.tensor([[0, 3, 9], [1, 4, 5]], dtype=dtype)
    for options in ({}, {"right": True}, {"side": "right"}, {"out_int32": True}):
        yield (row, values), options, None
        yield (torch.stack([row, row + 1]), values), options, None
    yield (row.flip(0), values), {"sorter": torch.tensor([3, 2, 1, 0])}, None
    if is_floating(dtype):
        infinity, nan = float("inf"), float("nan")
        yield (row, torch.tensor([nan, infinity, -infinity], dtype=dtype)), {}, None
    yield from search_in_many(dtype)


def search_in_many(dtype: torch.dtype) -> Iterator[Call]:
    """Rows that are halved: equal elements, values before and behind all, no values, and of floats
    infinities, zeros of both signs and NaN, in the row too."""
    row = torch.arange(80).div(2, rounding_mode="floor").to(dtype)
    values = torch.tensor([[0, 7, 39], [40, 90, 20]], dtype=dtype)
    for options in ({}, {"right": True}):
        yield (row, values), options, None
        yield (row[:9], values[:, :1]), options, None
        yield (row, values[:0]), options, None
        rows = torch.stack([row, row + 1])
        yield (rows, values), options, None
        yield (rows[:0], values[:0]), options, None
        yield (rows.expand(3, 2, 80), values.expand(3, 2, 3)), options, None
    yield (row.flip(0), values), {"sorter": torch.arange(79, -1, -1)}, None
    if is_floating(dtype):
        infinity, nan = float("inf"), float("nan")
        special = torch.tensor([nan, infinity, -infinity, 0.0, -0.0, 3.0], dtype=dtype)
        ends = torch.cat([special[2:3], row - 5, special[1:2]])
        for options in ({}, {"right": True}):
            yield (ends, special), options, None
            yield (torch.stack([ends, ends - 1]), special.expand(2, 6)), options, None
            yield (torch.cat([row[:3], special[:1]]), special[-1:] - 2.5), options, None
            yield (torch.cat([row, special[:1]]), special[:1]), options, None


def running_extreme(dtype: torch.dtype) -> Iterator[Call]:
    if dtype.is_complex:
        return
    yield (torch.tensor([[1, 3, 3, 0, 2, 3, 1]], dtype=dtype), 1), {}, None
    yield (drawn(dtype, 3, 40), -2), {}, None
    yield (drawn(dtype), 0), {}, None
    if is_floating(dtype):
        nan, infinity = float("nan"), float("inf")
        values = [-infinity, 1.0, nan, 2.0, nan, infinity, infinity]
        yield (torch.tensor(values, dtype=dtype), 0), {}, None
        yield (torch.tensor(values, dtype=dtype).flip(0), 0), {}, None


def extremes(dtype: torch.dtype) -> Iterator[Call]:
    """Ties, NaN, every axis, no axis, 0-d."""
    if dtype.is_complex or dtype == torch.bool:
        return
    ties = torch.tensor([[1, 3, 3], [2, 0, 2]], dtype=dtype)
    for dim, keep in [(0, False), (1, True), (-1, False)]:
        yield (ties, dim, keep), {}, None
    yield (drawn(dtype), 0), {}, None
    yield (drawn(dtype, 2, 0, 3), 0), {}, None
    if is_floating(dtype):
        nan = float("nan")
        yield (torch.tensor([[1.0, nan, nan], [-float("inf"), float("inf"), 0.0]], dtype=dtype), 1), {}, None


def positions(dtype: torch.dtype) -> Iterator[Call]:
    yield from extremes(dtype)
    if not dtype.is_complex and dtype != torch.bool:
        yield (torch.tensor([[1, 3, 3], [2, 0, 2]], dtype=dtype),), {}, None
        yield (drawn(dtype, 4, 6)[::2, ::3].T, None, True), {}, None


ORDER: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    **dict.fromkeys(("argmax.default", "argmin.default"), positions),
    **dict.fromkeys(("max.dim", "min.dim"), extremes),
    **dict.fromkeys(("cummax.default", "cummin.default", "logcumsumexp.default"), running_extreme),
    "sort.stable": ordered,
    "topk.default": largest,
    "median.dim": middle,
    "nanmedian.dim": middle_of_numbers,
    **dict.fromkeys(("median.default", "nanmedian.default"), middle_of_all),
    "mode.default": most_frequent,
    "bucketize.Tensor": buckets,
    "bucketize.Scalar": number_in_buckets,
    "searchsorted.Scalar": number_in_row,
    "histc.default": histogram,
    "histogram.bin_ct": weighed_bins,
    "histogram.bins_tensor": bins_between_edges,
    **dict.fromkeys(("_histogramdd_bin_edges.default", "_histogramdd_from_bin_cts.default"), bins_of_points),
    "_histogramdd_from_bin_tensors.default": points_between_edges,
    "segment_reduce.default": segments,
    "kthvalue.default": kth,
    "searchsorted.Tensor": search,
}
