"""Random programs of convolutions and of what lies between them give on the engine what they give on the
interpreter, in a second call and from an executable that was stored as well."""

from __future__ import annotations

import numpy
import pytest
from random_convolutions import random_program

from torchere.interpreter import interpret

pytest.importorskip("jaxlib")

#: Relative to the largest magnitude of a result. Narrow types round after each of a dozen ops.
TOLERANCE = {"float64": 1e-11, "float32": 3e-5, "float16": 3e-2, "bfloat16": 0.2}


def difference(got, expected):
    """What is wrong with a result; nothing if it is right."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"got {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
    tolerance = TOLERANCE[got.dtype.name]
    got, expected = got.astype(float), expected.astype(float)
    scale = abs(expected[numpy.isfinite(expected)]).max(initial=1e-3)
    is_wrong = ~numpy.isclose(got, expected, rtol=0, atol=tolerance * scale, equal_nan=True)
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
            for got, value in zip(results, expected, strict=True):
                if told := difference(got, value):
                    wrong.append(f"seed {seed}, call {number}: {told}")
    assert not wrong, "\n".join(wrong)


def test_some_agree(engine):
    check(engine, range(80))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_many_agree(engine, part):
    check(engine, range(1000 + 300 * part, 1300 + 300 * part))
