"""Tokens and tuples on the CPU engine: programs are planned without them, and refused nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy
import pytest
from engine_test import LIBRARY

pytest.importorskip("jaxlib")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interpreter"))
import xla

PAIR = "tuple<tensor<3xf32>, tensor<i32>>"
NESTED = f"tuple<{PAIR}, tensor<i32>>"

#: A loop that carries a token, a branch that gives one, tuples of tuples, and a barrier.
TEXT = f"""
func.func @main(%x: tensor<3xf32>, %n: tensor<i32>) -> (tensor<3xf32>, tensor<i32>) {{
  %t = stablehlo.create_token : !stablehlo.token
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:3 = "stablehlo.while"(%x, %t, %z) ({{
   ^bb0(%v: tensor<3xf32>, %tok: !stablehlo.token, %i: tensor<i32>):
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
   ^bb0(%v: tensor<3xf32>, %tok: !stablehlo.token, %i: tensor<i32>):
    %j = stablehlo.add %i, %one : tensor<i32>
    %d = stablehlo.add %v, %v : tensor<3xf32>
    %q = stablehlo.tuple %d, %j : {PAIR}
    %r = stablehlo.tuple %q, %n : {NESTED}
    %p = stablehlo.get_tuple_element %r[0] : ({NESTED}) -> {PAIR}
    %e = stablehlo.get_tuple_element %p[0] : ({PAIR}) -> tensor<3xf32>
    %k = stablehlo.get_tuple_element %p[1] : ({PAIR}) -> tensor<i32>
    %after = stablehlo.after_all %tok, %t : !stablehlo.token
    stablehlo.return %e, %after, %k : tensor<3xf32>, !stablehlo.token, tensor<i32>
  }}) : (tensor<3xf32>, !stablehlo.token, tensor<i32>) -> (tensor<3xf32>, !stablehlo.token, tensor<i32>)
  %large = stablehlo.compare GT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %b:2 = "stablehlo.if"(%large) ({{
    stablehlo.return %w#1, %w#0 : !stablehlo.token, tensor<3xf32>
  }}, {{
    stablehlo.return %t, %x : !stablehlo.token, tensor<3xf32>
  }}) : (tensor<i1>) -> (!stablehlo.token, tensor<3xf32>)
  %o:2 = stablehlo.optimization_barrier %b#0, %b#1 : !stablehlo.token, tensor<3xf32>
  return %o#1, %w#2 : tensor<3xf32>, tensor<i32>
}}
"""


def test_tokens_and_tuples_are_planned(capfd):
    environment = {
        "JAX_PLATFORMS": "torchere_cpu",
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{LIBRARY}",
        "TORCHERE_LOG": "debug",
    }
    plugin = xla.Plugin(platform="torchere_cpu", environment=environment)
    x = numpy.array([1, 2, 3], numpy.float32)
    try:
        results = plugin.run(TEXT, [[x, numpy.int32(4)], [x, numpy.int32(1)]])
    finally:
        plugin.close()
    numpy.testing.assert_array_equal(results[0][0], 16 * x)
    assert results[0][1] == 4
    numpy.testing.assert_array_equal(results[1][0], x)
    (planned,) = re.findall(r"\[main\] \d+ steps.*", capfd.readouterr().err)
    assert planned.endswith("evaluated: none")
