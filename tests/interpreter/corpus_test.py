"""The interpreter against XLA's CPU plugin: every module of the corpus that both can run, on random and on
extreme numbers. Integers agree exactly, floats to a few units in the last place of their type."""

from __future__ import annotations

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

# Programs on which the plugin and the interpreter differ on purpose, by the start of their names.
DEVIATIONS = {
    "stablehlo.collective_permute/": "processes that are not there, which XLA leaves out",
    "stablehlo.cross-replica-sum/": "processes that are not there, which XLA leaves out",
    "stablehlo.rng_bit_generator/": "an output of a floating-point type, which XLA gives as integers",
    "stablehlo.scatter/": "a window partly outside: the specification leaves out elements, XLA the window",
    "stablehlo.set_dimension_size/": "a size beyond the bound, which the specification does not define",
    "stablehlo.torch_index_select/": "an index outside, which is not defined; XLA clamps it",
}


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


def judge(plugin, program, seed, extremes):
    """None when the plugin cannot run the program, else what is wrong."""
    generator = numpy.random.default_rng(seed)
    kinds = xla.argument_types(program)
    arguments = [draw(dtype, shape, generator, extremes) for shape, dtype in kinds]
    try:
        theirs = plugin.run(program, arguments)
    except RuntimeError:
        return None
    try:
        with numpy.errstate(all="ignore"):
            ours = interpret(program, *arguments)
    except errors.Error as error:
        return str(error)
    is_sum = any(f"stablehlo.{name}" in program for name in SUMS)
    found = [difference(left, right, is_sum) for left, right in zip(ours, theirs, strict=True)]
    return "; ".join(f"result {index}: {text}" for index, text in enumerate(found) if text)


@pytest.mark.parametrize("source, at_least", [("lit", 60)])
def test_agrees_with_the_plugin(plugin, source, at_least):
    wrong, agreed = {}, 0
    for case in sources.corpus(source):
        for number, program in enumerate(xla.programs(case.text)):
            # What the implementation provides, numbers that nobody promises, what is to be expanded.
            if any(name in program for name in ("custom_call", "stablehlo.rng ", "chlo.")):
                continue
            for extremes in (False, True):
                seed = zlib.crc32(f"{case}{number}".encode())
                found = judge(plugin, program, seed, extremes)
                if found:
                    wrong[f"{case.name}#{number}{' extremes' if extremes else ''}"] = found
                elif found is not None:
                    agreed += 1
    unexpected = {name: text for name, text in wrong.items() if not name.startswith(tuple(DEVIATIONS))}
    assert not unexpected, "\n".join(f"{name}: {text}" for name, text in unexpected.items())
    assert agreed >= at_least
