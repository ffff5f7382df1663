"""Loops over rows that do not need each other are cut into loops of some rows on the CPU engine: which are,
and that they compute what the whole loop computes."""

from __future__ import annotations

import re

import pytest
from engine_test import BEGINNING, run
from fusion_log import JAX, run_jax

LOOP = """
def scaled(function):  # so that errors do not grow from turn to turn
    return lambda h, w, *others: function(h, w * 0.05, *others)

def loop(turns, step, *state):
    return lax.fori_loop(0, turns, lambda i, state: step(i, *state), state)

def scanned(h, w, x):  # a slice of x is read, a slice of the result written in each turn
    def step(h, x):
        h = jnp.tanh(x + h @ w)
        return h, h * 2
    h, y = lax.scan(step, h, x)
    return jnp.concatenate([y, h[None]])

def computed(h, w, x, u, b):  # what the loop reads is computed for all turns before it
    def step(h, x):
        h = jnp.tanh(x + h @ w)
        return h, h
    x = jnp.tanh(jnp.transpose(x, (1, 0, 2)) @ u + b)
    return lax.scan(step, h, x)[1]

def shared(h, w, x, u):  # that is needed elsewhere as well
    y = x @ u
    def step(h, x):
        h = jnp.tanh(x + h @ w)
        return h, h
    return lax.scan(step, h, y)[1] + y

def stacked(h, w, x, u):  # the second loop reads parts of the first
    def layer(x, w):
        def step(h, x):
            h = jnp.tanh(x + h @ w)
            return h, h
        return lax.scan(step, h, x)[1]
    return layer(layer(x, w) @ u, w)

def by_columns(h, w):  # a row of the product is a column of the value
    return loop(5, lambda i, h: (jnp.tanh(h.T @ w).T,), h)[0]

def two(h, w, v):  # a value of no rows beside, and a scalar
    def step(i, h, v, s):
        h = jnp.tanh(h @ w + v)
        return h, v * 0.5, s + 1
    h, v, s = loop(5, step, h, v, 0.0)
    return h * v + s

def chosen(h, w, mask):  # by row
    def step(i, h):
        return (jnp.where(mask[:, None] > 0, jnp.tanh(h @ w), h),)
    return loop(5, step, h)[0]

def of_batches(h, w, m):  # a matrix for each row, beside the common one
    def step(i, h):
        return (jnp.tanh(h @ w) + jnp.einsum("bk,bkn->bn", h, m) * 0.1,)
    return loop(5, step, h)[0]

def turned(h, w):  # rows change places
    return loop(5, lambda i, h: (jnp.tanh(h @ w)[::-1],), h)[0]

def mixed(h, w):  # each row reads all
    return loop(5, lambda i, h: (jnp.tanh(h @ w) + h.mean(0) * 0.1,), h)[0]

def squared(h, w):  # of products of rows
    return loop(5, lambda i, h: (jnp.tanh(h @ w) + jnp.tanh(h @ h.T).mean(),), h)[0]

def numbered(h, w):  # the body computes numbers of rows
    def step(i, h):
        return (jnp.tanh(h @ w + lax.broadcasted_iota(jnp.float32, h.shape, 0) * i),)
    return loop(5, step, h)[0]

def measured(h, w):  # the condition reads rows
    def step(state):
        i, h = state
        return i + 1, jnp.tanh(h @ w)
    return lax.while_loop(lambda s: (s[0] < 5) & (s[1].sum() < 1e9), step, (0, h))[1]

def longer(h, w):  # rows move on
    return loop(5, lambda i, h: (jnp.concatenate([jnp.tanh(h @ w)[1:], h[:1]]),), h)[0]

def windows(h, w, x):  # of rows, which move on
    def step(i, h):
        return (jnp.tanh(h @ w + lax.dynamic_slice(x, (i, 0), h.shape)),)
    return loop(5, step, h)[0]

def fixed_window(h, w, x):
    return loop(5, lambda i, h: (jnp.tanh(h @ w + x[3:19]),), h)[0]

def reshaped(h, w, x):  # rows that were a part of another dimension
    return loop(5, lambda i, h: (jnp.tanh(h @ w + x.reshape(16, 2, 128)[:, 1]),), h)[0]

def sliced_before(h, w, x):
    x = jnp.tanh(x)[2:18].reshape(2, 8, 128).reshape(16, 128)
    return loop(5, lambda i, h: (jnp.tanh(h @ w + x),), h)[0]

def repeated(h, w, x):  # one row for all, and a number
    return loop(5, lambda i, h: (jnp.tanh(h @ w + x[i] * x[0, 0]),), h)[0]

def updated(h, w):  # a slice of rows
    return loop(5, lambda i, h: (lax.dynamic_update_slice(jnp.tanh(h @ w), h[:4], (i, 0)),), h)[0]
"""

