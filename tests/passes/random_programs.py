"""Random StableHLO programs of the ops that simplification knows, and their results from XLA's CPU compiler.

What is rounded twice or may be fused is left out: multiplications are by powers of two, bfloat16 is only
converted to and moved. So two programs that mean the same give the same numbers.
"""

from __future__ import annotations

import math
import random

import jax
import numpy as np
from jax._src import xla_bridge
from jaxlib import xla_client
from xla_options import compile_options

DTYPES = ("f32", "bf16", "i32", "ui8", "i1")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, math.inf, -math.inf, math.nan]
NEUTRAL = {
    "f32": [
        ("add", "0.0"),
        ("add", "-0.0"),
        ("subtract", "0.0"),
        ("subtract", "-0.0"),
        ("multiply", "1.0"),
        ("multiply", "0.0"),
        ("multiply", "-2.0"),
        ("divide", "1.0"),
        ("maximum", "0xFF800000"),
        ("maximum", "0x7F800000"),
        ("minimum", "0x7F800000"),
        ("minimum", "1.5"),
        ("power", "1.0"),
    ],
    "i32": [
        ("add", "0"),
        ("multiply", "0"),
        ("multiply", "1"),
        ("multiply", "-3"),
        ("subtract", "0"),
        ("divide", "1"),
        ("maximum", "-2147483648"),
        ("minimum", "-2147483648"),
        ("and", "-1"),
        ("or", "0"),
        ("xor", "0"),
        ("or", "-1"),
        ("shift_left", "0"),
        ("shift_right_arithmetic", "1"),
    ],
    "ui8": [
        ("add", "0"),
        ("multiply", "1"),
        ("maximum", "0"),
        ("maximum", "255"),
        ("minimum", "255"),
        ("and", "255"),
    ],
    "i1": [
        ("and", "true"),
        ("and", "false"),
        ("or", "true"),
        ("or", "false"),
        ("xor", "false"),
        ("add", "false"),
    ],
}
# XLA's own folder gives 0 for the sign of -0 and -32 for the leading zeros of a negative number: left out.
UNARY = {
    "f32": ["negate", "abs", "floor", "ceil", "round_nearest_even", "round_nearest_afz"],
    "i32": ["negate", "abs", "sign", "not", "popcnt"],
    "ui8": ["not", "popcnt"],
    "i1": ["not"],
}
BINARY = {
    "f32": ["add", "subtract", "maximum", "minimum"],
    "i32": ["add", "subtract", "multiply", "maximum", "and", "xor"],
    "ui8": ["add", "maximum", "or"],
    "i1": ["and", "or", "xor"],
}
# From floats to integers is left out: what is out of range is the implementation's to say.
CONVERSIONS = {
    "f32": ["bf16", "f32", "i1"],
    "bf16": ["f32"],
    "i32": ["f32", "i1", "ui8"],
    "ui8": ["i32", "f32", "bf16"],
    "i1": DTYPES,
}


def tensor(shape, dtype):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


