"""Random programs of loops and branches on scalars, single elements and short tensors."""

from __future__ import annotations

import numpy

KINDS = {
    "s": "i32",
    "f": "f32",
    "b": "i1",
    "x": "6xf32",
    "t": "5xi32",
    "m": "3x4xf32",  # what products give is rounded otherwise: nothing else is computed from it
    "g": "5000xi32",  # longer than registers
}
WEIGHTS = {"s": 5, "f": 3, "b": 2, "x": 3, "t": 3, "m": 2, "g": 2}


class LoopWriter:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.lines: list[str] = []
        self.count = 0

    def type(self, kind):
        return f"tensor<{KINDS.get(kind, kind)}>"

    def pick(self, options):
        return options[self.random.integers(len(options))]

    def line(self, text, count=None):
        self.count += 1
        self.lines.append(f"%v{self.count}{f':{count}' if count else ''} = {text}")
        return f"%v{self.count}"

    def constant(self, number, kind):
        return self.line(f"stablehlo.constant dense<{number}> : {self.type(kind)}")

    def kind(self):
        kinds = list(WEIGHTS)
        shares = numpy.array([WEIGHTS[kind] for kind in kinds], float)
        return str(self.random.choice(kinds, p=shares / shares.sum()))

    def reshape(self, value, before, after):
        return self.line(f"stablehlo.reshape {value} : (tensor<{before}>) -> tensor<{after}>")

    def index(self, values, size):
        """An index, often outside, as JAX wraps it or nearly so."""
        value = self.pick(values["s"])
        if self.random.random() < 0.5:
            return value
        zero = self.constant(self.pick([0, 0, 0, 1]), "s")
        wrap = self.constant(self.pick([size, size, -2]), "s")
        sum_ = self.line(f"stablehlo.add {value}, {wrap} : tensor<i32>")
        compared = self.pick([value, value, value, self.pick(values["s"])])
        direction = self.pick(["LT", "LT", "LT", "LE", "GT"])
        less = self.line(
            f"stablehlo.compare {direction}, {compared}, {zero} : (tensor<i32>, tensor<i32>) -> tensor<i1>"
        )
        return self.line(f"stablehlo.select {less}, {sum_}, {value} : tensor<i1>, tensor<i32>")

    def element(self, values, kind):
        """One element of a list, at a computed place."""
        size, element = KINDS[kind].split("x")
        part = self.line(
            f"stablehlo.dynamic_slice {self.pick(values[kind])}, {self.index(values, int(size))}, sizes = [1]"
            f" : ({self.type(kind)}, tensor<i32>) -> tensor<1x{element}>"
        )
        return self.reshape(part, f"1x{element}", element)

    def updated(self, values, kind):
        """A list with an element changed: clamped, or left out where it is outside."""
        size, element = KINDS[kind].split("x")
        value = self.pick(values["f" if element == "f32" else "s"])
        index = self.index(values, int(size))
        whole = self.pick(values[kind])
        if self.random.random() < 0.5:
            part = self.reshape(value, element, f"1x{element}")
            return self.line(
                f"stablehlo.dynamic_update_slice {whole}, {part}, {index}"
                f" : ({self.type(kind)}, tensor<1x{element}>, tensor<i32>) -> {self.type(kind)}"
            )
        indices = self.reshape(index, "i32", "1xi32")
        return self.line(
            f'"stablehlo.scatter"({whole}, {indices}, {value}) ({{ ^bb0(%old: tensor<{element}>, '
            f'%new: tensor<{element}>): "stablehlo.return"(%new) : (tensor<{element}>) -> () }}) '
            "{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0]>} : "
            f"({self.type(kind)}, tensor<1xi32>, tensor<{element}>) -> {self.type(kind)}"
        )

    def binary(self, kind, values, ops):
        a, b = self.pick(values[kind]), self.pick(values[kind])
        return self.line(f"stablehlo.{self.pick(ops)} {a}, {b} : {self.type(kind)}")

    def choice(self, kind, values):
        a, b = self.pick(values[kind]), self.pick(values[kind])
        return self.line(
            f"stablehlo.select {self.pick(values['b'])}, {a}, {b} : tensor<i1>, {self.type(kind)}"
        )

    def reduced(self, kind, values, op):
        element = KINDS[kind].split("x")[1]
        first = self.pick(values["f" if element == "f32" else "s"])
        return self.line(
            f"stablehlo.reduce({self.pick(values[kind])} init: {first}) applies stablehlo.{op} across "
            f"dimensions = [0] : ({self.type(kind)}, tensor<{element}>) -> tensor<{element}>"
        )

    def compared(self, values):
        kind = self.pick(["s", "f"])
        a, b = self.pick(values[kind]), self.pick(values[kind])
        direction = self.pick(["LT", "LE", "GT", "GE", "EQ", "NE"])
        operands = f"({self.type(kind)}, {self.type(kind)})"
        return self.line(f"stablehlo.compare {direction}, {a}, {b} : {operands} -> tensor<i1>")

    def rolled(self, kind, values):
        size, element = KINDS[kind].split("x")
        whole, cut = self.pick(values[kind]), int(self.random.integers(1, int(size)))
        parts = [(0, cut), (cut, int(size))]
        names = [
            self.line(f"stablehlo.slice {whole} [{a}:{b}] : ({self.type(kind)}) -> tensor<{b - a}x{element}>")
            for a, b in parts
        ]
        types = f"tensor<{int(size) - cut}x{element}>, tensor<{cut}x{element}>"
        return self.line(
            f"stablehlo.concatenate {names[1]}, {names[0]}, dim = 0 : ({types}) -> {self.type(kind)}"
        )

    def product(self, values):
        a, b, c = (self.pick(values["m"]) for _ in range(3))
        square = self.line(
            f"stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [1]"
            " : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>"
        )
        made = self.line(
            f"stablehlo.dot_general {square}, {c}, contracting_dims = [1] x [0]"
            " : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>"
        )
        return self.line(f"stablehlo.tanh {made} : tensor<3x4xf32>")

    def row(self, values):
        part = self.line(f"stablehlo.slice {self.pick(values['x'])} [1:5] : (tensor<6xf32>) -> tensor<4xf32>")
        part = self.reshape(part, "4xf32", "1x4xf32")
        zero, place = self.constant(0, "s"), self.index(values, 3)
        return self.line(
            f"stablehlo.dynamic_update_slice {self.pick(values['m'])}, {part}, {place}, {zero}"
            " : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>"
        )

    def column(self, values):
        """A column to all columns, in the other order."""
        spread = self.line(
            f"stablehlo.slice {self.pick(values['x'])} [0:6:2] : (tensor<6xf32>) -> tensor<3xf32>"
        )
        wide = self.line(
            f"stablehlo.broadcast_in_dim {spread}, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>"
        )
        turned = self.line(f"stablehlo.reverse {self.pick(values['m'])}, dims = [1] : tensor<3x4xf32>")
        return self.line(f"stablehlo.maximum {wide}, {turned} : tensor<3x4xf32>")

    def several(self, values):
        zero = self.constant(4990 + int(self.random.integers(20)), "s")
        index = self.pick([zero, self.pick(values["s"])])
        return self.line(
            f"stablehlo.dynamic_update_slice {self.pick(values['g'])}, {self.pick(values['t'])}, {index}"
            " : (tensor<5000xi32>, tensor<5xi32>, tensor<i32>) -> tensor<5000xi32>"
        )

    def op(self, values):
        """Another value of some kind."""
        kind = self.kind()
        if kind == "s":
            arithmetic = ["add", "subtract", "multiply", "minimum", "maximum", "xor", "remainder", "divide"]
            makers = [
                lambda: self.binary("s", values, arithmetic),
                lambda: self.choice("s", values),
                lambda: self.element(values, self.pick(["t", "g"])),
                lambda: self.reduced("t", values, self.pick(["add", "maximum"])),
                lambda: self.line(
                    f"stablehlo.convert {self.pick(values['b'])} : (tensor<i1>) -> tensor<i32>"
                ),
            ]
        elif kind == "f":
            makers = [
                lambda: self.binary("f", values, ["add", "subtract", "multiply", "minimum", "maximum"]),
                lambda: self.choice("f", values),
                lambda: self.element(values, "x"),
                lambda: self.reduced("x", values, self.pick(["maximum", "minimum"])),
                lambda: self.line(
                    f"stablehlo.convert {self.pick(values['s'])} : (tensor<i32>) -> tensor<f32>"
                ),
            ]
        elif kind == "b":
            makers = [lambda: self.compared(values), lambda: self.binary("b", values, ["and", "or", "xor"])]
        elif kind in "xt":
            plain = ["add", "maximum", "multiply", "subtract"]
            makers = [
                lambda: self.binary(kind, values, plain),
                lambda: self.updated(values, kind),
                lambda: self.updated(values, kind),
                lambda: self.choice(kind, values),
                lambda: self.rolled(kind, values),
                lambda: self.line(
                    f"stablehlo.reverse {self.pick(values[kind])}, dims = [0] : {self.type(kind)}"
                ),
                lambda: self.line(f"stablehlo.iota dim = 0 : {self.type(kind)}"),
            ]
        elif kind == "m":
            makers = [lambda: self.product(values), lambda: self.row(values), lambda: self.column(values)]
        else:
            makers = [lambda: self.updated(values, "g"), lambda: self.several(values)]
        values[kind].append(self.pick(makers)())

    def carried(self, values):
        """Some values that a loop or a branch changes, some of them twice."""
        kinds = [self.kind() for _ in range(self.random.integers(1, 6))]
        return kinds, [self.pick(values[kind]) for kind in kinds]

    def block(self, values, depth, ops):
        for _ in range(ops):
            chance = self.random.random()
            if depth > 0 and chance < 0.15:
                self.loop(values, depth - 1)
            elif depth > 0 and chance < 0.25:
                self.branch(values, depth - 1)
            else:
                self.op(values)

    def inner(self, values):
        return {kind: list(known) for kind, known in values.items()}

    def loop(self, values, depth):
        kinds, initial = self.carried(values)
        turns = self.constant(int(self.random.integers(0, 5)), "s")
        zero, one = self.constant(0, "s"), self.constant(1, "s")
        self.count += 1
        name = f"w{self.count}"
        names = [f"%{name}a{i}" for i in range(len(kinds))]
        types = ", ".join(self.type(kind) for kind in ["s", *kinds])
        pairs = ", ".join(f"{a} = {b}" for a, b in zip([f"%{name}i", *names], [zero, *initial], strict=True))
        self.lines.append(f"%{name}:{len(kinds) + 1} = stablehlo.while({pairs}) : {types} cond {{")
        less = self.line(
            f"stablehlo.compare LT, %{name}i, {turns} : (tensor<i32>, tensor<i32>) -> tensor<i1>"
        )
        if self.random.random() < 0.3 and "b" in kinds:
            flag = names[kinds.index("b")]
            less = self.line(f"stablehlo.and {less}, {flag} : tensor<i1>")
        self.lines += [f"stablehlo.return {less} : tensor<i1>", "} do {"]
        body = self.inner(values)
        for kind, own in zip(kinds, names, strict=True):
            body[kind] += [own, own]
        body["s"].append(f"%{name}i")
        self.block(body, depth, int(self.random.integers(2, 9)))
        after = self.line(f"stablehlo.add %{name}i, {one} : tensor<i32>")
        results = [self.pick([body[kind][-1], body[kind][-1], self.pick(body[kind])]) for kind in kinds]
        self.lines += [f"stablehlo.return {', '.join([after, *results])} : {types}", "}"]
        for i, kind in enumerate(kinds):
            values[kind].append(f"%{name}#{i + 1}")

    def branch(self, values, depth):
        kinds, _ = self.carried(values)
        types = ", ".join(self.type(kind) for kind in kinds)
        regions = []
        is_case = self.random.random() < 0.5
        head = self.pick(values["s" if is_case else "b"])
        for _ in range(self.random.integers(1, 4) if is_case else 2):
            outer, self.lines = self.lines, []
            inside = self.inner(values)
            self.block(inside, depth, int(self.random.integers(0, 4)))
            results = [self.pick([inside[kind][-1], self.pick(inside[kind])]) for kind in kinds]
            arguments = f"({', '.join(results)}) : ({types}) -> ()"
            regions.append("\n".join([*self.lines, f'"stablehlo.return"{arguments}']))
            self.lines = outer
        body = ", ".join(f"{{\n{region}\n}}" for region in regions)
        operand = f"(tensor<{'i32' if is_case else 'i1'}>) -> ({types})"
        name = self.line(
            f'"stablehlo.{"case" if is_case else "if"}"({head}) ({body}) : {operand}', len(kinds)
        )
        for i, kind in enumerate(kinds):
            values[kind].append(f"{name}#{i}")


