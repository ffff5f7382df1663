"""The CPU engine as torchere and JAX load it by name, each in a process of its own: results against eager
PyTorch, weights that change, and what is left to evaluation."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from warm_process import run_python

import torchere

LIBRARY = Path(torchere.__file__).parent / "lib" / "libtorchere_cpu.so"


def run(source, **environment):
    """Runs Python source; what it printed, and what was logged."""
    settings = {"PJRT_DEVICE": "torchere_cpu", "TORCHERE_CACHE": "0", **environment}
    result = run_python("-c", source, env={**os.environ, **settings})
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines(), result.stderr


BEGINNING = """
import torch, torchere
torch.manual_seed(0)

class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, *args):
        return self.function(*args)

def check(model, *args, tolerance=2e-5):
    model = model.eval()
    with torch.no_grad():
        expected = model(*args)
    program = torchere.export(model, args)
    for _ in range(3):  # weights are packed by the second call
        torch.testing.assert_close(program(*args), expected, rtol=tolerance, atol=tolerance)
    print("right")
    return program
"""

MODELS = {
    "mlp": """
check(torch.nn.Sequential(torch.nn.Linear(24, 50), torch.nn.GELU(), torch.nn.LayerNorm(50),
                          torch.nn.Linear(50, 7), torch.nn.Softmax(-1)), torch.randn(5, 24))
""",
    "attention": """
check(torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), torch.randn(2, 9, 32))
""",
    "embedding": """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(11, 6)
    def forward(self, ids):
        return torch.cat([self.table(ids), self.table(ids.flip(-1))], -1)[:, ::2].cumsum(1)
check(Model(), torch.randint(0, 11, (3, 5)))
""",
    "convolution": """
check(torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                          torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 8, 3, groups=8),
                          torch.nn.AdaptiveAvgPool2d(1)),
      torch.randn(2, 3, 10, 12))
""",
    "double": """
check(torch.nn.Linear(5, 3).double(), torch.randn(4, 5, dtype=torch.float64))
""",
    "lstm": """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(6, 8, batch_first=True)
    def forward(self, x):
        return self.lstm(x)[0]
check(Model(), torch.randn(2, 5, 6))
""",
}


@pytest.mark.parametrize("name", MODELS)
def test_models_give_what_torch_gives(name):
    lines, _ = run(BEGINNING + MODELS[name])
    assert lines == ["right"]


def test_what_is_evaluated_is_counted():
    _, log = run(BEGINNING + MODELS["mlp"], TORCHERE_LOG="debug")
    (line,) = set(re.findall(r"\[main\] \d+ steps, \d+ bytes of memory of their own; evaluated:.*", log))
    assert "dot_general" not in line
    assert "stablehlo.add" not in line


BIASES = """
layer, other = torch.nn.Linear(40, 30), torch.nn.Parameter(torch.randn(30))
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.other = layer, other
    def forward(self, x):
        return torch.relu(self.layer(x) + self.other)

