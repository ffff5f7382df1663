"""Programs with open sizes on the CPU engine: compiled once, planned once for each set of sizes, and stored
with their plans."""

from __future__ import annotations

import re

import pytest
from engine_test import run

BEGINNING = """
import sys, threading, time
import torch, torchere
from torch.export import Dim

torch.manual_seed(0)
client = torchere.plugins.client()

def compiled():
    return client.compile_counts["compiled"]

def check(program, model, *args):
    with torch.no_grad():
        expected = model(*args)
    result = program(*args)
    assert result.shape == expected.shape and result.dtype == expected.dtype, (result.shape, expected.shape)
    torch.testing.assert_close(result, expected, rtol=2e-5, atol=2e-5)
"""


def plans(log):
    """The sizes that were planned for, in order."""
    return re.findall(r"plans for the sizes ([-\d, ]+)", log)


def run_logged(source, **environment):
    return run(BEGINNING + source, TORCHERE_LOG="debug", **environment)


BATCH = """
model = torch.nn.Sequential(torch.nn.Linear(12, 20), torch.nn.GELU(), torch.nn.LayerNorm(20),
                            torch.nn.Linear(20, 7), torch.nn.Softmax(-1)).eval()
program = torchere.export(model, (torch.randn(3, 12),), dynamic_shapes=({0: Dim("batch")},))
for _ in range(2):
    for size in range(2, 52):
        check(program, model, torch.randn(size, 12))
print(compiled())
"""


def test_fifty_batches_compile_once():
    lines, log = run_logged(BATCH)
    assert lines == ["1"]
    assert plans(log) == [str(size) for size in range(2, 52)]
    assert "interpreted as a whole" not in log


SEQUENCE = """
class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(50, 16), torch.nn.Embedding(64, 16)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(2))
    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return x

model = Encoder().eval()
sizes = {0: Dim("batch", min=1, max=8), 1: Dim("length", min=2, max=64)}
program = torchere.export(model, (torch.randint(0, 50, (2, 9)),), dynamic_shapes=(sizes,))
for _ in range(2):
    for length in range(2, 52):
        check(program, model, torch.randint(0, 50, (length % 3 + 1, length)))
print(compiled())
"""


def test_fifty_lengths_of_an_encoder_compile_once():
    lines, log = run_logged(SEQUENCE)
    assert lines == ["1"]
    assert plans(log) == [f"{length % 3 + 1}, {length}" for length in range(2, 52)]
    assert "interpreted as a whole" not in log


ACTIVATIONS = """
class Model(torch.nn.Module):
    def forward(self, x, y):
        gates = torch.nn.functional.gelu(x) + torch.nn.functional.gelu(y, approximate="tanh")
        return torch.nn.functional.silu(gates) + torch.erf(x * y)

model = Model()
sizes = {0: Dim("size")}
program = torchere.export(model, (torch.randn(3, 4), torch.randn(3, 4)), dynamic_shapes=(sizes, sizes))
for size in (3, 1, 17):
    check(program, model, torch.randn(size, 4), torch.randn(size, 4))
"""


def test_activations_are_fused_before_sizes_are_bound():
    _, log = run_logged(ACTIVATIONS)
    assert re.findall(r"fused for all sizes:(.*)", log) == [" silu=1 gelu=2 erf=1"]
    assert re.findall(r"fused:(.*)", log) == [" none"] * 3


