"""How syncs compute: in the background, in parts where one fails, in the memory of arrays that die."""

import operator
import os
import subprocess
import sys

import pytest
import torch

from torchere import lazy


@pytest.fixture(autouse=True)
def _limits_as_before():
    before = lazy.limits()
    yield
    lazy.set_limits(**before)


def count(name: str) -> int:
    return lazy.counters().get(name, 0)


def test_tracing_goes_on_while_the_plugin_computes():
    def program():
        y = torch.full((1200, 1200), 1e-4, device="xla")
        for _ in range(12):
            y = y @ y
        return y

    program()
    lazy.sync()
    lazy.wait()
    y = program()
    lazy.sync()  # its program is known
    assert lazy.statistics()["running"] == 1
    z = torch.ones(2).to("xla") + 1
    assert lazy.statistics()["running"] == 1 and lazy.statistics()["pending_ops"] == 1
    assert z.tolist() == [2.0, 2.0] and y[0, 0].item() >= 0
    lazy.wait()
    assert lazy.statistics()["running"] == 0


def test_what_is_computed_twice_in_a_row_is_read_in_between():
    x = torch.ones(3).to("xla")
    for step in range(20):
        x = x + 1
        lazy.sync()
        if step % 7 == 0:
            assert x.tolist() == [step + 2.0] * 3
    assert x.tolist() == [21.0] * 3


TOO_LARGE = 1 << 46  # elements: no machine has the memory


def test_an_error_of_the_execution_is_told_where_its_value_is_read():
    x = torch.ones(2).to("xla")
    good, bad = x * 3, torch.ones(TOO_LARGE, device="xla")
    lazy.sync()
    worse, better = bad + good[0], good + 1
    assert good.tolist() == [3.0, 3.0]
    assert better.tolist() == [4.0, 4.0]
    for value in (bad, bad, worse):
        with pytest.raises(RuntimeError, match="no memory for a tensor<70368744177664xf32>"):
            value.cpu()
    assert (better * 2).tolist() == [8.0, 8.0]


def test_a_value_that_is_kept_is_not_overwritten():
    old = x = torch.arange(4.0).to("xla")
    x = x * 2
    lazy.sync()
    assert count("DonatedArrays") == 0
    assert old.tolist() == [0.0, 1.0, 2.0, 3.0] and x.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_an_array_that_only_the_graph_reads_is_overwritten():
    x = torch.arange(4.0).to("xla")
    y, z = x * 2, torch.ones(4).to("xla")
    del x
    both = y + z
    assert lazy.get_stablehlo().count("stablehlo.multiply") == 1
    del y, z
    assert both.tolist() == [1.0, 3.0, 5.0, 7.0]
    assert count("DonatedArrays") == 1


def test_parameters_and_optimizer_states_are_updated_in_their_memory():
    parameter = torch.nn.Parameter(torch.ones(5, 5).to("xla"))
    optimizer = torch.optim.Adam([parameter], lr=0.1)

    def step():
        optimizer.zero_grad()
        (parameter**2).sum().backward()
        optimizer.step()
        lazy.sync()
        lazy.wait()

    step(), step()
    lazy.reset_counters()
    step(), step()
    # The parameter, its two means, and the gradient of the step before, which no result can take.
    assert 6 <= count("DonatedArrays") <= 8 and count("UncachedCompile") == 0


