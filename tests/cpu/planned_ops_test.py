"""Ops of the CPU engine that have kernels: none of them is evaluated by the interpreter, and each gives what
numpy and eager PyTorch give. A process for each framework; the log tells what is evaluated."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from warm_process import run_python

import torchere

LIBRARY = Path(torchere.__file__).parent / "lib" / "libtorchere_cpu.so"
pytestmark = pytest.mark.slow


def evaluated(source, **environment):
    """Runs Python source, which writes "case NAME" to its standard error in front of each case. By case, the
    names of the ops that are evaluated."""
    settings = {"TORCHERE_LOG": "debug", "TORCHERE_CACHE": "0", **environment}
    result = run_python("-c", source, env={**os.environ, **settings})
    assert result.returncode == 0, result.stderr
    found: dict[str, set[str]] = {}
    for part in re.split(r"^case ", result.stderr, flags=re.MULTILINE)[1:]:
        name, log = part.split("\n", 1)
        plans = re.findall(r"steps, \d+ bytes of memory of their own; evaluated:(.*)", log)
        assert plans, f"{name}: no plan was made: {log}"
        assert "interpreted as a whole" not in log, name
        found[name] = {op for plan in plans for op in re.findall(r"(\S+)=\d+", plan)}
    return found


TORCH = """
import sys, torch, torchere
torch.manual_seed(0)

class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, *args):
        return self.function(*args)

def check(name, function, *args, tolerance=1e-5):
    print("case", name, file=sys.stderr, flush=True)
    model = function if isinstance(function, torch.nn.Module) else Function(function)
    with torch.no_grad():
        expected = model(*args)
        got = torchere.export(model.eval(), args)(*args)
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)

x = torch.randn(3, 40, 5)
with_nan = x.clone()
with_nan[0, 3, 2] = with_nan[1, 7, 4] = float("nan")
integers = torch.randint(-50, 50, (4, 300))
image = torch.randn(2, 6, 13, 17)
rows = torch.randint(0, 40, (3, 7, 5))

