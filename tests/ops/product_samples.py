"""Samples of products of matrices, of norms and distances, and of quantized numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from sample_values import Call, drawn, is_floating

_ATEN = torch.ops.aten


def integer_product(dtype: torch.dtype) -> Iterator[Call]:
    if dtype == torch.int8:
        yield (drawn(dtype, 17, 8), drawn(dtype, 8, 8)), {}, None
        yield (torch.full((17, 64), -128, dtype=dtype), torch.full((64, 8), -128, dtype=dtype)), {}, None


def scaled_product(dtype: torch.dtype) -> Iterator[Call]:
    """One scale for all, and one for each row and column; the operands become float8 in the program."""
    if dtype != torch.float32:
        return

    def call(left: torch.Tensor, right: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
        narrow = torch.float8_e4m3fn
        return _ATEN._scaled_mm.default(left.to(narrow), right.to(narrow).t(), *rest, **options)

    left, right = drawn(dtype, 16, 32), drawn(dtype, 16, 32)
    one = torch.tensor(0.5)
    yield (left, right, one, torch.tensor(2.5)), {"out_dtype": torch.float32}, call
    yield (left, right, one, one), {"out_dtype": torch.bfloat16}, call
    yield (left, right, one, one, drawn(torch.float32, 16)), {"out_dtype": torch.float32}, call
    scales = drawn(dtype, 16, 1, low=0.1), drawn(dtype, 1, 16, low=0.1)
    yield (left, right, *scales), {"out_dtype": torch.float32}, call


def scaled_byte_product(dtype: torch.dtype) -> Iterator[Call]:
    """A row, and several; the smallest byte."""
    if is_floating(dtype) and dtype != torch.float64:
        weight, scales = drawn(torch.int8, 24, 32), drawn(dtype, 24, low=0.01)
        weight[3, :5] = -128
        for rows in (1, 7):
            yield (drawn(dtype, rows, 32), weight, scales), {}, None


def vector_product(dtype: torch.dtype) -> Iterator[Call]:
    for beta, alpha in ((1, 1), (0, 2), (3, 1)):
        yield (drawn(dtype, 3), drawn(dtype, 3, 4), drawn(dtype, 4)), {"beta": beta, "alpha": alpha}, None


def three_tensors(dtype: torch.dtype) -> Iterator[Call]:
    """As torch.nn.functional.bilinear calls it."""
    if is_floating(dtype):
        left, weight, right = drawn(dtype, 5, 3), drawn(dtype, 2, 3, 4), drawn(dtype, 5, 4)
        yield (left, weight, right, [1, 3], [0], [1, 2], [2, 3]), {}, None
        yield (left, weight, right, [1, 3], [0], [1, 2], [-1, 2]), {}, None


def groups(dtype: torch.dtype, *, ends: list[list[int]]) -> Iterator[tuple[torch.Tensor, ...]]:
    for given in ends:
        yield drawn(dtype, given[-1], 8), drawn(dtype, len(given), 8, 16), torch.tensor(given)


def grouped_product(dtype: torch.dtype) -> Iterator[Call]:
    """Groups without rows, groups longer than a block; batches of matrices. Eager does not write to rows
    behind the last group."""

    def covered(count: int) -> Callable[..., torch.Tensor]:
        return lambda *args: _ATEN._grouped_mm.default(*args)[:count]

    if dtype != torch.bfloat16:
        return
    for rows, matrices, ends in groups(dtype, ends=[[2, 2, 9, 16], [150, 200]]):
        yield (rows, matrices, ends.to(torch.int32)), {}, covered(rows.shape[0])
    yield (drawn(dtype, 2, 8, 8), drawn(dtype, 2, 8, 16)), {}, None


def grouped_fallback(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        for ends in ([0, 2, 2, 7], [150, 200], [3], [0, 0, 5]):
            yield (*next(groups(dtype, ends=[ends])),), {}, None


def norms(dtype: torch.dtype) -> Iterator[Call]:
    if not is_floating(dtype) and not dtype.is_complex:
        return
    infinity = float("inf")
    for order in (2, 1, 0, infinity, -infinity, 3, 0.5, -1):
        for dim, keep in ((None, False), ([1], True), ([0, -1], False)):
            yield (drawn(dtype, 2, 3, 4), order, dim, keep), {}, None
    yield (drawn(dtype),), {}, None
    yield (drawn(dtype, 0, 3), 2, [0]), {}, None
    if is_floating(dtype):
        yield (torch.tensor([1.0, float("nan")], dtype=dtype),), {}, None
        yield (drawn(dtype, 3),), {"dtype": torch.float64}, None


_ORDERS = (2.0, 1.0, 0.0, float("inf"), 3.0)


def pair_distances(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in (torch.float32, torch.float64):
        for order in _ORDERS:
            yield (drawn(dtype, 4, 5), drawn(dtype, 3, 5), order, 2), {}, None
        yield (drawn(dtype, 2, 1, 4, 5), drawn(dtype, 1, 3, 3, 5), 2.0, None), {}, None
        yield (drawn(dtype, 4, 0), drawn(dtype, 3, 0), 2.0, None), {}, None


def own_distances(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in (torch.float32, torch.float64):
        for order in _ORDERS:
            yield (drawn(dtype, 7, 3), order), {}, None
        yield (drawn(dtype, 2, 3),), {}, None
        yield (drawn(dtype, 1, 3),), {}, None


_BYTES = (-128, 127, torch.int8)


def quantized(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype) and dtype != torch.float64:
        yield (drawn(dtype, 3, 40), 0.037, 5, *_BYTES), {}, None
        yield (drawn(dtype, 3, 4), 0.5, 100, 0, 255, torch.uint8), {}, None


def named(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 3, 4), "a name"), {}, None
    yield (drawn(dtype, 3, 4).t(), ""), {}, None


def quantized_by_tensors(dtype: torch.dtype) -> Iterator[Call]:
    for (values, scale, zero, *rest), _, _ in quantized(dtype):
        yield (values, torch.tensor(scale), torch.tensor(zero), *rest), {}, None


def quantized_by_channel(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype) and dtype != torch.float64:
        for axis in (0, 1):
            scales = torch.tensor([0.03, 0.5, 0.11])
            zeros = torch.tensor([0, -7, 100])
            yield (drawn(dtype, 3, 3, 5), scales, zeros, axis, *_BYTES), {}, None
            yield (drawn(dtype, 3, 3, 5), scales.double(), zeros, axis, *_BYTES), {}, None


def _restored(values: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    limits = torch.iinfo(kind)
    return torch.randint(limits.min, limits.max + 1, values.shape).to(kind)


def dequantized(makers: Callable[[torch.dtype], Iterator[Call]]) -> Callable[[torch.dtype], Iterator[Call]]:
    """The same parameters, the other way round."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if dtype not in (torch.int8, torch.uint8):
            return
        for (values, *rest), _, _ in makers(torch.float32):
            if rest[-1] == dtype:
                yield (_restored(values, dtype), *rest), {}, None
                yield (_restored(values, dtype), *rest), {"out_dtype": torch.float16}, None

    return calls


