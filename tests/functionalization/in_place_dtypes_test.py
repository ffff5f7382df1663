"""In-place ops of two dtypes: computed in the promoted one and rounded to that of the tensor, as in eager."""

import itertools

import pytest
import torch
from raw_programs import check

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
]
CHOSEN = ["add_", "lt_", "logical_and_", "copy_"]
OTHERS = [
    "sub_",
    "mul_",
    "div_",
    "pow_",
    "fmod_",
    "remainder_",
    "atan2_",
    "eq_",
    "ge_",
    "logical_or_",
    "bitwise_xor_",
]


def values(dtype: torch.dtype, rows: int = 2) -> torch.Tensor:
    return (torch.arange(1, 7, dtype=torch.float64).reshape(2, 3) / 2).to(dtype)[:rows]


def takes(op: str, tensor: torch.Tensor, other: torch.Tensor) -> bool:
    try:
        getattr(tensor.clone(), op)(other)
    except (RuntimeError, NotImplementedError):
        return False
    return True


@pytest.mark.parametrize("op", CHOSEN + [pytest.param(op, marks=pytest.mark.sweep) for op in OTHERS])
def test_dtypes(op):
    """Operands of the same shape, of one row, and of no dimension, which promotes less."""
    calls = []
    for dtype, other in itertools.product(DTYPES, DTYPES):
        tensor = values(dtype)
        for operand in (values(other), values(other, 1), values(other)[1, 0]):
            if takes(op, tensor, operand):
                calls.append((tensor, operand.clone()))

    def program(*inputs):
        return [getattr(a * 1 if a.dtype != torch.bool else a.clone(), op)(b) for a, b in pairs(inputs)]

    assert len(calls) > 30
    check(program, *itertools.chain.from_iterable(calls), calls=1)


def pairs(values):
    return zip(values[::2], values[1::2], strict=True)


@pytest.mark.parametrize("number", [2, 0.25, True])
def test_numbers(number):
    """Python numbers promote least."""
    tensors = [values(dtype) for dtype in DTYPES if takes("add_", values(dtype), number)]

    def program(*inputs):
        results = []
        for tensor in inputs:
            made = tensor * 1
            made.add_(number)
            made[1:].mul_(number)
            results.append(made)
        return results

    check(program, *tensors, calls=1)
