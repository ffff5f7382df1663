"""Reductions that run the elementwise ops they read: random programs of them give on the engine what they
give on the interpreter, from an executable that was stored too. The log tells how many steps there are."""

from __future__ import annotations

import re

import pytest
from fusion_log import JAX, run_jax
from random_reductions import check

pytest.importorskip("jaxlib")


def test_random_programs_agree(engine):
    check(engine, range(250))


@pytest.mark.sweep
def test_many_random_programs_agree(engine):
    check(engine, range(1000, 4000))


#: By name: the call of check() without it, and the number of steps.
CASES = {
    "squared error": ("lambda x, y: ((x - y) ** 2).sum(), (40, 300), (40, 300)", 1),
    "one pass for several": (
        "lambda x: jnp.stack([x.sum(1), x.max(1), x.min(1), (x * x).sum(1)]), (40, 300)",
        2,  # and what puts them together
    ),
    "distances of all pairs": ("lambda x, y: ((x[:, None] - y) ** 2).sum(-1), (30, 8), (40, 8)", 1),
    "across rows": ("lambda x: jnp.exp(x).sum(0), (400, 30)", 1),
    "over the first and the last": ("lambda x: jnp.tanh(x).sum((0, 2)), (4, 30, 50)", 1),
    "places are read": (
        "lambda x: jnp.where(jnp.arange(50)[:, None] >= jnp.arange(60), x, 0).sum(1), (50, 60)",
        1,
    ),
    "dimensions of size 1 are left out by views": (
        "lambda x: x.sum((0, 3)) + x.max((0, 3)) - x.min((0, 3)), (1, 40, 30, 1)",
        1,
    ),
    "a cheap value is computed again": ("lambda x: (x - x.mean(0)) * (x - 1).sum(), (50, 60)", 4),
    "a value that a product reads is stored": (
        "lambda x, w: (lambda h: h.sum(0).max() + (h @ w).sum())(jnp.exp(x)), (50, 60), (60, 70)",
        5,
    ),
}


@pytest.fixture(scope="module")
def plans():
    """By case, of all in one process: the steps of the plan compiled last, and the bytes between them."""
    calls = [f"check({name!r}, {call})" for name, (call, _) in CASES.items()]
    _, log = run_jax("\n".join([JAX, *calls]), TORCHERE_LOG="debug")
    parts = re.split(r"^case ", log, flags=re.MULTILINE)[1:]
    found = {}
    for part in parts:
        steps, size = re.findall(r"(\d+) steps, (\d+) bytes", part)[-1]
        found[part.split("\n")[0]] = int(steps), int(size)
    return found


@pytest.mark.parametrize("name", CASES)
def test_steps(plans, name):
    assert plans[name][0] == CASES[name][1]


def test_what_is_computed_again_is_not_stored(plans):
    assert plans["a cheap value is computed again"][1] < 50 * 60 * 4
    assert plans["a value that a product reads is stored"][1] >= 50 * 60 * 4
