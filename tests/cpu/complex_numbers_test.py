"""Complex numbers on the CPU engine: what vector programs make of special ones, beside the interpreter."""

from __future__ import annotations

import re

import numpy
import pytest
from engine_modules_test import on_engine
from engine_test import BEGINNING, run

from torchere.interpreter import interpret

MODULE = """
module @quotients {{
  func.func public @main(
      %a: tensor<{n}xcomplex<{t}>>, %b: tensor<{n}xcomplex<{t}>>) -> tensor<{n}xcomplex<{t}>> {{
    %r = stablehlo.divide %a, %b : tensor<{n}xcomplex<{t}>>
    return %r : tensor<{n}xcomplex<{t}>>
  }}
}}
"""
PARTS = [0.0, -0.0, 1.5, -2.0, numpy.inf, -numpy.inf, numpy.nan, 3e-20, 1e30]
TYPES = {"f32": numpy.complex64, "f64": numpy.complex128}


@pytest.mark.parametrize("name", TYPES)
def test_quotients_of_special_numbers(name, tmp_path):
    numbers = numpy.array([complex(a, b) for a in PARTS for b in PARTS], TYPES[name])
    left, right = numpy.repeat(numbers, len(numbers)), numpy.tile(numbers, len(numbers))
    text = MODULE.format(n=len(left), t=name)
    results, (log,) = on_engine({"quotients": (text, [left, right])}, tmp_path)
    assert "1 steps" in log
    (expected,) = interpret(text, left, right)
    ((got, _),) = results
    for part in ("real", "imag"):
        one, other = getattr(got[0], part), getattr(expected, part)
        # A sum of two products that nearly cancel is not compared: no two numbers here are that near.
        numpy.testing.assert_allclose(one, other, rtol=2e-6, atol=0, equal_nan=True)


EXPONENTIALS = """
import numpy
from torchere.interpreter import interpret
from torchere.stablehlo import exported_program_to_stablehlo

class Model(torch.nn.Module):
    def forward(self, a):
        return torch.exp(a)

inf, nan = numpy.inf, numpy.nan
parts = [0.0, -0.0, 1.5, -2.0, inf, -inf, nan, 3e-20, 1e30, 700, 710, -700, -745, 88.7, -100, 1000, -1000]
for dtype, tolerance in ((torch.complex64, 2e-6), (torch.complex128, 1e-14)):
    a = torch.tensor([complex(x, y) for x in parts for y in parts], dtype=dtype)
    program = torchere.export(Model(), (a,))
    text = exported_program_to_stablehlo(torch.export.export(Model(), (a,))).get_stablehlo_text()
    got, expected = program(a).numpy(), interpret(text, a.numpy())[0]
    for part in ("real", "imag"):
        one, other = getattr(got, part), getattr(expected, part)
        numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=numpy.finfo(one.dtype).tiny)
        zeros = (other == 0) & numpy.isfinite(a.numpy().imag)
        assert (numpy.signbit(one) == numpy.signbit(other))[zeros].all()
    print([row.kernel for row in program.profile(a).rows])
"""


def test_exponentials_of_special_numbers():
    """jaxlib sends none: it writes them as real formulas."""
    lines, _ = run(BEGINNING + EXPONENTIALS)
    assert lines == ["['vector program']"] * 2


VIEWS = """
def number(*shape, dtype=torch.complex64):
    return torch.randn(*shape, dtype=dtype)

real, stack = torch.view_as_real, torch.stack
check(Model(lambda a, b: real(a * b)), number(3, 50), number(50))
check(Model(lambda a, b: real(a * b).flatten(-2)), number(3, 5, dtype=torch.complex128), number(3, 1,
      dtype=torch.complex128))
check(Model(lambda x, turns: real(torch.view_as_complex(x) * turns[:, None]).flatten(2)),
      torch.randn(40, 3, 8, 2), number(40, 8))
check(Model(lambda a: (real(a.mT), real(a[:, ::2]) + 1, a)), number(2, 3, 7))
check(Model(lambda a: (real(a), a.exp())), number(70))
check(Model(lambda a: real(torch.fft.fft(a))), number(4, 12))
check(Model(lambda a: real(a + 1)), number(0, 3))
check(Model(lambda a: real(a * 1j)), number(1, 1))
check(Model(lambda a: real(a[0])), number(2))
check(Model(lambda a: (stack([a.imag, a.real], -1), stack([a.real, a.imag], 0))), number(5, 6))
check(Model(lambda a, b: stack([a.real, b.imag], -1)), number(5, 6), number(5, 6))
check(Model(lambda a: stack([a.real, a.imag, a.real], -1)), number(5, 6))
check(Model(lambda a: stack([a.real, a.imag], 1)), number(5, 6))
"""


