"""Samples that torch's OpInfo database lacks: rows it does not reach, values and layouts at the edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from creation_samples import CREATION
from gradient_samples import GRADIENTS
from layer_samples import LAYERS
from loss_samples import LOSSES
from matrix_samples import MATRICES
from order_samples import ORDER
from product_samples import PRODUCTS
from rows import words
from sample_values import Call, drawn, edges, is_floating, is_number, layouts
from selection_samples import SELECTIONS
from signal_samples import SIGNALS
from special_samples import SPECIAL

# Rows whose OpInfo entry has another name than the op.
OPINFO_NAMES: dict[str, list[str]] = {
    "aten._adaptive_avg_pool2d.default": ["nn.functional.adaptive_avg_pool2d"],
    "aten._softmax.default": [],
    "aten._log_softmax.default": [],
    "aten.empty.memory_format": [],  # undefined values
    "aten.empty_strided.default": [],
    "aten.empty_permuted.default": [],
    "aten.empty_like.default": [],
    "aten.new_empty.default": [],
    "aten.new_empty_strided.default": [],
    **{
        f"aten.{name}_window.{form}": []
        for name in ("bartlett", "hann", "hamming", "blackman")
        for form in ("default", "periodic")
    },
    "aten.log_sigmoid.default": ["nn.functional.logsigmoid"],
}

# Elementwise rows of one tensor: each gets every layout and the edge values.
UNARY = set(
    words(
        """abs neg exp expm1 log log1p log2 log10 sqrt rsqrt sin cos tanh sigmoid reciprocal square floor ceil
        round trunc sign sgn logical_not bitwise_not isnan isinf relu silu hardtanh leaky_relu hardsigmoid
        hardswish mish log_sigmoid softplus elu celu erf erfc gelu tan asin acos atan sinh cosh asinh acosh
        atanh exp2 signbit angle lgamma digamma erfinv special_erfcx i0 special_i0e special_i1 special_i1e"""
    )
)

# Elementwise rows of two tensors: edge values meet each other.
BINARY = set(
    words(
        """add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum eq.Tensor ne.Tensor lt.Tensor le.Tensor
        gt.Tensor ge.Tensor logical_and logical_or logical_xor fmod.Tensor remainder.Tensor fmax fmin atan2
        copysign.Tensor nextafter hypot"""
    )
)


def unary(dtype: torch.dtype) -> Iterator[Call]:
    for tensor in layouts(dtype):
        yield (tensor,), {}, None
    yield (edges(dtype),), {}, None


def binary(dtype: torch.dtype) -> Iterator[Call]:
    values = edges(dtype)
    yield (values.reshape(-1, 1), values.reshape(1, -1)), {}, None
    yield (drawn(dtype), drawn(dtype, 2, 3, exclude_zero=True)), {}, None
    yield (drawn(dtype, 2, 0), drawn(dtype, 1)), {}, None
    yield (drawn(dtype, 4, 3).T, drawn(dtype, 3, 1, exclude_zero=True).expand(3, 4)), {}, None


def batch_norm(dtype: torch.dtype, *middle: Any) -> Iterator[Call]:
    if not is_floating(dtype):
        return
    for shape in [(4, 3, 5, 2), (6, 3), (2, 3, 4)]:
        statistics = (drawn(dtype, 3), drawn(dtype, 3, low=0.5, high=2.0))
        yield (
            (drawn(dtype, *shape), drawn(dtype, 3), drawn(dtype, 3), *statistics, *middle, 0.1, 1e-5),
            {},
            None,
        )
    yield (drawn(dtype, 4, 3, 2), None, None, *statistics, *middle, 0.3, 1e-3), {}, None


def batch_norm_inference(dtype: torch.dtype) -> Iterator[Call]:
    yield from batch_norm(dtype)


def batch_norm_functional(dtype: torch.dtype) -> Iterator[Call]:
    yield from batch_norm(dtype, True)
    yield from batch_norm(dtype, False)


def batch_norm_no_statistics(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        yield (drawn(dtype, 4, 3, 5), drawn(dtype, 3), drawn(dtype, 3), True, 0.1, 1e-5), {}, None
        yield (drawn(dtype, 5, 2), None, None, True, 0.1, 1e-2), {}, None


def convolution(dtype: torch.dtype) -> Iterator[Call]:
    """1 to 3 dimensions, stride, padding, dilation, groups, depthwise, transposed, one sample, no bias."""
    if not is_floating(dtype):
        return

    def call(
        input_shape, weight_shape, bias, stride, padding, dilation, transposed=False, output=None, groups=1
    ):
        n = len(stride)
        weight = drawn(dtype, *weight_shape)
        bias = drawn(dtype, bias) if bias else None
        options = (stride, padding, dilation, transposed, output or [0] * n, groups)
        return (drawn(dtype, *input_shape), weight, bias, *options), {}, None

    yield call((2, 3, 8), (4, 3, 3), 4, [1], [0], [1])
    yield call((2, 3, 9), (4, 3, 3), 4, [2], [1], [2])
    yield call((2, 3, 8, 7), (4, 3, 3, 2), 4, [1, 1], [0, 0], [1, 1])
    yield call((2, 4, 8, 7), (6, 2, 3, 2), None, [2, 1], [1, 2], [1, 2], groups=2)
    yield call((2, 4, 6, 6), (4, 1, 3, 3), 4, [1, 1], [1, 1], [1, 1], groups=4)
    yield call((3, 8, 7), (4, 3, 3, 2), 4, [1, 2], [1, 0], [1, 1])
    yield call((1, 2, 5, 4, 6), (3, 2, 2, 2, 3), 3, [1, 2, 1], [0, 1, 1], [1, 1, 2])
    yield call((2, 4, 6), (4, 3, 3), 3, [1], [0], [1], transposed=True)
    yield call((2, 4, 5, 6), (4, 3, 3, 2), 3, [2, 1], [1, 0], [1, 2], transposed=True, output=[1, 0])
    yield call(
        (2, 4, 5, 6), (4, 3, 3, 3), 6, [2, 2], [1, 1], [1, 1], transposed=True, output=[1, 1], groups=2
    )
    yield call((0, 3, 8, 7), (4, 3, 3, 2), 4, [1, 1], [0, 0], [1, 1])


def element(op: Callable[[torch.Tensor], Any]) -> Callable[[torch.dtype], Iterator[Call]]:
    """The number in arithmetic: results are tensors."""

    def samples(dtype: torch.dtype) -> Iterator[Call]:
        for shape in ((), (1,), (1, 1)) if is_number(dtype) else ():
            yield (drawn(dtype, *shape),), {}, lambda x: x.new_ones(3) * op(x)

    return samples


def softmax(dtype: torch.dtype) -> Iterator[Call]:
    if not is_floating(dtype):
        return
    for shape, dim in [((4, 5), 1), ((4, 5), -2), ((2, 3, 4), 1), ((), 0), ((0, 3), 1), ((3, 1), 1)]:
        yield (drawn(dtype, *shape), dim, False), {}, None
    infinity = float("inf")
    rows = [[-infinity, 0.0, 1.0], [infinity, 0.0, 1.0], [float("nan"), 0.0, 1.0], [1e4, -1e4, 1e4]]
    yield (torch.tensor(rows, dtype=dtype), 1, False), {}, None
    yield (torch.tensor(float("nan"), dtype=dtype), 0, False), {}, None


def nll_loss(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.float32, torch.float64):
        return
    target = torch.tensor([1, 0, 4, 2])
    for reduction in (0, 1, 2):
        yield (drawn(dtype, 4, 5), target, None, reduction, -100), {}, None
        yield (drawn(dtype, 4, 5), target, drawn(dtype, 5, low=0.1), reduction, 4), {}, None
    yield (drawn(dtype, 5), torch.tensor(3), None, 1, -100), {}, None
    yield (drawn(dtype, 4, 5), torch.full((4,), -100), None, 1, -100), {}, None


def nll_loss2d(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.float32, torch.float64):
        return
    target = torch.tensor([[[1, 0], [4, 2]], [[0, 0], [3, -100]]])
    for reduction in (0, 1, 2):
        yield (drawn(dtype, 2, 5, 2, 2), target, None, reduction, -100), {}, None
        yield (drawn(dtype, 2, 5, 2, 2), target, drawn(dtype, 5, low=0.1), reduction, -100), {}, None


def max_pool2d(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3, 7, 8), [2, 2]), {}, None
    yield (drawn(dtype, 2, 3, 7, 8), [3, 2], [2, 1], [1, 1], [1, 2]), {}, None
    yield (drawn(dtype, 3, 7, 8), [3, 3], [2, 2], [0, 1], [1, 1], True), {}, None
    yield (drawn(dtype, 2, 3, 7, 8), [3]), {}, None
    if is_floating(dtype):
        image = drawn(dtype, 1, 1, 4, 4)
        image[0, 0, 0, 0] = float("nan")
        image[0, 0, 2:, 2:] = -float("inf")
        yield (image, [2, 2]), {}, None


def avg_pool2d(dtype: torch.dtype) -> Iterator[Call]:
    for options in [([3, 2],), ([3, 3], [2, 2], [1, 1]), ([3, 3], [2, 2], [1, 1], True, False)]:
        yield (drawn(dtype, 2, 3, 7, 8), *options), {}, None
    yield (drawn(dtype, 2, 3, 7, 8), [3, 3], [2, 2], [1, 1], True, True), {}, None
    yield (drawn(dtype, 3, 7, 8), [2, 2], [], [0, 0], False, True, 3), {}, None


def where(dtype: torch.dtype) -> Iterator[Call]:
    mask = torch.tensor([[True], [False]])
    yield (mask, drawn(dtype, 2, 3), drawn(dtype, 3)), {}, None
    yield (mask[0, 0], drawn(dtype), drawn(dtype, 1, 4)), {}, None
    yield (mask, drawn(dtype, 2, 3), drawn(torch.float32)), {}, None
    yield (mask[:0], drawn(dtype, 0, 3), drawn(dtype, 1)), {}, None


def clamp(dtype: torch.dtype) -> Iterator[Call]:
    if is_number(dtype):
        yield (edges(dtype), 1), {}, None
        yield (edges(dtype), None, 2), {}, None
        yield (edges(dtype),), {"min": 1, "max": 2}, None
        yield (edges(dtype), 3, 1), {}, None
    if not dtype.is_complex:
        yield (drawn(dtype, 2, 3), -0.5, 0.5), {}, None


def to_copy(dtype: torch.dtype) -> Iterator[Call]:
    targets = [
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
    ]
    targets += [torch.int8, torch.uint8, torch.bool]
    if dtype.is_complex:
        targets = [torch.complex64, torch.complex128]
    for target in targets:
        values = drawn(
            dtype, 3, 4, low=None if dtype == torch.bool else 0, high=None if dtype == torch.bool else 9
        )
        yield (values,), {"dtype": target}, None
        if target.is_floating_point or target == torch.bool or not is_floating(dtype):
            yield (edges(dtype),), {"dtype": target}, None
    if not dtype.is_complex:
        for target in (torch.complex64, torch.complex128):
            yield (drawn(dtype, 3),), {"dtype": target}, None


def detached(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3),), {}, None
    yield (drawn(dtype),), {}, None


def unsafe_view(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 6), [3, 4]), {}, None
    yield (drawn(dtype, 2, 6), [-1]), {}, None
    yield (drawn(dtype, 0, 6), [3, 0, 2]), {}, None


def scalar_tensor(dtype: torch.dtype) -> Iterator[Call]:
    for value in (3, 2.5, True):
        yield (value,), {"dtype": dtype}, None


def scalar_power(dtype: torch.dtype) -> Iterator[Call]:
    if dtype == torch.bool or dtype.is_complex:
        return
    positive = drawn(dtype, 3, 4, low=1, high=5)
    yield (2, positive), {}, None
    yield (2.5, positive), {}, None
    yield (0, positive), {}, None


def power_of_number(dtype: torch.dtype) -> Iterator[Call]:
    if dtype.is_complex:
        for exponent in (2 + 3j, 0.5j, 2, 0.5 + 0j):
            yield (drawn(dtype, 3, 4), exponent), {}, None
    if dtype == torch.bool or dtype.is_complex:
        return
    for exponent in (0, 1, 2, 3, 0.5, 2.5, -1.0, -0.5, -2.0):
        yield (drawn(dtype, 3, 4, low=1, high=4), exponent), {}, None
    if is_floating(dtype):
        for exponent in (2, 3, 0.5, -2):
            yield (edges(dtype), exponent), {}, None


def pairs_of_power(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        yield (edges(dtype).reshape(-1, 1), edges(dtype).reshape(1, -1)), {}, None
    elif is_number(dtype):
        yield (
            (drawn(dtype, 5, low=0, high=5).reshape(-1, 1), torch.tensor([0, 1, 2, 3], dtype=dtype)),
            {},
            None,
        )


def rounded_division_by_number(dtype: torch.dtype) -> Iterator[Call]:
    for mode in ("floor", "trunc"):
        if is_number(dtype):
            for divisor in (3, 2.5):
                yield (edges(dtype), divisor), {"rounding_mode": mode}, None


def rounded_division(dtype: torch.dtype) -> Iterator[Call]:
    for mode in ("floor", "trunc", None):
        if is_floating(dtype):
            values = edges(dtype)
            yield (values.reshape(-1, 1), values.reshape(1, -1)), {"rounding_mode": mode}, None
            yield (drawn(dtype, 50) * 5, drawn(dtype, 50) * 0.1), {"rounding_mode": mode}, None
        elif is_number(dtype):
            divisor = torch.tensor([1, 2, 3, 7], dtype=dtype)
            yield (edges(dtype).reshape(-1, 1), divisor), {"rounding_mode": mode}, None
            if dtype.is_signed:
                yield (torch.tensor([[-7], [7], [0]], dtype=dtype), -divisor), {"rounding_mode": mode}, None


def numbers(dtype: torch.dtype) -> Iterator[Call]:
    """A Python number beside a tensor: int, float, bool, negative."""
    for number in (2, 2.5, True, -1):
        yield (drawn(dtype, 2, 3), number), {}, None
    yield (drawn(dtype), 3), {}, None


def reduction_edges(dtype: torch.dtype) -> Iterator[Call]:
    """Without elements, of one element, of a view, with NaN and infinities."""
    yield (drawn(dtype, 1),), {}, None
    yield (drawn(dtype),), {}, None
    yield (drawn(dtype, 0, 3),), {}, None
    yield (drawn(dtype, 4, 6)[::2, ::3].T,), {}, None
    if is_floating(dtype):
        yield (torch.tensor([1.0, float("nan"), 2.0], dtype=dtype),), {}, None
        yield (torch.tensor([1.0, -float("inf"), float("inf")], dtype=dtype),), {}, None


def reduction_over_dims(dtype: torch.dtype) -> Iterator[Call]:
    for dim, keep in [([0], False), ([-1], True), ([0, 2], False), ([], False)]:
        yield (drawn(dtype, 2, 3, 4), dim, keep), {}, None
    yield (drawn(dtype, 0, 3), [0]), {}, None
    yield (drawn(dtype), [0]), {}, None


def reduction_over_dim(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3), 1), {}, None
    yield (drawn(dtype, 2, 3), -2, True), {}, None
    yield (drawn(dtype, 0, 3), 0), {}, None
    yield (drawn(dtype), 0), {}, None


def wide_index(dtype: torch.dtype) -> Iterator[Call]:
    for start, end, step in [(0, 9223372036854775807, 1), (-3, -1, 1), (1, 100, 2), (3, 1, 1), (0, 0, 1)]:
        yield (drawn(dtype, 5, 2), 0, start, end, step), {}, None


def attention(dtype: torch.dtype) -> Iterator[Call]:
    if not is_floating(dtype):
        return
    q, k, v = drawn(dtype, 2, 4, 5, 8), drawn(dtype, 2, 4, 6, 8), drawn(dtype, 2, 4, 6, 3)
    yield (q, k, v), {}, None
    yield (q, k, v), {"scale": 0.3}, None
    yield (q, k, v, None, 0.0, True), {}, None
    mask = torch.rand(5, 6, generator=torch.Generator().manual_seed(1)) > 0.4
    mask[0] = False  # a row that sees nothing
    yield (q, k, v, mask), {}, None
    yield (q, k, v, drawn(dtype, 2, 1, 5, 6)), {}, None
    yield (q, k[:, :2].contiguous(), v[:, :2].contiguous()), {"enable_gqa": True}, None


def attention_gradient(dtype: torch.dtype) -> Iterator[Call]:
    """With what torch's kernel gave forwards."""
    if dtype not in (torch.float32, torch.float64):
        return
    q, k, v = drawn(dtype, 2, 3, 5, 8), drawn(dtype, 2, 3, 6, 8), drawn(dtype, 2, 3, 6, 8)
    mask = drawn(dtype, 2, 1, 5, 6)
    for is_causal, options in (
        (False, {}),
        (True, {}),
        (False, {"scale": 0.3}),
        (False, {"attn_mask": mask}),
    ):
        out, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, 0.0, is_causal, **options
        )
        incoming = drawn(dtype, 2, 3, 5, 8)
        yield (incoming, q, k, v, out, sums, 0.0, is_causal), options, None


