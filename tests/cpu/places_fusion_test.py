"""Slices and masks on the CPU engine that follow from places alone: which become views and constants, by the
names in the log, beside eager's results, and the forms that only look like it."""

from __future__ import annotations

import pytest
from engine_test import run
from fusion_log import JAX, TORCH, log_of, run_jax

FRAMES = "torch.arange(0, 90, 10)[:, None] + torch.arange(7)[None]"

#: By name: the call of check() without it, and what is fused.
CASES = {
    "frames": ("lambda x: x.unfold(1, 8, 3) * 2, (3, 50)", "even_slices=1"),
    "frames of f64": ("lambda x: x.unfold(0, 8, 3).double().sum(1), (50, 3)", "even_slices=1"),
    "frames without a step between": ("lambda x: x.unfold(0, 8, 8).tanh(), (64,)", "even_slices=1"),
    "frames of frames": (
        "lambda x: x.unfold(0, 8, 3).unfold(1, 3, 2).exp(), (50,)",
        "even_slices=2",
    ),
    "a spectrogram": (
        "lambda x, w: torch.stft(x, 64, 16, window=w, return_complex=True).abs(), (2, 500), (64,)",
        "even_slices=1",
    ),
    "and back": (
        "lambda x, w: torch.istft(torch.stft(x, 64, 16, window=w, return_complex=True), 64, 16, window=w), "
        "(2, 512), torch.hann_window(64)",
        "even_slices=1",
    ),
    "frames by indices": (f"lambda x: x[:, {FRAMES}].sin(), (3, 100)", "even_slices=1"),
    "rows by indices": (f"lambda x: x[{FRAMES}].sin(), (100, 5)", "even_slices=1"),
    "frames that are read backwards": (f"lambda x: x[:, 95 - ({FRAMES})].sin(), (3, 100)", "even_slices=1"),
    "frames from the end": (f"lambda x: x[:, {FRAMES} - 100].sin(), (3, 100)", "even_slices=1"),
    "one row, many times": ("lambda x: x[torch.full((6,), 2)].sin(), (5, 4)", "even_slices=1"),
    "a diagonal": ("lambda x: x[torch.arange(50), torch.arange(50)].sin(), (50, 50)", "even_slices=1"),
    "a product of frames": ("lambda x, w: x.unfold(0, 32, 5) @ w, (200,), (32, 9)", "even_slices=1"),
    "strides": ("lambda x: x.as_strided((4, 5), (3, 7), 2).sin(), (60,)", "even_slices=1"),
    "uneven steps": ("lambda x: x[:, torch.arange(9) ** 2].sin(), (3, 100)", "none"),
    "indices that wrap": ("lambda x: x[torch.arange(-3, 4)].sin(), (9, 4)", "none"),
    "indices of an argument": ("lambda x, i: x[i].sin(), (9, 4), torch.arange(5)", "none"),
    "few frames added": (
        "lambda x: torch.ops.aten.unfold_backward(x, [3, 50], 1, 8, 3), (3, 15, 8)",
        "none",
    ),
    "frames added with a rest": (
        "lambda x: torch.ops.aten.unfold_backward(x, [53, 3], 0, 8, 4), (11, 3, 8)",
        "none",
    ),
    "frames added far apart": (
        "lambda x: torch.ops.aten.unfold_backward(x, [70], 0, 5, 8), (9, 5)",
        "none",
    ),
    "a triangle": ("lambda x: x.tril() + x.triu(1).cos(), (9, 50, 60)", "place_masks=2"),
    "a large triangle": ("lambda x: x.tril(), (2, 70, 70)", "none"),
    "a mask along a row": ("lambda x: x.where(torch.arange(6) < 4, 0), (9, 6)", "none"),
}


@pytest.fixture(scope="module")
def log():
    return log_of(run, TORCH, CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_is_fused(log, name):
    assert log[name] == CASES[name][1]


JAX_CASES = {
    "constant indices": (
        "lambda x: jnp.sin(x[:, numpy.arange(9)[:, None] * 10 + numpy.arange(7)]), (3, 100)",
        "even_slices=1",
    ),
    "indices that are clamped": (
        "lambda x: jnp.sin(jnp.take(x, numpy.arange(9) * 13, axis=1, mode='clip')), (3, 100)",
        "none",
    ),
}


def test_forms_of_jax():
    pytest.importorskip("jax")
    log = log_of(run_jax, JAX, JAX_CASES)
    assert {name: log[name] for name in JAX_CASES} == {name: fused for name, (_, fused) in JAX_CASES.items()}