ROWS = """
from torch.nn import functional as F

class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, *args):
        return self.function(*args)

AUTO = Dim.AUTO

def rows(name, function, *shapes, sizes=(3, 1, 17, 2, 0)):  # eager has no maxima of nothing
    model = Model(function)
    def arguments(size):
        return tuple(torch.randn([side if side else size for side in shape]) for shape in shapes)
    dynamic = [{i: AUTO for i, side in enumerate(shape) if not side} or None for shape in shapes]
    print("case", name, file=sys.stderr, flush=True)
    program = torchere.export(model, arguments(5), dynamic_shapes=(tuple(dynamic),))
    for size in sizes:
        check(program, model, *arguments(size))

# An open size is 0 in the shapes.
rows("softmax", lambda x: x.softmax(-1), (0, 4, 0), sizes=(3, 17, 2))
rows("softmax of rows that are open alone", lambda x: x.softmax(-1), (3, 0))
rows("softmax of two dimensions", lambda x: x.flatten(1).softmax(-1).view_as(x), (0, 3, 4))
rows("log_softmax", lambda x: x.log_softmax(-1), (0, 7))
rows("a mask and softmax", lambda x: torch.where(x > 0, x, -torch.inf).softmax(-1), (0, 70))
rows("layer norm", lambda x, w, b: F.layer_norm(x, (12,), w, b), (2, 0, 12), (12,), (12,))
rows("layer norm of two dimensions", lambda x, w, b: F.layer_norm(x, (3, 4), w, b), (0, 3, 4), (3, 4), (3, 4))
rows("layer norm without factors", lambda x: F.layer_norm(x, (6,)), (0, 6))
rows("layer norm of kept dimensions",
     lambda x: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True, correction=0) + 1e-3).sqrt(), (0, 2, 12))
rows("RMS norm", lambda x, w: F.rms_norm(x, (12,), w, 1e-6), (0, 0, 12), (12,), sizes=(3, 17, 2))
rows("RMS norm of kept dimensions",
     lambda x, w: w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)), (0, 3, 12), (12,))
rows("gelu of a norm", lambda x: F.gelu(F.layer_norm(x, (6,))), (0, 6))
rows("linear", F.linear, (0, 12), (20, 12), (20,))
rows("linear, gelu", lambda *args: F.gelu(F.linear(*args)), (2, 0, 12), (20, 12), (20,))
rows("linear and a residual", lambda x, w, b: F.relu(x + F.linear(x, w, b)), (0, 3, 12), (12, 12), (12,))
rows("a residual alone", lambda x, w: F.silu(x) + x @ w, (0, 12), (12, 12))
rows("two factors that are open", lambda x, y, b: x @ y + b, (0, 12), (12, 0), (0,), sizes=(3, 17, 2))
rows("a residual of one row", lambda x, w, y: x @ w + y[:, :1], (0, 12), (12, 12), (0, 12))
rows("scores of fixed keys", lambda x, k, b: (F.linear(x, k) + b).softmax(-1) @ k, (0, 12), (9, 12), (9,))
# What only looks like one.
rows("softmax across rows", lambda x: x.softmax(0), (0, 4))
rows("a sum of other rows", lambda x: (x - x.amax(-1, True)).exp() / x.exp().sum(-1, True), (0, 6))
rows("a sum of columns", lambda x: (x - x.amax(-1, True)).exp() / (x - x.amax(-1, True)).exp().sum(0), (0, 4))
rows("maxima of the columns",
     lambda x: (x - x.amax(0)).exp() / (x - x.amax(0)).exp().sum(-1, True), (0, 4), sizes=(3, 1, 17, 2))
rows("a sum of the columns of a square",
     lambda x: (x - x.amax(-1, True)).exp() / (x - x.amax(-1, True)).exp().sum(-1)[None], (0, 0),
     sizes=(3, 17, 2))
rows("a sum of parts, across", lambda x: (e := (x - x.amax((1, 2), True)).exp()) / e.sum((1, 2))[:, None],
     (0, 0, 4), sizes=(3, 17, 2))
rows("a mean of columns",
     lambda x: (x - x.mean(0)) * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + 1e-3), (0, 4))
rows("a norm of an open row", lambda x: F.layer_norm(x, (x.shape[1],)), (3, 0), sizes=(3, 17, 2))
rows("a variance of one less",
     lambda x: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + 1e-3).sqrt(), (0, 4))
rows("a factor of rows", lambda x, w: F.layer_norm(x, (4,)) * w[:, None], (0, 4), (0,))
"""