x = torch.randn(5, 40)
print(*((row.kernel, row.bytes) for row in check(Model(), x).profile(x).rows))
"""


def test_two_biases_are_one():
    """Their sum, which is computed once, and nothing that is as large as the result."""
    lines, _ = run(BEGINNING + BIASES)
    assert lines == ["right", str(("matmul", 4.0 * (5 * 40 + 40 * 30 + 30 + 5 * 30)))]


STATE = """
import torch, torchere

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.register_buffer("cache", torch.zeros(6, 3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
    def forward(self, x):
        row = self.linear(x)
        self.cache.index_copy_(0, self.calls.reshape(1), row[None])
        self.calls.add_(1)
        return self.cache.sum(0)

torch.manual_seed(0)
model, x = Model(), torch.randn(4)
program = torchere.export(model, (x,))
total = torch.zeros(3)
for call in range(4):
    x = torch.randn(4)
    total = total + model.linear(x).detach()
    torch.testing.assert_close(program(x), total)
print("right")
"""


def test_state_is_kept():
    lines, _ = run(STATE)
    assert lines == ["right"]


JOINED = """
class Model(torch.nn.Module):
    def __init__(self, join):
        super().__init__()
        self.tables = torch.nn.ModuleList(torch.nn.Embedding(50, 6) for _ in range(3))
        self.join = join
    def forward(self, x, ids):
        return self.join(x, *[table(ids[:, i]) for i, table in enumerate(self.tables)])

args = torch.randn(4, 6), torch.randint(50, (4, 3))
for join in (
    lambda x, a, b, c: torch.stack([x, a, b, c], 1).tanh(),
    lambda x, a, b, c: torch.cat([a, x, b, c], 1).tanh(),
    lambda x, a, b, c: torch.cat([a, x, b, c]).tanh(),  # one behind the other: all are computed there
    lambda x, a, b, c: torch.cat([a, b, a, c], 1).tanh(),  # one of them twice
    lambda x, a, b, c: torch.stack([a, b, c.tanh()], 1),
    lambda x, a, b, c: torch.cat([a.reshape(3, 8), b.reshape(3, 8), x.reshape(3, 8)], 1) + c.sum(),
):
    program = check(Model(join), *args)
    print([row.kernel for row in program.profile(*args).rows].count("copy"))
"""


def test_gathered_rows_are_written_where_they_are_joined():
    lines, _ = run(BEGINNING + JOINED)
    assert lines[::2] == ["right"] * 6
    assert [int(count) for count in lines[1::2]] == [1, 1, 1, 2, 1, 3]


PADDED = """
class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, x):
        return self.function(x)

F = torch.nn.functional
def joined(x):
    inner = torch.cat([x, x.flip(1)], 2)
    return inner, torch.cat([inner[:, :1], inner, inner[:, -2:].flip(2)], 1)

image, volume = torch.randn(2, 3, 6, 7), torch.randn(2, 3, 4, 5, 6)
for function, x in (
    (lambda x: F.pad(x, (1, 2, 3, 1), "reflect"), image),
    (lambda x: F.pad(x, (1, 2, 3, 1), "replicate").tanh(), image),
    (lambda x: F.pad(x, (2, 1, 0, 3), "circular"), image),
    (lambda x: F.pad(x, (2, 1, 1, 2, 3, 1), "reflect") * 2, volume),
    (lambda x: joined(x)[1], image),
    (lambda x: torch.cat([joined(x)[1].exp(), joined(x)[1] + joined(x)[0].sum()], 3), image),  # read later
    (lambda x: torch.cat([torch.cat([x, x], 0), torch.cat([x, x + 1], 0).flip(0)], 3), image),
):
    program = check(Model(function), x)
    print([row.kernel for row in program.profile(x).rows].count("copy"))
"""


def test_padding_by_what_is_there_copies_once():
    """The middle is copied once, to where the last dimension that is padded wants it."""
    lines, _ = run(BEGINNING + PADDED)
    assert lines[::2] == ["right"] * 7
    assert [int(count) for count in lines[1:7:2]] == [5, 5, 4]


JAX = """
import numpy
import jax, jax.numpy as jnp

assert jax.default_backend() == "torchere_cpu"
print(jax.devices())

@jax.jit
def layer(x, w):
    return jnp.tanh(x @ w).sum(axis=1)

# Weights that change, in memory that is used again, give new results.
generator = numpy.random.default_rng(0)
for _ in range(20):
    w = generator.normal(size=(40, 33)).astype(numpy.float32)
    x = generator.normal(size=(5, 40)).astype(numpy.float32)
    w_there = jax.device_put(w)
    for _ in range(3):
        numpy.testing.assert_allclose(layer(x, w_there), numpy.tanh(x @ w).sum(axis=1), rtol=1e-4, atol=1e-4)
    del w_there

@jax.jit
def running(x):
    def body(i, state):
        out, total = state
        total = total + x[i]
        return out.at[i].set(total), total
    return jax.lax.fori_loop(0, x.shape[0], body, (jnp.zeros_like(x), jnp.zeros_like(x[0])))[0]

x = generator.normal(size=(7, 3)).astype(numpy.float32)
numpy.testing.assert_allclose(running(x), numpy.cumsum(x, 0), rtol=1e-5, atol=1e-6)
gradient = jax.jit(jax.grad(lambda x: layer(x, w[:3]).sum()))(x[:, :3])
numpy.testing.assert_allclose(gradient, (1 - numpy.tanh(x @ w[:3]) ** 2) @ w[:3].T, rtol=1e-4, atol=1e-4)
print("done")
"""


def test_jax_runs_jitted_functions():
    lines, _ = run(JAX, JAX_PLATFORMS="torchere_cpu", PJRT_NAMES_AND_LIBRARY_PATHS=f"torchere_cpu:{LIBRARY}")
    assert lines == ["[TorchereCpuDevice(id=0)]", "done"]


THREADS = """
import threading, torch, torchere
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64)).eval()
program = torchere.export(model, (torch.randn(3, 64),))
wrong = []
def work(seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(20):
        x = torch.randn(3, 64, generator=generator)
        if not torch.allclose(program(x), model(x), rtol=1e-4, atol=1e-5):
            wrong.append(seed)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(wrong))
