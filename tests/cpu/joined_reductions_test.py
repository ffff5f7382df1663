"""Reductions that run the elementwise ops they read: random programs of them give on the engine what they
give on the interpreter, from an executable that was stored too. The log tells how many steps there are."""

from __future__ import annotations

import re

import ml_dtypes
import numpy
import pytest
from fusion_log import JAX, run_jax

from torchere.interpreter import interpret

pytest.importorskip("jaxlib")

DTYPES = {
    "f32": numpy.float32,
    "f64": numpy.float64,
    "bf16": ml_dtypes.bfloat16,
    "f16": numpy.float16,
    "i32": numpy.int32,
    "i8": numpy.int8,
    "ui8": numpy.uint8,
    "i1": numpy.bool_,
}
TOLERANCE = {"f32": 1e-5, "f64": 1e-12, "bf16": 1e-2, "f16": 2e-3}
SHAPES = [(7,), (1,), (3000,), (1, 1), (5, 0, 3), (3, 4, 5), (33, 70), (2, 1030), (1030, 3), (2, 3, 4, 5)]
JOINS = {
    "f": ("add", "multiply", "maximum", "minimum"),
    "i": ("add", "multiply", "maximum", "minimum", "and", "or"),
}
OPS = {
    "f": ("add", "subtract", "multiply", "maximum"),
    "i": ("add", "subtract", "multiply", "xor"),
    "b": ("and", "or", "xor"),
}
SPECIAL = [numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0]


