"""Changes of one thing in an op: a type, an attribute, a region. Most of them make it invalid."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from seeds import Region, Seed

ELEMENTS = ["i1", "i32", "i64", "ui8", "f32", "f64", "bf16", "complex<f32>", "f8E5M2"]
INTEGER = re.compile(r"(?<![\w.#<])-?\d+(?![\w.])")
TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([^>]*(?:<[^>]*>)?)((?:,.*)?)>")


@dataclass(frozen=True)
class Mutant:
    """A module of one op with one thing changed: the op, `op/change`, the text."""

    op: str
    name: str
    text: str


# Seeds of an op that are mutated, of those that have the same attributes: many differ in element types alone.
MOST_SEEDS = 3


def mutated(seeds: Iterable[Seed]) -> Iterator[Mutant]:
    """Every mutation of some seeds of each op."""
    seen: Counter[tuple] = Counter()
    for seed in seeds:
        kind = (seed.op, len(seed.operands), tuple(name for name, _ in seed.attributes))
        seen[kind] += 1
        if seen[kind] > MOST_SEEDS:
            continue
        for change, mutant in mutations(seed):
            yield Mutant(seed.op, f"{seed.op}/{change}", mutant.text)


def mutations(seed: Seed) -> Iterator[tuple[str, Seed]]:
    """Each mutation's name, the same for the same change of another seed of the op, and the op so changed."""
    for i, type in enumerate(seed.operands):
        for name, changed in _types(type):
            yield f"operand {i}: {name}", replace(seed, operands=_with(seed.operands, i, changed))
        yield f"operand {i}: dropped", replace(seed, operands=_without(seed.operands, i))
        yield f"operand {i}: twice", replace(seed, operands=_twice(seed.operands, i))
    for i, type in enumerate(seed.results):
        for name, changed in _types(type):
            yield f"result {i}: {name}", replace(seed, results=_with(seed.results, i, changed))
        yield f"result {i}: dropped", replace(seed, results=_without(seed.results, i))
        yield f"result {i}: twice", replace(seed, results=_twice(seed.results, i))
    for attribute, value in seed.attributes:
        for name, changed in _values(value):
            yield f"{attribute}: {name}", seed.with_attribute(attribute, changed)
    yield from _of_regions(seed)


def _with(values: tuple, place: int, value) -> tuple:
    return values[:place] + (value,) + values[place + 1 :]


def _without(values: tuple, place: int) -> tuple:
    return values[:place] + values[place + 1 :]


def _twice(values: tuple, place: int) -> tuple:
    return values[: place + 1] + values[place:]


def _types(type: str) -> Iterator[tuple[str, str]]:
    """Other types in a type's place: another element type, rank or size, or no ranked tensor."""
    if not (match := TENSOR.fullmatch(type)):
        return
    dims, element, encoding = match[1].split("x")[:-1], match[2], match[3]

    def tensor(dims: list[str], element: str = element, encoding: str = encoding) -> str:
        return f"tensor<{''.join(f'{dim}x' for dim in dims)}{element}{encoding}>"

    yield from ((f"element {other}", tensor(dims, other)) for other in ELEMENTS if other != element)
    yield "rank + 1", tensor([*dims, "2"])
    yield "rank + 1 of size 1", tensor(["1", *dims])
    if dims:
        yield "rank - 1", tensor(dims[1:])
        yield "scalar", tensor([])
    for i, dim in enumerate(dims):
        others = {"unknown": "?", "0": "0", "1": "1", "larger": "7" if dim == "?" else str(int(dim) + 1)}
        for name, other in others.items():
            if other != dim:
                yield f"size {i} {name}", tensor(_with(tuple(dims), i, other))
    if dims:
        yield "all sizes unknown", tensor(["?"] * len(dims))
    yield "unranked", f"tensor<*x{element}>"
    yield "an element", element
    yield "a vector", f"vector<{'x'.join([*('2' if d == '?' else d for d in dims), element])}>"
    yield "a token", "!stablehlo.token"
    yield "a tuple", f"tuple<{type}>"
    yield "an index", tensor(dims, "index")


def _values(value: str) -> Iterator[tuple[str, str | None]]:
    """Other attributes in an attribute's place, and none."""
    yield "dropped", None
    others = {
        "unit": "unit",
        "a string": '"x"',
        "i64 0": "0 : i64",
        "i32 1": "1 : i32",
        "float": "1.0 : f32",
        "bool": "true",
        "an empty list": "[]",
        "no elements": "array<i64>",
        "i32 elements": "array<i32: 0>",
        "dense": "dense<0> : tensor<1xi64>",
        "dense scalar": "dense<1.0> : tensor<f32>",
        "a symbol": "@somewhere",
        "a type": "tensor<f32>",
    }
    yield from ((f"replaced by {name}", other) for name, other in others.items() if other != value)
    if value in ("true", "false"):
        yield "negated", "false" if value == "true" else "true"
    yield from _numbers(value)
    yield from _lists(value)


