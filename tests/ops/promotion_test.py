"""Operands of two dtypes, and Python numbers beside tensors: every pair, against eager torch."""

import itertools
from collections.abc import Iterator

import pytest
import torch
from deviations import deviation
from own_samples import drawn
from rows import overload
from sample_programs import RUNNERS, Runner, check
from samples import DTYPES, Sample, accepted

ROWS = ["add.Tensor", "mul.Tensor", "div.Tensor", "eq.Tensor", "lt.Tensor", "maximum.default", "where.self"]
NUMBERS = [True, 2, 2.5, 1 + 2j]
# Numbers whose place among the arguments is a tensor's take another row.
NUMBER_ROWS = ["add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "eq.Scalar", "ge.Scalar"]


def operand(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Small positive values."""
    return drawn(
        dtype, *shape, low=None if dtype == torch.bool else 1, high=None if dtype == torch.bool else 9
    )


def pairs(name: str) -> Iterator[Sample]:
    """Both with dimensions, and each with a 0-d one, which counts less."""
    mask = (torch.tensor([True, False, True]),) if name == "where.self" else ()
    row = f"aten.{name}"
    for first, second in itertools.product(DTYPES, DTYPES):
        for shapes in [((3,), (3,)), ((3,), ()), ((), (3,))]:
            values = tuple(operand(d, *shape) for d, shape in zip((first, second), shapes, strict=True))
            yield Sample(row, first, overload(row), (*mask, *values), {})


def with_numbers(name: str) -> Iterator[Sample]:
    row = f"aten.{name}"
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        for shape in [(3,), ()]:
            yield Sample(row, dtype, overload(row), (operand(dtype, *shape), number), {})


def expected_equal(samples: Iterator[Sample], runs: tuple[Runner, ...]) -> None:
    torch.manual_seed(2)
    chosen = [sample for sample in accepted(samples) if not deviation(sample)]
    assert len(chosen) > len(DTYPES)
    check(chosen, runs)


@pytest.mark.slow
@RUNNERS
@pytest.mark.parametrize("row", ROWS)
def test_every_pair_of_dtypes(row, runs):
    expected_equal(pairs(row), runs)


@pytest.mark.slow
@RUNNERS
@pytest.mark.parametrize("row", NUMBER_ROWS)
def test_python_numbers(row, runs):
    expected_equal(with_numbers(row), runs)
