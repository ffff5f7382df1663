"""Loops that bisect a table on the CPU engine: which forms become one kernel, by the names in the log, and
their results beside the interpreter's and those of JAX's own platform, bit by bit."""

from __future__ import annotations

import ml_dtypes
import numpy
import pytest
import torch
from engine_modules_test import on_engine
from fusion_log import JAX, log_of, run_jax
from torch.export import Dim

import torchere
from torchere.interpreter import interpret


class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


FLOATS = {"f32": numpy.float32, "f64": numpy.float64, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16}
INTEGERS = {
    f"{prefix}{bits}": numpy.dtype(f"{kind}{bits // 8}").type
    for prefix, kind in (("i", "i"), ("ui", "u"))
    for bits in (8, 16, 32, 64)
}

NAN = {"f32": "0x7FC00000", "f64": "0x7FF8000000000000", "f16": "0x7E00", "bf16": "0x7FC0"}

CANONICAL = """
%{n}_zero = stablehlo.constant dense<0.0> : {type}
%{n}_nan = stablehlo.constant dense<{nan}> : {type}
%{n}_is_zero = stablehlo.compare EQ, %{x}, %{n}_zero, FLOAT : ({type}, {type}) -> {truth}
%{n}_plain = stablehlo.select %{n}_is_zero, %{n}_zero, %{x} : {truth}, {type}
%{n}_is_nan = stablehlo.compare NE, %{x}, %{x}, FLOAT : ({type}, {type}) -> {truth}
%{n} = stablehlo.select %{n}_is_nan, %{n}_nan, %{n}_plain : {truth}, {type}
"""


def module(
    element="f32",
    place="ui32",
    length=50,
    shape=(70,),
    turns=6,
    low=0,
    high=None,
    left="compare LT, %value, %element, {kind}",
    half="divide %difference, %two",
    middle="add %low, %half",
    next_low="select %left, %low, %middle",
    next_high="select %left, %middle, %high",
    is_canonical=True,
    kind="TOTALORDER",
):
    """A loop as JAX's searchsorted is, or one that only looks like it."""

    def tensor(*sizes, of):
        return f"tensor<{''.join(f'{size}x' for size in sizes)}{of}>"

    values, table = tensor(*shape, of=element), tensor(length, of=element)
    places, truth = tensor(*shape, of=place), tensor(*shape, of="i1")
    indices, column = tensor(*shape, 1, of=place), tensor(*shape, 1, of=element)
    rank = len(shape)
    is_float = element in FLOATS
    kind = kind if is_float else "UNSIGNED" if element.startswith("ui") else "SIGNED"
    names = {"x": "%x", "g": "%g"}
    body = ""
    if is_float and is_canonical:
        names = {"x": "%value", "g": "%element"}
        for name, source in (("value", "x"), ("element", "g")):
            body += CANONICAL.format(n=name, x=source, type=values, truth=truth, nan=NAN[element])
    left = left.format(kind=kind).replace("%value", names["x"]).replace("%element", names["g"])
    types = {"select": f"{truth}, {places}"}
    low_type = types.get(next_low.split()[0], places)
    high_type = types.get(next_high.split()[0], places)
    return f"""
func.func @main(%table: {table}, %x: {values}) -> ({places}, {places}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %low_0 = stablehlo.constant dense<{low}> : {places}
  %high_0 = stablehlo.constant dense<{length if high is None else high}> : {places}
  %limit = stablehlo.constant dense<{turns}> : tensor<i32>
  %turned:3 = stablehlo.while(%i = %zero, %low = %low_0, %high = %high_0) : tensor<i32>, {places}, {places}
  cond {{
    %continues = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %continues : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ones = stablehlo.constant dense<1> : {places}
    %two = stablehlo.constant dense<2> : {places}
    %difference = stablehlo.subtract %high, %low : {places}
    %half = stablehlo.{half} : {places}
    %middle = stablehlo.{middle} : {places}
    %at = stablehlo.reshape %middle : ({places}) -> {indices}
    %column = "stablehlo.gather"(%table, %at) <{{dimension_numbers = #stablehlo.gather<offset_dims = [{rank}],
      start_index_map = [0], index_vector_dim = {rank}>, slice_sizes = array<i64: 1>}}>
      : ({table}, {indices}) -> {column}
    %g = stablehlo.reshape %column : ({column}) -> {values}
    {body}
    %left = stablehlo.{left} : ({values}, {values}) -> {truth}
    %next_low = stablehlo.{next_low} : {low_type}
    %next_high = stablehlo.{next_high} : {high_type}
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %next_low, %next_high : tensor<i32>, {places}, {places}
  }}
  return %turned#1, %turned#2 : {places}, {places}
}}"""