# The arguments' sizes, and of each loop that is cut: its rows, and how many parts.
CASES = {
    "scanned": ("(16, 128), (128, 128), (6, 16, 128)", ["16 2"]),
    "computed": ("(32, 128), (128, 128), (32, 6, 64), (64, 128), (128,)", ["32 2"]),
    "shared": ("(16, 128), (128, 128), (6, 16, 64), (64, 128)", ["16 2"]),
    "stacked": ("(17, 128), (128, 128), (6, 17, 128), (128, 128)", ["17 2", "17 2"]),
    "by_columns": ("(128, 64), (128, 128)", ["64 4"]),
    "two": ("(32, 128), (128, 128), (1, 128)", ["32 2"]),
    "chosen": ("(16, 128), (128, 128), (16,)", ["16 2"]),
    "of_batches": ("(16, 64), (64, 64), (16, 64, 64)", []),
    "turned": ("(16, 128), (128, 128)", []),
    "mixed": ("(16, 128), (128, 128)", []),
    "squared": ("(16, 128), (128, 128)", []),
    "numbered": ("(16, 128), (128, 128)", []),
    "measured": ("(16, 128), (128, 128)", []),
    "longer": ("(16, 128), (128, 128)", []),
    "windows": ("(16, 128), (128, 128), (20, 128)", []),
    "fixed_window": ("(16, 128), (128, 128), (20, 128)", []),
    "reshaped": ("(16, 128), (128, 128), (32, 128)", []),
    "sliced_before": ("(16, 128), (128, 128), (20, 128)", ["16 2"]),
    "repeated": ("(16, 128), (128, 128), (20, 128)", ["16 2"]),
    "updated": ("(16, 128), (128, 128)", []),
}


def cut_by_case(log):
    parts = re.split(r"^case (.*)$", log, flags=re.MULTILINE)[1:]
    found = re.compile(r"a loop over (\d+) rows, cut into (\d+)")
    return {
        name: [f"{rows} {count}" for rows, count in found.findall(text)]
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_rows_that_do_not_need_each_other():
    pytest.importorskip("jax")
    calls = [f"check({name!r}, scaled({name}), {sizes})" for name, (sizes, _) in CASES.items()]
    _, log = run_jax("\n".join([JAX, LOOP, *calls]), TORCHERE_LOG="debug")
    assert cut_by_case(log) == {name: cut for name, (_, cut) in CASES.items()}


LAYERS = """
import itertools, sys

class Layer(torch.nn.Module):
    def __init__(self, kind, width, out, **options):
        super().__init__()
        self.layer = getattr(torch.nn, kind)(width, out, **options)
    def forward(self, x, *state):
        result, last = self.layer(x, tuple(state) if len(state) > 1 else state[0] if state else None)
        return result, last

for kind, first in itertools.product(("LSTM", "GRU", "RNN"), (False, True)):
    for rows, layers, both in ((16, 1, False), (33, 2, False), (5, 1, False), (16, 1, True)):
        sizes = (rows, 6, 96) if first else (6, rows, 96)
        state = [torch.randn(layers * (1 + both), rows, 128) for _ in range(1 + (kind == "LSTM"))]
        model = Layer(kind, 96, 128, num_layers=layers, batch_first=first, bidirectional=both)
        print("case", kind, first, rows, layers, both, file=sys.stderr, flush=True)
        check(model, torch.randn(sizes), *state)
"""


def test_recurrent_layers_of_batches():
    """Of two directions none is cut: they run at the same time anyway."""
    lines, log = run(BEGINNING + LAYERS, TORCHERE_LOG="debug")
    assert lines == ["right"] * 24
    parts = {"LSTM": {16: 4, 33: 4, 5: 2}, "GRU": {16: 2, 33: 4, 5: 2}, "RNN": {16: 2, 33: 2, 5: 0}}
    for name, cut in cut_by_case(log).items():
        kind, _, rows, layers, both = name.split()
        count = parts[kind][int(rows)] if both == "False" else 0
        assert cut == [f"{rows} {count}"] * int(layers) * (count > 0), name
