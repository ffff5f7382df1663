"""Compares random programs on the engine with the interpreter, each called twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy

from torchere.interpreter import interpret


def first_difference(is_wrong: numpy.ndarray, got: numpy.ndarray, expected: numpy.ndarray) -> str:
    """How many elements are wrong, and the first of them; nothing if none is."""
    if not is_wrong.any():
        return ""
    place = tuple(int(index) for index in numpy.argwhere(is_wrong)[0])
    return f"{is_wrong.sum()} of {got.size} wrong, at {place} {got[place]}, expected {expected[place]}"


def check(
    engine: Any,
    random_program: Callable[[int], tuple[str, list[numpy.ndarray]]],
    is_wrong: Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray],
    seeds: Iterable[int],
) -> None:
    """`is_wrong` has an element for each of a result and of what is expected."""
    wrong = []
    for seed in seeds:
        text, arguments = random_program(seed)
        expected = interpret(text, *arguments)
        try:
            calls = engine.run(text, [arguments, arguments])
        except RuntimeError as error:
            wrong.append(f"seed {seed}: {error}")
            continue
        for number, results in enumerate(calls):
            for place, (got, value) in enumerate(zip(results, expected, strict=True)):
                told = f"got {got.dtype}{got.shape}, expected {value.dtype}{value.shape}"
                if got.shape == value.shape and got.dtype == value.dtype:
                    told = first_difference(is_wrong(got, value), got, value)
                if told:
                    wrong.append(f"seed {seed}, call {number}, result {place}: {told}")
    assert not wrong, "\n".join(wrong)