"""


def test_eight_threads_call_one_program():
    assert run(THREADS)[0] == ["0"]


ON_THREADS = """
import copy
from torchere import _core

def on_threads(program, threads):
    other = copy.copy(program)
    client = torchere.plugins.client("torchere_cpu", {"intra_op_threads": threads})
    other._session = _core.Session(client, program._core_bundle)
    return other
"""

POOLS = """
import torch, torchere
torch.manual_seed(0)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 24, 3), torch.nn.GELU(), torch.nn.Conv2d(24, 17, 3, stride=2),
            torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.LayerNorm(17 * 49),
            torch.nn.Linear(17 * 49, 300),
        )
    def forward(self, x):
        y = self.body(x).softmax(-1)
        spectrum = torch.fft.rfft(y)
        factor = torch.linalg.cholesky(y.T @ y + torch.eye(300))
        half = y.bfloat16()
        filtered = torch.fft.irfft(spectrum * spectrum.conj(), 300)
        return y.cumsum(-1), filtered, factor, half @ half.T, y.sort(-1)[0], y.double().sum()

model, x = Model().eval(), torch.randn(5, 3, 32, 32)
program = torchere.export(model, (x,))
results = []
for threads in (1, 2, 3):
    other = on_threads(program, threads)
    results.append([other(x) for _ in range(3)][-1])
for other in results[1:]:
    assert all(torch.equal(one, two) for one, two in zip(results[0], other, strict=True))
for got, expected in zip(results[0], model(x), strict=True):
    torch.testing.assert_close(got, expected, rtol=1e-2, atol=1e-4)
print("same")
"""


def test_results_do_not_depend_on_the_number_of_threads():
    assert run(ON_THREADS + POOLS)[0] == ["same"]


OPTIONS = """
import torchere
try:
    torchere.plugins.client("torchere_cpu", {"threads": 2})
except torchere.errors.Error as error:
    print(error)
"""


def test_an_unknown_option_is_refused():
    (line,), _ = run(OPTIONS)
    assert (
        "no such option of the torchere_cpu: got 'threads', expected device_count, intra_op_threads" in line
    )


WEIGHTS = """
import gc, torch, torchere
torch.manual_seed(0)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(8, 5)
    def forward(self, x):
        return self.linear(torch.relu(self.norm(self.conv(x))).mean((2, 3)))

model, x = Model().eval(), torch.randn(2, 3, 6, 6)
model.norm.running_mean.normal_()
program = torchere.export(model, (x,))
for step in range(6):  # a training loop's: other weights, in memory that was used before
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    updated = program.with_weights({k: v.clone() for k, v in model.state_dict().items()})
    for _ in range(3):
        torch.testing.assert_close(updated(x), model(x).detach(), rtol=1e-4, atol=1e-5)
    del updated
    gc.collect()
print("right")
"""


def test_weights_that_change_give_new_results():
    lines, log = run(WEIGHTS, TORCHERE_LOG="debug")
    assert lines == ["right"]
    # Batch norm's factors, at least, are computed from weights alone.
    assert re.search(r"\[main\] \d+ steps on weights alone, for \d+ values", log)


# Where a program of its own file is written, kernels have its lines.
SOURCE = """
import torch, torchere
class Model(torch.nn.Module):
    def forward(self, x):
        y = x @ x
        return torch.tanh(y).sum(0)
x = torch.randn(8, 8)
print({row.op: row.source for row in torchere.export(Model(), (x,)).profile(x).rows})
"""


def test_a_profile_names_the_source_lines(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(SOURCE)
    lines, _ = run(f"import runpy; runpy.run_path({str(script)!r})")
    assert f"'torchere_cpu.dot': '{script}:5'" in lines[0]


# A file of models, each in a form of its own.
MODEL_FILE = """
import sys, tempfile
import torch, torchere
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.bn = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.deep = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.dense = nn.Sequential(nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 1))
        self.up, self.row = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv1d(8, 8, 3, padding=1)
        self.pool, self.head = nn.MaxPool2d(2), nn.Linear(8, 10)
    def forward(self, x):
        x = F.relu(self.bn(self.first(x)))
        x = F.silu(self.deep(x) + x)
        x = x + self.dense(x)
        x = self.pool(self.up(x))
        x = self.row(x.mean(3))
        return self.head(x.mean(2)).softmax(-1)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.inner, self.outer = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
    def forward(self, x):
        b, l, w = x.shape
        q, k, v = self.inner(self.norm(x)).view(b, l, 3, 4, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, l, w)
        x = x + self.outer(y)
        return x + self.down(F.gelu(self.up(F.layer_norm(x, (32,)))))