def running(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 3, 40, low=0, high=2), 1), {}, None
    yield (drawn(dtype, 3, 4), -2), {}, None
    yield (drawn(dtype), 0), {}, None
    yield (drawn(dtype, 0, 3), 0), {}, None
    yield (drawn(dtype, 5, 1), 1), {}, None
    if is_floating(dtype):
        yield (torch.tensor([1.0, float("inf"), float("nan"), 2.0], dtype=dtype), 0), {}, None


def gather(dtype: torch.dtype) -> Iterator[Call]:
    index = torch.tensor([[0, 2, 1], [3, 3, 0]])
    yield (drawn(dtype, 4, 3), 0, index), {}, None
    yield (drawn(dtype, 5, 4), 0, index), {}, None
    yield (drawn(dtype, 2, 4), -1, index), {}, None
    yield (drawn(dtype), 0, torch.tensor([0])), {}, None
    yield (drawn(dtype, 3), 0, torch.tensor(2)), {}, None
    yield (drawn(dtype, 4, 3), 0, index[:0]), {}, None


def index(dtype: torch.dtype) -> Iterator[Call]:
    """Index tensors in front, behind, several, apart, negative, broadcast against each other, empty."""
    i, j = torch.tensor([0, -1, 1]), torch.tensor([[2], [-3]])
    value = drawn(dtype, 3, 4, 5)
    for indices in ([i], [None, i], [None, None, j], [i, j], [None, i, j], [i, None, j], [j, i, i], [i[:0]]):
        yield (value, indices), {}, None
    yield (value, [torch.tensor(2)]), {}, None
    yield (value, [i.to(torch.int32)]), {}, None
    yield (value.transpose(0, 2), [i]), {}, None