def test_parts_beside_each_other():
    lines, log = run(BEGINNING + VIEWS, TORCHERE_LOG="debug")
    assert lines == ["right"] * 13
    found = re.findall(r"\] fused:.*", log)
    counts = [re.findall(r"complex_parts=(\d)", line) for line in found]
    assert [int(count[0]) if count else 0 for count in counts] == [1, 1, 1, 2, 1, 1, 0, 1, 1, 0, 0, 0, 0]


PRODUCTS = """
def products(function, *shapes):
    for dtype, tolerance in ((torch.complex64, 2e-5), (torch.complex128, 1e-12)):
        args = [torch.randn(*shape, dtype=dtype) for shape in shapes]
        program = check(Model(function), *args, tolerance=tolerance)
        print(sorted({row.kernel for row in program.profile(*args).rows} & {"complex product", "matmul"}))

products(torch.matmul, (5, 7), (7, 9))
products(torch.matmul, (3, 16, 16), (3, 16, 16))
products(lambda a, b: a @ b.mT, (2, 4, 6), (2, 5, 6))
products(lambda a, b: a.mH @ b, (6, 4), (6, 33))
products(torch.matmul, (2, 3, 4, 5), (5,))
products(torch.matmul, (1, 1), (1, 1))
products(lambda a, b: torch.einsum("bixy,ioxy->boxy", a, b), (2, 3, 4, 5), (3, 6, 4, 5))
products(lambda a, b: a[:, ::2] @ b[1::2], (3, 8), (8, 3))
products(torch.matmul, (3, 0), (0, 2))
products(torch.matmul, (130, 70), (70, 65))
"""


def test_products_of_matrices():
    lines, _ = run(BEGINNING + PRODUCTS)
    kernels = [line for line in lines if line != "right"]
    assert kernels == ["['complex product']"] * 16 + ["[]"] * 2 + ["['complex product']"] * 2


SPECIAL_PRODUCT = """
module @product {
  func.func public @main(%a: tensor<4x3xcomplex<f32>>, %b: tensor<3x5xcomplex<f32>>)
      -> tensor<4x5xcomplex<f32>> {
    %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] :
        (tensor<4x3xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> tensor<4x5xcomplex<f32>>
    return %r : tensor<4x5xcomplex<f32>>
  }
}
"""


def test_products_of_special_numbers(tmp_path):
    """A part is NaN where the interpreter's is, which multiplies by the same rule."""
    random = numpy.random.default_rng(0)
    left, right = (random.normal(size=(2, *shape)) for shape in ((4, 3), (3, 5)))
    left, right = ((a[0] + 1j * a[1]).astype(numpy.complex64) for a in (left, right))
    left[1, 1], left[2, 0], right[0, 4] = numpy.inf, complex(1, -numpy.inf), numpy.nan
    ((got, _),), _ = on_engine({"product": (SPECIAL_PRODUCT, [left, right])}, tmp_path)
    (expected,) = interpret(SPECIAL_PRODUCT, left, right)
    assert numpy.isnan(got[0]).tolist() == numpy.isnan(expected).tolist()
    finite = numpy.isfinite(expected)
    numpy.testing.assert_allclose(got[0][finite], expected[finite], rtol=1e-5)


def test_products_of_another_type(tmp_path):
    """The sums have more bits than the factors."""
    text = SPECIAL_PRODUCT.replace("4x5xcomplex<f32>", "4x5xcomplex<f64>")
    random = numpy.random.default_rng(0)
    left, right = (random.normal(size=(2, *shape)) for shape in ((4, 3), (3, 5)))
    left, right = ((a[0] + 1j * a[1]).astype(numpy.complex64) for a in (left, right))
    ((got, _),), _ = on_engine({"product": (text, [left, right])}, tmp_path)
    numpy.testing.assert_allclose(got[0], left.astype(complex) @ right.astype(complex), rtol=1e-12)