options = torchere.stablehlo.StableHLOExportOptions(export_node_metadata=True)
for model, x in ((Net().eval(), torch.randn(1, 3, 16, 16)), (Block().eval(), torch.randn(2, 7, 32))):
    captured = torch.export.export(model, (x,))
    for export in (lambda: torchere.export(model, (x,)),
                   lambda: torchere.stablehlo.exported_program_to_stablehlo(captured, options)):
        program = export()
        rows = program.profile(x).rows
        print(*sorted({f"{row.op} {row.source}" for row in rows}), sep=";")
    with tempfile.TemporaryDirectory() as folder:
        program.save(folder + "/saved")
        loaded = torchere.load(folder + "/saved").profile(x).rows
        assert [row.source for row in loaded] == [row.source for row in rows]
"""


def test_each_row_of_a_profile_names_a_line(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(MODEL_FILE)
    lines, _ = run(f"import runpy; runpy.run_path({str(script)!r})")
    line = {text.strip(): number for number, text in enumerate(MODEL_FILE.splitlines(), 1)}
    net, net_of_metadata, block, block_of_metadata = (set(each.split(";")) for each in lines)
    assert net == net_of_metadata and block == block_of_metadata
    place = re.escape(str(script)) + r":\d+( in [\w.]+)?"
    for row in net | block:
        assert re.fullmatch(r"[\w.]+ " + place, row), row

    def at(op, text, scope):
        return f"torchere_cpu.{op} {script}:{line[text]}{scope and f' in {scope}'}"

    assert {
        at("convolution", "x = F.relu(self.bn(self.first(x)))", "first"),
        at("convolution", "x = F.silu(self.deep(x) + x)", "deep"),
        at("convolution", "x = x + self.dense(x)", "dense.2"),
        at("convolution", "x = self.pool(self.up(x))", "up"),
        at("pool", "x = self.pool(self.up(x))", "pool"),
        at("dot", "return self.head(x.mean(2)).softmax(-1)", "head"),
        at("softmax", "return self.head(x.mean(2)).softmax(-1)", ""),
    } <= net
    qkv = "q, k, v = self.inner(self.norm(x)).view(b, l, 3, 4, 8).permute(2, 0, 3, 1, 4)"
    seen = "y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, l, w)"
    mlp = "return x + self.down(F.gelu(self.up(F.layer_norm(x, (32,)))))"
    assert {
        at("norm", qkv, "norm"),
        at("dot", qkv, "inner"),
        at("attention", seen, ""),
        at("dot", "x = x + self.outer(y)", "outer"),
        at("norm", mlp, ""),
        at("dot", mlp, "up"),
        at("dot", mlp, "down"),
    } <= block


PROFILE = """
import json, os, torch, torchere
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 16)).eval()
x = torch.randn(64, 256)
program = torchere.export(model, (x,))
profile = program.profile(x)
torch.testing.assert_close(profile.result, model(x).detach(), rtol=1e-4, atol=1e-5)
products = [row for row in profile.rows if row.op == "torchere_cpu.dot"]
assert len(products) == 2, profile.rows
assert products[0].flops == 2 * 64 * 256 * 512
assert products[0].rate.endswith("/s") and products[0].share_of_peak > 0, products
assert all(row.runs == 1 and row.seconds > 0 for row in profile.rows)
assert [row.source for row in products] == ["0", "2"], products  # paths of modules
assert 0 < sum(row.seconds for row in profile.rows) <= profile.seconds * 1.001
assert profile.peak_flops > 1e8 and profile.peak_bandwidth > 1e7
print(profile)
profile.save(os.environ["TRACE"])
events = json.load(open(os.environ["TRACE"]))["traceEvents"]
assert len(events) == len(profile.rows)
assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
program.save(os.environ["SAVED"])
import numpy
numpy.save(os.environ["SAVED"] + ".npy", x.numpy())
"""


def test_a_profile_has_a_row_for_each_kernel(tmp_path):
    trace, saved = tmp_path / "trace.json", tmp_path / "saved"
    lines, _ = run(PROFILE, TRACE=str(trace), SAVED=str(saved))
    assert re.match(r"main: [\d.]+ ms in \d+ kernels, \w+ with \d+ threads; peak [\d.]+ GFLOP/s", lines[0])
    assert lines[1].split() == ["us", "share", "runs", "kernel", "op", "rate", "of", "peak", "source"]
    assert any("torchere_cpu.dot" in line and "/s" in line for line in lines[2:])
    command = [Path(torchere.__file__).parent / "bin" / "torchere", "run", saved, "--input", f"{saved}.npy"]
    options = ["--plugin", "torchere_cpu", "--profile", "--trace", tmp_path / "cli.json"]
    shown = subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout
    assert re.search(r"matmul +torchere_cpu.dot +[\d.]+ G\w+/s +[\d.]+%", shown)
    assert '"traceEvents"' in (tmp_path / "cli.json").read_text()
    options = ["--plugin", "interpreter", "--profile"]
    refused = subprocess.run([*command, *options], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "the plugin measures no kernels" in refused.stderr


LOOP = """
import torch, torchere
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, torch.tanh(v @ v)),
                                (torch.tensor(0), x))[1]
