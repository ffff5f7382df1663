"""The interpreter against XLA's CPU plugin: every module of the corpus that both can run, on random and on
extreme numbers. Integers agree exactly, floats to a few units in the last place of their type, zeros with
their sign. Each result is judged by itself: one that sums up has the freedom that the specification leaves
sums."""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
import zlib
from fractions import Fraction
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
# A result that comes from one of these is compared relative to the tensor's largest element, which is what a
# sum's error grows with: the order in which it is added up is the implementation's.
SUMS = {
    f"stablehlo.{name}"
    for name in (
        "batch_norm_grad",
        "batch_norm_inference",
        "batch_norm_training",
        "cholesky",
        "convolution",
        "cross-replica-sum",
        "dot",
        "dot_general",
        "dynamic_conv",
        "einsum",
        "fft",
        "reduce",
        "reduce_window",
        "scatter",
        "select_and_scatter",
        "triangular_solve",
        "while",
    )
}
# XLA solves by products with whole rows of a triangle, zeros included, which spread infinities as NaN: where
# it gives NaN, a result that comes from one of these is not compared.
SPREADING = {"stablehlo.triangular_solve"}
SMALL_FLOAT_TOLERANCE = 0.26  # neighbours among floats of 8 bits and less

# Where the plugin and the interpreter differ on purpose, and what the plugin does not run, by source:
# patterns of `name: what differs`, from its start, and the cause. A pattern that nothing matches fails.
DEVIATIONS = {
    "lit": {
        r"stablehlo.all_gather/1#0: not run": "the plugin aborts on groups by axes of a mesh",
        r"stablehlo.all_gather/2#0: not run": "global ids without a channel, which XLA does not take",
        r"stablehlo.cbrt/0#0: not run": "XLA has it of real numbers only",
        r"stablehlo.collective_broadcast/0#0: not run": "XLA's CPU plugin does not have it",
        r"stablehlo.collective_permute/": "processes that are not there, which XLA leaves out",
        r"stablehlo.compare/3#0: not run": "a compare_type of other elements, which XLA does not take",
        r"stablehlo.composite/0#0: not run": "the plugin aborts on a decomposition without a body",
        r"stablehlo.constant/0#0: not run": "a resource, which XLA does not take",
        r"stablehlo.cross-replica-sum/": "processes that are not there, which XLA leaves out",
        r"stablehlo.reduce/0#0: not run": "a body of other types, which StableHLO allows and XLA does not",
        r"stablehlo.reduce_scatter/0#0: not run": "a result of unknown size, which XLA does not take",
        r"stablehlo.reduce_scatter/1#0: not run": "parts that the group has not, which XLA does not take",
        r"stablehlo.remainder/0#0: not run": "the plugin aborts on complex numbers",
        r"stablehlo.rng_bit_generator/": "an output of a floating-point type, which XLA gives as integers",
        r"stablehlo.set_dimension_size/": "a size beyond the bound, which the specification does not define",
        r"stablehlo.torch_index_select/": "an index outside, which is not defined; XLA clamps it",
        r"stablehlo.unary_einsum/0#0: not run": "XLA does not have it",
    },
    "jax_arrays": {
        r"concatenate/m#0: not run": "the plugin aborts on integers of two bits",
        r"sort/m": "XLA does not sort integers of two bits",
        r"sort/n\S+ extremes: result [234]:": "XLA sorts the NaN of types without -0 as a number",
    },
    "jax_contractions": {
        r"conv_transpose\S+ extremes": "XLA leaves out a dilation's zeros, which with infinities are NaN",
        r"fft/RFFT\S+ extremes": "XLA gives a real sum no imaginary part, which with infinities is NaN",
    },
    "jax_control": {
        r"nn.gelu#": "1 + tanh(x) of a negative number multiplies what XLA's tanh is off by",
    },
    "torch_models": {
        r"random/.*: result 1: .*got -0\.0, expected 0\.0$": "a product with a mask is a choice for XLA",
    },
    "torch_rows": {
        r"rows/\S+ extremes: aten.(conv_transpose|convolution_backward)": "as in jax_contractions",
        r"rows/\S+( extremes)?: aten.native_dropout_backward": "as in torch_models",
        r"rows/\S+: aten.(_native_batch_norm_legit_no_training|gelu_backward)": "XLA rounds a product and a"
        " sum once, which nearly cancel",
    },
    "torch_rows f64": {
        r"rows/\S+ extremes: aten._fft_r2c": "as in jax_contractions",
        r"rows/\S+ extremes: aten.(conv_transpose|convolution_backward)": "as in jax_contractions",
        r"rows/\S+ extremes: aten.conv2d": "XLA multiplies the zeros of the padding by infinities",
        r"rows/\S+ extremes: aten.triangular_solve": "infinities meet the rows in another order",
        r"rows/\S+( extremes)?: aten.native_dropout_backward": "as in torch_models",
    },
    "torch_rows f16": {
        r"rows/\S+ extremes: aten.(conv_transpose|convolution_backward)": "as in jax_contractions",
        r"rows/\S+( extremes)?: aten.native_dropout_backward": "as in torch_models",
        r"rows/\S+: aten.lstm.input": "XLA rounds the sums of two products once, which nearly cancel",
    },
    "torch_rows bf16": {
        r"rows/\S+ extremes: aten.(conv_transpose|convolution_backward)": "as in jax_contractions",
    },
}

