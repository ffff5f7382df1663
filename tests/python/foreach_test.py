"""Ops on lists of tensors, which optimizers and clip_grad_norm_ call, beside eager PyTorch."""

from __future__ import annotations

import pytest
import torch

import torchere


def multiplied(x):
    both = [x.clone(), x * 2]
    torch._foreach_mul_(both, 3.0)
    return both[0] + both[1]


def clipped(x):
    both = [x * 10, x * 20]
    norm = torch.nn.utils.get_total_norm(both)
    torch._foreach_mul_(both, torch.clamp(1.0 / (norm + 1e-6), max=1.0))
    return both[0], both[1], norm


def copied(x):
    to = [torch.zeros_like(x)]
    torch._foreach_copy_(to, [x])
    return to[0]


def adams_step(x):
    """One of torch.optim.Adam's, as its `foreach` form writes it."""
    weights, gradients, means, squares = [x, x + 1], [x * 0.5, x.sin()], [x * 0, x * 0], [x * 0, x * 0]
    torch._foreach_lerp_(means, gradients, 0.1)
    torch._foreach_mul_(squares, 0.999)
    torch._foreach_addcmul_(squares, gradients, gradients, 0.001)
    roots = torch._foreach_sqrt(squares)
    torch._foreach_div_(roots, [0.03, 0.04])
    torch._foreach_add_(roots, 1e-8)
    return torch._foreach_addcdiv(weights, means, roots, [-0.01, -0.02])


FUNCTIONS = {
    "one number": lambda x: torch._foreach_add([x, x * 2], 1.0),
    "a list": lambda x: torch._foreach_sub([x, x * 2], [x * 3, x], alpha=2),
    "numbers": lambda x: torch._foreach_div([x, x], [2.0, 4.0]),
    "a tensor": lambda x: torch._foreach_mul([x, x], x.sum()),
    "powers of a number": lambda x: torch._foreach_pow(2.0, [x]),
    "norms": lambda x: torch.stack(torch._foreach_norm([x, x * 2])),
    "norms of another order": lambda x: torch.stack(torch._foreach_norm([x, x * 2], float("inf"))),
    "largest": lambda x: torch._foreach_max([x, x * 2]),
    "multiplied": multiplied,
    "clipped": clipped,
    "copied": copied,
    "adam": adams_step,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_eager(name):
    x = torch.randn(3, 4)
    program = torchere.export(FUNCTIONS[name], (x,))
    results = torch.utils._pytree.tree_leaves(program(x))
    expected = torch.utils._pytree.tree_leaves(FUNCTIONS[name](x))
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result, wanted, rtol=1e-5, atol=1e-6)


def test_weights_are_written():
    class Decay(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("first", torch.ones(3))
            self.register_buffer("second", torch.ones(2))

        def forward(self, x):
            torch._foreach_mul_([self.first, self.second], 0.5)
            return x * self.first.sum()

    program = torchere.export(Decay(), (torch.ones(1),))
    assert [float(program(torch.ones(1))) for _ in range(3)] == [1.5, 0.75, 0.375]
    assert float(program.state_dict()["second"][0]) == 0.125
