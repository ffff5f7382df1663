"""Every row of the op table on samples in one dtype, against eager torch."""

import functools

import pytest
import torch
from deviations import DEVIATIONS, Deviation
from own_samples import OWN
from rows import schemas
from sample_programs import check, difference, problems_of
from samples import DTYPES, Sample, evenly, samples

ROWS = sorted(schemas())
SAMPLES = 3  # a row
BATCH = 20  # rows a program


def deviation(sample: Sample) -> Deviation | None:
    return next((d for d in DEVIATIONS if d.covers(sample)), None)


@functools.cache
def first_dtype(row: str) -> torch.dtype | None:
    return next((dtype for dtype in DTYPES if samples(row, dtype, 1)), None)


@pytest.mark.parametrize("row", ROWS)
def test_row_has_a_sample(row):
    assert first_dtype(row) is not None, f"{row} has no sample: add one to tests/ops/own_samples.py"


def chosen(row: str) -> list[Sample]:
    """A few samples in the row's first dtype, float32 where it takes it."""
    dtype = first_dtype(row)
    return evenly(samples(row, dtype, SAMPLES), SAMPLES) if dtype else []


@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH))
def test_rows_in_one_dtype(start):
    check([s for row in ROWS[start : start + BATCH] for s in chosen(row) if not deviation(s)])


@pytest.mark.parametrize("entry", DEVIATIONS, ids=str)
def test_deviation_is_still_there(entry):
    """An exception that has become unnecessary must go."""
    covered = [s for row in ROWS if entry.takes(row) for s in chosen(row) if deviation(s) is entry]
    assert covered, f"no sample is covered by {entry}: remove it from tests/ops/deviations.py"
    assert any(problems_of(covered)), (
        f"every sample of {entry} passes: remove it from tests/ops/deviations.py"
    )


def test_own_samples_are_of_rows():
    assert {f"aten.{row}" for row in OWN} <= set(ROWS)


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
