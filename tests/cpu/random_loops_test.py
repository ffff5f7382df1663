"""Random programs of loops and branches give on the engine what they give on the interpreter, in a second
call and from an executable that was stored as well."""

from __future__ import annotations

import numpy
import pytest
from random_loops import random_program

from torchere.interpreter import interpret

pytest.importorskip("jaxlib")


def difference(got, expected):
    """What is wrong with a result; nothing if it is right."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"got {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
    is_wrong = ~numpy.isclose(
        got, expected, rtol=1e-5 if got.dtype.kind == "f" else 0, atol=1e-5, equal_nan=True
    )
    if not is_wrong.any():
        return ""
    place = tuple(int(index) for index in numpy.argwhere(is_wrong)[0])
    return f"{is_wrong.sum()} of {got.size} wrong, at {place} {got[place]}, expected {expected[place]}"


def check(engine, seeds):
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
                if told := difference(got, value):
                    wrong.append(f"seed {seed}, call {number}, result {place}: {told}")
    assert not wrong, "\n".join(wrong)


def test_some_agree(engine):
    check(engine, range(100))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_many_agree(engine, part):
    check(engine, range(1000 + 300 * part, 1300 + 300 * part))
