"""Every row of the op table on every sample and dtype, against eager torch.

The interpreter and the CPU engine run them all; XLA's CPU compiler a part, and in a sweep all.
"""

import pytest
import torch
from deviations import DEVIATIONS, compared_rows, deviation
from own_samples import OWN
from sample_choice import all_samples, first_dtype
from sample_programs import OURS, RUNNERS, check, difference, engine, problems_of, xla
from samples import Sample, evenly, samples

ROWS = compared_rows()
QUICK_SAMPLES = 3
BATCH = 20  # rows a program
XLA_EVERY = 5  # batches that run on XLA
QUICK_EVERY = 4  # batches that are for `make quick`: the whole takes them by row


def first_samples(start: int) -> list[Sample]:
    chosen = []
    for row in ROWS[start : start + BATCH]:
        dtype = first_dtype(row)
        if dtype:
            chosen += [
                s for s in evenly(samples(row, dtype, QUICK_SAMPLES), QUICK_SAMPLES) if not deviation(s)
            ]
    return chosen


@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH)[::QUICK_EVERY])
def test_rows_in_one_dtype(start):
    """A few samples of each row in its first dtype, float32 where it takes it."""
    check(first_samples(start), OURS)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH)[1::XLA_EVERY])
def test_rows_on_xla(start):
    """The same of some batches; the sweep takes them all, in all dtypes."""
    check(first_samples(start), (xla,))


@pytest.mark.slow
@RUNNERS
@pytest.mark.parametrize("row", ROWS)
def test_row(row, runs):
    chosen = all_samples(row)
    assert chosen, f"{row} has no sample: add one to tests/ops/own_samples.py"
    check([sample for sample in chosen if not deviation(sample)], runs)


@pytest.mark.slow
@pytest.mark.parametrize("entry", DEVIATIONS, ids=str)
def test_deviation_is_still_there(entry):
    """An exception that has become unnecessary must go."""
    chosen = [
        sample
        for row in ROWS
        if entry.takes(row)
        for sample in all_samples(row)
        if deviation(sample) is entry
    ]
    assert chosen, f"no sample is covered by {entry}: remove it from tests/ops/deviations.py"
    is_there = any(problems_of(chosen, (engine,))) or any(problems_of(chosen, (xla,)))
    assert is_there, f"every sample of {entry} passes: remove it from tests/ops/deviations.py"


def test_own_samples_are_of_rows():
    assert {row if row in ROWS else f"aten.{row}" for row in OWN} <= set(ROWS)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (torch.tensor([1, 2]), torch.tensor([1, 3])),
        (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64)),
        (torch.tensor([1.0]), torch.tensor(1.0)),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0001])),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0])),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("nan")])),
        (torch.tensor([1.0, 3e38]), torch.tensor([1.0, float("inf")])),
        (torch.tensor([-float("inf")]), torch.tensor([float("inf")])),
        (torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([1.04], dtype=torch.bfloat16)),
        (torch.tensor([1e-9]), torch.tensor([2e-9])),
    ],
)
def test_the_comparison_sees_each_difference(got, expected):
    assert difference(got, expected, accumulates=False)


def test_the_comparison_accepts_equal_values():
    values = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 0.0])
    assert not difference(values, values.clone(), accumulates=False)