def fake_quantized(dtype: torch.dtype) -> Iterator[Call]:
    """In one row: with a size that may change, torch.export refuses these ops."""
    if dtype == torch.float32:
        yield (drawn(dtype, 1, 3, 40), 0.037, 5, -128, 127), {}, None
        yield (drawn(dtype, 1, 3, 40), 0.1, 0, 0, 15), {}, None


def fake_quantized_by_tensors(dtype: torch.dtype) -> Iterator[Call]:
    for (values, scale, zero, *ends), _, _ in fake_quantized(dtype):
        for enabled in (0, 1):
            parameters = torch.tensor([scale]), torch.tensor([zero], dtype=torch.int32)
            yield (values, *parameters, torch.tensor([enabled]), *ends), {}, None


def fake_quantized_by_channel(dtype: torch.dtype) -> Iterator[Call]:
    def call(values: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *rest: int) -> Any:
        op = _ATEN.fake_quantize_per_channel_affine_cachemask.default
        return op(values, scales[0], zeros[0], *rest)

    if dtype == torch.float32:
        scales, zeros = torch.tensor([[0.03, 0.5, 0.11]]), torch.tensor([[0, 7, 100]], dtype=torch.int32)
        yield (drawn(dtype, 1, 3, 5), scales, zeros, 1, 0, 255), {}, call


PRODUCTS: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    "_int_mm.default": integer_product,
    "_scaled_mm.default": scaled_product,
    "_weight_int8pack_mm.default": scaled_byte_product,
    "_trilinear.default": three_tensors,
    "addmv.default": vector_product,
    "_grouped_mm.default": grouped_product,
    "transformers.grouped_mm_fallback.default": grouped_fallback,
    "linalg_vector_norm.default": norms,
    "_cdist_forward.default": pair_distances,
    "_pdist_forward.default": own_distances,
    "xla.write_mlir_debuginfo.default": named,
    "quantized_decomposed.quantize_per_tensor.default": quantized,
    "quantized_decomposed.quantize_per_tensor.tensor": quantized_by_tensors,
    "quantized_decomposed.quantize_per_channel.default": quantized_by_channel,
    "quantized_decomposed.dequantize_per_tensor.default": dequantized(quantized),
    "quantized_decomposed.dequantize_per_tensor.tensor": dequantized(quantized_by_tensors),
    "quantized_decomposed.dequantize_per_channel.default": dequantized(quantized_by_channel),
    "fake_quantize_per_tensor_affine_cachemask.default": fake_quantized,
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default": fake_quantized_by_tensors,
    "fake_quantize_per_channel_affine_cachemask.default": fake_quantized_by_channel,
}