class Writer:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.element = self.choose(list(DTYPES))
        self.kind = "b" if self.element == "i1" else "i" if "i" in self.element else "f"
        self.shape = self.choose(SHAPES)
        self.lines: list[str] = []
        self.arguments: list[tuple[str, numpy.ndarray]] = []
        self.results: list[tuple[str, str]] = []

    def choose(self, values):
        return values[self.random.integers(len(values))]

    def type(self, shape, element=None):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{element or self.element}>"

    def line(self, text):
        self.lines.append(f"  %v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def argument(self, shape):
        if self.kind == "f":
            values = self.random.normal(size=shape)
            if values.size and self.random.random() < 0.3:
                values.flat[self.random.integers(values.size)] = self.choose(SPECIAL)
        else:
            values = self.random.integers(0, 2 if self.kind == "b" else 120, shape)
        self.arguments.append((self.type(shape), numpy.asarray(values).astype(DTYPES[self.element])))
        return f"%a{len(self.arguments) - 1}"

    def operand(self):
        """Of the shape, read in one of several orders."""
        rank, form = len(self.shape), self.random.integers(4)
        whole = self.type(self.shape)
        if form == 0:
            order = [int(axis) for axis in self.random.permutation(rank)]
            source = [0] * rank
            for place, axis in enumerate(order):
                source[axis] = self.shape[place]
            name = self.argument(source)
            return self.line(f"stablehlo.transpose {name}, dims = {order} : ({self.type(source)}) -> {whole}")
        if form == 1:
            kept = [axis for axis in range(rank) if self.random.random() < 0.5]
            source = [self.shape[axis] for axis in kept]
            name = self.argument(source)
            return self.line(
                f"stablehlo.broadcast_in_dim {name}, dims = {kept} : ({self.type(source)}) -> {whole}"
            )
        if form == 2 and self.kind != "b":
            return self.line(f"stablehlo.iota dim = {self.random.integers(rank)} : {whole}")
        return self.argument(self.shape)

    def reduce(self, value, dimensions):
        join = self.choose(("and", "or") if self.kind == "b" else JOINS[self.kind])
        if join == "multiply" and self.kind == "f":
            join = "add"
        if join == "add" and self.element in ("bf16", "f16"):  # which the interpreter rounds each time
            join = "maximum"
        number = self.choose(["0", "1"]) if self.kind == "i" else {"b": "false", "f": "0.5"}[self.kind]
        initial = self.line(f"stablehlo.constant dense<{number}> : {self.type(())}")
        kept = [size for axis, size in enumerate(self.shape) if axis not in dimensions]
        result = self.line(
            f"stablehlo.reduce({value} init: {initial}) applies stablehlo.{join} across dimensions = "
            f"{dimensions} : ({self.type(self.shape)}, {self.type(())}) -> {self.type(kept)}"
        )
        self.results.append((result, self.type(kept)))
        return result, kept

    def write(self):
        whole = self.type(self.shape)
        values = [self.operand() for _ in range(self.random.integers(1, 4))]
        for _ in range(self.random.integers(0, 6)):
            op = self.choose(OPS[self.kind])
            values.append(self.line(f"stablehlo.{op} {self.choose(values)}, {self.choose(values)} : {whole}"))
        rank = len(self.shape)
        dimensions = [axis for axis in range(rank) if self.random.random() < 0.6] or [rank - 1]
        for _ in range(self.random.integers(1, 4)):
            others = [axis for axis in range(rank) if axis not in dimensions] or dimensions
            along = dimensions if self.random.random() < 0.8 else others
            result, kept = self.reduce(self.choose(values), along)
            if self.random.random() < 0.4:  # what follows reads the values again
                places = [axis for axis in range(rank) if axis not in along]
                spread = self.line(
                    f"stablehlo.broadcast_in_dim {result}, dims = {places} : ({self.type(kept)}) -> {whole}"
                )
                op = self.choose(OPS[self.kind])
                values.append(self.line(f"stablehlo.{op} {self.choose(values)}, {spread} : {whole}"))
        if self.random.random() < 0.5:
            self.results.append((values[-1], whole))
        arguments = ", ".join(f"%a{i}: {kind}" for i, (kind, _) in enumerate(self.arguments))
        names, types = (", ".join(part) for part in zip(*self.results, strict=True))
        body = "\n".join(self.lines)
        text = f"func.func @main({arguments}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}"
        return text, [value for _, value in self.arguments]


def difference(got, expected, element):
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"got {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
    if element not in TOLERANCE:
        return "" if numpy.array_equal(got, expected) else f"got {got}, expected {expected}"
    got, expected = got.astype(float), expected.astype(float)
    scale = abs(expected[numpy.isfinite(expected)]).max(initial=1.0)
    tolerance = TOLERANCE[element]
    is_right = numpy.isclose(got, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return "" if is_right.all() else f"got {got[~is_right][:3]}, expected {expected[~is_right][:3]}"


def check(engine, seeds):
    wrong = []
    for seed in seeds:
        writer = Writer(seed)
        text, arguments = writer.write()
        expected = interpret(text, *arguments)
        for results in engine.run(text, [arguments]):
            for got, value in zip(results, expected, strict=True):
                if told := difference(got, value, writer.element):
                    wrong.append(f"seed {seed}: {told}\n{text}")
    assert not wrong, "\n".join(wrong)


def test_random_programs_agree(engine):
    check(engine, range(250))


@pytest.mark.sweep
def test_many_random_programs_agree(engine):
    check(engine, range(1000, 4000))


#: By name: the call of check() without it, and the number of steps.
CASES = {
    "squared error": ("lambda x, y: ((x - y) ** 2).sum(), (40, 300), (40, 300)", 1),
    "one pass for several": (
        "lambda x: jnp.stack([x.sum(1), x.max(1), x.min(1), (x * x).sum(1)]), (40, 300)",
        2,  # and what puts them together
    ),
    "distances of all pairs": ("lambda x, y: ((x[:, None] - y) ** 2).sum(-1), (30, 8), (40, 8)", 1),
    "across rows": ("lambda x: jnp.exp(x).sum(0), (400, 30)", 1),
    "over the first and the last": ("lambda x: jnp.tanh(x).sum((0, 2)), (4, 30, 50)", 1),
    "places are read": (
        "lambda x: jnp.where(jnp.arange(50)[:, None] >= jnp.arange(60), x, 0).sum(1), (50, 60)",
        1,
    ),
    "a cheap value is computed again": ("lambda x: (x - x.mean(0)) * (x - 1).sum(), (50, 60)", 4),
    "a value that a product reads is stored": (
        "lambda x, w: (lambda h: h.sum(0).max() + (h @ w).sum())(jnp.exp(x)), (50, 60), (60, 70)",
        5,
    ),
}


@pytest.fixture(scope="module")
def plans():
    """By case, of all in one process: the steps of the plan compiled last, and the bytes between them."""
    calls = [f"check({name!r}, {call})" for name, (call, _) in CASES.items()]
    _, log = run_jax("\n".join([JAX, *calls]), TORCHERE_LOG="debug")
    parts = re.split(r"^case ", log, flags=re.MULTILINE)[1:]
    found = {}
    for part in parts:
        steps, size = re.findall(r"(\d+) steps, (\d+) bytes", part)[-1]
        found[part.split("\n")[0]] = int(steps), int(size)
    return found


@pytest.mark.parametrize("name", CASES)
def test_steps(plans, name):
    assert plans[name][0] == CASES[name][1]


def test_what_is_computed_again_is_not_stored(plans):
    assert plans["a cheap value is computed again"][1] < 50 * 60 * 4
    assert plans["a value that a product reads is stored"][1] >= 50 * 60 * 4