x = torch.randn(64, 64)
profile = torchere.export(Model(), (x,)).profile(x)
runs = {row.kernel: row.runs for row in profile.rows}
print(runs["loop"], runs["matmul"])
"""


def test_a_profile_counts_the_steps_of_loops():
    assert run(LOOP)[0] == ["1 5"]


CACHES = """
import torch, torchere

class Model(torch.nn.Module):
    def __init__(self, shape, dimension, dtype):
        super().__init__()
        self.dimension = dimension
        self.register_buffer("cache", torch.zeros(shape, dtype=dtype))
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))
    def forward(self, x):
        self.cache.index_copy_(self.dimension, self.position, x)
        self.position.add_(1)
        return self.cache.to(torch.float32).sum()

for shape, dimension in [((2, 3, 8, 4), 2), ((2, 8, 3, 4), 1), ((8, 2, 3, 4), 0), ((2, 3, 4, 8), 3)]:
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int8):
        model = Model(shape, dimension, dtype)
        part = list(shape)
        part[dimension] = 1
        x = torch.ones(part, dtype=dtype)
        program = torchere.export(model, (x,))
        total = 0
        for call in range(4):
            total += x.numel()
            assert float(program(x)) == total, (shape, dtype, call)
        profile = program.profile(x)
        print(shape, dtype, max([row.bytes for row in profile.rows if row.kernel == "copy"], default=0))
"""


def test_caches_are_written_in_place():
    lines = run(CACHES)[0]
    assert len(lines) == 16
    assert [line for line in lines if not line.endswith(" 0")] == []


DENORMALS = """
import torch, torchere

class Half(torch.nn.Module):
    def forward(self, x):
        return x * 0.5

x = torch.full((1 << 20,), 2.0 ** -126)
program = torchere.export(Half(), (x,))
torch.set_flush_denormal(True)  # of this thread, and of those that it starts
for _ in range(20):
    assert (program(x).view(torch.int32) == 1 << 22).all()
print((x[:1] * 0.5).view(torch.int32).item())
"""


def test_denormals_are_kept_whatever_the_caller_does():
    assert run(DENORMALS)[0] == ["0"]


DENORMAL_CONSTANTS = """
import torch, torchere

least = torch.tensor([2.0 ** -149, 1.0])

class Folded(torch.nn.Module):
    def forward(self, x):
        return least * 2, (least > 0).float(), x + least.double() * 2.0 ** 149

for sizes in (None, {"x": {0: torch.export.Dim("rows")}}):
    program = torchere.export(Folded(), (torch.zeros(3, 2).double(),), dynamic_shapes=sizes)
    torch.set_flush_denormal(True)
    program(torch.zeros(3, 2).double())  # compiles
    torch.set_flush_denormal(False)
    doubled, positive, sums = program(torch.zeros(3, 2).double())
    print(doubled[0].item() == 2.0 ** -148, positive.tolist(), sums[0, 0].item())
"""


def test_constants_are_folded_with_denormals_whatever_the_compiling_thread_does():
    assert run(DENORMAL_CONSTANTS)[0] == ["True [1.0, 1.0] 1.0"] * 2
