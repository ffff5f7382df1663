"""Simplification: programs keep their results, their signatures and their places in the source."""

from __future__ import annotations

import numpy as np
import pytest
import random_programs

from torchere._core import Module
from torchere.interpreter import interpret


def assert_same(got, expected, context):
    assert len(got) == len(expected)
    for index, (left, right) in enumerate(zip(got, expected, strict=True)):
        assert left.dtype == right.dtype and left.shape == right.shape, f"{context}: result {index}"
        # Both zeros are equal, because XLA is free with their signs; the lit tests have those.
        left, right = left.astype(np.float64), right.astype(np.float64)
        assert np.array_equal(left, right, equal_nan=True), (
            f"{context}: result {index}: got {left}, expected {right}"
        )


def compare(seed, run):
    text, arguments = random_programs.random_program(seed)
    module = Module.parse(text)
    ops = module.text().count("stablehlo.")
    module.simplify(max_folded_elements=4096)
    module.verify()
    simplified = module.text()
    expected = run(text, arguments)
    assert_same(run(simplified, arguments), expected, f"seed {seed}\n{text}\n{simplified}")
    again = Module.parse(simplified)
    again.simplify(max_folded_elements=4096)
    assert again.text() == simplified, f"seed {seed}: a second simplification finds more"
    return ops, simplified.count("stablehlo.")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_keep_their_results(seed):
    before, after = compare(seed, random_programs.run)
    assert after < before


def test_many_random_programs_keep_their_results():
    """By the interpreter, which needs no compilation."""
    counts = [compare(seed, lambda text, given: interpret(text, *given)) for seed in range(12, 300)]
    before, after = (sum(column) for column in zip(*counts, strict=True))
    assert after < 0.8 * before


def test_signatures_and_locations_stay():
    argument = 'tensor<2xf32> {tf.aliasing_output = 0 : i32} loc("x")'
    result = 'tensor<2xf32> {jax.result_info = "y"}'
    text = f"""
    module @net {{
      func.func @main(%x: {argument}) -> ({result}) {{
        %one = stablehlo.constant dense<1.0> : tensor<2xf32> loc("one")
        %0 = stablehlo.multiply %x, %one : tensor<2xf32> loc("times")
        %1 = stablehlo.tanh %0 : tensor<2xf32> loc("tanh")
        return %1 : tensor<2xf32> loc("return")
      }}
    }}"""
    module = Module.parse(text)
    module.simplify()
    simplified = module.text(with_locations=True)
    assert f"func.func @main(%arg0: {argument}) -> ({result})" in simplified
    assert "module @net" in simplified
    assert "stablehlo.tanh %arg0 : tensor<2xf32> loc(#" in simplified
    assert 'loc("tanh")' in simplified and 'loc("return")' in simplified
    assert "times" not in simplified and "one" not in simplified


def test_simplification_is_deterministic():
    text, _ = random_programs.random_program(7)
    texts = set()
    for _ in range(3):
        module = Module.parse(text)
        module.simplify()
        texts.add(module.text(with_locations=True))
    assert len(texts) == 1
