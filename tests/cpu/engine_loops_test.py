"""Loops on the CPU engine: what they hand on unchanged is neither copied nor packed in every run."""

from __future__ import annotations

import re

import numpy
import pytest
from engine_modules_test import assert_same, on_engine
from engine_test import BEGINNING, ON_THREADS, run
from fusion_log import run_jax

from torchere.interpreter import interpret

BOTH_WAYS = """
class Model(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = kind(64, 64, num_layers=2, bidirectional=True)
    def forward(self, x):
        return self.layer(x)[0]
"""

LAYERS = """
for kind in (torch.nn.LSTM, torch.nn.GRU):
    for batch in (1, 2):
        x = torch.randn(9, batch, 64)
        rows = check(Model(kind), x).profile(x).rows
        weight = 4 * 64 * 64 * 3
        counts = [sum(name in row.kernel and row.runs == 9 for row in rows) for name in ("cell", "slice")]
        copies = [row.kernel for row in rows if row.kernel == "copy" and row.bytes >= weight]
        print(kind.__name__, batch, *counts, copies)
"""


def test_recurrent_layers_copy_neither_weights_nor_slices():
    lines, _ = run(BEGINNING + BOTH_WAYS + LAYERS)
    expected = [f"{kind} {batch} 4 0 []" for kind in ("LSTM", "GRU") for batch in (1, 2)]
    assert [line for line in lines if line != "right"] == expected


CELLS = """
class Model(torch.nn.Module):
    def __init__(self, kind, width=64, **options):
        super().__init__()
        self.layer = kind(width, width, **options)
    def forward(self, x):
        return self.layer(x)

class Shifted(torch.nn.Module):  # the columns of a product that are no runs of it
    def forward(self, x, w):
        y = x @ w
        return torch.tanh(y[:, :64]) * torch.sigmoid(y[:, 32:96])

class Spread(torch.nn.Module):  # every other column
    def forward(self, x, w):
        y = x @ w
        return torch.tanh(y[:, ::2]) * torch.sigmoid(y[:, 1::2])

class Gates(torch.nn.Module):
    def forward(self, x, w):
        y = x @ w
        return torch.tanh(y[:, :64]) * torch.sigmoid(y[:, 64:]), y

def count(model, *args):
    rows = check(model, *args).profile(*args).rows
    return sum("cell" in row.kernel for row in rows)

nn = torch.nn
x = torch.randn(5, 1, 64)
print(*(count(Model(kind), x) for kind in (nn.LSTM, nn.GRU, nn.RNN)))
print(*(count(Model(nn.LSTM), torch.randn(5, rows, 64)) for rows in (2, 64, 65)))
print(count(Model(nn.LSTM, bidirectional=True, num_layers=2), x), count(Model(nn.LSTM, proj_size=16), x),
      count(Model(nn.LSTM, bias=False), x), count(Model(nn.LSTM, 50), x[..., :50]))
class Step(nn.LSTMCell):  # whose gates are computed in place
    def forward(self, x, hidden, cell):
        return super().forward(x, (hidden, cell))

steps = [torch.randn(2, 64) for _ in range(3)]
print(*sorted(row.kernel for row in check(Step(64, 64), *steps).profile(*steps).rows))
w = torch.randn(64, 128)
for model in (Gates(), Shifted(), Spread()):
    print(*(count(model, torch.randn(rows, 64), w) for rows in (1, 4)))
"""


def test_a_cell_is_one_step():
    """The product and what becomes of its gates, which are runs of its columns. Many rows are cut."""
    lines, _ = run(BEGINNING + CELLS)
    right = [line for line in lines if line != "right"]
    assert right == ["1 1 0", "1 4 4", "4 1 1 0", "LSTM cell matmul", "1 1", "0 0", "0 0"]


THREADS = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = torch.nn.LSTM(256, 256), torch.nn.GRU(256, 256)
    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]

x = torch.randn(20, 2, 256)
program = check(Model(), x)
results = []
for threads in (1, 2, 5):
    other = on_threads(program, threads)
    results.append([other(x) for _ in range(3)][-1])
print(all(torch.equal(results[0], other) for other in results))
"""


def test_cells_do_not_depend_on_the_number_of_threads():
    assert run(BEGINNING + ON_THREADS + THREADS)[0] == ["right", "True"]


LOOPS = """
import jax, numpy
from jax import lax, numpy as jnp

def nested(x, w):
    def inner(state):
        i, x, w, other = state
        return i + 1, jnp.tanh(x @ w) + other, w, other
    def outer(state):
        i, x, w, a, b = state
        _, x, w, _ = lax.while_loop(lambda s: s[0] < 3, inner, (0, x, w, a))
        return i + 1, x, w, b, a  # a and b take turns: they change
    return lax.while_loop(lambda s: s[0] < 2, outer, (0, x, w, x * 2, x + 1))[1:]

