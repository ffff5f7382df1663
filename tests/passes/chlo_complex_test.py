"""The expansions of CHLO's functions of complex numbers, each part compared with mpmath's; branch cuts,
infinities and NaN with numpy's, which are C's."""

import itertools

import numpy as np
import pytest

jax = pytest.importorskip("jax")
mpmath = pytest.importorskip("mpmath")
from chlo_execution import C64, C128, SPECIAL_POINTS, apply, magnitudes, needs_tool, run, spread, type_of  # noqa: E402

pytestmark = needs_tool

# The exact function, numpy's, and the ulps allowed in each part.
FUNCTIONS = {
    "acos": (mpmath.acos, np.arccos, 8),
    "acosh": (mpmath.acosh, np.arccosh, 8),
    "asin": (mpmath.asin, np.arcsin, 8),
    "asinh": (mpmath.asinh, np.arcsinh, 8),
    "atan": (mpmath.atan, np.arctan, 8),
    "atanh": (mpmath.atanh, np.arctanh, 8),
    "cosh": (mpmath.cosh, np.cosh, 8),
    "sinh": (mpmath.sinh, np.sinh, 8),
}
PART = {C64: np.dtype(np.float32), C128: np.dtype(np.float64)}


def points(op, dtype):
    """Numbers of all sizes, of like and of unlike parts, and close to 1 and i."""
    largest = 1.9 if op in ("cosh", "sinh") else 18
    parts = np.concatenate([spread(-3, 3, 60), magnitudes(-18, largest, 40)])
    near = 1 + magnitudes(-6, -1, 30)
    real = np.concatenate([np.random.default_rng(2).permutation(parts), near, magnitudes(-9, -1, 30)])
    imaginary = np.concatenate([parts, magnitudes(-9, -1, 30), near])
    return (real + 1j * imaginary).astype(dtype)


def exactly(function, values):
    with mpmath.workdps(60):
        return [function(mpmath.mpc(float(z.real), float(z.imag))) for z in values]


def part_ulps(got, exact, dtype):
    """The distance of a normal result from the exact one, in units in the last place."""
    info = np.finfo(dtype)
    if abs(exact) < float(info.tiny) or abs(exact) > float(info.max):
        return 0.0
    unit = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(exact), 2)) - info.nmant)
    return float(abs(mpmath.mpf(float(got)) - exact) / unit)


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_each_part_is_accurate(op, dtype):
    exact_function, _, allowed = FUNCTIONS[op]
    values = points(op, dtype)
    got = apply(op, values)
    worst = max(
        (part_ulps(getattr(z, part), getattr(exact, part), PART[dtype]), part, point)
        for z, exact, point in zip(got, exactly(exact_function, values), values, strict=True)
        for part in ("real", "imag")
    )
    assert worst[0] <= allowed, worst


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_special_values(op, dtype):
    """Where C knows a part although another is none, ours may be NaN."""
    pairs = list(itertools.product([*SPECIAL_POINTS, 0.5, -2.0], repeat=2))
    values = np.array([complex(*pair) for pair in pairs], dtype)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[op][1](values.astype(np.complex128))
    got = apply(op, values)
    wrong = {}
    for z, truth, point in zip(got, expected, values, strict=True):
        for part in ("real", "imag"):
            value, exact = getattr(z, part), getattr(truth, part)
            if np.isnan(value) and (np.isnan(exact) or np.isnan(point) or op in ("cosh", "sinh")):
                continue
            same = np.isclose(value, exact, rtol=8 * np.finfo(PART[dtype]).eps, atol=0)
            if not same or np.signbit(value) != np.signbit(exact):
                wrong[str(point), part] = (value, exact)
    assert not wrong


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
def test_square(dtype):
    """As jax expands it: x * x - y * y is no number where both squares are infinite."""
    large = np.finfo(PART[dtype]).max / 4
    parts = [*SPECIAL_POINTS, 3.0, -large, large, large / 8, np.sqrt(large)]
    values = np.array([complex(*pair) for pair in itertools.product(parts, repeat=2)], dtype)
    with jax.enable_x64(True):
        expected = np.asarray(jax.jit(jax.lax.square)(values))
    got = apply("square", values)
    for part in ("real", "imag"):
        np.testing.assert_array_equal(getattr(got, part), getattr(expected, part))
        finite = ~np.isnan(getattr(got, part))
        signs = [np.signbit(getattr(result, part))[finite] for result in (got, expected)]
        np.testing.assert_array_equal(*signs)
    assert apply("square", np.array([complex(large, -large)], dtype))[0] == complex(0, -np.inf)


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
def test_conj(dtype):
    values = np.array([1 + 2j, complex(-0.0, 0.0), complex(np.inf, -np.inf)], dtype)
    got = apply("conj", values)
    np.testing.assert_array_equal(got, np.conj(values))
    np.testing.assert_array_equal(np.signbit(got.imag), np.signbit(np.conj(values).imag))


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
def test_kernel_of_the_inverse_functions(dtype):
    """asin(z) is atan2(x, re w) + i sign(y) im w, and acos(z) is atan2(re w, x) - i sign(y) im w."""
    values = points("asin", dtype)
    kernel = apply("_asin_acos_kernel", values).astype(np.complex128)
    wide = values.astype(np.complex128)
    tolerance = 16 * np.finfo(PART[dtype]).eps
    np.testing.assert_allclose(np.arctan2(wide.real, kernel.real), np.arcsin(wide).real, rtol=tolerance)
    np.testing.assert_allclose(np.copysign(kernel.imag, wide.imag), np.arcsin(wide).imag, rtol=tolerance)


def test_broadcast_complex():
    real, imaginary = np.array([[1.0], [2.0]], np.float32), np.array([3.0, 4.0, 5.0], np.float32)
    kinds = f"({type_of(real)}, {type_of(imaginary)}) -> tensor<2x3xcomplex<f32>>"
    text = f"""func.func @main(%a: {type_of(real)}, %b: {type_of(imaginary)}) -> tensor<2x3xcomplex<f32>> {{
      %r = chlo.broadcast_complex %a, %b : {kinds}
      return %r : tensor<2x3xcomplex<f32>>
    }}"""
    np.testing.assert_array_equal(run(text, real, imaginary)[0], real + 1j * imaginary)
