"""Python numbers beside tensors of every dtype, against eager torch."""

import itertools
from collections.abc import Iterator

import pytest
import torch
from deviations import DEVIATIONS
from own_samples import drawn
from rows import overload
from sample_programs import check
from samples import DTYPES, Sample, accepted

NUMBERS = [True, 2, 2.5, 1 + 2j]
ROWS = ["div.Tensor", "eq.Scalar", "ge.Scalar"]


def operand(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Small positive values."""
    return drawn(
        dtype, *shape, low=None if dtype == torch.bool else 1, high=None if dtype == torch.bool else 9
    )


def with_numbers(name: str) -> Iterator[Sample]:
    row = f"aten.{name}"
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        for shape in [(3,), ()]:
            yield Sample(row, dtype, overload(row), (operand(dtype, *shape), number), {})


def expected_equal(samples: Iterator[Sample]) -> None:
    torch.manual_seed(2)
    chosen = [sample for sample in accepted(samples) if not any(d.covers(sample) for d in DEVIATIONS)]
    assert len(chosen) > len(DTYPES)
    check(chosen)


@pytest.mark.parametrize("row", ROWS)
def test_python_numbers(row):
    expected_equal(with_numbers(row))
