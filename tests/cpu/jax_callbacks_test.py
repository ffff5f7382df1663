"""Python functions that JAX's programs call while they run on the engine."""

import importlib.util
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not here"),
]

BEGINNING = """
import gc, sys
import jax, jax.numpy as jnp, numpy
from jax.experimental import io_callback

x = jnp.arange(6.0)
like = jax.ShapeDtypeStruct(x.shape, x.dtype)

def sine(array):
    return numpy.sin(array)
"""

PARTS = {
    "pure": """
def twice(v):
    return jax.pure_callback(sine, like, v, vmap_method="sequential") * 2
expected = numpy.sin(x) * 2
numpy.testing.assert_allclose(jax.jit(twice)(x), expected, rtol=1e-6)
numpy.testing.assert_allclose(jax.jit(jax.vmap(twice))(jnp.stack([x, x + 1]))[0], expected, rtol=1e-6)
scanned = jax.lax.fori_loop(0, 3, lambda i, v: jax.pure_callback(lambda a: numpy.asarray(a) + 1, like, v), x)
numpy.testing.assert_allclose(scanned, x + 3)
""",
    "several results and none": """
types = (like, jax.ShapeDtypeStruct((2, 0), jnp.float32), jax.ShapeDtypeStruct((), jnp.bool_))
def several(a, b):
    return a + b, numpy.zeros((2, 0), numpy.float32), numpy.bool_(True)
first, second, third = jax.jit(lambda v: jax.pure_callback(several, types, v, v[:1]))(x)
assert second.shape == (2, 0) and bool(third)
numpy.testing.assert_allclose(first, x)
""",
    "types": """
for kind in ("bfloat16", "float16", "int8", "uint32", "bool", "complex64"):
    given = (x > 2).astype(kind)
    made = jax.jit(lambda v: jax.pure_callback(lambda a: a, jax.ShapeDtypeStruct(v.shape, v.dtype), v))(given)
    assert made.dtype == given.dtype and (made == given).all(), kind
""",
    "in order": """
seen = []
def note(array, place):
    seen.append((int(place), float(array)))
    return numpy.int32(len(seen))
@jax.jit
def loop(v):
    def body(i, total):
        return total + io_callback(note, jax.ShapeDtypeStruct((), jnp.int32), v[i], i, ordered=True)
    return jax.lax.fori_loop(0, 6, body, 0)
for _ in range(20):
    assert int(loop(x)) == sum(range(len(seen) - 5, len(seen) + 1))
jax.effects_barrier()
assert seen == [(place, float(place)) for place in range(6)] * 20
""",
    "without results": """
seen = []
@jax.jit
def noting(v):
    jax.debug.callback(lambda array: seen.append(float(array.sum())), v)
    jax.debug.callback(lambda: seen.append("no argument"))
    return v + 1
for _ in range(5):
    jax.block_until_ready(noting(x))
jax.effects_barrier()
assert seen.count(15.0) == 5 and seen.count("no argument") == 5, seen
""",
    "counted": """
counts = iter(range(1000))
def draw():
    return io_callback(lambda: numpy.int32(next(counts)), jax.ShapeDtypeStruct((), jnp.int32))
draw_jitted = jax.jit(draw)
drawing = jax.jit(lambda: (draw(), draw_jitted(), draw_jitted()))
for call in range(4):
    assert {int(each) for each in drawing()} == {3 * call, 3 * call + 1, 3 * call + 2}
""",
    "printed": """
import contextlib, io
text = io.StringIO()
with contextlib.redirect_stdout(text):
    jax.block_until_ready(jax.jit(lambda v: (jax.debug.print("v is {v} of {n}", v=v, n=v.size), v)[1])(x))
    jax.block_until_ready(jax.jit(lambda v: (jax.debug.print("then {}", v.sum(), ordered=True), v)[1])(x))
    jax.effects_barrier()
assert text.getvalue() == "v is [0. 1. 2. 3. 4. 5.] of 6\\nthen 15.0\\n", text.getvalue()
""",
    "functions that are dropped": """
from jax_plugins.torchere_cpu import callbacks
before = len(callbacks._compiled)
for step in range(30):
    held = numpy.full(6, step, numpy.float32)
    made = jax.jit(lambda v: jax.pure_callback(lambda a: numpy.asarray(a) + held, like, v))(x)
    if step % 3 == 0:
        numpy.testing.assert_allclose(made, x + step)
jax.block_until_ready(made)
del made
jax.clear_caches()
gc.collect()
callbacks._forget_dropped()
assert len(callbacks._compiled) <= before + 1, len(callbacks._compiled)
""",
    "gradients": """
@jax.custom_jvp
def outside(v):
    return jax.pure_callback(sine, like, v)
outside.defjvp(lambda primals, tangents: (outside(*primals), tangents[0] * jnp.cos(primals[0])))
numpy.testing.assert_allclose(jax.jit(jax.grad(lambda v: outside(v).sum()))(x), numpy.cos(x), rtol=1e-5)
""",
}


def run(source, platforms):
    environment = os.environ | {"JAX_PLATFORMS": platforms}
    command = [sys.executable, "-c", BEGINNING + source]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("platforms", ["torchere_cpu", "torchere_cpu,cpu"])
@pytest.mark.parametrize("part", PARTS)
def test_callbacks(part, platforms):
    done = run(PARTS[part] + "print('done')", platforms)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines() == ["done"]


FAILING = """
def fail(array):
    raise KeyError("a name")
for function in (fail, lambda a: a[:2], lambda a: a.astype(numpy.int8), lambda a: (a, a)):
    try:
        jax.block_until_ready(jax.jit(lambda v: jax.pure_callback(function, like, v))(x))
    except jax.errors.JaxRuntimeError as error:
        print(str(error).replace("\\n", " "))
"""


def test_errors_tell_the_function_and_the_place():
    lines = run(FAILING, "torchere_cpu").stdout.splitlines()
    for line, text in zip(
        lines,
        (
            "in fail KeyError: 'a name'",
            "RuntimeError: Incorrect output shape for return value #0: Expected: (6,), Actual: (2,)",
            "RuntimeError: Incorrect output dtype for return value #0: Expected: float32, Actual: int8",
            "RuntimeError: Mismatched number of outputs from callback. Expected: 1, Actual: 2",
        ),
        strict=True,
    ):
        assert line.startswith("INTERNAL: [torchere_python_callback] Traceback"), line
        assert text in line, line
        assert "; at <string>:" in line, line


EXPORTED = """
exported = jax.export.export(jax.jit(lambda v: jax.pure_callback(sine, like, v)))
try:
    exported(x).serialize()
except NotImplementedError as error:
    print(error)
"""


def test_a_program_with_a_callback_is_not_exported():
    assert run(EXPORTED, "torchere_cpu").stdout.splitlines() == [
        "serialization of host_callbacks is not yet implemented"
    ]
