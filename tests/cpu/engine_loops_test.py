"""Loops on the CPU engine: what they hand on unchanged is neither copied nor packed in every run."""

from __future__ import annotations

import pytest
from engine_test import BEGINNING, run
from fusion_test import run_jax

LSTM = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(64, 64, num_layers=2, bidirectional=True)
    def forward(self, x):
        return self.lstm(x)[0]

x = torch.randn(9, 2, 64)
rows = check(Model(), x).profile(x).rows
weight = 4 * 64 * 64 * 4
products = [row for row in rows if row.kernel == "matmul" and row.runs == 9]
print(len(products), [row.kernel for row in rows if row.kernel == "copy" and row.bytes >= weight])
"""


def test_a_weight_in_a_loop_is_not_copied():
    lines, _ = run(BEGINNING + LSTM)
    assert lines == ["right", "4 []"]


LOOPS = """
import jax, numpy
from jax import lax, numpy as jnp

def nested(x, w):
    def inner(state):
        i, x, w, other = state
        return i + 1, jnp.tanh(x @ w) + other, w, other
    def outer(state):
        i, x, w, a, b = state
        _, x, w, _ = lax.while_loop(lambda s: s[0] < 3, inner, (0, x, w, a))
        return i + 1, x, w, b, a  # a and b take turns: they change
    return lax.while_loop(lambda s: s[0] < 2, outer, (0, x, w, x * 2, x + 1))[1:]

def never(x, w):
    return lax.while_loop(lambda s: s[0] < 0, lambda s: (s[0] + 1, s[1] * 2, s[2]), (0, x, w))[1:]

def written(x, w):  # what is handed on is also the beginning of what is written
    def step(state):
        i, x, w = state
        return i + 1, x.at[i].set(w[i] * 2), w
    return lax.while_loop(lambda s: s[0] < 3, step, (0, w, w))[1:]

x, w = (numpy.random.default_rng(0).normal(size=(5, 5)).astype(numpy.float32) for _ in range(2))
for function in (nested, never, written):
    with jax.default_device(jax.devices("cpu")[0]):
        expected = jax.jit(function)(x, w)
    for _ in range(3):
        for got, value in zip(jax.jit(function)(x, w), expected, strict=True):
            numpy.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5)
    print(function.__name__)
"""


def test_what_loops_hand_on():
    pytest.importorskip("jax")
    lines, _ = run_jax(LOOPS)
    assert lines == ["nested", "never", "written"]