def index_put(dtype: torch.dtype) -> Iterator[Call]:
    i, j = torch.tensor([0, -1, 1]), torch.tensor([[2], [-3]])
    value = drawn(dtype, 3, 4, 5)
    yield (value, [i], drawn(dtype, 3, 4, 5)), {}, None
    yield (value, [None, i], drawn(dtype, 3, 3, 5)), {}, None
    yield (value, [i, None, j], drawn(dtype, 2, 3, 4)), {}, None
    yield (value, [i], drawn(dtype)), {}, None
    yield (value, [i, i], drawn(dtype, 5)), {}, None
    yield (value, [torch.tensor([1, 1, 2])], drawn(dtype, 3, 1, 1), True), {}, None
    yield (value, [value.real > 0 if dtype.is_complex else value > 0], drawn(dtype)), {}, None
    column = torch.tensor([True, False, True, False])
    yield (value, [None, column], drawn(dtype), True), {}, None
    yield (value, [None, column], drawn(dtype, 3, 2, 5)), {}, None
    yield (value, [None, column], drawn(dtype, 2, 5), True), {}, None
    yield (value, [None, column], drawn(dtype, 3, 1, 5)), {}, None
    yield (value, [None, column], drawn(dtype, 5)), {}, None
    yield (value, [None, column & False], drawn(dtype, 3, 0, 5)), {}, None
    plane = torch.tensor([[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1]]).bool()
    yield (value, [plane], drawn(dtype, 4, 5)), {}, None
    yield (value, [plane], drawn(dtype, 4, 1), True), {}, None
    yield (value, [plane], drawn(dtype, 1, 5)), {}, None
    yield (value, [plane[..., None].expand(-1, -1, 5)], drawn(dtype, 20)), {}, None
    yield (value, [torch.tensor(True)], drawn(dtype, 3, 4, 5)), {}, None


