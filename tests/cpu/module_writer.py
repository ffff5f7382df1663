"""Writes StableHLO modules op by op, with random numbers for their arguments."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy

DTYPES = {
    "f32": numpy.dtype("float32"),
    "f64": numpy.dtype("float64"),
    "bf16": numpy.dtype(ml_dtypes.bfloat16),
    "f16": numpy.dtype("float16"),
}
INFINITE = {"f32": "0xFF800000", "f64": "0xFFF0000000000000", "bf16": "0xFF80", "f16": "0xFC00"}


def integers(values):
    return ", ".join(str(value) for value in values)


@dataclass
class Value:
    name: str
    shape: tuple[int, ...]
    #: What each dimension is: n, c, and d, h, w or a part of these.
    layout: str = ""

    def at(self, letter):
        return self.shape[self.layout.index(letter)]


class ModuleWriter:
    """Text that grows by an op at a time, all of one type of elements."""

    def __init__(self, element, seed):
        self.element = element
        self.numbers = numpy.random.default_rng(seed)
        self.arguments: list[tuple[str, numpy.ndarray]] = []
        self.lines: list[str] = []
        self.count = 0

    def type(self, shape, element=None):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{element or self.element}>"

    def line(self, text):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def constant(self, number, shape=()):
        return self.line(f"stablehlo.constant dense<{number}> : {self.type(shape)}")

    def argument(self, shape, layout="", scale=1.0):
        values = (self.numbers.normal(size=shape) * scale).astype(DTYPES[self.element])
        self.arguments.append((self.type(shape), values))
        return Value(f"%a{len(self.arguments) - 1}", tuple(shape), layout)

    def apply(self, op, shape, *operands):
        """An elementwise op of operands of one shape."""
        return self.line(f"stablehlo.{op} {', '.join(operands)} : {self.type(shape)}")

    def spread(self, value, shape, dimensions):
        return self.line(
            f"stablehlo.broadcast_in_dim {value.name}, dims = [{integers(dimensions)}] : "
            f"({self.type(value.shape)}) -> {self.type(shape)}"
        )

    def reshape(self, value, shape, layout):
        name = self.line(f"stablehlo.reshape {value.name} : ({self.type(value.shape)}) -> {self.type(shape)}")
        return Value(name, tuple(shape), layout)

    def transpose(self, value, layout):
        places = [value.layout.index(letter) for letter in layout]
        shape = tuple(value.shape[place] for place in places)
        name = self.line(
            f"stablehlo.transpose {value.name}, dims = [{integers(places)}] : "
            f"({self.type(value.shape)}) -> {self.type(shape)}"
        )
        return Value(name, shape, layout)

    def text(self, results):
        """The whole module, which returns these values."""
        names = ", ".join(f"%a{i}: {kind}" for i, (kind, _) in enumerate(self.arguments))
        kinds = ", ".join(self.type(result.shape) for result in results)
        body = "\n".join(self.lines)
        return (
            f"func.func @main({names}) -> ({kinds}) {{\n{body}\n"
            f"  return {', '.join(result.name for result in results)} : {kinds}\n}}"
        )
