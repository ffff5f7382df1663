"""What stays: nodes, arrays, interned calls and memory go back to where they were."""

import copy
import gc
import resource

import pytest
import torch

from torchere import lazy


@pytest.fixture(autouse=True)
def _limits_as_before():
    before = lazy.limits()
    yield
    lazy.set_limits(**before)


def live() -> dict[str, int]:
    gc.collect()
    lazy.sync()
    lazy.wait()
    return lazy.statistics()


def resident() -> int:
    """Bytes of the process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_200_steps_of_training_leave_nothing():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 8)).to("xla")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.9)

    def steps(count):
        for _ in range(count):
            x, target = torch.randn(16, 64).to("xla"), torch.randint(8, (16,)).to("xla")
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), target).backward()
            optimizer.step()
            scheduler.step()
            lazy.sync()
        optimizer.zero_grad()

    steps(20)
    before, memory = live(), resident()
    lazy.reset_counters()
    steps(200)
    after = live()
    numbers = after["numbers"] - before["numbers"]  # the learning rates and the corrections of the bias
    assert 0 <= after["nodes"] - before["nodes"] <= numbers
    assert {key: after[key] for key in ("calls", "types", "programs")} == {
        key: before[key] for key in ("calls", "types", "programs")
    }
    assert lazy.counters().get("UncachedCompile", 0) == 0
    assert resident() - memory < 32 << 20


def test_numbers_are_evicted():
    lazy.set_limits(numbers=16)
    x = torch.ones(2).to("xla")
    before = live()
    for step in range(100):
        x = x * (1 + step / 1000)
    x.cpu()
    after = live()
    assert after["numbers"] <= 16
    assert after["nodes"] - before["nodes"] <= 16


def test_calls_of_changing_shapes_are_evicted():
    before = live()
    lazy.set_limits(calls=200)
    for size in range(3000, 4500):
        torch.ones(size, 2, device="xla") * 2 + 1
    after = live()
    # The table evicts whenever it has grown by a quarter.
    assert after["calls"] <= max(200, before["calls"]) * 5 // 4
    assert after["types"] <= 3 * after["calls"] + 64
    assert lazy.counters()["EvictedCall"] >= 1500
    x = torch.ones(3000, 2, device="xla") * 2 + 1  # evicted: interned once more
    assert x.sum().item() == 18000.0


def test_evicted_programs_give_their_calls_up():
    for size in range(1000, 1200):  # as other tests may have left them
        (torch.ones(size).to("xla") * 3).sum().item()
    assert live()["calls"] >= 400
    lazy.set_limits(programs=2, calls=1)
    for size in range(50, 60):
        assert (torch.ones(size).to("xla") * 3).sum().item() == 3.0 * size
    # Those of the programs that are kept, and what tensors of other tests own: the owners that were evicted
    # count at the next call, however large the table was.
    assert live()["calls"] < 40


def test_a_graph_of_autograd_is_freed_with_its_loss():
    w = torch.ones(8, 8).to("xla").requires_grad_()
    before = live()
    loss = w
    for _ in range(50):
        loss = torch.tanh(loss @ w)
    loss = loss.sum()
    assert lazy.statistics()["nodes"] > before["nodes"] + 100
    del loss
    assert live()["nodes"] == before["nodes"]


def test_copies_of_a_model_are_freed():
    model = torch.nn.Linear(16, 16).to("xla")
    before = live()
    for _ in range(10):
        copied = copy.deepcopy(model)
        with torch.no_grad():
            copied.weight.add_(1)
        lazy.sync()
    del copied
    assert live()["nodes"] == before["nodes"]
