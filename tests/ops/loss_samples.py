"""Samples of losses, and of the gradients of losses and activation functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from sample_values import Call, drawn, is_floating

_ATEN = torch.ops.aten
Maker = Callable[[torch.dtype], Iterator[Call]]


def slope(*parameters: Any, edge: float = float("nan")) -> Maker:
    """Of a function whose argument or value lies in (-2, 2), with the border values among them."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if is_floating(dtype):
            given = drawn(dtype, 3, 4, low=-2.0, high=2.0)
            given[0] = torch.tensor([0.0, 1.0, -1.0, edge])
            yield (drawn(dtype, 3, 4), given, *parameters), {}, None
            yield (drawn(dtype), drawn(dtype, low=-2.0, high=2.0), *parameters), {}, None

    return calls


def softmax_slope(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in (torch.float32, torch.float64):
        return
    for shape, dim in (((3, 5), 1), ((3, 5), -2), ((2, 3, 4), 1), ((), 0)):
        yield (drawn(dtype, *shape), torch.rand(shape).to(dtype), dim, dtype), {}, None


def error(dtype: torch.dtype) -> Iterator[Call]:
    for reduction in (0, 1, 2) if is_floating(dtype) else ():
        yield (drawn(dtype, 3, 4), drawn(dtype, 3, 4), reduction), {}, None


def error_slope(dtype: torch.dtype) -> Iterator[Call]:
    for reduction in (0, 1, 2) if is_floating(dtype) else ():
        incoming = drawn(dtype, 3, 4) if reduction == 0 else drawn(dtype)
        yield (incoming, drawn(dtype, 3, 4), drawn(dtype, 3, 4), reduction), {}, None


def _probabilities(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    given = drawn(dtype, 3, 4, low=0.05, high=0.95)
    given[0, :2] = torch.tensor([0.0, 1.0])
    target = drawn(dtype, 3, 4, low=0.0, high=1.0)
    return given, target, drawn(dtype, 3, 4, low=0.5, high=2.0)


def cross_entropy(dtype: torch.dtype) -> Iterator[Call]:
    for reduction in (0, 1, 2) if dtype in (torch.float32, torch.float64) else ():
        given, target, weight = _probabilities(dtype)
        yield (given, target, None, reduction), {}, None
        yield (given, target, weight, reduction), {}, None


def cross_entropy_slope(dtype: torch.dtype) -> Iterator[Call]:
    for reduction in (0, 1, 2) if dtype in (torch.float32, torch.float64) else ():
        given, target, weight = _probabilities(dtype)
        incoming = drawn(dtype, 3, 4) if reduction == 0 else drawn(dtype)
        yield (incoming, given, target, None, reduction), {}, None
        yield (incoming, given, target, weight, reduction), {}, None


def likelihood_slope(shape: tuple[int, ...], target: Any) -> Maker:
    """Classes on axis 1; one element is of the ignored class 3."""

    def calls(dtype: torch.dtype) -> Iterator[Call]:
        if dtype not in (torch.float32, torch.float64):
            return
        given, classes = drawn(dtype, *shape), torch.tensor(target)
        for weight in (None, drawn(dtype, 5, low=0.1)):
            for reduction in (0, 1, 2):
                incoming = drawn(dtype, *classes.shape) if reduction == 0 else drawn(dtype)
                total = torch.tensor(2.5 if reduction == 1 else 0.0, dtype=dtype)
                yield (incoming, given, classes, weight, reduction, 3, total), {}, None

    return calls


LOSSES: dict[str, Maker] = {
    "mse_loss.default": error,
    "mse_loss_backward.default": error_slope,
    "binary_cross_entropy.default": cross_entropy,
    "binary_cross_entropy_backward.default": cross_entropy_slope,
    "nll_loss_backward.default": likelihood_slope((4, 5), [1, 0, 3, 2]),
    "nll_loss2d_backward.default": likelihood_slope((2, 5, 2, 1), [[[1], [0]], [[3], [2]]]),
    "_softmax_backward_data.default": softmax_slope,
    "_log_softmax_backward_data.default": softmax_slope,
    "threshold_backward.default": slope(0),
    "sigmoid_backward.default": slope(),
    "tanh_backward.default": slope(),
    "hardtanh_backward.default": slope(-1, 1.0, edge=0.5),  # of NaN torch has 0 in some dtypes
    "leaky_relu_backward.default": slope(0.1, False),
    "silu_backward.default": slope(),
    "gelu_backward.default": slope(),
}
