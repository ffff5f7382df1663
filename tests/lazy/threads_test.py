"""Several threads trace, sync and read at once."""

import copy
import threading
import time

import pytest
import torch

from torchere import lazy


def run_threads(work, count: int) -> None:
    """Calls work(0), work(1), ... in threads of their own, and raises the first failure of one."""
    failures = []

    def guarded(index):
        try:
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def train(model, seed, device, steps):
    model, generator = copy.deepcopy(model).to(device), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        x = torch.randn(4, 6, generator=generator).to(device)
        optimizer.zero_grad()
        loss = (torch.tanh(model(x)) ** 2).mean()
        loss.backward()
        optimizer.step()
        if device == "xla":
            lazy.sync()
        if step % 3 == 0:
            loss.item()
    return [parameter.detach().cpu() for parameter in model.parameters()]


def hammer(seconds: float) -> None:
    """Eight threads: half of them train, the others compute and read small things of their own, and all of
    them read a tensor that they share."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    expected = [train(model, seed, "cpu", 5) for seed in range(4)]
    train(model, 0, "xla", 5)  # compiled
    shared = torch.arange(4.0).to("xla") * 2
    end = time.monotonic() + seconds

    def work(index):
        rounds = 0
        while rounds < 2 or time.monotonic() < end:
            rounds += 1
            if index % 2:
                for got, wanted in zip(train(model, index // 2, "xla", 5), expected[index // 2], strict=True):
                    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
                continue
            value = index + rounds % 1000  # whose square float32 holds
            x = torch.full((3,), float(value)).to("xla")
            y = x * x + index
            kept = y[1:] + shared[2]
            lazy.sync()
            z = torch.exp(y * 0) + kept.sum()
            assert y.tolist() == [value**2 + index] * 3
            assert z[0].item() == 1 + 2 * (value**2 + index + 4)
            assert shared.tolist() == [0.0, 2.0, 4.0, 6.0]

    run_threads(work, 8)


def test_eight_threads_at_once():
    hammer(3)


@pytest.mark.sweep
def test_eight_threads_for_a_minute():
    hammer(60)


def test_threads_that_work_apart_compile_nothing_for_each_other():
    def work(index):
        for step in range(30):
            x = torch.full((index + 2,), float(step)).to("xla")
            for _ in range(5):
                x = x * 2 + 1
                time.sleep(0)
            if step % 2:
                lazy.sync()
            assert x.tolist() == [32.0 * step + 31] * (index + 2)

    run_threads(work, 4)
    assert lazy.counters()["UncachedCompile"] <= 4 * 2  # the sync between may find some of it computed


def test_a_failure_in_one_thread_is_not_anothers():
    def work(index):
        for step in range(10):
            if index % 2:
                with pytest.raises(RuntimeError):
                    torch.ones(1 << (45 + step % 2), device="xla").cpu()
            else:
                x = torch.full((3,), float(step)).to("xla")
                assert (x + index).tolist() == [float(step + index)] * 3

    run_threads(work, 4)


def test_a_value_goes_from_thread_to_thread():
    values = [torch.zeros(3).to("xla")]
    for index in range(6):
        run_threads(lambda _, index=index: values.append(values[-1] + index), 1)
    end = time.monotonic() + 30
    while lazy.statistics()["pending_ops"] and time.monotonic() < end:  # Python joins before the thread ends
        lazy.sync()  # what they left is everybody's
    assert lazy.statistics()["pending_ops"] == 0
    assert values[-1].tolist() == [15.0] * 3


def test_a_thread_reads_what_another_one_is_tracing():
    x = torch.ones(3).to("xla")
    ready, done = threading.Event(), threading.Event()
    traced = []

    def other(_):
        traced.append(x + 1)
        ready.set()
        assert done.wait(60)
        assert (traced[0] * 2).tolist() == [4.0] * 3

    thread = threading.Thread(target=other, args=(0,))
    thread.start()
    assert ready.wait(60)
    lazy.sync()
    assert lazy.statistics()["pending_ops"] == 1  # the other thread's
    assert (traced[0] * 3).tolist() == [6.0] * 3
    done.set()
    thread.join()