def test_a_step_needs_memory_for_one_copy_of_the_parameters():
    code = """
import resource, torch
from torchere import lazy
small = torch.ones(8, device="xla")
small.mul_(0.5).add_(1), lazy.sync(), lazy.wait()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
elements = 40 << 20
x = torch.zeros(elements, device="xla")
lazy.sync(), lazy.wait()
for _ in range(4):
    x.mul_(0.5).add_(1)
    lazy.sync()
lazy.wait()
assert x[-1].item() == 1.875
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / (elements * 4))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < 1.6  # copies


def test_a_graph_whose_arrays_die_later_is_compiled_once_more():
    kept = []
    for step in range(6):
        x = torch.full((600, 600), float(step)).to("xla")
        if step < 2:
            kept.append(x)
        y = x * 2
        del x
        assert y[0, 0].item() == 2.0 * step
    assert count("DonationCompile") == 1
    assert [x[0, 0].item() for x in kept] == [0.0, 1.0]


def test_a_loop_without_sync_is_cut_with_a_warning():
    lazy.set_limits(pending_ops=100)
    x = torch.zeros(2).to("xla")
    with pytest.warns(UserWarning, match=r"100 ops are pending without a sync.*execution_test.py:\d+"):
        for _ in range(350):
            x = x + 1
    assert lazy.statistics()["pending_ops"] < 100 and count("CutTrace") == 3
    assert x.tolist() == [350.0, 350.0]


def test_a_loop_without_sync_is_cut_in_its_gradients_too():
    lazy.set_limits(pending_ops=60)
    w = torch.ones(2).to("xla").requires_grad_()
    with pytest.warns(UserWarning, match="60 ops are pending without a sync"):
        x = w
        for _ in range(50):
            x = x * w * 1.01
        x.sum().backward()
    torch.testing.assert_close(w.grad.cpu(), torch.full((2,), 51 * 1.01**50))


def test_limits():
    with pytest.raises(
        RuntimeError, match=r"\[limits\] no such limit: got ops, expected one of pending_ops, "
    ):
        lazy.set_limits(ops=3)
    with pytest.raises(RuntimeError, match=r"\[limits\] calls: got 0, expected a whole number above 0"):
        lazy.set_limits(calls=0)
    code = "from torchere import lazy; print(lazy.limits()['programs'])"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TORCHERE_LAZY_PROGRAMS": "7"},
        capture_output=True,
        text=True,
    )
    assert result.stdout == "7\n", result.stderr


def test_programs_are_evicted_and_compiled_again():
    lazy.set_limits(programs=2)

    def run(size):
        assert (torch.ones(size).to("xla") + 1).sum().item() == 2.0 * size

    for size in (3, 4, 3, 4):
        run(size)
    assert count("UncachedCompile") == 2
    run(5)  # in place of 3, the least recently used one
    run(4)
    assert count("UncachedCompile") == 3 and count("EvictedProgram") >= 1
    run(3)
    assert count("UncachedCompile") == 4
    assert lazy.statistics()["programs"] == 2


def test_another_process_finds_programs_on_disk(tmp_path):
    code = """
import torch
from torchere import lazy
print((torch.arange(3.0).to("xla") * 2.5 - 1).tolist())
known = lazy.statistics()
print("compiled", known["plugin_compiles"], "loaded", known["disk_cache_loads"])
"""
    environment = {**os.environ, "TORCHERE_CACHE": "1", "TORCHERE_CACHE_DIR": str(tmp_path)}
    seen = []
    for _ in range(2):
        result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        seen.append(result.stdout.splitlines())
    assert seen[0][0] == seen[1][0] == "[-1.0, 1.5, 4.0]"
    assert seen[0][1] == "compiled 1 loaded 0"
    assert seen[1][1] == "compiled 0 loaded 1"


def test_a_forked_process_is_told():
    code = """
import os, torch
from torchere import lazy
x = torch.ones(2).to("xla") + 1
x.cpu(), lazy.sync()
if os.fork() == 0:
    try:
        (x + 1).cpu()
    except RuntimeError as error:
        print("child:", error, flush=True)
    os._exit(0)
os.wait()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and "child:" in result.stdout and "fork" in result.stdout, result


def operators():
    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "ge", "eq")
    return [getattr(operator, name) for name in binary]


@pytest.mark.parametrize("number", [2, -3, 300, 2.5])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float32, torch.bfloat16])
def test_operators_with_numbers(dtype, number):
    """Also with one that the tensor's type does not hold: a quotient computes with it as it is."""
    x = torch.tensor([1, 2, 3, 5]).to(dtype)
    for function in operators():
        for call in (lambda x, f=function: f(x, number), lambda x, f=function: f(number, x)):
            torch.testing.assert_close(call(x.to("xla")).cpu(), call(x), msg=str(function))


def test_numbers_beside_a_tensor_without_dimensions():
    """The computation is in the tensor's type, but a quotient, also where that does not hold the number."""
    x = torch.tensor(5, dtype=torch.uint8)
    for number in (-3, 300):
        for function in (operator.add, operator.mul, operator.floordiv, operator.truediv):
            torch.testing.assert_close(function(x.to("xla"), number).cpu(), function(x, number))
    for function in (operator.lt, operator.ge, operator.eq):
        torch.testing.assert_close(function(x.to("xla"), -3).cpu(), function(x, -3))