def index_fill(dtype: torch.dtype) -> Iterator[Call]:
    index = torch.tensor([1, -2, 1])
    yield (drawn(dtype, 4, 3, 5).permute(2, 0, 1), 1, index, 1), {}, None
    yield (drawn(dtype, 4, 3), -1, index[0], 1), {}, None
    yield (drawn(dtype, 4, 3), 0, index[:0], 1), {}, None
    yield (drawn(dtype), 0, torch.tensor([0]), 1), {}, None


def index_fill_with_tensor(dtype: torch.dtype) -> Iterator[Call]:
    for (value, dim, index, _), _, _ in index_fill(dtype):
        yield (value, dim, index, drawn(dtype)), {}, None


def take(dtype: torch.dtype) -> Iterator[Call]:
    value = drawn(dtype, 4, 3, 5).permute(2, 0, 1)
    yield (value, torch.tensor([[0, -1], [59, -60], [7, 7]])), {}, None
    yield (value, torch.tensor(4)), {}, None
    yield (value, torch.empty(0, 2, dtype=torch.int64)), {}, None
    yield (drawn(dtype), torch.tensor([0, -1])), {}, None


def scatter(dtype: torch.dtype) -> Iterator[Call]:
    index = torch.tensor([[0, 2, 1], [3, 3, 0]])
    distinct = torch.tensor([[0, 2, 1], [3, 1, 0]])
    yield (drawn(dtype, 4, 3), 0, distinct, drawn(dtype, 2, 3)), {}, None
    yield (drawn(dtype, 5, 4), 0, distinct, drawn(dtype, 3, 5)), {}, None
    yield (drawn(dtype, 2, 4), -1, distinct, drawn(dtype, 2, 3)), {}, None
    yield (drawn(dtype), 0, torch.tensor([0]), drawn(dtype, 1)), {}, None
    yield (drawn(dtype, 4, 3), 0, index, 2), {}, None


