# ruff: noqa: B905 (all that is zipped has a dimension each)
"""Random StableHLO modules of convolutions and of what lies between them: pooling, activations, gates,
slices, concatenations, padding, tokens."""

from __future__ import annotations

import random
from math import prod

from module_writer import DTYPES, INFINITE, ModuleWriter, Value, integers

CHANNELS = [1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 33, 40]
SIZES = [1, 2, 3, 4, 5, 6, 7, 9, 12]
#: The ops of RandomModule, and how often each is taken.
STEPS = {
    "convolution": 10,
    "branches": 3,
    "factors": 5,
    "activation": 7,
    "residual": 4,
    "pooling": 4,
    "gate": 2,
    "slice": 3,
    "concatenation": 3,
    "pad": 2,
    "turn": 1,
    "upsampling": 2,
    "resampling": 2,
    "tokens": 2,
    "norm": 1,
    "group_norm": 2,
    "shuffle": 1,
}


def array_of(values):
    return f"array<i64: {integers(values)}>"


class RandomModule(ModuleWriter):
    """Its images are what next ops take; each method appends one, or nothing."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        super().__init__(self.random.choices(list(DTYPES), [12, 1, 1, 1])[0], seed)
        self.space = self.random.choices(["hw", "w", "dhw"], [6, 3, 2])[0]
        sizes = (self.random.choice(SIZES) for _ in self.space)
        shape = (self.random.choice([1, 1, 2, 3]), self.channels(), *sizes)
        self.images = [self.argument(shape, "nc" + self.space)]

    def channels(self):
        return self.random.choice(CHANNELS)

    def chance(self, probability):
        return self.random.random() < probability

    def shuffled(self, letters):
        """Mostly as it is; sometimes channels last, or any order."""
        if self.chance(0.75):
            return letters
        if self.chance(0.6) and "c" in letters:
            return letters.replace("c", "") + "c"
        return "".join(self.random.sample(letters, len(letters)))

    def image(self):
        return self.random.choice(self.images[-4:]) if self.chance(0.25) else self.images[-1]

    # Ops. Each appends an image, or returns without one.

    def convolution(self, value=None, outputs=None, kernel=None):
        value = value or self.image()
        r, rank = self.random, len(self.space)
        is_plain = kernel == 1
        groups, outputs = self.grouping(value.at("c"), outputs)
        kernel = [kernel or r.choice([1, 1, 2, 3, 3, 3, 5, 7]) for _ in range(rank)]
        stride = [1 if is_plain else r.choice([1, 1, 1, 1, 2, 3, 4]) for _ in range(rank)]
        dilation = [1 if is_plain else r.choice([1, 1, 1, 1, 2, 3]) for _ in range(rank)]
        before = [1] * rank
        if not is_plain and self.chance(0.12):
            before = [r.choice([1, 2, 3]) for _ in range(rank)]
        wide = [each * (taps - 1) + 1 for each, taps in zip(dilation, kernel)]
        padding = [[0, 0] if is_plain else self.padding(each - 1) for each in wide]
        sizes = [(value.at(letter) - 1) * step + 1 for letter, step in zip(self.space, before)]
        result = [
            (size + sum(pair) - each) // far + 1
            for size, pair, each, far in zip(sizes, padding, wide, stride)
        ]
        if min(result) <= 0 or prod(result) > 1500:
            return None
        layout = self.shuffled("oi" + self.space) if self.chance(0.5) else "oi" + self.space
        given = {"o": outputs, "i": value.at("c") // groups, **dict(zip(self.space, kernel))}
        scale = 1.5 / (given["i"] * prod(kernel)) ** 0.5
        weights = self.argument([given[letter] for letter in layout], layout, scale)
        layout = self.shuffled("nc" + self.space)
        made = {"n": value.at("n"), "c": outputs, **dict(zip(self.space, result))}
        shape = tuple(made[letter] for letter in layout)

        reverse = [self.chance(0.05)] * rank
        name = self.convolve(
            value, weights, shape, layout, stride, padding, before, dilation, reverse, groups
        )
        self.images.append(Value(name, shape, layout))
        return self.images[-1]

    def convolve(
        self, value, weights, shape, layout, stride, padding, before, dilation, reverse=None, groups=1
    ):
        def numbers(letters, **names):
            return f"[{', '.join(names.get(letter, str(self.space.find(letter))) for letter in letters)}]"

        reverse = ", ".join(str(each).lower() for each in reverse or [False] * len(stride))
        return self.line(
            f"stablehlo.convolution({value.name}, {weights.name}) dim_numbers = "
            f"{numbers(value.layout, n='b', c='f')}x{numbers(weights.layout, o='o', i='i')}->"
            f"{numbers(layout, n='b', c='f')}, window = {{stride = {stride}, pad = {padding}, "
            f"lhs_dilate = {before}, rhs_dilate = {dilation}, reverse = [{reverse}]}} "
            f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : "
            f"({self.type(value.shape)}, {self.type(weights.shape)}) -> {self.type(shape)}"
        )

    def branches(self):
        """Convolutions of one input that are added, some of whose windows lie in others, and the input."""
        value, r, rank = self.image(), self.random, len(self.space)
        sizes = [value.at(letter) for letter in self.space]
        groups, outputs = self.grouping(value.at("c"), value.at("c") if self.chance(0.7) else None)
        stride = [r.choice([1, 1, 1, 2])] * rank
        dilation = [r.choice([1, 1, 1, 2])] * rank
        window = [r.choice([1, 3, 3, 5]) for _ in range(rank)]
        low = [far * (taps // 2) for far, taps in zip(dilation, window)]
        result = [
            (size + 2 * before - far * (taps - 1) - 1) // step + 1
            for size, before, far, taps, step in zip(sizes, low, dilation, window, stride)
        ]
        made = {"n": value.at("n"), "c": outputs, **dict(zip(self.space, result))}
        shape = tuple(made[letter] for letter in value.layout)
        if min(result) <= 0 or prod(shape) > 20000:
            return
        terms = []
        for i in range(r.choice([2, 2, 3, 4])):
            kernel = window if i == 0 else [r.choice([1, taps, max(1, taps - 2)]) for taps in window]
            first = [before - far * r.randint(0, taps - own) for before, far, taps, own in
                     zip(low, dilation, window, kernel)]  # fmt: skip
            if self.chance(0.15):
                first = [before + r.randint(-1, 1) for before in first]
            padding = [
                [before, (count - 1) * step + far * (own - 1) + 1 - size - before]
                for before, count, step, far, own, size in
                zip(first, result, stride, dilation, kernel, sizes)
            ]  # fmt: skip
            inputs = value.at("c") // groups
            weights = self.argument(
                (outputs, inputs, *kernel), "oi" + self.space, (inputs * prod(kernel)) ** -0.5
            )
            name = self.convolve(
                value, weights, shape, value.layout, stride, padding, [1] * rank, dilation, None, groups
            )
            terms.append(self.scaled(Value(name, shape, value.layout), 0.6))
        if shape == value.shape and self.chance(0.7):
            terms.append(self.scaled(value, 0.9))
        r.shuffle(terms)
        name = terms[0]
        for term in terms[1:]:
            name = self.apply("add", shape, name, term)
        self.images.append(Value(name, shape, value.layout))

    def scaled(self, value, probability):
        """Mostly with a factor of channels, and a sum."""
        name = value.name
        if self.chance(probability):
            name = self.apply("multiply", value.shape, name, self.channel_vector(value))
            name = self.apply("add", value.shape, name, self.channel_vector(value))
        return name

    def resampling(self):
        """Sums of elements along an axis, each times a weight; places may lie outside."""
        value, r = self.image(), self.random
        axis = value.layout.index(r.choice(self.space))
        size, count = value.shape[axis], r.choice([1, 2, 5, 8, 11])
        shape = tuple(count if i == axis else own for i, own in enumerate(value.shape))
        if prod(shape) > 30000 or not value.shape[axis]:
            return
        slices = [1 if i == axis else own for i, own in enumerate(value.shape)]
        others = [i for i in range(len(shape)) if i != axis]
        terms = []
        for _ in range(r.choice([2, 2, 4])):
            rows = ", ".join(f"[{r.randint(-1, size)}]" for _ in range(count))
            places = self.line(f"stablehlo.constant dense<[{rows}]> : tensor<{count}x1xi64>")
            taken = self.line(
                f'"stablehlo.gather"({value.name}, {places}) <{{dimension_numbers = #stablehlo.gather<'
                f"offset_dims = {others}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}], "
                f"index_vector_dim = 1>, slice_sizes = {array_of(slices)}, indices_are_sorted = false}}> : "
                f"({self.type(value.shape)}, tensor<{count}x1xi64>) -> {self.type(shape)}"
            )
            weights = self.spread(self.argument((count,), scale=0.6), shape, [axis])
            terms.append(self.apply("multiply", shape, taken, weights))
        name = terms[0]
        for term in terms[1:]:
            name = self.apply("add", shape, name, term)
        self.images.append(Value(name, shape, value.layout))

    def grouping(self, inputs, outputs):
        """Groups, and output channels, of which there may be a given number."""
        divisors = [count for count in range(1, inputs + 1) if inputs % count == 0]
        groups = self.random.choice(divisors) if self.chance(0.3) else inputs if self.chance(0.15) else 1
        if outputs is None:
            outputs = groups * self.random.choice([1, 1, 2, 3]) if groups > 1 else self.channels()
        return (groups if outputs % groups == 0 else 1), outputs

    def padding(self, full):
        """Before and behind, of a window that reaches so far beyond a pixel."""
        r = self.random
        low = r.choice([full // 2, full // 2, 0, full, full + 1, r.randint(0, 3)])
        high = low if self.chance(0.7) else r.choice([0, full, 1, 2])
        return [r.randint(-2, 1), r.randint(-2, 2)] if self.chance(0.03) else [low, high]

    def channel_vector(self, value):
        """One number a channel, spread."""
        place = value.layout.index("c")
        form = self.random.choice(["vector", "vector", "ones", "splat", "constant"])
        if form == "constant":
            return self.constant(round(self.random.uniform(0.3, 2), 3), value.shape)
        if form == "splat":
            return self.spread(self.argument(()), value.shape, [])
        vector = self.argument((value.at("c"),))
        if form == "ones":
            shape = [value.at("c")] + [1] * (len(value.shape) - 1 - place)
            vector = self.reshape(vector, shape, "")
            return self.spread(vector, value.shape, range(place, len(value.shape)))
        return self.spread(vector, value.shape, [place])

    def factors(self):
        value = self.image()
        name = value.name
        for _ in range(self.random.choice([1, 1, 2, 3])):
            op = self.random.choice(["add", "multiply", "subtract"])
            operands = [name, self.channel_vector(value)]
            if self.chance(0.25):
                operands.reverse()
            name = self.apply(op, value.shape, *operands)
        self.images.append(Value(name, value.shape, value.layout))

    def activation(self, value=None):
        value = value or self.image()
        shape, x = value.shape, value.name

        def number(given):
            return self.constant(given, shape)

        kinds = ["relu", "relu6", "clamp", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid", "leaky"]
        kinds += ["abs", "exp", "floor", "square", "negate", "selected", "gelu_tanh"]
        kind = self.random.choice(kinds)
        if kind == "relu":
            y = self.apply("maximum", shape, x, number(0.0))
        elif kind in ("relu6", "hard_swish", "hard_sigmoid"):
            low = x if kind == "relu6" else self.apply("add", shape, x, number(3.0))
            bounds = [("maximum", 0.0), ("minimum", 6.0)]
            if self.chance(0.3):
                bounds.reverse()
            for op, bound in bounds:
                low = self.apply(op, shape, low, number(bound))
            y = low
            if kind == "hard_swish" and self.chance(0.5):
                y = self.apply("multiply", shape, x, y)
                y = self.apply("divide", shape, y, number(6.0))
            elif kind != "relu6":
                y = self.apply("divide", shape, y, number(6.0))
                y = self.apply("multiply", shape, x, y) if kind == "hard_swish" else y
        elif kind == "clamp":
            low, high = self.random.choice([(0.0, 6.0), (-1.0, 1.0), (0.5, 2.0)])
            low, high = self.constant(low), self.constant(high)
            y = self.line(
                f"stablehlo.clamp {low}, {x}, {high} : "
                f"({self.type(())}, {self.type(shape)}, {self.type(())}) -> {self.type(shape)}"
            )
        elif kind in ("silu", "sigmoid"):
            y = self.apply("logistic", shape, x)
            y = self.apply("multiply", shape, x, y) if kind == "silu" else y
        elif kind in ("leaky", "selected"):
            bits = self.line(
                f"stablehlo.compare GT, {x}, {number(0.0)} : "
                f"({self.type(shape)}, {self.type(shape)}) -> {self.type(shape, 'i1')}"
            )
            other = number(0.0)
            if kind == "leaky":
                of_channels = self.element in ("f32", "f64") and self.chance(0.4)
                slopes = self.channel_vector(value) if of_channels else number(0.1)
                other = self.apply("multiply", shape, x, slopes)
            y = self.line(
                f"stablehlo.select {bits}, {x}, {other} : {self.type(shape, 'i1')}, {self.type(shape)}"
            )
        elif kind == "gelu_tanh":
            cube = self.apply("multiply", shape, x, self.apply("multiply", shape, x, x))
            inner = self.apply("add", shape, x, self.apply("multiply", shape, cube, number(0.044715)))
            inner = self.apply("multiply", shape, inner, number(0.7978845608028654))
            inner = self.apply("add", shape, self.apply("tanh", shape, inner), number(1.0))
            y = self.apply("multiply", shape, self.apply("multiply", shape, x, number(0.5)), inner)
        elif kind == "square":
            y = self.apply("multiply", shape, x, x)
        elif kind == "exp":
            y = self.apply("exponential", shape, self.apply("minimum", shape, x, number(1.0)))
        elif kind == "floor" and self.element == "f32":
            y = self.apply("abs", shape, x)  # steps would enlarge errors
        else:
            y = self.apply({"floor": "negate"}.get(kind, kind), shape, x)
        self.images.append(Value(y, shape, value.layout))

    def residual(self):
        value = self.images[-1]
        found = [
            each
            for each in self.images[:-1]
            if {letter: each.at(letter) for letter in each.layout}
            == {letter: value.at(letter) for letter in value.layout}
        ]
        if not found:
            return
        other = self.random.choice(found)
        if other.layout != value.layout:
            other = self.transpose(other, value.layout)
        op = self.random.choices(["add", "multiply", "maximum", "subtract"], [5, 1, 1, 1])[0]
        operands = [value.name, other.name]
        self.random.shuffle(operands)
        self.images.append(Value(self.apply(op, value.shape, *operands), value.shape, value.layout))

    def body(self, op):
        scalar = self.type(())
        return (
            f"({{\n  ^bb0(%x: {scalar}, %y: {scalar}):\n    %z = stablehlo.{op} %x, %y : {scalar}\n"
            f"    stablehlo.return %z : {scalar}\n  }})"
        )

    def windows(self, value, op, initial, attributes, shape):
        start = self.constant(initial)
        return self.line(
            f'"stablehlo.reduce_window"({value}, {start}) <{{{attributes}}}> {self.body(op)} : '
            f"({self.type(self.pooled)}, {self.type(())}) -> {self.type(shape)}"
        )

    def pooling(self):
        value = self.image()
        r = self.random
        self.pooled = value.shape
        window = [1 if each in "nc" else r.choice([1, 2, 2, 3, 3, 4, 5]) for each in value.layout]
        stride = [1 if each in "nc" else r.choice([1, 2, 2, 3, 5]) for each in value.layout]
        beside = [1 if each in "nc" else r.choice([1, 1, 1, 2, 3]) for each in value.layout]
        low = [r.randint(0, taps - 1) for taps in window]
        high = [each if taps == 1 or self.chance(0.6) else r.randint(0, 3) for each, taps in zip(low, window)]
        if self.chance(0.05):
            channel = value.layout.index("c")
            window[channel], high[channel] = 2, 1
        shape = tuple(
            (size + before + behind - step * (taps - 1) - 1) // far + 1
            for size, before, behind, step, taps, far in zip(value.shape, low, high, beside, window, stride)
        )
        if min(shape) <= 0:
            return
        pairs = ", ".join(f"[{a}, {b}]" for a, b in zip(low, high))
        attributes = (
            f"window_dimensions = {array_of(window)}, window_strides = {array_of(stride)}, "
            f"window_dilations = {array_of(beside)}, padding = dense<[{pairs}]> : tensor<{len(window)}x2xi64>"
        )
        y = self.pooled_by(value, attributes, shape, prod(window))
        self.images.append(Value(y, shape, value.layout))

    def pooled_by(self, value, attributes, shape, taps):
        kind = self.random.choice(["most", "most", "mean", "mean", "taps", "sum", "least", "bounded"])
        if kind == "least":
            return self.windows(value.name, "minimum", 3.0, attributes, shape)
        if kind == "bounded":
            return self.windows(value.name, "maximum", 0.25, attributes, shape)
        if kind == "most":
            y = self.windows(value.name, "maximum", INFINITE[self.element], attributes, shape)
            # Windows that meet padding alone are infinite.
            return y if self.chance(0.5) else self.apply("maximum", shape, y, self.constant(-10.0, shape))
        y = self.windows(value.name, "add", 0.0, attributes, shape)
        if kind == "mean":
            return self.apply("divide", shape, y, self.constant(float(taps), shape))
        if kind == "taps":
            ones = self.windows(self.constant(1.0, value.shape), "add", 0.0, attributes, shape)
            return self.apply("divide", shape, y, ones)
        return y

    def reduced(self, value, letters):
        op, initial = self.random.choice([("add", 0.0), ("maximum", None)])
        if initial is None:
            initial = INFINITE[self.element]
        start = self.constant(initial)
        dimensions = sorted(value.layout.index(letter) for letter in letters)
        layout = "".join(letter for letter in value.layout if letter not in letters)
        shape = tuple(value.at(letter) for letter in layout)
        name = self.line(
            f"stablehlo.reduce({value.name} init: {start}) applies stablehlo.{op} across dimensions = "
            f"[{integers(dimensions)}] : ({self.type(value.shape)}, {self.type(())}) -> {self.type(shape)}"
        )
        if op == "add":
            count = prod(value.at(letter) for letter in letters)
            name = self.apply("divide", shape, name, self.constant(float(count), shape))
        return Value(name, shape, layout)

    def gate(self):
        """Squeeze and excite."""
        value = self.image()
        pixel = self.reduced(value, self.space)
        if self.chance(0.8):
            pixel = self.excited(pixel, self.random.choice([value.layout, "nc" + self.space]))
        if pixel.layout != "".join(letter for letter in value.layout if letter in "nc"):
            pixel = self.transpose(pixel, pixel.layout[::-1])
        spread = self.spread(pixel, value.shape, [value.layout.index(letter) for letter in pixel.layout])
        op = self.random.choice(["multiply", "multiply", "add"])
        operands = [value.name, spread]
        self.random.shuffle(operands)
        self.images.append(Value(self.apply(op, value.shape, *operands), value.shape, value.layout))

    def excited(self, pixel, layout):
        """By a convolution of an image of one pixel in the layout."""
        if pixel.layout != "".join(letter for letter in layout if letter in "nc"):
            pixel = self.transpose(pixel, pixel.layout[::-1])
        channels = pixel.at("c")
        shape = [pixel.at(letter) if letter in "nc" else 1 for letter in layout]
        before = len(self.images)
        self.images.append(self.reshape(pixel, shape, layout))
        self.images.append(self.convolution(self.images[-1], channels, kernel=1))
        self.activation(self.images[-1])
        pixel = self.images[-1]
        del self.images[before:]
        letters = "".join(letter for letter in pixel.layout if letter in "nc")
        return self.reshape(pixel, [pixel.at(letter) for letter in letters], letters)

    def slice(self):
        value = self.image()
        letter = self.random.choice(["c", "c", *self.space])
        place = value.layout.index(letter)
        size = value.shape[place]
        if size < 2:
            return
        lanes = self.random.choice([1, 8, 16])
        begin = self.random.randrange(0, size, lanes) if size > lanes else 0
        end = self.random.choice([size, min(size, begin + lanes), self.random.randint(begin + 1, size)])
        step = self.random.choice([1, 1, 1, 2])
        starts, ends, steps = [0] * len(value.shape), list(value.shape), [1] * len(value.shape)
        starts[place], ends[place], steps[place] = begin, end, step
        shape = list(value.shape)
        shape[place] = (end - begin + step - 1) // step
        ranges = ", ".join(f"{a}:{b}:{c}" for a, b, c in zip(starts, ends, steps))
        name = self.line(
            f"stablehlo.slice {value.name} [{ranges}] : ({self.type(value.shape)}) -> {self.type(shape)}"
        )
        self.images.append(Value(name, tuple(shape), value.layout))

    def concatenation(self):
        value = self.images[-1]
        letter = self.random.choice(["c", "c", "c", *self.space])
        place = value.layout.index(letter)

        def fits(other):
            return other.layout == value.layout and all(
                i == place or a == b for i, (a, b) in enumerate(zip(other.shape, value.shape))
            )

        parts = [other for other in self.images if fits(other)]
        parts = self.random.sample(parts, min(len(parts), self.random.choice([2, 2, 3])))
        shape = list(value.shape)
        shape[place] = sum(part.shape[place] for part in parts)
        if shape[place] > 70:
            return
        kinds = ", ".join(self.type(part.shape) for part in parts)
        name = self.line(
            f"stablehlo.concatenate {', '.join(part.name for part in parts)}, dim = {place} : "
            f"({kinds}) -> {self.type(shape)}"
        )
        self.images.append(Value(name, tuple(shape), value.layout))

    def pad(self):
        value = self.image()
        fill = self.constant(self.random.choice([0.0, 0.0, 0.0, 1.5]))
        low, high, inside = [], [], []
        for letter, size in zip(value.layout, value.shape):
            is_space = letter in self.space
            low.append(self.random.choice([0, 1, 2, 4]) if is_space else 0)
            high.append(self.random.choice([0, 1, 2]) if is_space else 0)
            inside.append(1 if is_space and self.chance(0.08) else 0)
            if is_space and size > 2 and self.chance(0.08):
                low[-1] = -1
            if letter == "c" and self.chance(0.1):
                high[-1] = 3
        shape = tuple(size + a + b + (size - 1) * c for size, a, b, c in zip(value.shape, low, high, inside))
        if prod(shape) > 60000:
            return
        name = self.line(
            f"stablehlo.pad {value.name}, {fill}, low = {low}, high = {high}, interior = {inside} : "
            f"({self.type(value.shape)}, {self.type(())}) -> {self.type(shape)}"
        )
        self.images.append(Value(name, shape, value.layout))

    def turn(self):
        value = self.image()
        if self.chance(0.3):
            letter = self.random.choice(value.layout)
            name = self.line(
                f"stablehlo.reverse {value.name}, dims = [{value.layout.index(letter)}] : "
                f"{self.type(value.shape)}"
            )
            self.images.append(Value(name, value.shape, value.layout))
        else:
            self.images.append(
                self.transpose(value, "".join(self.random.sample(value.layout, len(value.layout))))
            )

    def upsampling(self):
        value = self.image()
        counts = [self.random.choice([1, 2, 3]) if letter in self.space else 1 for letter in value.layout]
        if self.chance(0.1):
            counts[value.layout.index("c")] = 2
        shape = tuple(size * count for size, count in zip(value.shape, counts))
        if prod(shape) > 40000:
            return
        wide, places = [], []
        for size, count in zip(value.shape, counts):
            places.append(len(wide))
            wide += [size] if count == 1 and self.chance(0.5) else [size, count]
        name = self.spread(value, wide, places)
        self.images.append(self.reshape(Value(name, tuple(wide), ""), shape, value.layout))

    def tokens(self):
        """Pixels become tokens, and come back."""
        value = self.image()
        order = "nc" + self.space if self.chance(0.5) else "n" + self.space + "c"
        image = value if value.layout == order else self.transpose(value, order)
        pixels = prod(image.at(letter) for letter in self.space)
        if order[1] == "c":
            rows = self.reshape(image, (image.at("n"), image.at("c"), pixels), "ncw")
            rows = self.transpose(rows, "nwc")
        else:
            rows = self.reshape(image, (image.at("n"), pixels, image.at("c")), "nwc")
        outer, self.images, space, self.space = self.images, [rows], self.space, "w"
        for _ in range(self.random.randint(0, 2)):
            self.random.choice([self.activation, self.factors, self.product, self.norm])()
        rows, self.images, self.space = self.images[-1], outer, space
        sizes = [image.at(letter) for letter in self.space]
        if self.chance(0.5):
            back = self.transpose(rows, "ncw")
            back = self.reshape(back, (rows.at("n"), rows.at("c"), *sizes), "nc" + self.space)
        else:
            back = self.reshape(rows, (rows.at("n"), *sizes, rows.at("c")), "n" + self.space + "c")
            back = self.transpose(back, "nc" + self.space) if self.chance(0.7) else back
        self.images.append(back)

    def product(self):
        value = self.images[-1]
        inputs, outputs = value.at("c"), self.channels()
        weights = self.argument((inputs, outputs), "io", 1.5 / inputs**0.5)
        shape = (*value.shape[:-1], outputs)
        name = self.line(
            f"stablehlo.dot_general {value.name}, {weights.name}, contracting_dims = [2] x [0] : "
            f"({self.type(value.shape)}, {self.type(weights.shape)}) -> {self.type(shape)}"
        )
        self.images.append(Value(name, shape, "nwc"))

    def normalized(self, value, reduced):
        """Less its mean over the dimensions, over its deviation."""
        kept = [i for i in range(len(value.shape)) if i not in reduced]
        small = tuple(value.shape[i] for i in kept)
        count = self.constant(float(prod(value.shape[i] for i in reduced)), small)

        def spread(name):
            return self.spread(Value(name, small, ""), value.shape, kept)

        def mean(name):
            start = self.constant(0.0)
            total = self.line(
                f"stablehlo.reduce({name} init: {start}) applies stablehlo.add across dimensions = "
                f"[{integers(reduced)}] : "
                f"({self.type(value.shape)}, {self.type(())}) -> {self.type(small)}"
            )
            return self.apply("divide", small, total, count)

        centred = self.apply("subtract", value.shape, value.name, spread(mean(value.name)))
        variance = mean(self.apply("multiply", value.shape, centred, centred))
        root = self.apply("rsqrt", small, self.apply("add", small, variance, self.constant(1e-1, small)))
        return self.apply("multiply", value.shape, centred, spread(root))

    def norm(self):
        """Over the channels, wherever they lie."""
        value = self.images[-1]
        place = value.layout.index("c")
        name = self.normalized(value, [place])
        if self.chance(0.7):
            factors = (self.spread(self.argument((value.at("c"),)), value.shape, [place]) for _ in range(2))
            name = self.apply("multiply", value.shape, name, next(factors))
            name = self.apply("add", value.shape, name, next(factors))
        self.images.append(Value(name, value.shape, value.layout))

    def group_norm(self):
        """Over groups of channels, with factors, sums and an activation behind it."""
        value = self.image()
        order = "nc" + self.space
        if value.layout != order:
            value = self.transpose(value, order)
        count, pixels = value.at("c"), prod(value.at(letter) for letter in self.space)
        groups = self.random.choice([each for each in range(1, count + 1) if count % each == 0])
        rows = (value.at("n"), groups, count // groups * pixels)
        if self.chance(0.2):
            rows = (value.at("n"), groups, count // groups, *value.shape[2:])
        name = self.reshape(value, rows, "")
        name = self.normalized(name, range(2, len(rows)))
        made = self.reshape(Value(name, rows, ""), value.shape, order)
        self.images.append(Value(self.scaled(made, 0.7), made.shape, made.layout))
        if self.chance(0.6):
            self.activation(self.images[-1])

    def shuffle(self):
        """Channels in two dimensions, which change places."""
        value = self.image()
        place, count = value.layout.index("c"), value.at("c")
        parts = self.random.choice([each for each in range(1, count + 1) if count % each == 0])
        before, behind = value.shape[:place], value.shape[place + 1 :]
        letters = value.layout.replace("c", "ab")
        name = self.reshape(value, (*before, parts, count // parts, *behind), letters)
        swapped = self.transpose(name, letters.replace("ab", "ba"))
        self.images.append(self.reshape(swapped, value.shape, value.layout))

    def grow(self, steps):
        for _ in range(steps):
            name = self.random.choices(list(STEPS), list(STEPS.values()))[0]
            images = list(self.images)
            kept, arguments = len(self.lines), len(self.arguments)
            getattr(self, name)()
            if prod(self.images[-1].shape) > 30000:
                self.images = images
                del self.lines[kept:], self.arguments[arguments:]

    def results(self):
        """The last image, and sometimes one before it."""
        others = [image for image in self.images[:-1] if not image.name.startswith("%a")]
        return [self.images[-1], *self.random.sample(others, 1 if others and self.chance(0.3) else 0)]


def random_program(seed):
    """The text of a module, and its arguments."""
    module = RandomModule(seed)
    module.grow(module.random.randint(2, 14))
    return module.text(module.results()), [values for _, values in module.arguments]
