"""Resampling on the CPU engine: what becomes interpolation along an axis, by the names in the log, beside
eager's results, and the forms that only look like it."""

from __future__ import annotations

import pytest
from engine_test import run
from fusion_log import TORCH, log_of

#: By name: the call of check() without it, and what is fused.
CASES = {
    "linear resampling": (
        "lambda x: F.interpolate(x, scale_factor=2.5, mode='linear'), (2, 3, 7)",
        "interpolation=1",
    ),
    "bilinear resampling, to fewer pixels": (
        "lambda x: F.interpolate(x, (3, 5), mode='bilinear', align_corners=True), (2, 3, 7, 8)",
        "interpolation=2",
    ),
    "bilinear resampling with a filter": (
        "lambda x: F.interpolate(x, (3, 5), mode='bilinear', antialias=True), (2, 3, 7, 8)",
        "none",
    ),
    "bicubic resampling": (
        "lambda x: F.interpolate(x, (9, 11), mode='bicubic'), (1, 2, 5, 6)",
        "interpolation=2",
    ),
    "trilinear resampling": (
        "lambda x: F.interpolate(x, (5, 4, 3), mode='trilinear'), (1, 2, 3, 4, 5)",
        "interpolation=2",
    ),
    "bilinear resampling in f64": (
        "lambda x: F.interpolate(x, (3, 5), mode='bilinear'), torch.randn(2, 3, 7, 8).double()",
        "none",
    ),
    "a grid of pixels": (
        "lambda x, g: F.grid_sample(x, g, align_corners=False), (2, 3, 7, 8), 1.3 * torch.randn(2, 4, 5, 2)",
        "own_places=4 interpolation=1",
    ),
    "a grid of pixels, the nearest ones": (
        "lambda x, g: F.grid_sample(x, g, 'nearest', align_corners=False), (2, 3, 7, 8),"
        " 1.3 * torch.randn(2, 4, 5, 2)",
        "own_places=1 interpolation=1",
    ),
    "a grid of pixels by cubes": (
        "lambda x, g: F.grid_sample(x, g, 'bicubic', 'border', True), (1, 3, 6, 5),"
        " 0.6 * torch.randn(1, 4, 3, 2)",
        "own_places=16 interpolation=1",
    ),
    "a grid of a volume": (
        "lambda x, g: F.grid_sample(x, g, padding_mode='reflection', align_corners=False), (2, 3, 4, 5, 6),"
        " torch.randn(2, 3, 2, 4, 3)",
        "own_places=8 interpolation=1",
    ),
    "single elements with weights": (
        "lambda x, i, j, w: x[i, j] * w + x[j, i] * (1 - w), (5, 5), torch.tensor([4, 0, -2]),"
        " torch.tensor([1, 1, 3]), (3,)",
        "interpolation=1",
    ),
    "columns with weights of their rows": (
        "lambda x, i, j, w: x[:, i, j] * w + x[:, j, i] * w, (4, 5, 5), torch.tensor([4, 0, 2]),"
        " torch.tensor([1, 1, 3]), (4, 3)",
        "none",
    ),
    "gathered rows with weights": (
        "lambda x, i, j, w: x[:, i] * w[:, None] + x[:, j] * (1 - w)[:, None], (3, 5, 4),"
        " torch.tensor([4, 0, 2]), torch.tensor([1, 1, 3]), (3,)",
        "interpolation=1",
    ),
    "gathered rows of two tensors": (
        "lambda x, y, i, w: x[:, i] * w[:, None] + y[:, i] * w[:, None], (3, 5, 4), (3, 5, 4),"
        " torch.tensor([4, 0, 2]), (3,)",
        "none",
    ),
    "gathered rows along two axes": (
        "lambda x, i, w: x[:, i] * w[:, None] + x[i] * w[:, None, None], (3, 3, 4), torch.tensor([2, 0, 2]),"
        " (3,)",
        "none",
    ),
    "gathered rows that are used twice": (
        "lambda x, i, w: (lambda a: a * w[:, None] + x[:, i.flip(0)] * w[:, None] + a)(x[:, i]), (3, 5, 4),"
        " torch.tensor([4, 0, 2]), (3,)",
        "none",
    ),
}


@pytest.fixture(scope="module")
def log():
    return log_of(run, TORCH, CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_is_fused(log, name):
    assert log[name] == CASES[name][1]