def never(x, w):
    return lax.while_loop(lambda s: s[0] < 0, lambda s: (s[0] + 1, s[1] * 2, s[2]), (0, x, w))[1:]

def written(x, w):  # what is handed on is also the beginning of what is written
    def step(state):
        i, x, w = state
        return i + 1, x.at[i].set(w[i] * 2), w
    return lax.while_loop(lambda s: s[0] < 3, step, (0, w, w))[1:]

x, w = (numpy.random.default_rng(0).normal(size=(5, 5)).astype(numpy.float32) for _ in range(2))
for function in (nested, never, written):
    with jax.default_device(jax.devices("cpu")[0]):
        expected = jax.jit(function)(x, w)
    for _ in range(3):
        for got, value in zip(jax.jit(function)(x, w), expected, strict=True):
            numpy.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5)
    print(function.__name__)
"""


def test_what_loops_hand_on():
    pytest.importorskip("jax")
    lines, _ = run_jax(LOOPS)
    assert lines == ["nested", "never", "written"]


LESS = "      %less = stablehlo.subtract %other, %one : tensor<{kind}>\n"


def counting(kind, start, limit, condition, following, turn=LESS):
    """A loop whose value %i begins with `start`; `condition` compares it, and `following` is its next value.
    Beside it, how many turns there were, %i in each of the first 16, and what becomes of another value."""
    one, two, seven, zero = (f"{number}.0" if kind == "f32" else number for number in (1, 2, 7, 0))
    return f"""func.func @main(%0: tensor<{kind}>, %1: tensor<{kind}>) -> (tensor<{kind}>, tensor<i64>,
    tensor<16x{kind}>, tensor<{kind}>) {{
  %start = stablehlo.constant dense<{start}> : tensor<{kind}>
  %constant = stablehlo.constant dense<{limit}> : tensor<{kind}>
  %one = stablehlo.constant dense<{one}> : tensor<{kind}>
  %two = stablehlo.constant dense<{two}> : tensor<{kind}>
  %seven = stablehlo.constant dense<{seven}> : tensor<{kind}>
  %few = stablehlo.minimum %0, %seven : tensor<{kind}>
  %empty = stablehlo.constant dense<{zero}> : tensor<16x{kind}>
  %none = stablehlo.constant dense<0> : tensor<i64>
  %r0, %r1, %r2, %r3, %r4 = stablehlo.while(%i = %start, %turns = %none, %seen = %empty, %other = %seven,
      %same = %constant) : tensor<{kind}>, tensor<i64>, tensor<16x{kind}>, tensor<{kind}>, tensor<{kind}>
    cond {{
      %limit = stablehlo.constant dense<{limit}> : tensor<{kind}>
      %p = stablehlo.compare {condition} : (tensor<{kind}>, tensor<{kind}>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %once = stablehlo.constant dense<1> : tensor<i64>
      %after = stablehlo.add %turns, %once : tensor<i64>
      %row = stablehlo.reshape %i : (tensor<{kind}>) -> tensor<1x{kind}>
      %written = stablehlo.dynamic_update_slice %seen, %row, %turns
        : (tensor<16x{kind}>, tensor<1x{kind}>, tensor<i64>) -> tensor<16x{kind}>
      %kept = stablehlo.maximum %seen, %written : tensor<16x{kind}>
{turn.format(kind=kind)}      %next = stablehlo.{following} : tensor<{kind}>
      stablehlo.return %next, %after, %kept, %less, %same
        : tensor<{kind}>, tensor<i64>, tensor<16x{kind}>, tensor<{kind}>, tensor<{kind}>
    }}
  return %r0, %r1, %r2, %r3 : tensor<{kind}>, tensor<i64>, tensor<16x{kind}>, tensor<{kind}>
}}"""


UP = "add %i, %one"
WRITTEN = """      %w = stablehlo.dynamic_update_slice %i, %other : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %less = stablehlo.subtract %w, %one : tensor<i32>
"""
HANDED = "      %less = stablehlo.reshape %i : (tensor<i32>) -> tensor<i32>\n"
COUNTED = {
    "up": counting("i32", 0, 5, "LT, %i, %limit", UP),
    "no turn": counting("i32", 0, 0, "LT, %i, %limit", UP),
    "no turn to a negative limit": counting("i64", 0, -3, "LT, %i, %limit", UP),
    "up to the limit": counting("i16", -2, 3, "LE, %i, %limit", "add %one, %i"),
    "the limit first": counting("i32", 0, 5, "GT, %limit, %i", UP),
    "the limit first, up to it": counting("i32", 0, 5, "GE, %limit, %i", UP),
    "by two beyond the limit": counting("i32", 0, 5, "LT, %i, %limit", "add %i, %two"),
    "down": counting("i32", 6, -1, "GT, %i, %limit", "subtract %i, %two"),
    "down to the limit": counting("i8", 6, 0, "LE, %limit, %i", "subtract %i, %two"),
    "until it is there": counting("ui16", 0, 6, "NE, %i, %limit", "add %i, %two"),
    "while it is there": counting("i32", 7, 7, "EQ, %i, %limit", UP),
    "i8 wraps": counting("i8", 120, 100, "GE, %i, %limit", UP),
    "i32 wraps": counting("i32", 2147483645, 0, "GT, %i, %limit", UP),
    "i32 wraps downwards": counting("i32", -2147483646, 0, "LT, %i, %limit", "subtract %i, %two"),
    "i64 wraps": counting("i64", 9223372036854775805, 0, "GT, %i, %limit", UP),
    "ui8 wraps": counting("ui8", 250, 3, "NE, %i, %limit", UP),
    "ui8 wraps past the limit": counting("ui8", 251, 255, "LT, %i, %limit", "add %i, %two"),
    "ui32 wraps": counting("ui32", 4294967293, 5, "GT, %i, %limit", UP),
    "ui64 wraps": counting("ui64", 18446744073709551613, 5, "GT, %i, %limit", UP),
    "ui64 beyond the signed ones": counting(
        "ui64", 9223372036854775806, 9223372036854775810, "LT, %i, %limit", UP
    ),
    "to what is computed": counting("i32", 0, 0, "LT, %i, %few", UP),
    "to an argument": counting("i64", 0, 0, "LT, %i, %0", UP),
    "to what is handed on": counting("i32", 0, 4, "LT, %i, %same", UP),
    "another value": counting("i32", 0, 5, "GT, %other, %limit", UP),
    "what the body writes does not count": counting("i32", 0, 5, "LT, %i, %limit", UP, WRITTEN),
    "what was counted is handed on": counting("i32", 0, 5, "LT, %i, %limit", UP, HANDED),
}
# Forms that only look like a count.
OTHERS = {
    "to what changes": counting("i32", 0, 5, "LT, %i, %other", UP),
    "the limit is compared with itself": counting("i32", 0, 5, "LT, %limit, %same", UP),
    "by what changes": counting("i32", 0, 20, "LT, %i, %limit", "add %i, %other"),
    "by an argument": counting("i32", 0, 500, "LT, %i, %limit", "add %i, %1"),
    "by itself": counting("i32", 1, 50, "LT, %i, %limit", "add %i, %i"),
    "from another value": counting("i32", 0, 5, "GT, %limit, %i", "add %other, %one"),
    "down from the constant": counting("i32", 0, 2, "LT, %i, %limit", "subtract %two, %i"),
    "by a product": counting("i32", 1, 50, "LT, %i, %limit", "multiply %i, %two"),
    "floats": counting("f32", "0.0", "5.0", "LT, %i, %limit", UP),
    "small integers": counting("i4", 0, 5, "LT, %i, %limit", UP),
}


def test_loops_that_count(tmp_path):
    """Each turns as often as it does in the interpreter, also when it is stored and read again."""
    pytest.importorskip("ml_dtypes")  # and with it jaxlib, which has int4
    modules = {**COUNTED, **OTHERS}
    # What is longer than registers is left to steps.
    modules |= {f"long, {name}": text.replace("16x", "5000x") for name, text in modules.items()}
    cases = {}
    for name, text in modules.items():
        kind = re.search(r"%0: tensor<(\w+)>", text)[1]
        type_ = numpy.dtype(kind.replace("i", "int").replace("f", "float"))
        cases[name] = (text, [numpy.array(6, type_), numpy.array(3, type_)])
    results, logs = on_engine(cases, tmp_path)
    for (name, (text, arguments)), (got, stored), log in zip(cases.items(), results, logs, strict=True):
        counts = name.removeprefix("long, ") in COUNTED and name.startswith("long, ")
        assert ("a loop that counts" in log) == counts, name
        fits = not name.startswith("long, ") or "small integers" in name
        assert ("a loop program" in log) == fits, name
        for one, again, other in zip(got, stored or got, interpret(text, *arguments), strict=True):
            assert_same(one, other, name)
            assert_same(again, other, name)


TURNS = """
import jax, numpy
from jax import lax, numpy as jnp

def counted(turns, step, *values):
    return lax.fori_loop(0, turns, lambda i, state: step(i, *state), values)

def sums(turns):  # the next value is computed anew
    return lambda x, y: counted(turns, lambda i, a, b: (jnp.sin(b) + a, a * 0.5), x, y)

def handed(turns):  # each becomes the other
    return lambda x, y: counted(turns, lambda i, a, b: (b, a), x, y)

def twice(turns):  # one value is two next ones
    def step(i, a, b):
        c = jnp.cos(a) + b
        return c, c
    return lambda x, y: counted(turns, step, x, y)

def parts(turns):  # what the turn computes is read again, in another order too
    def step(i, a, b, c):
        d = a @ b / 64
        return jnp.tanh(d), d.T, jnp.concatenate([d[:10], c[10:]])
    return lambda x, y: counted(turns, step, x, y, x + y)

def until(turns):  # the condition reads what is computed
    def step(state):
        i, a, b = state
        return i + 1, jnp.sqrt(a * a + 1), a
    return lambda x, y: lax.while_loop(lambda s: s[1].max() < turns + 1, step, (0, x, y))[1:]

def nested(turns):
    def step(i, a, b):
        a, b = counted(turns, lambda j, a, b: (jnp.tanh(a + b), a - b), a, b)
        return b * 0.5, jnp.cos(a)
    return lambda x, y: counted(3, step, x, y)

def joined(turns):  # results go to parts of another tensor
    return lambda x, y: (jnp.concatenate(counted(turns, lambda i, a, b: (jnp.cos(b), a + b), x, y)),)

x, y = (numpy.random.default_rng(seed).normal(size=(64, 64)).astype(numpy.float32) * 0.5 for seed in range(2))
for make in (sums, handed, twice, parts, until, nested, joined):
    for turns in (0, 1, 2, 3, 6):
        function = make(turns)
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.jit(function)(x, y)
        program = jax.jit(function)
        for _ in range(3):
            for got, value in zip(program(x, y), expected, strict=True):
                numpy.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5)
    print(make.__name__)