def test_rows_are_fused_before_sizes_are_bound():
    _, log = run_logged(ROWS)
    fused = {}
    for part in re.split(r"^case ", log, flags=re.MULTILINE)[1:]:
        name, lines = part.split("\n", 1)
        (fused[name],) = re.findall(r"fused for all sizes: ?(.*)", lines)
        bound = {
            found for line in re.findall(r"fused:(.*)", lines) for found in re.findall(r"softmax|norm", line)
        }
        if fused[name] != "none":
            assert not bound, name
    softmaxes = (
        "softmax",
        "softmax of rows that are open alone",
        "softmax of two dimensions",
        "log_softmax",
        "a mask and softmax",
    )
    norms = (
        "layer norm",
        "layer norm of two dimensions",
        "layer norm without factors",
        "layer norm of kept dimensions",
        "RMS norm",
        "RMS norm of kept dimensions",
        "a factor of rows",
    )
    expected = (
        dict.fromkeys(fused, "none") | dict.fromkeys(softmaxes, "softmax=1") | dict.fromkeys(norms, "norm=1")
    )
    expected["gelu of a norm"] = "norm=1 gelu=1"
    expected["linear"] = expected["linear and a residual"] = "dot=1"
    expected["linear, gelu"] = "gelu=1 dot=1"
    expected["a residual alone"] = "silu=1 dot=1"
    expected["a residual of one row"] = "dot=1"
    expected["scores of fixed keys"] = "softmax=1"
    assert fused == expected


EVICTED = """
model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()).eval()
program = torchere.export(model, (torch.randn(3, 4),), dynamic_shapes=({0: Dim("batch")},))
for size in [*range(2, 80), 79, 2]:
    check(program, model, torch.randn(size, 4))
print(compiled())
"""


def test_the_plans_least_recently_used_are_dropped():
    lines, log = run_logged(EVICTED)
    assert lines == ["1"]
    assert plans(log) == [*map(str, range(2, 80)), "2"]


INTEGER = """
class Model(torch.nn.Module):
    def forward(self, x, count: int):
        return x.repeat(count, 1) + torch.arange(count * x.shape[0])[:, None]

model = Model()
program = torchere.export(model, (torch.randn(3, 2), 4), dynamic_shapes=({0: Dim("rows")}, Dim.DYNAMIC))
for rows, count in [(3, 4), (3, 5), (2, 5), (3, 4)]:
    check(program, model, torch.randn(rows, 2), count)
print(compiled())
"""


def test_sizes_that_depend_on_an_int_are_bound_by_its_value():
    lines, log = run_logged(INTEGER)
    assert lines == ["1"]
    assert plans(log) == ["3, 4", "3, 5", "2, 5"]
    assert "interpreted as a whole" not in log


STATE = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
    def forward(self, x):
        self.total.add_(x.sum(0))
        return x + self.total

model, copy = Model(), Model()
program = torchere.export(model, (torch.randn(4, 3),), dynamic_shapes=({0: Dim("batch")},))
for size in (2, 5, 2, 7, 5):
    check(program, copy, torch.randn(size, 3))
print(compiled(), program.memory_statistics(torch.randn(5, 3)) is not None)
"""


def test_state_is_kept_between_sizes():
    assert run_logged(STATE)[0][0].startswith("1 ")


RELATED = """
class Model(torch.nn.Module):
    def forward(self, x, y):
        return x + y

size = Dim("size")
program = torchere.export(Model(), (torch.randn(3), torch.randn(3)), dynamic_shapes=({0: size}, {0: size}))
check(program, Model(), torch.randn(5), torch.randn(5))
try:
    program(torch.randn(5), torch.randn(4))
except torchere.errors.Error as error:
    print(error)
"""


def test_sizes_that_contradict_each_other_are_refused():
    (line,), _ = run_logged(RELATED)
    assert "[y]" in line and "got 4" in line and "5" in line


THREADS = """
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 16)).eval()
program = torchere.export(model, (torch.randn(3, 16),), dynamic_shapes=({0: Dim("batch")},))
wrong = []
def work(seed):
    generator = torch.Generator().manual_seed(seed)
    for step in range(30):
        x = torch.randn(2 + (seed + step) % 11, 16, generator=generator)
        if not torch.allclose(program(x), model(x), rtol=1e-4, atol=1e-5):
            wrong.append(seed)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(wrong), compiled())
"""


def test_threads_bind_sizes_at_once():
    lines, log = run_logged(THREADS)
    assert lines == ["0 1"]
    assert sorted(map(int, plans(log))) == list(range(2, 13))


DATA = """
class Model(torch.nn.Module):
    def forward(self, x):
        return x[x > 0] * 2

model = Model()
program = torchere.export(model, (torch.randn(6),), dynamic_shapes=({0: Dim("size")},))
for size in (6, 9):
    check(program, model, torch.randn(size))