def scatter_add(dtype: torch.dtype) -> Iterator[Call]:
    index = torch.tensor([[0, 2, 1], [3, 2, 0]])
    yield (drawn(dtype, 4, 3), 0, index, drawn(dtype, 2, 3)), {}, None
    yield (drawn(dtype, 2, 4), -1, torch.tensor([[3, 3, 0], [1, 1, 1]]), drawn(dtype, 2, 3)), {}, None


def scatter_reduce(dtype: torch.dtype) -> Iterator[Call]:
    index = torch.tensor([[3, 3, 0], [1, 1, 1]])
    for reduce in ("sum", "prod", "amax", "amin", "mean"):
        for include in (True, False):
            call = (drawn(dtype, 2, 5), 1, index, drawn(dtype, 2, 3), reduce)
            yield call, {"include_self": include}, None


def shift(dtype: torch.dtype) -> Iterator[Call]:
    """By nothing, by some bits, by all, by more."""
    if dtype == torch.bool or dtype.is_complex or is_floating(dtype):
        return
    bits = torch.iinfo(dtype).bits
    counts = torch.tensor([0, 1, 3, bits - 1, bits], dtype=dtype)
    yield (edges(dtype).reshape(-1, 1), counts), {}, None
    yield (edges(dtype), 2), {}, None
    yield (5, counts), {}, None


