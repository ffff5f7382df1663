"""What is traced instead of torch's decomposition of an op that computes something else than eager mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any


def corrected(op: Any, decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """torch's decomposition of an op, or what computes the same as the op does in eager mode."""
    correction = _corrections().get(op)
    return decomposition if correction is None else functools.partial(correction, decomposition)


@functools.cache
def _corrections() -> Mapping[Any, Callable[..., Any]]:
    import torch

    aten = torch.ops.aten
    return {
        aten.native_dropout.default: _native_dropout,
        aten.multilabel_margin_loss_forward.default: _multilabel_margin_loss_forward,
    }


def _native_dropout(decomposition: Callable[..., Any], input: Any, p: float, train: bool | None) -> Any:
    """None for `train` means training."""
    return decomposition(input, p, train is None or train)


def _multilabel_margin_loss_forward(_: Callable[..., Any], self: Any, target: Any, reduction: int) -> Any:
    """Labels end at the first negative one; torch's decomposition counts those after it as class 0. A margin
    of NaN is no loss."""
    import torch

    scores, labels = torch.atleast_2d(self), torch.atleast_2d(target)
    classes = torch.arange(scores.shape[1], device=target.device)
    end = torch.where(labels < 0, classes, scores.shape[1]).amin(1, keepdim=True)
    is_label = classes < end
    # Of each sample, for each of its labels and each class.
    is_same = is_label.unsqueeze(2) & (labels.unsqueeze(2) == classes)
    is_target = is_same.any(1)
    label_scores = torch.where(is_label, scores.gather(1, torch.where(is_label, labels, 0)), 0)
    margins = 1 - label_scores.unsqueeze(2) + scores.unsqueeze(1)
    counts = is_label.unsqueeze(2) & ~is_target.unsqueeze(1) & (margins > 0)
    losses = torch.where(counts, margins, 0).sum((1, 2)) / scores.shape[1]
    if reduction == 0:
        loss = losses if target.dim() == 2 else losses.squeeze(0)
    else:
        loss = losses.mean() if reduction == 1 else losses.sum()
    return loss, is_target.to(self.dtype).reshape(target.shape)
