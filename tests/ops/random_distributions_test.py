"""Whether a million random numbers of each kind have the distribution that they shall have.

The seed is fixed, so that a test passes always or never.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

import torchere

COUNT = 1_000_000
LEAST_P = 1e-3  # of a distribution that is right, one test in a thousand falls below
aten = torch.ops.aten
WEIGHTS = torch.tensor([0.5, 0.0, 3.0, 1.5])
PROBABILITIES = WEIGHTS.double().numpy() / 5
MANY_WEIGHTS = (torch.arange(100.0) % 7).sqrt()  # every seventh is 0, the first as well

# What is drawn, and the continuous distribution that it shall have, by Kolmogorov and Smirnov.
CONTINUOUS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], stats.rv_continuous]] = {
    "rand": (torch.rand_like, stats.uniform()),
    "rand of float64": (lambda x: torch.rand(COUNT, dtype=torch.float64), stats.uniform()),
    "uniform": (lambda x: aten.uniform(x, -2.0, 3.0), stats.uniform(-2, 5)),
    "randn": (torch.randn_like, stats.norm()),
    "randn of float64": (lambda x: torch.randn(COUNT, dtype=torch.float64), stats.norm()),
    "randn of complex64": (lambda x: torch.randn(COUNT, dtype=torch.complex64), stats.norm(0, 0.5**0.5)),
    "normal": (lambda x: torch.normal(1.0, x + 2), stats.norm(1, 2)),
    "log_normal": (lambda x: aten.log_normal(x, 0.5, 0.25), stats.lognorm(0.25, 0, np.exp(0.5))),
    "exponential": (lambda x: aten.exponential(x, 2.0), stats.expon(0, 0.5)),
    "cauchy": (lambda x: aten.cauchy(x, 1.0, 2.0), stats.cauchy(1, 2)),
    "rrelu": (lambda x: aten.rrelu(x - 1, 0.25, 0.75, True), stats.uniform(-0.75, 0.5)),
}

# What is drawn, and the probability of each integer from 0 on, by chi-square. The last stands for the rest.
TRIES = 0.25 * 0.75 ** np.arange(30)
DISCRETE: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], np.ndarray]] = {
    "rand of float16": (lambda x: torch.rand(COUNT, dtype=torch.float16) * 2048, np.full(2048, 1 / 2048)),
    "rand of bfloat16": (lambda x: torch.rand(COUNT, dtype=torch.bfloat16) * 256, np.full(256, 1 / 256)),
    "randint": (lambda x: torch.randint(17, (COUNT,)), np.full(17, 1 / 17)),
    "randint of a wide range": (
        lambda x: torch.randint(-(2**62), 2**62, (COUNT,)) // 2**59 + 8,
        np.full(16, 1 / 16),
    ),
    "random": (lambda x: aten.random(x.byte()), np.full(256, 1 / 256)),
    "random of float32": (lambda x: aten.random(x) // 2**20, np.append(np.full(16, 1 / 16), 0)),
    "bernoulli": (lambda x: aten.bernoulli(x, 0.3), np.array([0.7, 0.3])),
    "bernoulli of tensors": (lambda x: torch.bernoulli(x + 0.3), np.array([0.7, 0.3])),
    "bernoulli, hardly ever": (lambda x: aten.bernoulli(x, 1e-5), np.array([1 - 1e-5, 1e-5])),
    "geometric": (
        lambda x: aten.geometric(x, 0.25).clamp(max=31) - 1,
        np.append(TRIES, 1 - TRIES.sum()),
    ),
    "multinomial with replacement": (
        lambda x: torch.multinomial(WEIGHTS, COUNT // 4, replacement=True),
        PROBABILITIES,
    ),
    "multinomial with replacement, of many": (
        lambda x: torch.multinomial(MANY_WEIGHTS.expand(2, -1), COUNT // 4, replacement=True),
        (MANY_WEIGHTS.double() / MANY_WEIGHTS.double().sum()).numpy(),
    ),
    "multinomial, one": (lambda x: torch.multinomial(WEIGHTS.expand(COUNT // 4, 4), 1), PROBABILITIES),
    "multinomial, two of three": (
        lambda x: torch.multinomial(WEIGHTS.expand(COUNT // 4, 4), 2) @ torch.tensor([4, 1]),
        np.array(
            [
                0 if i == j else p * q / (1 - p)
                for i, p in enumerate(PROBABILITIES)
                for j, q in enumerate(PROBABILITIES)
            ]
        ),
    ),
    "dropout": (lambda x: nn.functional.dropout(x + 1, 0.2, training=True) != 0, np.array([0.2, 0.8])),
    "order": (
        lambda x: (torch.arange(COUNT) // 100_000) * 10 + torch.randperm(COUNT) // 100_000,
        np.full(100, 0.01),
    ),
}


class Draws(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: draw(x) for name, (draw, _) in (CONTINUOUS | DISCRETE).items()}


@functools.cache
def drawn() -> dict[str, np.ndarray]:
    x = torch.zeros(COUNT)
    program = torchere.export(Draws(), (x,))
    return {name: as_real(values).double().numpy().ravel() for name, values in program(x).items()}


def as_real(values: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(values) if values.is_complex() else values


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    assert stats.kstest(drawn()[name], CONTINUOUS[name][1].cdf).pvalue > LEAST_P


@pytest.mark.slow
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    probabilities = DISCRETE[name][1]
    values = drawn()[name]
    counts = np.bincount(values.astype(np.int64), minlength=len(probabilities))
    assert np.array_equal(values, values.astype(np.int64)) and len(counts) == len(probabilities)
    possible = probabilities > 0
    assert not counts[~possible].any()
    assert stats.chisquare(counts[possible], probabilities[possible] * len(values)).pvalue > LEAST_P


@pytest.mark.slow
@pytest.mark.parametrize(("name", "beyond"), [("randn", 4.0), ("randn of float64", 4.0)])
def test_tails_of_normal_numbers(name, beyond):
    expected = COUNT * 2 * stats.norm.sf(beyond)  # 63
    assert abs((np.abs(drawn()[name]) > beyond).sum() - expected) < 4 * expected**0.5


@pytest.mark.slow
def test_logarithms_are_finite():
    for name in ("exponential", "log_normal", "cauchy", "randn"):
        assert np.isfinite(drawn()[name]).all()
    assert (drawn()["exponential"] > 0).all()


@pytest.mark.slow
def test_numbers_are_independent():
    """Of neighbours, of the halves of one op's blocks, of two ops, of two calls."""
    program = torchere.export(lambda x: (torch.rand_like(x), torch.rand_like(x)), (torch.zeros(COUNT),))
    (a, b), (c, _) = (tuple(t.double().numpy() for t in program(torch.zeros(COUNT))) for _ in range(2))
    for x, y in ((a, b), (a, c), (b, c), (a[:-1], a[1:]), (a[: COUNT // 2], a[COUNT // 2 :])):
        assert abs(np.corrcoef(x, y)[0, 1]) < 4 / len(x) ** 0.5
        grid = np.histogram2d(x, y, bins=16, range=[[0, 1], [0, 1]])[0]
        assert stats.chisquare(grid.ravel()).pvalue > LEAST_P
