"""Compares random programs on the engine with the interpreter, each called twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy
from module_writer import DTYPES

from torchere.interpreter import interpret


def first_difference(is_wrong: numpy.ndarray, got: numpy.ndarray, expected: numpy.ndarray) -> str:
    """How many elements are wrong, and the first of them; nothing if none is."""
    if not is_wrong.any():
        return ""
    place = tuple(int(index) for index in numpy.argwhere(is_wrong)[0])
    return f"{is_wrong.sum()} of {got.size} wrong, at {place} {got[place]}, expected {expected[place]}"


#: By element type: a wider one.
WIDER = {"bf16": "f32", "f16": "f32"}


def widened(
    text: str, arguments: list[numpy.ndarray], wider: dict[str, str] = WIDER
) -> list[numpy.ndarray] | None:
    """What the program gives in a wider type, rounded at the end; none of one that has no type to be widened.
    A program has at most one of them."""
    found = re.search(rf"tensor<(?:\d+x)*({'|'.join(wider)})>", text)
    if not found:
        return None
    element = found[1]
    dtype, wide = DTYPES[element], DTYPES[wider[element]]
    given = [each.astype(wide) if each.dtype == dtype else each for each in arguments]
    results = interpret(re.sub(rf"(?<=[x<]){element}(?=>)", wider[element], text), *given)
    return [each.astype(dtype) if each.dtype == wide else each for each in results]


def check(
    engine: Any,
    random_program: Callable[[int], tuple[str, list[numpy.ndarray]]],
    is_wrong: Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray],
    seeds: Iterable[int],
) -> None:
    """`is_wrong` has an element for each of a result and of what is expected. Narrow types may be as near to
    what f32 gives: the engine rounds once where the interpreter rounds each sum."""
    wrong = []
    for seed in seeds:
        text, arguments = random_program(seed)
        expected = interpret(text, *arguments)
        wide = widened(text, arguments) or expected
        try:
            calls = engine.run(text, [arguments, arguments])
        except RuntimeError as error:
            wrong.append(f"seed {seed}: {error}")
            continue
        for number, results in enumerate(calls):
            for place, (got, value, exact) in enumerate(zip(results, expected, wide, strict=True)):
                told = f"got {got.dtype}{got.shape}, expected {value.dtype}{value.shape}"
                if got.shape == value.shape and got.dtype == value.dtype:
                    told = first_difference(is_wrong(got, value) & is_wrong(got, exact), got, value)
                if told:
                    wrong.append(f"seed {seed}, call {number}, result {place}: {told}")
    assert not wrong, "\n".join(wrong)