def _numbers(value: str) -> Iterator[tuple[str, str]]:
    """Each number of an attribute's text changed, but those of types."""
    # What follows the last colon outside brackets is the type: `1 : i64`, `dense<[[0]]> : tensor<1x1xi64>`.
    typed = re.search(r" : [^:>\]]*(?:<[^>]*>)?$", value)
    end = typed.start() if typed else len(value)
    for number, match in enumerate(INTEGER.finditer(value[:end])):
        for name, changed in [
            ("-1", "-1"),
            ("0", "0"),
            ("1", "1"),
            ("+ 1", str(int(match[0]) + 1)),
            ("100", "100"),
        ]:
            if changed != match[0]:
                yield f"number {number}: {name}", value[: match.start()] + changed + value[match.end() :]
    if typed and re.fullmatch(r" : i\d+", typed[0]):
        yield "another width", value[:end] + (" : i32" if typed[0] == " : i64" else " : i64")


def _lists(value: str) -> Iterator[tuple[str, str]]:
    """Each list in an attribute's text shorter, longer or empty."""
    for number, match in enumerate(
        re.finditer(r"(array<\w+: |(?<=[\[=])|\[)(-?\w+(?:, -?\w+)*)(?=[\]>])", value)
    ):
        before, after = value[: match.start(2)], value[match.end(2) :]
        items = match[2].split(", ")
        yield f"list {number}: shorter", _tidy(before + ", ".join(items[1:]) + after)
        yield f"list {number}: emptied", _tidy(before + after)
        yield f"list {number}: longer", before + ", ".join([*items, items[-1]]) + after
        if len(items) > 1:
            yield f"list {number}: reversed", before + ", ".join(reversed(items)) + after
            yield f"list {number}: repeated", before + ", ".join([items[0], *items[:-1]]) + after
    for number, match in enumerate(re.finditer(r"#\w+<\w+ (\w+)>", value)):
        for other in ("EQ", "TOTALORDER", "DEFAULT", "HIGHEST", "FFT", "UNKNOWN"):
            if other != match[1]:
                yield f"enum {number}: {other}", value[: match.start(1)] + other + value[match.end(1) :]


def _tidy(value: str) -> str:
    return re.sub(r"array<(\w+): >", r"array<\1>", value)


def _of_regions(seed: Seed) -> Iterator[tuple[str, Seed]]:
    if not seed.regions:
        yield "a region", replace(seed, regions=(Region.returning((), ()),))
        return
    yield "no regions", replace(seed, regions=())
    yield "region twice", replace(seed, regions=seed.regions + seed.regions[-1:])
    for i, region in enumerate(seed.regions):
        for name, changed in _regions(region):
            yield f"region {i}: {name}", replace(seed, regions=_with(seed.regions, i, changed))


def _regions(region: Region) -> Iterator[tuple[str, Region]]:
    """Regions of other signatures; they return constants, so that nothing but the signature changes."""
    arguments, results = region.arguments, region.results
    yield "empty", Region("{\n}", (), ())
    yield "without a terminator", Region("{\n^bb0(%x: tensor<f32>):\n}", (), ())
    if any(not TENSOR.fullmatch(type) or "?" in type for type in results):
        return
    returning = Region.returning
    yield "constant", returning(arguments, results)
    yield "an argument more", returning((*arguments, "tensor<f32>"), results)
    yield "a result more", returning(arguments, (*results, "tensor<f32>"))
    yield (
        "func.return",
        Region(
            returning(arguments, results).text.replace('"stablehlo.return"', '"func.return"'),
            arguments,
            results,
        ),
    )
    for i, type in enumerate(arguments):
        yield f"argument {i} dropped", returning(_without(arguments, i), results)
        for name, changed in _types(type):
            yield f"argument {i}: {name}", returning(_with(arguments, i, changed), results)
    for i, type in enumerate(results):
        yield f"result {i} dropped", returning(arguments, _without(results, i))
        for name, changed in _types(type):
            if (match := TENSOR.fullmatch(changed)) and "?" not in changed and match[2] != "index":
                yield f"result {i}: {name}", returning(arguments, _with(results, i, changed))
    both = range(min(len(arguments), len(results)))
    for name in ("element f64", "element i32", "rank + 1"):
        swapped = {i: dict(_types(results[i])).get(name) for i in both}
        if all(swapped.values()):
            everything = [dict(_types(type)).get(name, type) for type in arguments]
            yield f"all {name}", returning(tuple(everything), tuple(swapped[i] for i in both))