def arguments(element, length, shape, is_sorted=True):
    """Few values, so that many are equal; of floats with zeros of both signs, infinities and NaN."""
    generator = numpy.random.default_rng(length)
    dtype = FLOATS.get(element) or INTEGERS[element]
    made = []
    for sizes in ((length,), shape):
        array = numpy.round(generator.normal(scale=20, size=sizes)).astype(numpy.float64)
        if element.startswith("ui"):
            array = numpy.abs(array)
        array = array.astype(dtype)
        if element in FLOATS:
            flat = array.reshape(-1)
            special = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan], dtype)
            flat[: min(len(flat), 18) : 3] = special[: len(flat[: min(len(flat), 18) : 3])]
        elif array.size:
            array.reshape(-1)[:1] = numpy.iinfo(dtype).max
            array.reshape(-1)[-1:] = numpy.iinfo(dtype).min
        made.append(array)
    if is_sorted:
        made[0] = made[0][numpy.argsort(made[0].astype(numpy.float64), kind="stable")]
    return made


def case(fused=1, is_sorted=True, **options):
    element, length = options.get("element", "f32"), options.get("length", 50)
    return fused, module(**options), arguments(element, length, options.get("shape", (70,)), is_sorted)


ELEMENTS = [*FLOATS, *INTEGERS]
CASES = {
    **{f"elements of {element}": case(element=element) for element in ELEMENTS},
    **{
        f"elements of {element}, from the right": case(
            element=element, left="compare LE, %value, %element, {kind}", shape=(3, 41)
        )
        for element in ELEMENTS
    },
    **{f"places of {place}": case(place=place) for place in ("i32", "ui32", "i64", "ui64")},
    "operands in the other order": case(left="compare GT, %element, %value, {kind}"),
    "operands in the other order, from the right": case(left="compare GE, %element, %value, {kind}"),
    "a shift": case(half="shift_right_logical %difference, %ones"),
    "a shift with a sign": case(place="i32", half="shift_right_arithmetic %difference, %ones"),
    "no order": case(is_sorted=False),
    "no order, many turns": case(is_sorted=False, turns=20),
    "no turn": case(turns=0),
    "too few turns": case(turns=3),
    "a part of the table": case(low=7, high=31),
    "one element": case(length=1),
    "no values": case(0, shape=(0,)),
    "one value": case(shape=()),
    "values for many parts": case(shape=(40, 333), length=3000, turns=12),
    "f64 for many parts": case(element="f64", shape=(4000,), length=300, turns=9),
    "half of the other side": case(0, middle="subtract %high, %half"),
    "a third": case(0, half="divide %difference, %ones"),
    "a place beyond": case(0, next_low="add %middle, %ones", place="i32"),
    "sides exchanged": case(0, next_low="select %left, %middle, %low"),
    "the lowest stays": case(0, next_low="minimum %low, %middle"),
    "equal ones": case(0, left="compare EQ, %value, %element, {kind}"),
    "numbers that are not made plain": case(0, is_canonical=False),
    "numbers that are not ordered": case(0, kind="FLOAT"),
    "a high place beyond the table": case(0, high=80),
    "many turns": case(0, turns=100),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    cases = {name: (text, given) for name, (_, text, given) in CASES.items()}
    values, logs = on_engine(cases, tmp_path_factory.mktemp("bisections"))
    return dict(zip(CASES, zip(values, logs, strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_loops_are_fused_and_right(results, name):
    fused, text, given = CASES[name]
    (got, stored), log = results[name]
    assert ("bisection=" in log) == bool(fused)
    for one, again, expected in zip(got, stored, interpret(text, *given), strict=True):
        numpy.testing.assert_array_equal(one, expected)
        numpy.testing.assert_array_equal(again, expected)


JAX_CASES = {
    "searchsorted": ("lambda a, v: jnp.searchsorted(jnp.sort(a), v), (300,), (40, 50)", "bisection=1"),
    "from the right": (
        "lambda a, v: jnp.searchsorted(jnp.sort(a), v, side='right'), (64,), (500,)",
        "bisection=1",
    ),
    "digitize": ("lambda a, v: jnp.digitize(v, jnp.sort(a)), (17,), (500,)", "bisection=2"),
    "histogram": ("lambda v: jnp.histogram(v, 64, (-4.0, 4.0))[0], (5000,)", "bisection=1"),
    "interp": ("lambda a, b, v: jnp.interp(v, jnp.sort(a), b), (90,), (90,), (700,)", "bisection=1"),
    "a table for each row": (
        "lambda a, v: jax.vmap(jnp.searchsorted)(jnp.sort(a, 1), v), (5, 30), (5, 40)",
        "none",
    ),
}


@pytest.fixture(scope="module")
def jax_log():
    pytest.importorskip("jax")
    return log_of(run_jax, JAX, JAX_CASES)


@pytest.mark.parametrize("name", JAX_CASES)
def test_forms_of_jax(jax_log, name):
    assert jax_log[name] == JAX_CASES[name][1]


ROW, VALUES = torch.randn(300).sort().values, torch.randn(1000)
TORCH_CASES = {
    "searchsorted": (torch.searchsorted, (ROW, VALUES), True),
    "from the right": (lambda row, v: torch.searchsorted(row, v, right=True), (ROW, VALUES), True),
    "bucketize": (lambda row, v: torch.bucketize(v, row), (ROW, VALUES.reshape(10, 100)), True),
    "isin": (torch.isin, (torch.arange(999), torch.arange(0, 4000, 3)), True),
    "bags": (
        lambda rows, index, first: torch.nn.functional.embedding_bag(index, rows, first, mode="sum"),
        (torch.randn(50, 4), torch.arange(1000) % 25, torch.arange(0, 1000, 4)),
        True,
    ),
    "a row for each": (torch.searchsorted, (ROW.reshape(2, 150), VALUES.reshape(2, 500)), False),
}


@pytest.mark.parametrize("is_open", [False, True], ids=["known sizes", "open sizes"])
@pytest.mark.parametrize("name", TORCH_CASES)
def test_forms_of_torch(name, is_open):
    function, given, is_fused = TORCH_CASES[name]
    sizes = {"dynamic_shapes": (tuple({0: Dim.AUTO, x.dim() - 1: Dim.AUTO} for x in given),)}
    program = torchere.export(Model(function), given, **(sizes if is_open else {}))
    smaller = [x[: len(x) // 2] for x in given]
    for args in (given, smaller) if is_open else (given,):
        torch.testing.assert_close(program(*args), function(*args))
    assert is_fused == any(row.kernel == "bisection" for row in program.profile(*given).rows)


@pytest.mark.parametrize("rank", [1, 2])
def test_rows_of_open_length_that_are_empty(rank):
    row = ROW if rank == 1 else ROW.reshape(2, 150)
    values = VALUES.reshape(2, 500)
    sizes = ({rank - 1: Dim.AUTO}, {1: Dim.AUTO})
    program = torchere.export(Model(torch.searchsorted), (row, values), dynamic_shapes=(sizes,))
    for length in (0, 1, 2, 100):
        given = row[..., :length].contiguous(), values[:, :7].contiguous()
        torch.testing.assert_close(program(*given), torch.searchsorted(*given))