check("cumsum", lambda x: x.cumsum(1), x)
check("cumsum of integers", lambda x: x.cumsum(-1), integers)
check("cumprod", lambda x: x.cumprod(0), x)
check("cumsum of bf16", lambda x: x.cumsum(1), x.bfloat16(), tolerance=1e-2)
check("sort", lambda x: torch.sort(x, dim=1, stable=True), with_nan)
check("sort descending", lambda x: torch.sort(x, dim=1, descending=True, stable=True), with_nan)
check("sort of integers", lambda x: torch.sort(x, dim=-1, stable=True), integers)
check("sort of f16", lambda x: torch.sort(x, dim=-1, stable=True), with_nan.half())
check("topk", lambda x: torch.topk(x, 3, dim=1), x)
check("topk of long lines", lambda x: torch.topk(x, 5, dim=0), torch.randn(900, 4))
check("topk of long lines with NaN", lambda x: torch.topk(x, 9)[0], with_nan.reshape(3, -1))
check("topk of equal elements", lambda x: torch.topk(x, 70, largest=False)[0], torch.randint(9, (2, 900)))
check("topk beside all", lambda x: (lambda v: (v[:, :3], v))(torch.sort(x, dim=1)[0]), torch.randn(2, 300))
check("argmax", lambda x: x.argmax(1), with_nan)
check("max pooling", torch.nn.MaxPool2d(3, 2, 1), image)
check("max pooling with places", torch.nn.MaxPool2d(2, return_indices=True), image)
check("max pooling, dilated", torch.nn.MaxPool2d(3, 1, 1, dilation=2), image.double())
check("average pooling", torch.nn.AvgPool2d(3, 2, 1, count_include_pad=False), image)
check("pooling in three dimensions", torch.nn.MaxPool3d(2), torch.randn(1, 2, 6, 7, 8))
check("pooling to one pixel", torch.nn.AdaptiveAvgPool2d(1), image)
check("gather", lambda x, i: x.gather(1, i), x, rows)
check("indexing", lambda x, i: x[:, i, :], x, torch.tensor([3, 0, 39]))
check("two indices", lambda x, i, j: x[i, j], x, torch.tensor([0, 2]), torch.tensor([5, 7]))
once = torch.arange(7).reshape(1, 7, 1).expand(3, 7, 5)
check("scatter", lambda x, i, s: x.scatter(1, i, s), x, once, torch.randn(3, 7, 5))
check("scatter_add", lambda x, i, s: x.scatter_add(1, i, s), x, rows, torch.randn(3, 7, 5))
check("scatter_reduce", lambda x, i, s: x.scatter_reduce(1, i, s, "amax"), x, rows, torch.randn(3, 7, 5))
check("index_add", lambda x, i, s: x.index_add(1, i, s), x, torch.tensor([1, 1, 8]), torch.randn(3, 3, 5))
places, rows_added = torch.randint(0, 40, (900,)), torch.randn(900, 70)
check("rows added", lambda x, i, s: x.index_add(0, i, s), torch.randn(40, 70), places, rows_added)
check("rows added, i32", lambda x, i, s: x.index_add(0, i, s), torch.randn(40, 70), places.int(), rows_added)
check("points added", lambda x, i, s: x.index_add(0, i, s), torch.randn(40), places, torch.randn(900))
check("points counted", lambda i: torch.zeros(40, 3).index_put((i, i % 3), torch.ones(()), True), places)
check("masked select by place", lambda x, i: x.index_put((i,), torch.ones(5)), x[0], torch.tensor([2, 2, 30]))
check("transposed convolution", torch.nn.ConvTranspose2d(6, 4, 3, 2, 1, output_padding=1), image)
check("transposed convolution with groups", torch.nn.ConvTranspose2d(6, 4, 4, 3, groups=2), image)
check("transposed convolution, overlapping", torch.nn.ConvTranspose2d(6, 12, (4, 5), (2, 3), 1), image)
check("transposed convolution of one pixel", torch.nn.ConvTranspose2d(6, 9, 4), torch.randn(2, 6, 1, 1))
row = torch.randn(2, 6, 19)
check("convolution of rows", torch.nn.Conv1d(6, 9, 3, padding=4, dilation=4), row)
check("strided convolution of rows", torch.nn.Conv1d(6, 10, 5, 2, 3, groups=2), row)
check("transposed convolution of rows", torch.nn.ConvTranspose1d(6, 9, 8, 4, 2), row)
check("transposed, of rows, few taps", torch.nn.ConvTranspose1d(6, 4, 2, 3, output_padding=1), row)
check("taps in padding alone", torch.nn.Conv2d(6, 9, 3, 1, (24, 6), (24, 6)), image)
check("strided taps in padding alone", torch.nn.Conv2d(6, 9, (5, 3), (2, 3), (40, 9), (20, 9)), image)
check("no tap meets the input", torch.nn.Conv1d(6, 9, 2, 1, 30, 60), row)
check("narrow groups", torch.nn.Conv2d(6, 12, 3, groups=3), image)
check("convolution in three dimensions", torch.nn.Conv3d(2, 3, 3, padding=1), torch.randn(1, 2, 5, 6, 7))
check("convolution of f64", torch.nn.Conv2d(6, 4, 3).double(), image.double())
check("convolution of bf16", torch.nn.Conv2d(6, 4, 3).bfloat16(), image.bfloat16(), tolerance=5e-2)
check("constant padding that cuts", lambda x: torch.nn.functional.pad(x, (-1, 2, -2, -3), value=1.5), x)
"""

JAX = """
import sys
import numpy
import jax, jax.numpy as jnp
from jax import lax
jax.config.update("jax_enable_x64", True)

def check(name, function, expected, *args):
    print("case", name, file=sys.stderr, flush=True)
    got = jax.jit(function)(*args)
    jax.tree.map(lambda a, b: numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), got, expected)

generator = numpy.random.default_rng(0)
x = generator.normal(size=(6, 50)).astype(numpy.float32)
keys = generator.integers(0, 4, (60,)).astype(numpy.int32)
others = generator.normal(size=(60,))
i, f = numpy.int32, numpy.float32

