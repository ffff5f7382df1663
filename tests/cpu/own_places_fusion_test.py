"""Gathers and scatters on the CPU engine whose indices are partly their own places: which of these become
batching dimensions, by the names in the log, beside eager's results, and the forms that only look like it."""

from __future__ import annotations

import pytest
from engine_test import run
from fusion_log import TORCH, log_of

PLACES = "torch.randint(7, (5, 9))"

#: By name: the call of check() without it, and what is fused.
CASES = {
    "gather": (f"lambda x, i: x.gather(1, i), (5, 7), {PLACES}", "own_places=1"),
    "gather of many": ("lambda x, i: x.gather(0, i), (70, 40), torch.randint(70, (900, 40))", "own_places=1"),
    "gather in the middle": (
        "lambda x, i: x.gather(1, i), (5, 7, 8), torch.randint(7, (5, 9, 8))",
        "own_places=1",
    ),
    "gather from fewer rows than there are": (f"lambda x, i: x.gather(1, i), (6, 7), {PLACES}", "none"),
    "rows added": (
        "lambda x, i, s: x.scatter_add(0, i[:, None].expand(-1, 32), s), (40, 32), "
        "torch.randint(40, (900,)), (900, 32)",
        "own_places=1",
    ),
    "rows added to other columns": (
        "lambda x, i, s: x.scatter_add(0, i[:, None].repeat(1, 30), s), (40, 32), torch.randint(40, (900,)), "
        "(900, 30)",
        "none",
    ),
    "the largest of rows": (
        "lambda x, i, s: x.scatter_reduce(0, i[:, None].expand(-1, 4), s, 'amax'), (40, 4), "
        "torch.randint(40, (900,)), (900, 4)",
        "own_places=1",
    ),
    "elements added, by rows": (
        "lambda x, i, s: x.scatter_add(1, i, s), (5, 7), torch.randint(7, (5, 900)), (5, 900)",
        "own_places=1",
    ),
    "a diagonal": ("lambda x: x[torch.arange(50), torch.arange(50)], (50, 50)", "even_slices=1"),
    "every second row": (
        "lambda x, i: x[torch.arange(0, 2000, 2), i], (2000, 7), torch.randint(7, (1000,))",
        "none",
    ),
    "sampling between pixels": (
        "lambda x, g: F.grid_sample(x, g, align_corners=False), (2, 5, 8, 9), (2, 30, 40, 2)",
        "own_places=4 interpolation=1",
    ),
}


@pytest.fixture(scope="module")
def log():
    return log_of(run, TORCH, CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_is_fused(log, name):
    assert log[name] == CASES[name][1]