# Loops that do not end on every number.
ENDLESS = ("while_loop#", "while_loop/vmap#")
# Loops count up to what they are given: a program with one gets no integers at the ends of a type's range.
LOOP = "stablehlo.while"
# How far numbers spread where that is not 2: a model's weights are small, as a softmax of large numbers makes
# much of the last digits of its sums, and so does a recurrent net.
SPREAD = {"torch_models": 0.5, "torch_rows": 1.0}
# What the implementation provides, numbers that nobody promises, and what is to be expanded.
NOT_RUN = ("custom_call", "stablehlo.rng ", "chlo.")

# Programs of each source, on ordinary and on extreme numbers, that have to agree at least.
LEAST = {
    "lit": 120,
    "jax_elementwise": 580,
    "jax_arrays": 460,
    "jax_contractions": 195,
    "jax_control": 85,
    "torch_models": 22,
    "torch_rows": 80,
}
# What modules of torch are given for sizes that are open.
OPEN_SIZE = 3


@dataclasses.dataclass(frozen=True)
class Program:
    """A module for the plugin; the same for the interpreter, maybe of open sizes; what each result is of."""

    name: str
    text: str
    interpreted: str
    results: tuple[str, ...]


@pytest.fixture(scope="module")
def plugin():
    judge = xla.Plugin()
    yield judge
    judge.close()


def draw(dtype, shape, generator, source, extremes, loops):
    """Numbers of a dtype for a source; with `extremes`, some floats are zeros, infinities and NaN, and some
    integers the least and the largest of their type, where the program has no loops."""
    if dtype == numpy.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    is_integer = "int" in dtype.name
    if is_integer:
        least = 0 if dtype.name.startswith("u") else -4
        most = 1 if dtype.name.endswith("2") and not dtype.name.endswith("32") else 4
        values = generator.integers(max(least, -most), most + 1, shape).astype(numpy.int64)
    else:
        values = generator.normal(0, SPREAD.get(source, 2), shape)
    if dtype.kind == "c":
        return (values + 1j * generator.normal(0, 2, shape)).astype(dtype)
    values = numpy.asarray(values).astype(dtype)
    if extremes and not (is_integer and loops):
        if is_integer:
            edges = [ml_dtypes.iinfo(dtype).min, ml_dtypes.iinfo(dtype).max]
        else:
            edges = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan]
        specials = generator.choice(numpy.array(edges, object), shape)
        values = numpy.where(generator.random(shape) < 0.3, numpy.asarray(specials).astype(dtype), values)
    return values


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
        if not is_sum and ours.dtype.kind != "c":
            wrong |= (left == 0) & (right == 0) & (numpy.signbit(left) != numpy.signbit(right))
    if not wrong.any():
        return ""
    place = tuple(int(index[0]) for index in numpy.nonzero(wrong)) if wrong.ndim else ()
    return (
        f"{wrong.sum()} of {wrong.size} differ, first at {place}: got {ours[place]}, expected {theirs[place]}"
    )


def judge(plugin, program, source, quick=False):
    """What is wrong: a line for each result on ordinary and on extreme numbers, or for a program that the
    plugin does not run. And on how many of both nothing is."""
    kinds = xla.argument_types(program.text)
    loops = LOOP in program.text
    calls = []
    for extremes in (False, True) if kinds else (False,):
        generator = numpy.random.default_rng(zlib.crc32(program.name.encode()))
        calls.append([draw(dtype, shape, generator, source, extremes, loops) for shape, dtype in kinds])
    try:
        expected = plugin.run(program.text, calls, quick)
    except RuntimeError as error:
        return [f"{program.name}: not run: {error}"], 0
    wrong = [compare(program, call, theirs) for call, theirs in zip(calls, expected, strict=True)]
    labels = (program.name, f"{program.name} extremes")
    lines = [f"{label}: {text}" for label, texts in zip(labels, wrong, strict=False) for text in texts]
    return lines, sum(not texts for texts in wrong)