def random_program(seed):
    """The text of a module, and arguments for it."""
    writer = LoopWriter(seed)
    values = {kind: [f"%a{i}"] for i, kind in enumerate(KINDS)}
    values["s"].append(writer.constant(int(writer.random.integers(-3, 7)), "s"))
    writer.block(values, 1, int(writer.random.integers(0, 4)))
    for _ in range(2):
        writer.loop(values, 2)
        writer.block(values, 0, int(writer.random.integers(0, 3)))
    results = [(kind, name) for kind in KINDS for name in values[kind][-2:]]
    types = ", ".join(writer.type(kind) for kind, _ in results)
    arguments = ", ".join(f"%a{i}: {writer.type(kind)}" for i, kind in enumerate(KINDS))
    body = "\n".join(writer.lines)
    names = ", ".join(name for _, name in results)
    text = f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}"
    given = []
    for kind in KINDS.values():
        *shape, element = kind.split("x")
        shape = [int(size) for size in shape]
        if element == "f32":
            numbers = writer.random.normal(size=shape).astype(numpy.float32)
            if shape and writer.random.random() < 0.3:
                numbers.flat[0] = writer.pick([numpy.nan, numpy.inf, -0.0])
        elif element == "i1":
            numbers = writer.random.integers(0, 2, shape).astype(bool)
        else:
            numbers = writer.random.integers(-4, 9, shape).astype(numpy.int32)
        given.append(numpy.asarray(numbers))
    return text, given