print(compiled())
"""


def test_sizes_that_depend_on_data_are_computed():
    lines, log = run_logged(DATA)
    assert lines == ["1"]
    assert [sizes for sizes in plans(log) if "," not in sizes] == ["6", "9"]  # others are those of the data
    assert "interpreted as a whole" not in log


STORED = """
model = torch.nn.Sequential(torch.nn.Linear(12, 20), torch.nn.GELU(), torch.nn.Linear(20, 7)).eval()
program = torchere.export(model, (torch.randn(3, 12),), dynamic_shapes=({0: Dim("batch")},))
for size in map(int, SIZES.split()):
    check(program, model, torch.randn(size, 12))
counts = client.compile_counts
print(counts["compiled"], counts["loaded"])
"""


RUNNING_SUMS = """
class Sums(torch.nn.Module):
    def forward(self, x):
        return x.cumsum(0), x.cumsum(-1)

sizes = ({0: Dim("rows", min=1, max=999), x.dim() - 1: Dim("columns", min=1, max=999)},)
program = torchere.export(Sums(), (x,), dynamic_shapes=sizes)
for shape in ((4, 30), (1, 1), (1, 2), (2, 1), (3, 900), (300, 7)):
    numbers = torch.arange(shape[0] * shape[1]).remainder(5).reshape(shape)
    for given in (numbers.to(x.dtype), numbers.flip(0).to(x.dtype)):
        given = given if x.dim() == 2 else given.unsqueeze(1).repeat(1, x.shape[1], 1)
        expected, results = Sums()(given), program(given)
        for got, wanted in zip(results, expected, strict=True):
            assert got.dtype == wanted.dtype and torch.equal(got, wanted), shape
profile = str(program.profile(given))
print(profile.count("running reduction"), "stablehlo.while" in profile)
"""


@pytest.mark.parametrize(
    "x",
    ["torch.ones(4, 30)", "torch.ones(4, 30).long()", "torch.ones(4, 2, 30).int()", "torch.ones(4, 30) > 0"],
)
def test_running_sums_of_open_lengths_are_no_loops(x):
    lines, _ = run_logged(f"x = {x}\n" + RUNNING_SUMS)
    assert lines == ["2 False"]


def test_another_process_finds_the_plans(tmp_path):
    def plans_of(sizes):
        (counts,), log = run_logged(
            f"SIZES = {sizes!r}\n{STORED}", TORCHERE_CACHE="1", TORCHERE_CACHE_DIR=str(tmp_path)
        )
        return counts, plans(log), "is read and simplified" in log

    assert plans_of("2 3 4 5") == ("1 0", ["2", "3", "4", "5"], False)
    assert plans_of("3 5 2") == ("0 1", [], False)  # stored after the first call and the fourth
    assert plans_of("4 9") == ("0 1", ["9"], True)
    assert plans_of("9 3 8 8 8") == ("0 1", ["9", "8"], True)  # nothing was stored after the second call
    assert plans_of("9 8") == ("0 1", [], False)


HUGE = """
class Expand(torch.nn.Module):
    def forward(self, x, count):
        size = count.item()
        torch._check(size >= 0)
        return x.expand(size).exp()

program = torchere.export(Expand(), (torch.ones(1), torch.tensor(5)))
check(program, Expand(), torch.ones(1), torch.tensor(5))
for size in (2**62, 2**62 + 1, 2**61 + 1, 2**63 - 1, 2**40, 2**40 - 1):
    try:
        program(torch.ones(1), torch.tensor(size))
    except torchere.errors.Error as error:
        print(error)
check(program, Expand(), torch.ones(1), torch.tensor(7))
"""


def test_sizes_whose_bytes_overflow_are_refused():
    lines, _ = run_logged(HUGE)
    errors = [line for line in lines if "no memory for " in line]
    assert len(errors) == 6
    for size, error in zip((2**62, 2**62 + 1, 2**61 + 1, 2**63 - 1, 2**40), errors, strict=False):
        assert f"[stablehlo.broadcast_in_dim] no memory for a tensor<{size}xf32>" in error
    assert f"no memory for {(2**40 - 1) * 4} bytes" in errors[-1]
