"""Ops that give their input, or a view of it, though their schemas do not say so: writes show in both."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

import torchere

X = torch.linspace(-1, 1, 6).reshape(2, 3)

# Every op of OpInfo's samples whose result shares memory with its input without a word in the schema.
HIDDEN = {
    "dropout": lambda h: functional.dropout(h, 0.5, training=False),
    "dropout of nothing": lambda h: functional.dropout(h, 0.0, training=True),
    "feature_dropout": lambda h: torch.feature_dropout(h, 0.5, False),
    "alpha_dropout": lambda h: functional.alpha_dropout(h, 0.5, False),
    "feature_alpha_dropout": lambda h: functional.feature_alpha_dropout(h, 0.5, False),
    "type_as": lambda h: h.type_as(h),
    "conj_physical": lambda h: torch.conj_physical(h),
    "broadcast_tensors": lambda h: torch.broadcast_tensors(h, torch.ones(3))[0],
    "einsum": lambda h: torch.einsum("ij->ji", h),
    "meshgrid": lambda h: torch.meshgrid(h[0], indexing="ij")[0],
    "cartesian_prod": lambda h: torch.cartesian_prod(h[0]),
    "atleast_1d": lambda h: torch.atleast_1d(h),
    "atleast_2d": lambda h: torch.atleast_2d(h),
    "atleast_3d": lambda h: torch.atleast_3d([h])[0],
    "sum_to_size": lambda h: h.sum_to_size(2, 3),
    "unsafe_chunk": lambda h: h.unsafe_chunk(2)[1],
    "unsafe_split": lambda h: h.unsafe_split(1)[0],
    "unsafe_split_with_sizes": lambda h: h.unsafe_split_with_sizes([2, 1], 1)[0],
}


class Written(torch.nn.Module):
    """Writes to the op's result, then to its input, and reads both."""

    def __init__(self, op):
        super().__init__()
        self.op = op

    def forward(self, x):
        h = x * 2
        result = self.op(h)
        result.mul_(3)
        total = h + 0
        h.add_(1)
        return h, total, result


@pytest.mark.parametrize("op", HIDDEN.values(), ids=HIDDEN)
def test_a_write_shows_in_the_other(op):
    module = Written(op)
    expected = module(X)
    for got, want in zip(torchere.export(module, X)(X), expected, strict=True):
        torch.testing.assert_close(got, want)


def test_a_residual_block_with_activation_in_place():
    class Block(torch.nn.Module):
        def forward(self, h):
            h = h + 1
            with torch.no_grad():
                return h + functional.dropout(h, 0.1, self.training).sub_(1).relu_()

    block = Block().eval()
    torch.testing.assert_close(torchere.export(block, X)(X), block(X))


def test_the_exported_program_is_left_as_it_was():
    exported = torch.export.export(Written(HIDDEN["dropout"]), (X,))
    before = str(exported)
    torchere.export(exported)
    assert str(exported) == before