check("sort", lambda x: jnp.sort(x, 0), numpy.sort(x, 0), x)
small = keys.astype(numpy.int8)
check("sort of small integers", lambda x: jnp.sort(x), numpy.sort(small), small)
order = numpy.lexsort((others, keys))
check("sort by two keys", lambda a, b: lax.sort((a, b), num_keys=2), (keys[order], others[order]), keys,
      others)
check("top_k", lambda x: lax.top_k(x, 3)[0], -numpy.sort(-x, 1)[:, :3], x)
check("argmax", lambda x: jnp.argmax(x), numpy.argmax(x), x)
check("argmin", lambda x: jnp.argmin(x, 1), numpy.argmin(x, 1), x)
check("a reduction by a function", lambda x: lax.reduce(x, f(0), lambda a, b: jnp.sqrt(a * a + b * b), (1,)),
      numpy.sqrt((x * x).sum(1)), x)
larger = lambda a, b: lax.cond(a > b, lambda: a, lambda: b)
check("a reduction that branches", lambda x: lax.reduce(x, f(-numpy.inf), larger, (1,)), x.max(1), x)
check("a reduction of branches in branches",
      lambda x: lax.reduce(x, f(0), lambda a, b: lax.cond(b > 0, lambda: larger(a, b), lambda: a), (0,)),
      numpy.maximum(x.max(0), 0), x)
check("a reduction of three branches", lambda x: lax.reduce(
    x, i(0), lambda a, b: lax.switch(b, [lambda: a, lambda: a + b, lambda: b + a]), (0,)), keys.sum(), keys)
check("two reductions that branch", lambda x: lax.reduce((x, x), (f(-numpy.inf), f(0)), lambda a, b: lax.cond(
    a[0] > b[0], lambda: (a[0], a[1] + b[1]), lambda: (b[0], b[1] + a[1])), (1,)), (x.max(1), x.sum(1)), x)
halved = numpy.array(x)
halved[[1, 3], 2] = numpy.where(halved[[1, 3], 2] > 0, halved[[1, 3], 2] / 2, -1)
halve = lambda a: lax.cond(a > 0, lambda: a / 2, lambda: -jnp.ones_like(a))
check("an update that branches", lambda x: x.at[jnp.array([1, 3]), 2].apply(halve), halved, x)
windows = numpy.lib.stride_tricks.sliding_window_view(x, 4, 1)
four = lambda x, join: lax.reduce_window(x, f(0), join, (1, 4), (1, 1), "VALID")
check("windows", lambda x: four(x, lax.add), windows.sum(-1), x)
check("windows of branches", lambda x: lax.reduce_window(x, -f(numpy.inf), larger, (1, 4), (1, 1), "VALID"),
      windows.max(-1), x)
check("windows of a function", lambda x: four(x, lambda a, b: jnp.sqrt(a * a + b * b)),
      numpy.sqrt((windows * windows).sum(-1)), x)
check("cummax", lambda x: lax.cummax(x, 1), numpy.maximum.accumulate(x, 1), x)
pool = lambda x: lax.reduce_window(x, -f(numpy.inf), lax.max, (1, 5), (1, 5), "VALID")
blocks = x.reshape(6, 10, 5)
check("the gradient of maxima", jax.grad(lambda x: pool(x).sum()),
      (blocks == blocks.max(-1, keepdims=True)).reshape(6, 50).astype(f), x)
places = numpy.array([3, 3, 5, 99], i)
def joined(join, start):
    made = numpy.full(8, start, f)
    for place, update in zip(places[:3], (2, 3, 4)):
        made[place] = join(made[place], update)
    return made
updates = numpy.array([2, 3, 4, 5], f)
base = numpy.full(8, 3, f)
check("scatter add", lambda b, u: b.at[places].add(u), joined(lambda a, b: a + b, 3), base, updates)
check("scatter multiply", lambda b, u: b.at[places].mul(u), joined(lambda a, b: a * b, 3), base, updates)
check("scatter minimum", lambda b, u: b.at[places].min(u), joined(min, 3), base, updates)
check("scatter by a function", lambda b: b.at[jnp.array([2, 4])].apply(jnp.sqrt),
      numpy.array([3, 3, 3 ** 0.5, 3, 3 ** 0.5, 3, 3, 3], f), base)
