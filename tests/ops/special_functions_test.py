"""Special functions against mpmath, where eager torch has too few digits to be compared with."""

import math

import pytest
import torch
from sample_programs import interpreted
from torch import special

import torchere

mpmath = pytest.importorskip("mpmath")


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def values(function, *arguments):
    program = torchere.export(Function(function), arguments)
    return interpreted(program, arguments)[0]


def exact_ndtri(p):
    """The root of log Q(x) = log p, for p < 1/2."""
    return -mpmath.findroot(
        lambda x: mpmath.log(mpmath.erfc(x / mpmath.sqrt(2)) / 2) - mpmath.log(p),
        mpmath.sqrt(-2 * mpmath.log(p)) - 0.1,
    )


def exact_erfcx(x):
    return mpmath.exp(x * x) * mpmath.erfc(x)


FUNCTIONS = {
    special.bessel_j0: lambda x: mpmath.besselj(0, x),
    special.bessel_j1: lambda x: mpmath.besselj(1, x),
    special.bessel_y0: lambda x: mpmath.bessely(0, x),
    special.bessel_y1: lambda x: mpmath.bessely(1, x),
    special.i0e: lambda x: mpmath.exp(-x) * mpmath.besseli(0, x),
    special.i1e: lambda x: mpmath.exp(-x) * mpmath.besseli(1, x),
    special.scaled_modified_bessel_k0: lambda x: mpmath.exp(x) * mpmath.besselk(0, x),
    special.scaled_modified_bessel_k1: lambda x: mpmath.exp(x) * mpmath.besselk(1, x),
    special.erfcx: exact_erfcx,
}
POINTS = [1e-6, 0.02, 0.7, 1.9, 2.1, 3.3, 4.9, 5.2, 6.0, 7.9, 8.3, 11.0, 25.5, 130.0]


@pytest.mark.parametrize(("dtype", "most"), [(torch.float64, 4e-15), (torch.float32, 2e-6)])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_special_function_is_exact(function, dtype, most):
    """Relative to the amplitude of waves: close to their zeros the error is absolute, and far out their phase
    has the rounding of x."""
    x = torch.tensor(POINTS, dtype=dtype)
    for point, got in zip(x.tolist(), values(function, x).tolist(), strict=True):
        exact = float(FUNCTIONS[function](mpmath.mpf(point)))
        amplitude, rounding = 0.0, 1.0
        if function.__name__.startswith("special_bessel"):
            amplitude, rounding = math.sqrt(2 / (math.pi * max(point, 1.0))), max(1.0, point / 4)
        assert abs(got - exact) <= most * max(abs(exact), amplitude) * rounding, (point, got, exact)


@pytest.mark.parametrize("p", [0.499, 0.2, 0.135, 1e-3, 1e-12, 1e-16, 1e-80, 1e-300])
def test_quantile_of_small_probabilities(p):
    got = values(special.ndtri, torch.tensor([p, 1 - p], dtype=torch.float64))
    assert abs(got[0].item() / float(exact_ndtri(mpmath.mpf(p))) - 1) < 1e-14
    if 1 - p < 1:
        assert got[1].item() > 0


A_AND_X = [(0.01, 0.5), (3.0, 2.0), (24.0, 16.0), (24.0, 40.0), (200.0, 140.0), (200.0, 200.0)]
A_AND_X += [(200.0, 300.0), (5000.0, 5010.0), (5000.0, 4800.0)]


def test_incomplete_gamma_of_large_numbers():
    a, x = torch.tensor(A_AND_X, dtype=torch.float64).T.contiguous()
    lower, upper = values(special.gammainc, a, x), values(special.gammaincc, a, x)
    for index, (a_, x_) in enumerate(A_AND_X):
        exact = mpmath.gammainc(a_, 0, x_, regularized=True)
        for got, expected in [(lower, exact), (upper, 1 - exact)]:
            assert abs(got[index].item() - float(expected)) <= 1e-13 * max(float(expected), 1e-3), (a_, x_)
