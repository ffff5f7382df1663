"""Programs with open sizes on the CPU engine: compiled once, planned once for each set of sizes."""

from __future__ import annotations

import re

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


def run_logged(source):
    return run(BEGINNING + source, TORCHERE_LOG="debug")


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
    assert plans(log) == ["6", "9"]
