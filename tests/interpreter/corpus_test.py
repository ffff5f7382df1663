"""The interpreter against XLA's CPU plugin: every module of the corpus that both can run, on random and on
extreme numbers. Integers agree exactly, floats to a few units in the last place of their type."""

from __future__ import annotations

import re
import sys
import zlib
from pathlib import Path

import numpy
import pytest

pytest.importorskip("jaxlib")
ml_dtypes = pytest.importorskip("ml_dtypes")
CORPUS = Path(__file__).resolve().parents[1] / "corpus"
sys.path.insert(0, str(CORPUS))
sources = pytest.importorskip("sources")
import xla  # noqa: E402

from torchere import errors  # noqa: E402
from torchere.interpreter import interpret  # noqa: E402

pytestmark = pytest.mark.slow

# Of floats, relative to each element.
TOLERANCE = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 1e-6,
    "complex64": 1e-6,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
}
# In what these compute, relative to the tensor's largest element, which is what a sum's error grows with.
SUMS = (
    "batch_norm",
    "cholesky",
    "convolution",
    "dot",
    "einsum",
    "fft",
    "reduce",
    "scatter",
    "triangular_solve",
    "while",
)
SMALL_FLOAT_TOLERANCE = 0.26  # neighbours among floats of 8 bits and less

# Where the plugin and the interpreter differ on purpose: patterns of `name: what differs`, from its start.
DEVIATIONS = {
    r"stablehlo.collective_permute/": "processes that are not there, which XLA leaves out",
    r"stablehlo.cross-replica-sum/": "processes that are not there, which XLA leaves out",
    r"stablehlo.rng_bit_generator/": "an output of a floating-point type, which XLA gives as integers",
    r"stablehlo.scatter/": "a window partly outside: the specification leaves out elements, XLA the window",
    r"stablehlo.set_dimension_size/": "a size beyond the bound, which the specification does not define",
    r"stablehlo.sort/\S+ extremes": "a comparator without an order of NaN, which is not allowed",
    r"stablehlo.torch_index_select/": "an index outside, which is not defined; XLA clamps it",
    r"sort/m": "XLA does not sort integers of two bits",
    r"sort/n\S+ extremes: result [234]:": "XLA takes the NaN of types without a negative zero for a number",
    r"conv_transpose\S+ extremes": "XLA leaves out the zeros of a dilation, which with infinities are NaN",
    r"fft/RFFT\S+ extremes": "XLA gives a real sum no imaginary part, which with infinities is NaN",
    r"nn.gelu#": "1 + tanh(x) of a negative number multiplies what XLA's tanh is off by",
    r"population_count/m": "XLA counts bits of a byte that holds a narrower integer and its sign",
    r"convert_element_type/\S+ extremes: result 21:": "XLA takes f4E2M1FN's 6 for an infinity in an integer",
}

# Loops that do not end on every number.
ENDLESS = ("while_loop#", "while_loop/vmap#")

# Programs of each source, on ordinary and on extreme numbers, that have to agree at least.
LEAST = {"lit": 60, "jax_elementwise": 100, "jax_arrays": 60, "jax_contractions": 60, "jax_control": 30}


@pytest.fixture(scope="module")
def plugin():
    judge = xla.Plugin()
    yield judge
    judge.close()


def draw(dtype, shape, generator, extremes):
    """Numbers of a dtype; with `extremes`, some floats are zeros, infinities and NaN."""
    if dtype == numpy.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    if "int" in dtype.name:
        least = 0 if dtype.name.startswith("u") else -4
        most = 1 if dtype.name.endswith("2") and not dtype.name.endswith("32") else 4
        return generator.integers(max(least, -most), most + 1, shape).astype(numpy.int64).astype(dtype)
    values = generator.normal(0, 2, shape)
    if dtype.kind == "c":
        return (values + 1j * generator.normal(0, 2, shape)).astype(dtype)
    if extremes:
        specials = generator.choice([0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan], shape)
        values = numpy.where(generator.random(shape) < 0.3, specials, values)
    return numpy.asarray(values).astype(dtype)


def difference(ours, theirs, is_sum):
    """What is wrong with our result, or an empty text."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"got {ours.dtype}{ours.shape}, expected {theirs.dtype}{theirs.shape}"
    if ours.dtype == numpy.bool_ or "int" in ours.dtype.name:
        wrong = ours.astype(numpy.int64) != theirs.astype(numpy.int64)
    else:
        wide = numpy.complex128 if ours.dtype.kind == "c" else numpy.float64
        tolerance = TOLERANCE.get(ours.dtype.name, SMALL_FLOAT_TOLERANCE)
        left, right = ours.astype(wide), theirs.astype(wide)
        scale = numpy.abs(right[numpy.isfinite(right)]).max(initial=0) if is_sum else 0
        wrong = ~numpy.isclose(left, right, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    if not wrong.any():
        return ""
    place = tuple(int(index[0]) for index in numpy.nonzero(wrong)) if wrong.ndim else ()
    return (
        f"{wrong.sum()} of {wrong.size} differ, first at {place}: got {ours[place]}, expected {theirs[place]}"
    )


def judge(plugin, program, seed):
    """For ordinary and for extreme numbers what is wrong, or an empty text; nothing when the plugin cannot
    run the program."""
    kinds = xla.argument_types(program)
    calls = []
    for extremes in (False, True) if kinds else (False,):
        generator = numpy.random.default_rng(seed)
        calls.append([draw(dtype, shape, generator, extremes) for shape, dtype in kinds])
    try:
        expected = plugin.run(program, calls)
    except RuntimeError:
        return []
    is_sum = any(f"stablehlo.{name}" in program for name in SUMS)
    return [compare(program, call, theirs, is_sum) for call, theirs in zip(calls, expected, strict=True)]


def compare(program, arguments, theirs, is_sum):
    """What is wrong with the interpreter's results, or an empty text."""
    try:
        with numpy.errstate(all="ignore"):
            ours = interpret(program, *arguments)
    except errors.Error as error:
        return str(error)
    found = [difference(left, right, is_sum) for left, right in zip(ours, theirs, strict=True)]
    return "; ".join(f"result {index}: {text}" for index, text in enumerate(found) if text)


def runnable(source):
    """The programs of a source, by name, without what the implementation provides, numbers that nobody
    promises, what is to be expanded, and loops that may not end."""
    for case in sources.corpus(source):
        for number, program in enumerate(xla.programs(case.text)):
            name = f"{case.name}#{number}"
            is_runnable = not any(part in program for part in ("custom_call", "stablehlo.rng ", "chlo."))
            if is_runnable and not name.startswith(ENDLESS):
                yield name, program


@pytest.mark.parametrize("source, at_least", LEAST.items())
def test_agrees_with_the_plugin(plugin, source, at_least):
    wrong, agreed = {}, 0
    for name, program in runnable(source):
        found = judge(plugin, program, zlib.crc32(name.encode()))
        agreed += sum(not text for text in found)
        for text, kind in zip(found, ("", " extremes"), strict=False):
            if text:
                wrong[f"{name}{kind}"] = text
    found = [f"{name}: {text}" for name, text in wrong.items()]
    unexpected = [line for line in found if not any(re.match(each, line) for each in DEVIATIONS)]
    assert not unexpected, "\n".join(unexpected)
    assert agreed >= at_least
