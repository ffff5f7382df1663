"""Random programs of reductions and elementwise ops, and what the engine gives beside the interpreter."""

from __future__ import annotations

import ml_dtypes
import numpy
from random_comparison import widened

from torchere.interpreter import interpret

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
ROW_SHAPES = [(20, 16), (1, 40), (33, 70), (18, 1030), (16, 9000), (3, 7, 50), (4, 5, 2, 17), (2, 16, 3, 20)]
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
    shapes = SHAPES

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.element = self.choose(list(DTYPES))
        self.kind = "b" if self.element == "i1" else "i" if "i" in self.element else "f"
        self.shape = self.choose(self.shapes)
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
        # The interpreter rounds each time.
        if join == "add" and (self.element in ("bf16", "f16") or self.shape[-1] > 5000):
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
        return self.module()

    def module(self):
        """The text, and the arguments."""
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


class RowWriter(Writer):
    """Reductions of rows, what is computed of their results, and rows of these again, in several turns."""

    shapes = ROW_SHAPES

    def write(self):
        whole, rank = self.type(self.shape), len(self.shape)
        values = [self.operand() for _ in range(self.random.integers(1, 3))]
        values += [self.argument(self.shape)]
        kept = int(self.random.integers(1, rank))
        for _ in range(self.random.integers(1, 4)):
            values.append(self.apply(self.choose(values), self.choose(values), whole))
            along = list(range(kept if self.random.random() < 0.85 else rank - 1, rank))
            rows, shape = self.reduce(self.choose(values[-2:]), along)
            if self.random.random() < 0.7:
                self.results.pop()
            if self.random.random() < 0.5:
                rows = self.apply(rows, self.argument(shape), self.type(shape))
            values.append(self.apply(self.choose(values), self.spread(rows, shape), whole))
            if self.random.random() < 0.2:
                self.results.append((values[-1], whole))
        self.results.append((values[-1], whole))
        return self.module()

    def apply(self, a, b, kind):
        return self.line(f"stablehlo.{self.choose(OPS[self.kind])} {a}, {b} : {kind}")

    def spread(self, rows, shape):
        """To whole rows, by one of the forms that there are."""
        places, whole = list(range(len(shape))), self.type(self.shape)
        form = self.random.integers(3)
        if form == 0:
            kind = self.type(shape)
        else:
            ones = shape + [1] * (len(self.shape) - len(shape))
            kind = self.type(ones)
            if form == 1:
                rows = self.line(f"stablehlo.reshape {rows} : ({self.type(shape)}) -> {kind}")
            else:
                rows = self.line(
                    f"stablehlo.broadcast_in_dim {rows}, dims = {places} : ({self.type(shape)}) -> {kind}"
                )
            places = list(range(len(ones)))
        return self.line(f"stablehlo.broadcast_in_dim {rows}, dims = {places} : ({kind}) -> {whole}")


def check(engine, seeds, kind=Writer):
    """Sums of f32 may be as near to those of f64: the interpreter adds one by one, which rounds more."""
    wrong = []
    for seed in seeds:
        writer = kind(seed)
        text, arguments = writer.write()
        expected = interpret(text, *arguments)
        for results in engine.run(text, [arguments]):
            for place, (got, value) in enumerate(zip(results, expected, strict=True)):
                told = difference(got, value, writer.element)
                if not told:
                    continue
                exact = widened(text, arguments, {"f32": "f64"})
                if exact is None or difference(got, exact[place], writer.element):
                    wrong.append(f"seed {seed}: {told}\n{text}")
    assert not wrong, "\n".join(wrong)