def without_spread(ours, theirs, ops):
    """Our result, with NaN where the plugin's ops have spread one."""
    if not ops & SPREADING or ours.shape != theirs.shape:
        return ours
    return numpy.where(numpy.isnan(theirs), theirs, ours)


def compare(program, arguments, theirs):
    """What is wrong with each of the interpreter's results that is."""
    try:
        with numpy.errstate(all="ignore"):
            ours = interpret(program.interpreted, *arguments)
    except errors.Error as error:
        return [str(error)]
    made_by = xla.result_ops(program.text)
    ours = [without_spread(*each) for each in zip(ours, theirs, made_by, strict=True)]
    pairs = zip(program.results, ours, theirs, made_by, strict=True)
    found = [(label, difference(left, right, bool(ops & SUMS))) for label, left, right, ops in pairs]
    return [f"{label}: {text}" for label, text in found if text]


@functools.cache
def runnable(source):
    """The programs of a source that can be run."""
    return list(_runnable(source))


def _runnable(source):
    for case in sources.corpus(source):
        dynamic = source.startswith("torch_") and "tensor<?" in case.text
        texts = [xla.refined(case.text, OPEN_SIZE)] if dynamic else xla.programs(case.text)
        for number, text in enumerate(texts):
            name = f"{case.name}#{number}"
            count = len(xla.result_ops(text))
            if "tensor<?" in text:
                continue  # sizes that depend on data, which XLA does not have
            needs_preparation = source.startswith("torch_") and re.search(r"stablehlo\.(atan2|while)", text)
            given = xla.prepared(text) if needs_preparation else text
            others = range(len(case.results), count)  # after what a sample returns, the status of its checks
            labels = (*case.results, *(f"result {index}" for index in others))
            if not any(part in text for part in NOT_RUN) and not name.startswith(ENDLESS):
                yield Program(name, given, case.text if dynamic else text, labels)


def retyped(text, kind):
    """A module with another type instead of f32, also where it gives a float by its bits."""

    def converted(found):
        value = numpy.array(int(found[1], 16), numpy.uint32).view(numpy.float32).astype(xla.dtypes()[kind])
        return f"0x{value.tobytes()[::-1].hex().upper()}"

    return re.sub(r"(?<=[x<])f32\b", kind, re.sub(r"\b0x([0-9A-F]{8})\b", converted, text))


def unlisted(lines, known):
    return [line for line in lines if not any(re.match(each, line) for each in known)]


def judge_twice(plugin, program, source, known):
    """As `judge` has it by XLA's quick emitters or, where they refuse the program or show anything new, by
    the usual ones."""
    lines, right = judge(plugin, program, source, quick=True)
    return judge(plugin, program, source) if unlisted(lines, known) else (lines, right)


def check(plugin, programs, source, known, at_least):
    """Fails with what differs and is not known to, with what is known and does not differ, and when fewer
    programs than `at_least` agree."""
    verdicts = [judge_twice(plugin, program, source, known) for program in programs]
    found = [line for lines, _ in verdicts for line in lines]
    unexpected = unlisted(found, known)
    assert not unexpected, "\n".join(unexpected)
    assert not [each for each in known if not any(re.match(each, line) for line in found)]
    assert sum(right for _, right in verdicts) >= at_least


# Compiling every row takes minutes; tests/ops holds rows against eager torch, on the plugin and interpreted.
SWEEPS = {"torch_rows"}


@pytest.mark.parametrize(
    "source, at_least",
    [pytest.param(*each, marks=[pytest.mark.sweep] * (each[0] in SWEEPS)) for each in LEAST.items()],
)
def test_agrees_with_the_plugin(plugin, source, at_least):
    check(plugin, runnable(source), source, DEVIATIONS.get(source, {}), at_least)


