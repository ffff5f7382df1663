"""Conversions to 8-bit floats: torch's values, beyond the greatest number and at zero as well."""

from __future__ import annotations

import math

import pytest
import torch

import torchere

TYPES = [
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
]
SOURCES = [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int32]
NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -3.0,
    0.001,
    240.0,
    248.0,
    448.0,
    463.0,
    464.0,
    465.0,
    480.0,
    57344.0,
    61440.0,
    1e5,
]
NOT_FINITE = [math.inf, -math.inf, math.nan]
# A 64-bit float just above the middle of two numbers, which is that middle once it is a 32-bit float.
ABOVE_MIDDLE = 1.0625 + 2**-40


class Converted(torch.nn.Module):
    """By `to`, into a given tensor, and from one 8-bit type to the others."""

    def forward(self, x):
        return [[x.to(dtype), torch.zeros_like(x, dtype=dtype).copy_(x)] for dtype in TYPES]


@pytest.mark.parametrize("source", [*SOURCES, torch.float8_e5m2, torch.float8_e8m0fnu], ids=str)
def test_values_are_torchs(source):
    values = [*NUMBERS, *(-number for number in NUMBERS), ABOVE_MIDDLE]
    if source.is_floating_point:
        values += NOT_FINITE
    x = torch.tensor(values, dtype=torch.float64).to(source)
    for got, want in zip(torchere.export(Converted(), x)(x), Converted()(x), strict=True):
        for i in range(2):
            assert got[i].dtype == want[i].dtype
            torch.testing.assert_close(
                got[i].double(), want[i].double(), rtol=0, atol=0, equal_nan=True, msg=f"{want[i].dtype}"
            )
