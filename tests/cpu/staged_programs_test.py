"""Programs whose sizes depend on data, on the CPU engine: what comes before a size is planned once, what
comes behind it for each size that turns up."""

from __future__ import annotations

import re

from engine_test import run

BEGINNING = """
import torch, torchere
from torch.export import Dim

torch.manual_seed(0)

def check(program, model, *args):
    with torch.no_grad():
        expected = model(*(arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args))
    result = program(*args)
    leaves = lambda value: list(value) if isinstance(value, (tuple, list)) else [value]
    for got, wanted in zip(leaves(result), leaves(expected), strict=True):
        assert got.shape == wanted.shape and got.dtype == wanted.dtype, (got.shape, wanted.shape)
        torch.testing.assert_close(got, wanted, rtol=2e-5, atol=2e-5, equal_nan=True)

def module(function):
    class Module(torch.nn.Module):
        def forward(self, *args):
            return function(*args)
    return Module()
"""


def planned(source, **environment):
    """The sizes that were planned for, in order. Nothing may be left to the interpreter."""
    lines, log = run(BEGINNING + source, TORCHERE_LOG="debug", **environment)
    assert "interpreted as a whole" not in log, log
    assert re.findall(r"evaluated: (?!none)\S+", log) == []
    return lines, re.findall(r"plans for the sizes ([-\d, ]+)", log)


def test_results_of_each_size():
    lines, sizes = planned("""
model = module(lambda x: (x.nonzero(), x[x > 0], x.sum(0)))
x = torch.randn(6, 5)
program = torchere.export(model, (x,))
for given in (x, torch.zeros(6, 5), torch.ones(6, 5), x, -x.abs()):
    check(program, model, given)
print("done")
""")
    assert lines == ["done"]
    assert len(sizes) >= 4 and len(set(sizes)) == len(sizes), "one plan for equal sizes"


def test_what_is_chosen_from_nothing():
    """Detections are sorted after those above a threshold were kept: none may be left."""
    lines, _ = planned("""
def detections(boxes, scores):
    kept = scores > 0.5
    boxes, scores = boxes[kept], scores[kept]
    order = scores.argsort(descending=True)
    return boxes[order], scores.gather(0, order), boxes[boxes[:, 0].nonzero().squeeze(1)]

scores = torch.tensor([0.6, 0.7, 0.2, 0.9, 0.1, 0.3])
program = torchere.export(module(detections), (torch.randn(6, 4), scores))
for given in (scores, scores / 2, scores.clamp(max=0.65), torch.zeros(6)):
    check(program, module(detections), torch.randn(6, 4), given)

sizes = ({0: Dim("b")}, {0: Dim("n")})
example = (torch.randn(5, 4), torch.tensor([0, 2, 1]))
for function in (lambda x, i: x[i], lambda x, i: x.index_select(0, i), lambda x, i: x[x[:, 0].nonzero()]):
    program = torchere.export(module(lambda *args: function(*args)), example, dynamic_shapes=(sizes,))
    check(program, module(function), torch.zeros(0, 4), torch.zeros(0, dtype=torch.long))
    check(program, module(function), torch.randn(3, 4), torch.tensor([2, 0]))
try:
    program = torchere.export(module(lambda x, i: x[i]), example, dynamic_shapes=(sizes,))
    program(torch.zeros(0, 4), torch.zeros(1, dtype=torch.long))
except torchere.Error as error:
    print("slice size of dimension 0: got 1, expected it in [0, 0]" in str(error))
print("done")
""")
    assert lines == ["True", "done"]


def test_counts_and_unique_numbers():
    lines, _ = planned("""
model = module(lambda x: (torch.bincount(x), torch.bincount(x, minlength=40), torch.unique(x)))
program = torchere.export(model, (torch.randint(9, (50,)),))
for most in (1, 9, 30, 9, 60):
    check(program, model, torch.randint(most, (50,)))
print("done")
""")
    assert lines == ["done"]


def test_sizes_behind_sizes():
    """Of what the first mask leaves, another one leaves a part."""
    lines, sizes = planned("""
def twice(x):
    kept = x[x > 0]
    small = kept[kept < kept.mean()]
    return small * 2, torch.repeat_interleave(small, torch.arange(small.shape[0]))
model = module(twice)
program = torchere.export(model, (torch.randn(40),))
for _ in range(3):
    check(program, model, torch.randn(40))
print("done")
""")
    assert lines == ["done"]
    assert len(sizes) > 3, "the rest has a rest"