def filled(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3), 2), {}, None
    yield (drawn(dtype, 2, 3), drawn(dtype)), {}, None
    yield (drawn(dtype), True), {}, None


def copied(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 2, 3), drawn(dtype, 2, 3)), {}, None
    yield (drawn(dtype, 2, 3), drawn(dtype, 3)), {}, None
    yield (drawn(dtype, 2), drawn(torch.int32, 2)), {}, None


def roll(dtype: torch.dtype) -> Iterator[Call]:
    for shifts, dims in [([1], [0]), ([-2, 7], [1, 0]), ([2], []), ([0], [1]), ([3], [0])]:
        yield (drawn(dtype, 3, 5), shifts, dims), {}, None
    yield (drawn(dtype, 0, 5), [1], [0]), {}, None


def slice_scatter(dtype: torch.dtype) -> Iterator[Call]:
    yield (drawn(dtype, 6, 4), drawn(dtype, 2, 4), 0, 2, 4), {}, None
    yield (drawn(dtype, 6, 4), drawn(dtype, 6, 2), 1, -2), {}, None
    yield (drawn(dtype, 6, 4), drawn(dtype, 2, 4), 0, 1, 9223372036854775807, 3), {}, None
    yield (drawn(dtype, 6, 4), drawn(dtype, 0, 4), 0, 3, 2), {}, None
    yield (drawn(dtype, 6, 4), drawn(dtype, 0, 4), 0, 3, 3, 2), {}, None


def prelu_kernel(dtype: torch.dtype) -> Iterator[Call]:
    if is_floating(dtype):
        yield (drawn(dtype, 2, 3), drawn(dtype, 1, 3)), {}, None
        yield (edges(dtype), drawn(dtype, 1)), {}, None


def scatter_combined(dtype: torch.dtype) -> Iterator[Call]:
    index = torch.tensor([[3, 3, 0], [1, 1, 1]])
    for reduce in ("add", "multiply"):
        yield (drawn(dtype, 2, 5), 1, index, drawn(dtype, 2, 3)), {"reduce": reduce}, None
        yield (drawn(dtype, 2, 5), -1, index, 3), {"reduce": reduce}, None