part = lambda x, start: lax.dynamic_slice(x, (start, 1), (2, 3))
check("gather of slices", lambda x: jax.vmap(lambda start: part(x, start))(jnp.array([0, 4, 9])),
      numpy.stack([x[0:2, 1:4], x[4:6, 1:4], x[4:6, 1:4]]), x)
check("gather along an axis", lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), numpy.sort(x, 1), x)
image = generator.normal(size=(1, 1, 6, 6)).astype(f)
kernel = generator.normal(size=(1, 1, 3, 3)).astype(f)
full = numpy.zeros((8, 8), f)
for r in range(6):
    for c in range(6):
        full[r : r + 3, c : c + 3] += image[0, 0, r, c] * kernel[0, 0, ::-1, ::-1]
padding = [(2, 2), (2, 2)]
check("convolution with all of the padding",
      lambda a, b: lax.conv_general_dilated(a, b, (1, 1), padding)[0, 0], full, image, kernel)
integers = generator.integers(-5, 5, (1, 1, 9)).astype(i)
check("convolution of integers",
      lambda a: lax.conv_general_dilated(a, jnp.ones((1, 1, 2), i), (1,), "VALID")[0, 0],
      integers[0, 0, 1:] + integers[0, 0, :-1], integers)

uniform = jax.jit(lambda: lax.rng_uniform(f(-2), f(3), (40, 500)))
print("case rng", file=sys.stderr, flush=True)
first, second = numpy.asarray(uniform()), numpy.asarray(uniform())
for numbers in (first, second):
    assert (numbers >= -2).all() and (numbers < 3).all()
    assert abs(numbers.mean() - 0.5) < 0.05 and abs(numbers.std() - 5 / 12 ** 0.5) < 0.05
    assert len(numpy.unique(numbers)) > 19900
assert (first != second).mean() > 0.99
print("case rng of integers", file=sys.stderr, flush=True)
numbers = numpy.asarray(jax.jit(lambda: lax.rng_uniform(i(-3), i(4), (10000,)))())
assert set(numbers.tolist()) == set(range(-3, 4)) and numpy.bincount(numbers + 3).min() > 1200
"""

# What each process may evaluate: nothing, but what other kernels are missing for.
PLANNED = {
    f"stablehlo.{name}"
    for name in (
        "reduce",
        "reduce_window",
        "select_and_scatter",
        "sort",
        "gather",
        "scatter",
        "convolution",
        "pad",
        "map",
        "concatenate",
        "dynamic_slice",
        "dynamic_update_slice",
        "rng",
    )
}


def check(found):
    assert len(found) > 15
    assert {name: ops & PLANNED for name, ops in found.items() if ops & PLANNED} == {}


def test_what_torch_exports_is_not_evaluated():
    check(evaluated(TORCH, PJRT_DEVICE="torchere_cpu"))


def test_what_jax_writes_is_not_evaluated():
    check(
        evaluated(JAX, JAX_PLATFORMS="torchere_cpu", PJRT_NAMES_AND_LIBRARY_PATHS=f"torchere_cpu:{LIBRARY}")
    )


TRANSPOSED = """
for pixels in (1000, 1024):
    x = torch.randn(1, 64, pixels)
    program = torchere.export(Function(lambda x: x.transpose(1, 2) * 2), (x,))
    torch.testing.assert_close(program(x), x.transpose(1, 2) * 2)
    print(pixels, [row.kernel for row in program.profile(x).rows])
"""


def test_rows_that_share_lines_of_the_cache_are_copied_first():
    head = TORCH[: TORCH.index("x = torch.randn")]
    result = run_python("-c", head + TRANSPOSED, env={**os.environ, "PJRT_DEVICE": "torchere_cpu"})
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["1000 ['vector program']", "1024 ['copy', 'vector program']"]