"""


def test_values_that_change_places():
    pytest.importorskip("jax")
    lines, _ = run_jax(TURNS)
    assert lines == ["sums", "handed", "twice", "parts", "until", "nested", "joined"]


COPIES = """
class Model(torch.nn.Module):
    def forward(self, x):
        def body(i, a, b):
            return i + 1, torch.sin(b) + a, torch.cos(a) * b
        zero = torch.zeros((), dtype=torch.int64)
        return torch._higher_order_ops.while_loop(lambda i, a, b: i < 5, body, (zero, x, x * 2))[1:]

x = torch.randn(100, 100)
profile = check(Model(), x).profile(x)
print([row.kernel for row in profile.rows if row.kernel == "copy" and row.runs == 5])
"""


def test_the_next_value_is_not_copied():
    assert run(BEGINNING + COPIES)[0] == ["right", "[]"]


#: What the inner loop begins with does not change in the outer one, so it is computed before both.
BEGINNINGS = """
func.func @main(%x: tensor<6xf32>, %f: tensor<f32>, %p: tensor<i1>) -> (tensor<f32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %g = %f, %s = %zero) : tensor<i32>, tensor<f32>, tensor<i32> cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %start = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>
    %q:3 = stablehlo.while(%j = %zero, %h = %g, %place = %start)
      : tensor<i32>, tensor<f32>, tensor<i32> cond {
      %c = stablehlo.compare LT, %j, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %e = stablehlo.dynamic_slice %x, %place, sizes = [1]
        : (tensor<6xf32>, tensor<i32>) -> tensor<1xf32>
      %found = stablehlo.reshape %e : (tensor<1xf32>) -> tensor<f32>
      %sum = stablehlo.add %found, %h : tensor<f32>
      %next = stablehlo.add %place, %two : tensor<i32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %sum, %next : tensor<i32>, tensor<f32>, tensor<i32>
    }
    %k = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.add %s, %q#2 : tensor<i32>
    stablehlo.return %k, %q#1, %t : tensor<i32>, tensor<f32>, tensor<i32>
  }
  return %r#1, %r#2 : tensor<f32>, tensor<i32>
}"""


def test_an_inner_loop_begins_anew_in_each_turn(tmp_path):
    pytest.importorskip("jaxlib")
    x = numpy.array([1, 10, 100, 1000, 10000, 100000], numpy.float32)
    arguments = [x, numpy.float32(0.5), numpy.bool_(True)]
    results, (log,) = on_engine({"loops": (BEGINNINGS, arguments)}, tmp_path)
    assert "a loop program" in log
    for got in results[0]:
        assert [float(part) for part in got] == [2020.5, 10]