def bits(dtype: torch.dtype) -> Iterator[Call]:
    """Python's operators, which are recorded as ops of their own."""
    if dtype == torch.bool or (is_number(dtype) and not is_floating(dtype)):
        yield (edges(dtype).reshape(-1, 1), edges(dtype)), {}, None
        yield (drawn(dtype, 2, 3), True if dtype == torch.bool else 5), {}, None


_WAYS = ("left", "right")
_ORDERS = ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
_NUMBER_ROWS = [
    *(f"{op}.Scalar" for op in words("add sub rsub mul div remainder fmod eq ne lt le gt ge")),
]

OWN: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    "_native_batch_norm_legit_no_training.default": batch_norm_inference,
    "_native_batch_norm_legit_functional.default": batch_norm_functional,
    "_native_batch_norm_legit.no_stats": batch_norm_no_statistics,
    "convolution.default": convolution,
    "_softmax.default": softmax,
    "_log_softmax.default": softmax,
    "nll_loss_forward.default": nll_loss,
    "nll_loss2d_forward.default": nll_loss2d,
    "max_pool2d.default": max_pool2d,
    "avg_pool2d.default": avg_pool2d,
    "where.self": where,
    "item.default": element(torch.ops.aten.item),
    "_local_scalar_dense.default": element(torch.ops.aten._local_scalar_dense),
    "clamp.default": clamp,
    "_to_copy.default": to_copy,
    "alias.default": detached,
    "detach.default": detached,
    "_unsafe_view.default": unsafe_view,
    "scalar_tensor.default": scalar_tensor,
    "pow.Scalar": scalar_power,
    "pow.Tensor_Scalar": power_of_number,
    "pow.Tensor_Tensor": pairs_of_power,
    "div.Tensor_mode": rounded_division,
    "div.Scalar_mode": rounded_division_by_number,
    "slice.Tensor": wide_index,
    "scaled_dot_product_attention.default": attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward.default": attention_gradient,
    **dict.fromkeys(("cumsum.default", "cumprod.default"), running),
    "fill.Scalar": filled,
    "fill.Tensor": filled,
    "copy.default": copied,
    "roll.default": roll,
    "slice_scatter.default": slice_scatter,
    "_prelu_kernel.default": prelu_kernel,
    **{f"bitwise_{way}_shift.{order}": shift for way in _WAYS for order in _ORDERS},
    **{f"__{way[0]}shift__.{kind}": shift for way in _WAYS for kind in ("Tensor", "Scalar")},
    **{f"__{op}__.{kind}": bits for op in ("and", "or", "xor") for kind in ("Tensor", "Scalar")},
    "gather.default": gather,
    "index.Tensor": index,
    "index_put.default": index_put,
    "index_fill.int_Scalar": index_fill,
    "index_fill.int_Tensor": index_fill_with_tensor,
    "take.default": take,
    **dict.fromkeys(("scatter.src", "scatter.value"), scatter),
    "scatter_add.default": scatter_add,
    "scatter_reduce.two": scatter_reduce,
    **dict.fromkeys(("scatter.reduce", "scatter.value_reduce"), scatter_combined),
    **{f"{op}.default": reduction_edges for op in words("sum prod mean max min any all amax amin")},
    **dict.fromkeys(("sum.dim_IntList", "mean.dim", "any.dims", "all.dims"), reduction_over_dims),
    **dict.fromkeys(("prod.dim_int", "any.dim", "all.dim"), reduction_over_dim),
    **dict.fromkeys(_NUMBER_ROWS, numbers),
    **SIGNALS,
    **SPECIAL,
    **LAYERS,
    **MATRICES,
    **ORDER,
    **PRODUCTS,
    **GRADIENTS,
    **LOSSES,
    **CREATION,
    **SELECTIONS,
    **{f"{op}.default": unary for op in UNARY},
    **{op if "." in op else f"{op}.default": binary for op in BINARY},
}


def own_samples(row: str, dtype: torch.dtype) -> Iterator[Call]:
    """Our calls of a row ("aten.add.Tensor") on tensors of a dtype; eager torch may refuse some."""
    maker = OWN.get(row.removeprefix("aten."))
    if maker is not None:
        torch.manual_seed(1)
        yield from maker(dtype)