# Of 32 bits whatever the floats are; and complex numbers that StableHLO does not have.
UNTYPED = ("bitcast_convert", "complex<f16>", "complex<bf16>")


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["f64", "f16", "bf16"])
def test_agrees_in_other_types(plugin, kind):
    """torch's ops once more, with other floats."""
    programs = []
    for program in runnable("torch_rows"):
        text = retyped(program.text, kind)
        if text != program.text and not any(each in text for each in UNTYPED):
            name = f"{kind}: {program.name}"
            programs.append(dataclasses.replace(program, name=name, text=text, interpreted=text))
    known = {f"{kind}: {each}": why for each, why in DEVIATIONS[f"torch_rows {kind}"].items()}
    check(plugin, programs, "torch_rows", known, 80)


class Liar:
    """A plugin with the interpreter's results, of which one is made another."""

    def __init__(self, change):
        self.change = change

    def run(self, text, calls, quick):
        given = [[numpy.array(result) for result in interpret(text, *arguments)] for arguments in calls]
        for results in given:
            self.change(results[0])
        return given


def put(place, value):
    return lambda array: array.__setitem__(place, value)


def turn(array):
    array[...] = numpy.roll(array, 1)


def grow(steps):
    """The first element becomes larger by so many tolerances."""
    return lambda array: array.__setitem__(0, float(array[0]) * (1 + steps * TOLERANCE[array.dtype.name]))


INFINITY = {"f64": "0x7FF0000000000000", "f32": "0x7F800000", "f16": "0x7C00", "bf16": "0x7F80"}
WRONG = {
    "a sign": (put(0, -4), "1 of 6 differ, first at (0,): got 4.0, expected -4.0"),
    "a zero's sign": (put(3, -0.0), "1 of 6 differ, first at (3,): got 0.0, expected -0.0"),
    "a NaN": (put(1, numpy.nan), "1 of 6 differ, first at (1,): got 1.0, expected nan"),
    "an infinity": (put(5, numpy.inf), "1 of 6 differ, first at (5,): got 16.0, expected inf"),
    "an infinity's sign": (put(4, -numpy.inf), "1 of 6 differ, first at (4,): got inf, expected -inf"),
    "an index": (turn, "6 of 6 differ, first at (0,): got 4.0, expected 16.0"),
    "digits": (grow(2), "1 of 6 differ, first at (0,): got 4.0, expected 4."),
}


@pytest.mark.parametrize("kind", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_result_is_found(kind, name):
    change, message = WRONG[name]
    text = f"""func.func @main() -> tensor<6x{kind}> {{
      %0 = stablehlo.constant dense<[2.0, 1.0, 3.0, 0.0, {INFINITY[kind]}, 4.0]> : tensor<6x{kind}>
      %1 = stablehlo.multiply %0, %0 : tensor<6x{kind}>
      return %1 : tensor<6x{kind}>
    }}"""
    program = Program("squares", text, text, ("result 0",))
    (line,), right = judge(Liar(change), program, "lit")
    assert right == 0
    assert line.startswith(f"squares: result 0: {message}")
    assert judge(Liar(grow(0.4)), program, "lit") == ([], 1)


def test_a_wrong_integer_is_found():
    text = """func.func @main() -> tensor<2xi32> {
      %0 = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
      return %0 : tensor<2xi32>
    }"""
    program = Program("numbers", text, text, ("result 0",))
    lines, _ = judge(Liar(put(1, 9)), program, "lit")
    assert lines == ["numbers: result 0: 1 of 2 differ, first at (1,): got 8, expected 9"]


@pytest.mark.parametrize("kind", ["f64", "f32", "f16", "bf16"])
def test_the_plugin_rounds_every_op(plugin, kind):
    """Also a product that only a difference takes, which is what places in a resampled image are made of."""
    text = f"""func.func @main(%a: tensor<12x{kind}>, %b: tensor<12x{kind}>, %c: tensor<12x{kind}>)
        -> tensor<12x{kind}> {{
      %0 = stablehlo.multiply %a, %b : tensor<12x{kind}>
      %1 = stablehlo.subtract %0, %c : tensor<12x{kind}>
      return %1 : tensor<12x{kind}>
    }}"""
    places = numpy.arange(0.5, 12).astype(xla.dtypes()[kind])
    distances, halves = (numpy.full_like(places, value) for value in (7 / 12, 0.5))
    each = places * distances - halves
    distance = Fraction(float(distances[0]))
    once = numpy.array([float(Fraction(float(place)) * distance - Fraction(1, 2)) for place in places])
    once = once.astype(each.dtype)
    assert (once != each).any()
    numpy.testing.assert_array_equal(interpret(text, places, distances, halves)[0], each)
    for quick in (False, True):
        numpy.testing.assert_array_equal(plugin.run(text, [[places, distances, halves]], quick)[0][0], each)