def test_layers_behind_a_choice():
    """The layers' weights stay weights: they are packed once for all sizes, and changed ones are seen."""
    lines, sizes = planned("""
class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.behind = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)
        self.register_buffer("calls", torch.zeros(3))
    def forward(self, x):
        self.calls.add_(1)
        hidden = torch.relu(self.before(x))
        chosen = hidden[hidden.sum(-1) > hidden.sum(-1).mean()]
        return torch.softmax(self.behind(chosen), -1) + self.calls[0]
model = Chosen().eval()
program = torchere.export(model, (torch.randn(24, 16),))
expected = Chosen().eval()
expected.load_state_dict(model.state_dict())
for _ in range(6):
    x = torch.randn(24, 16)
    got = program(x)
    with torch.no_grad():
        torch.testing.assert_close(got, expected(x), rtol=2e-5, atol=2e-5)
with torch.no_grad():
    expected.behind.weight.mul_(2)
program.load_state_dict(expected.state_dict())
x = torch.randn(24, 16)
with torch.no_grad():
    torch.testing.assert_close(program(x), expected(x), rtol=2e-5, atol=2e-5)
print("done")
""")
    assert lines == ["done"]
    assert sizes


def test_open_arguments():
    lines, _ = planned("""
model = module(lambda x: torch.nn.functional.gelu(x)[x.sum(-1) > 0].cumsum(0))
program = torchere.export(model, (torch.randn(9, 4),), dynamic_shapes=(({0: Dim("rows", min=2)},),))
for rows in (9, 5, 17, 9):
    check(program, model, torch.randn(rows, 4))
print("done")
""")
    assert lines == ["done"]


def test_scans_of_nothing():
    lines, _ = planned("""
model = module(lambda x: (x[x > 0].cumsum(0), x[x > 0].logcumsumexp(0)))
program = torchere.export(model, (torch.randn(9),))
for given in (torch.randn(9), -torch.ones(9), torch.ones(9)):
    check(program, model, given)
print("done")
""")
    assert lines == ["done"]


def test_sizes_that_the_rest_has_no_plan_for_are_interpreted():
    """An element of nothing is no valid op, but one of a loop that does not run."""
    lines, log = run(
        BEGINNING
        + """
def added(x):
    kept = x[x > 0]
    def condition(i, total):
        return i < (x > 0).sum()
    def body(i, total):
        return i + 1, total + kept.index_select(0, i.view(1))[0]
    return torch.while_loop(condition, body, (torch.zeros((), dtype=torch.int64), torch.zeros(())))
model = module(added)
program = torchere.export(model, (torch.randn(9),))
for given in (torch.randn(9), torch.ones(9), -torch.ones(9), torch.randn(9)):
    check(program, model, given)
print("done")
""",
        TORCHERE_LOG="info",
    )
    assert lines == ["done"]
    (reason,) = re.findall(r"interpreted as a whole: (.*)", log)
    assert "slice size of dimension 0: got 1, expected it in [0, 0]" in reason


def test_profile_has_both_parts():
    lines, _ = planned("""
model = module(lambda x: torch.sort(torch.exp(x)[x > 0])[0])
x = torch.randn(100)
program = torchere.export(model, (x,))
profile = program.profile(x)
torch.testing.assert_close(profile.result, model(x))
ops = [row.op for row in profile.rows]
print("stablehlo.exponential" in ops or "stablehlo.compare" in ops, ops.count("stablehlo.sort"))
print(abs(profile.seconds - sum(row.seconds for row in profile.rows)) < 1e-3)
""")
    assert lines == ["True 2", "True"]


def test_threads_share_one_program():
    lines, _ = planned("""
import threading
model = module(lambda x: x[x > 0] * 3)
program = torchere.export(model, (torch.randn(64),))
failures = []
def work(seed):
    generator = torch.Generator().manual_seed(seed)
    try:
        for _ in range(10):
            check(program, model, torch.randn(64, generator=generator))
    except Exception as error:
        failures.append(error)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failures)
""")
    assert lines == ["[]"]