class Writer:
    """Appends random ops to the body of @main."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, tuple[int, ...], str]] = []

    def emit(self, text: str, shape, dtype):
        name = f"%{len(self.lines)}"
        self.lines.append(f"    {name} = stablehlo.{text}")
        value = (name, tuple(shape), dtype)
        self.values.append(value)
        return value

    def constant(self, literal, shape, dtype):
        """A constant of one value: whole, or a scalar that is broadcast."""
        if self.random.random() < 0.5:
            return self.emit(f"constant dense<{literal}> : {tensor(shape, dtype)}", shape, dtype)
        scalar, _, _ = self.emit(f"constant dense<{literal}> : {tensor((), dtype)}", (), dtype)
        types = f"({tensor((), dtype)}) -> {tensor(shape, dtype)}"
        return self.emit(f"broadcast_in_dim {scalar}, dims = [] : {types}", shape, dtype)

    def elements(self, shape, dtype):
        """A constant of several values."""
        count = math.prod(shape)
        choices = {"f32": ["1.5", "-0.0", "0x7FC00000", "3.0"], "i32": ["1", "-7", "0"]}[dtype]
        flat = ", ".join(self.random.choice(choices) for _ in range(count))
        name, _, _ = self.emit(f"constant dense<[{flat}]> : {tensor((count,), dtype)}", (count,), dtype)
        types = f"({tensor((count,), dtype)}) -> {tensor(shape, dtype)}"
        return self.emit(f"reshape {name} : {types}", shape, dtype)

    def neutral(self, name, shape, dtype):
        if dtype not in NEUTRAL:
            return
        op, literal = self.random.choice(NEUTRAL[dtype])
        other, _, _ = self.constant(literal, shape, dtype)
        commutes = op in ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
        left, right = (other, name) if commutes and self.random.random() < 0.5 else (name, other)
        self.emit(f"{op} {left}, {right} : {tensor(shape, dtype)}", shape, dtype)

    def unary(self, name, shape, dtype):
        if dtype in UNARY:
            self.emit(f"{self.random.choice(UNARY[dtype])} {name} : {tensor(shape, dtype)}", shape, dtype)

    def binary(self, name, shape, dtype):
        if dtype not in BINARY:
            return
        others = [value for value in self.values if value[1:] == (shape, dtype)]
        if dtype in ("f32", "i32") and self.random.random() < 0.3:
            others = [self.elements(shape, dtype)]
        other, _, _ = self.random.choice(others)
        self.emit(
            f"{self.random.choice(BINARY[dtype])} {name}, {other} : {tensor(shape, dtype)}", shape, dtype
        )

    def select(self, name, shape, dtype):
        if dtype == "bf16":
            return
        other, _, _ = self.random.choice([value for value in self.values if value[1:] == (shape, dtype)])
        direction = self.random.choice(["EQ", "NE", "LT", "GE"])
        types = f"({tensor(shape, dtype)}, {tensor(shape, dtype)}) -> {tensor(shape, 'i1')}"
        predicate, _, _ = self.emit(f"compare {direction}, {name}, {other} : {types}", shape, "i1")
        self.emit(
            f"select {predicate}, {name}, {other} : {tensor(shape, 'i1')}, {tensor(shape, dtype)}",
            shape,
            dtype,
        )

    def convert(self, name, shape, dtype):
        target = self.random.choice(CONVERSIONS[dtype])
        self.emit(f"convert {name} : ({tensor(shape, dtype)}) -> {tensor(shape, target)}", shape, target)

    def reshape(self, name, shape, dtype):
        sizes = [size for size in shape if size != 1]
        if len(sizes) > 1 and self.random.random() < 0.5:
            sizes = [sizes[0] * sizes[1], *sizes[2:]]
        for _ in range(self.random.randrange(3)):
            sizes.insert(self.random.randrange(len(sizes) + 1), 1)
        self.emit(f"reshape {name} : ({tensor(shape, dtype)}) -> {tensor(sizes, dtype)}", sizes, dtype)

    def transpose(self, name, shape, dtype):
        order = self.random.sample(range(len(shape)), len(shape))
        result = [shape[i] for i in order]
        types = f"({tensor(shape, dtype)}) -> {tensor(result, dtype)}"
        self.emit(f"transpose {name}, dims = {order} : {types}", result, dtype)

    def broadcast(self, name, shape, dtype):
        if math.prod(shape) > 200:
            return
        rank = len(shape) + self.random.randrange(2)
        dims = self.random.sample(range(rank), len(shape))
        if self.random.random() < 0.7:
            dims.sort()
        result = [self.random.choice([1, 2, 3]) for _ in range(rank)]
        for dim, size in zip(dims, shape, strict=True):
            result[dim] = result[dim] if size == 1 else size
        types = f"({tensor(shape, dtype)}) -> {tensor(result, dtype)}"
        self.emit(f"broadcast_in_dim {name}, dims = {dims} : {types}", result, dtype)

    def slice(self, name, shape, dtype):
        ranges, result = [], []
        for size in shape:
            start = self.random.randrange(size) if self.random.random() < 0.5 else 0
            limit = self.random.randint(start + 1, size) if self.random.random() < 0.5 else size
            stride = self.random.choice([1, 1, 2])
            ranges.append(f"{start}:{limit}:{stride}")
            result.append(-(-(limit - start) // stride))
        types = f"({tensor(shape, dtype)}) -> {tensor(result, dtype)}"
        self.emit(f"slice {name} [{', '.join(ranges)}] : {types}", result, dtype)

    def dynamic_slice(self, name, shape, dtype):
        sizes = [self.random.randint(1, size) for size in shape]
        starts = [
            self.emit(f"constant dense<{self.random.randint(-2, 5)}> : tensor<i32>", (), "i32")[0]
            for _ in shape
        ]
        types = (
            f"({', '.join([tensor(shape, dtype)] + ['tensor<i32>'] * len(shape))}) -> {tensor(sizes, dtype)}"
        )
        operands = "".join(f", {start}" for start in starts)
        self.emit(f"dynamic_slice {name}{operands}, sizes = {sizes} : {types}", sizes, dtype)

    def updates(self, name, shape, dtype):
        """Parts of a value written in place, one after the other, and slices of what that gives."""
        whole = name
        for _ in range(self.random.randint(1, 3)):
            update = [self.random.randint(1, size) for size in shape]
            part = self.random.choice([v for v in self.values if v[2] == dtype])
            if math.prod(part[1]) != math.prod(update):
                part = self.constant(
                    {"f32": "2.5", "bf16": "2.5", "i1": "true"}.get(dtype, "3"), update, dtype
                )
            types = f"({tensor(part[1], dtype)}) -> {tensor(update, dtype)}"
            written, _, _ = self.emit(f"reshape {part[0]} : {types}", update, dtype)
            starts = [self.constant(self.random.randint(-2, 5), (), "i32")[0] for _ in shape]
            types = ", ".join([tensor(shape, dtype), tensor(update, dtype)] + ["tensor<i32>"] * len(shape))
            operands = ", ".join([whole, written, *starts])
            whole, _, _ = self.emit(
                f"dynamic_update_slice {operands} : ({types}) -> {tensor(shape, dtype)}", shape, dtype
            )
            if self.random.random() < 0.8:  # nothing else reads it
                self.values.pop()
        for _ in range(self.random.randint(1, 3)):
            self.slice(whole, shape, dtype)

    def concatenate(self, name, shape, dtype):
        if not shape or math.prod(shape) > 200:
            return
        axis = self.random.randrange(len(shape))

        def fits(value):
            _, other, kind = value
            return (
                kind == dtype
                and len(other) == len(shape)
                and other[:axis] + other[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
            )

        inputs = [(name, shape, dtype)]
        inputs += self.random.choices(
            [value for value in self.values if fits(value)], k=self.random.randrange(3)
        )
        result = list(shape)
        result[axis] = sum(value[1][axis] for value in inputs)
        types = f"({', '.join(tensor(*value[1:]) for value in inputs)}) -> {tensor(result, dtype)}"
        names = ", ".join(value[0] for value in inputs)
        self.emit(f"concatenate {names}, dim = {axis} : {types}", result, dtype)

    def pad(self, name, shape, dtype):
        if dtype not in ("f32", "i32"):
            return
        value, _, _ = self.emit(
            f"constant dense<{'-0.0' if dtype == 'f32' else '3'}> : {tensor((), dtype)}", (), dtype
        )
        amounts = [[self.random.choice([0, 0, 1]) for _ in shape] for _ in range(3)]
        low, high, interior = amounts
        result = [size + low[i] + high[i] + (size - 1) * interior[i] for i, size in enumerate(shape)]
        types = f"({tensor(shape, dtype)}, {tensor((), dtype)}) -> {tensor(result, dtype)}"
        self.emit(
            f"pad {name}, {value}, low = {low}, high = {high}, interior = {interior} : {types}", result, dtype
        )

    def reverse(self, name, shape, dtype):
        dims = [i for i in range(len(shape)) if self.random.random() < 0.5]
        self.emit(f"reverse {name}, dims = {dims} : {tensor(shape, dtype)}", shape, dtype)

    def step(self):
        recent = [value for value in self.values[-12:] if value[1]]  # scalars are mostly constants
        name, shape, dtype = self.random.choice(recent or self.values)
        if math.prod(shape) > 2000:
            name, shape, dtype = self.values[0]
        actions = [
            self.neutral,
            self.neutral,
            self.unary,
            self.binary,
            self.select,
            self.convert,
            self.reshape,
        ]
        actions += [
            self.transpose,
            self.broadcast,
            self.slice,
            self.dynamic_slice,
            self.updates,
            self.concatenate,
            self.pad,
            self.reverse,
        ]
        self.random.choice(actions)(name, shape, dtype)


def random_program(seed: int, steps: int = 40) -> tuple[str, list[np.ndarray]]:
    """A module, and arguments for its @main."""
    writer = Writer(seed)
    shapes = [(2, 3), (4, 1, 3), (5,)]
    values = np.random.default_rng(seed)
    arguments = [values.choice(np.array(SPECIAL, np.float32), size=shape) for shape in shapes]
    arguments += [values.integers(-9, 9, size=shapes[0], dtype=np.int32)]
    signature = []
    for index, array in enumerate(arguments):
        dtype = "f32" if array.dtype == np.float32 else "i32"
        writer.values.append((f"%a{index}", array.shape, dtype))
        signature.append(f"%a{index}: {tensor(array.shape, dtype)}")
    for _ in range(steps):
        writer.step()
    results = [value for value in writer.values if value[1]][-10:]
    types = ", ".join(tensor(shape, dtype) for _, shape, dtype in results)
    names = ", ".join(name for name, _, _ in results)
    body = "\n".join(writer.lines)
    head = f"  func.func @main({', '.join(signature)}) -> ({types}) {{"
    return f"module {{\n{head}\n{body}\n    return {names} : {types}\n  }}\n}}\n", arguments


def run(text: str, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """What XLA's CPU compiler makes of a module; the signs of zeros are not to be relied on, 0 + -0 is -0."""
    backend = xla_bridge.get_backend("cpu")
    device = backend.local_devices()[0]
    options = compile_options(quick=True)
    executable = backend.compile_and_load(text.encode(), xla_client.DeviceList((device,)), options)
    results = executable.execute_sharded([jax.device_put(array, device) for array in arguments])
    return [np.asarray(arrays[0]) for arrays in results.disassemble_into_single_device_arrays()]
