"""Loops that do not need each other's results run at the same time on the CPU engine: which do, and that they
compute what they compute one after the other."""

from __future__ import annotations

import re

import numpy
from engine_loops_test import BOTH_WAYS
from engine_modules_test import assert_same, on_engine
from engine_test import BEGINNING, ON_THREADS, run

from torchere.interpreter import interpret

WIDE, LARGE = "tensor<3000xf32>", "tensor<200x3000xf32>"


def loop(name, initial, step, turns=3, kind=WIDE):
    """A loop of one value, which begins with `initial`; `step` computes %next of %s."""
    text = f"""
  %limit = stablehlo.constant dense<{turns}> : tensor<i32>
  %count, {name} = stablehlo.while(%i = %zero, %s = INITIAL) : tensor<i32>, {kind} cond {{
      %p = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %j = stablehlo.add %i, %one : tensor<i32>
      {step}
      stablehlo.return %j, %next : tensor<i32>, {kind}
    }}"""
    return re.sub(r"%(i|j|limit|count|next|p|s)\b", rf"{name}_\1", text).replace("INITIAL", initial)


def wide(text):
    return f"stablehlo.{text} : {WIDE}"


def main(*lines, results=("%a", "%b"), attributes=""):
    kinds = ", ".join([WIDE] * len(results))
    return f"""func.func @main(%x: {WIDE}{attributes}, %y: {WIDE}) -> ({kinds}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>{"".join(lines)}
  return {", ".join(results)} : {kinds}
}}"""


COSINE = f"%next = {wide('cosine %s')}"
SINE = f"%next = {wide('sine %s')}"
PLUS_Y = f"%next = {wide('add %s, %y')}"
PLUS_X = f"%next = {wide('add %s, %x')}"
DONATED = " {tf.aliasing_output = 0 : i32}"

# By name: how many run at the same time, if any, and the program.
PROGRAMS = {
    "of other values": ([2], main(loop("%a", "%x", COSINE), loop("%b", "%y", SINE))),
    "of one value": ([2], main(loop("%a", "%x", COSINE), loop("%b", "%x", SINE))),
    "of other counts": ([2], main(loop("%a", "%x", COSINE, 5), loop("%b", "%x", SINE, 0))),
    "one reads where the other begins": ([2], main(loop("%a", "%y", PLUS_X), loop("%b", "%x", PLUS_Y))),
    "of what is computed, which both read": (
        [2],
        main(
            f"\n  %t = {wide('tanh %x')}\n  %u = {wide('tanh %y')}",
            loop("%a", "%t", f"%next = {wide('add %s, %u')}"),
            loop("%b", "%u", f"%next = {wide('subtract %s, %u')}"),
        ),
    ),
    "of donated arguments": ([2], main(loop("%a", "%x", COSINE), loop("%b", "%y", SINE), attributes=DONATED)),
    "three": (
        [3],
        main(
            loop("%a", "%x", COSINE),
            loop("%b", "%y", SINE),
            loop("%c", "%x", PLUS_Y),
            results=["%a", "%b", "%c"],
        ),
    ),
    "one needs the other's result": ([], main(loop("%a", "%x", COSINE), loop("%b", "%a", SINE))),
    "one reads the other's result": (
        [],
        main(loop("%a", "%x", COSINE), loop("%b", "%y", f"%next = {wide('add %s, %a')}")),
    ),
    "one needs what is computed of the other's result": (
        [],
        main(loop("%a", "%x", COSINE), f"\n  %t = {wide('tanh %a')}", loop("%b", "%t", SINE)),
    ),
    "what needs the first comes between them": (
        [2],
        main(
            loop("%a", "%x", COSINE),
            f"\n  %t = {wide('tanh %a')}\n  %u = {wide('tanh %y')}\n  %v = {wide('add %t, %u')}",
            loop("%b", "%u", PLUS_X),
            f"\n  %d = {wide('divide %v, %b')}",
            results=["%a", "%d"],
        ),
    ),
    "two and two": (
        [2, 2],
        main(
            loop("%a", "%x", COSINE),
            loop("%b", "%y", SINE),
            loop("%d", "%a", PLUS_X),
            loop("%e", "%b", PLUS_Y),
            results=["%a", "%b", "%d", "%e"],
        ),
    ),
    "in one memory afterwards": (
        [2],
        main(
            loop("%a", "%x", COSINE),
            loop("%b", "%y", SINE),
            f"""
  %t = stablehlo.concatenate %a, %b, dim = 0 : ({WIDE}, {WIDE}) -> tensor<6000xf32>
  %u = stablehlo.reverse %t, dims = [0] : tensor<6000xf32>
  %d = stablehlo.slice %u [0:3000] : (tensor<6000xf32>) -> {WIDE}
  %e = stablehlo.slice %t [1500:4500] : (tensor<6000xf32>) -> {WIDE}""",
            results=["%d", "%e"],
        ),
    ),
    "in a loop": (
        [2],
        main(
            loop(
                "%a",
                "%x",
                loop("%u", "%s", COSINE) + loop("%v", "%s", PLUS_Y) + f"\n  %next = {wide('add %u, %v')}",
            ),
            results=["%a"],
        ),
    ),
    "of many bytes": (
        [],
        main(
            f"\n  %l = stablehlo.broadcast_in_dim %x, dims = [1] : ({WIDE}) -> {LARGE}",
            loop("%c", "%l", f"%next = stablehlo.cosine %s : {LARGE}", kind=LARGE),
            loop("%d", "%l", f"%next = stablehlo.sine %s : {LARGE}", kind=LARGE),
            *(
                f"""
  %{row} = stablehlo.slice %{whole} [7:8, 0:3000] : ({LARGE}) -> tensor<1x3000xf32>
  %{made} = stablehlo.reshape %{row} : (tensor<1x3000xf32>) -> {WIDE}"""
                for whole, row, made in ("cea", "dfb")
            ),
        ),
    ),
}


def test_loops_at_the_same_time(tmp_path):
    """As in the interpreter, also when the plan is stored and read again: reading verifies that they are
    apart."""
    x, y = numpy.random.default_rng(0).normal(size=(2, 3000)).astype(numpy.float32)
    cases = {name: (text, [x, y]) for name, (_, text) in PROGRAMS.items()}
    results, logs = on_engine(cases, tmp_path)
    for (name, (expected, text)), (got, stored), log in zip(PROGRAMS.items(), results, logs, strict=True):
        found = [int(count) for count in re.findall(r"(\d+) loops at the same time", log)]
        assert found == expected, name
        assert stored, name
        for one, again, other in zip(got, stored, interpret(text, x, y), strict=True):
            assert_same(one, other, name)
            assert_same(again, other, name)


DIRECTIONS = """
import threading

def call(program, x, expected, same):
    same.append(all(torch.equal(program(x), expected) for _ in range(20)))

for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
    x, same = torch.randn(9, 2, 64), []
    program = check(Model(kind), x)
    rows = program.profile(x).rows
    for threads in (1, 2, 3):
        other = on_threads(program, threads)
        callers = [threading.Thread(target=call, args=(other, x, program(x), same)) for _ in range(3)]
        for caller in callers: caller.start()
        for caller in callers: caller.join()
    print(kind.__name__, sum(row.kernel == "parallel loops" for row in rows), same.count(True))
"""


def test_directions_of_recurrent_layers():
    """The same bits for any number of threads, also of several callers."""
    lines, _ = run(BEGINNING + BOTH_WAYS + ON_THREADS + DIRECTIONS)
    assert [line for line in lines if line != "right"] == ["LSTM 2 9", "GRU 2 9", "RNN 2 9"]
