"""Random numbers on the device: the stream of exported programs, its seeds and states, and what they cost."""

import threading

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import torchere
from torchere import lazy

F = torch.nn.functional

DRAWS = {
    "rand": lambda x: torch.rand(5, device=x.device),
    "rand float64": lambda x: torch.rand(5, dtype=torch.float64, device=x.device),
    "randn": lambda x: torch.randn(5, device=x.device),
    "randint": lambda x: torch.randint(3, 9, (5,), device=x.device),
    "randperm": lambda x: torch.randperm(7, device=x.device),
    "rand_like": lambda x: torch.rand_like(x),
    "randint_like": lambda x: torch.randint_like(x, 9),
    "uniform_": lambda x: x.clone().uniform_(-1, 2),
    "normal_": lambda x: x.clone().normal_(1, 3),
    "exponential_": lambda x: x.clone().exponential_(2.0),
    "cauchy_": lambda x: x.clone().cauchy_(),
    "log_normal_": lambda x: x.clone().log_normal_(),
    "geometric_": lambda x: x.clone().geometric_(0.3),
    "random_": lambda x: x.to(torch.int64).random_(),
    "random_ to": lambda x: x.clone().random_(5),
    "bernoulli": lambda x: torch.bernoulli(torch.full_like(x, 0.5)),
    "bernoulli_": lambda x: x.clone().bernoulli_(0.3),
    "bernoulli_ of a tensor": lambda x: x.clone().bernoulli_(torch.full_like(x, 0.7)),
    "normal": lambda x: torch.normal(x, x + 2),
    "multinomial": lambda x: torch.multinomial(x + 1, 4),
    "multinomial with replacement": lambda x: torch.multinomial(x + 1, 9, replacement=True),
    "dropout": lambda x: F.dropout(x + 1, 0.3),
    "native_dropout": lambda x: torch.native_dropout(x + 1, 0.5, True)[0],
    "rrelu": lambda x: F.rrelu(-x - 1, training=True),
}


def fallbacks() -> list[str]:
    return [name for name in lazy.counters() if name.startswith("aten::")]


@pytest.mark.parametrize("start", range(0, len(DRAWS), 12))
def test_the_stream_is_that_of_an_exported_program(start):
    names = list(DRAWS)[start : start + 12]

    def draw(x):
        return tuple(DRAWS[name](x) for name in names)

    x = torch.linspace(0, 2, 6)
    program = torchere.export(draw, (x,))
    program.manual_seed(11)
    torch.manual_seed(11)
    lazy.reset_counters()
    got = draw(x.to("xla"))
    assert not fallbacks()
    for name, ours, expected in zip(names, got, program(x), strict=True):
        assert ours.device.type == "xla" and ours.dtype == expected.dtype, name
        torch.testing.assert_close(
            ours.cpu(), expected, rtol=1e-6, atol=1e-6, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_integers_from_a_first_one():
    for dtype, least in ((torch.int64, 2**61), (torch.int8, 100), (torch.uint8, 250)):
        x = torch.empty(200, dtype=dtype, device="xla").random_(least, None).cpu()
        assert (x >= least).all() and len(x.unique()) > 1
    x = torch.empty(200, device="xla").random_(5, 8).cpu()
    assert sorted(x.unique().tolist()) == [5.0, 6.0, 7.0]
    with pytest.raises(RuntimeError, match="expects 'from' to be less than 'to'"):
        torch.empty(2, device="xla").random_(8, 5)


def test_equal_seeds_give_equal_numbers():
    def numbers(seed):
        seed()
        return torch.rand(4, device="xla").tolist()

    expected = numbers(lambda: torch.manual_seed(3))
    assert numbers(lambda: lazy.manual_seed(3)) == expected
    assert numbers(lambda: torch.xla.manual_seed(3)) == expected
    assert numbers(lambda: torch.manual_seed(4)) != expected
    generator = torch.Generator(device="xla").manual_seed(3)
    assert torch.rand(4, device="xla", generator=generator).tolist() == expected
    assert torch.rand(4, device="xla", generator=generator).tolist() != expected
    assert generator.device == torch.device("xla", 0) and generator.initial_seed() == 3
    assert torch.xla.initial_seed() == 4
    torch.manual_seed(-1)
    assert torch.xla.initial_seed() == 2**64 - 1


def test_the_state_is_kept_and_restored_without_reading_it():
    torch.manual_seed(0)
    torch.rand(5, device="xla")
    lazy.reset_counters()
    state = torch.xla.get_rng_state()
    first = torch.rand(4, device="xla")
    torch.xla.set_rng_state(state)
    second = torch.rand(4, device="xla")
    assert "DeviceToHost" not in lazy.counters()
    assert torch.equal(first.cpu(), second.cpu())
    assert state.tolist() == [0, 3]  # the seed, and three blocks for five numbers
    torch.xla.set_rng_state(state.cpu())
    assert torch.equal(torch.rand(4, device="xla").cpu(), first.cpu())
    with torch.random.fork_rng(devices=[0], device_type="xla"):
        torch.xla.set_rng_state(state)
        assert torch.equal(torch.rand(4, device="xla").cpu(), first.cpu())
        torch.rand(100, device="xla")
    assert torch.xla.get_rng_state().tolist() == [0, 5]
    copied = torch.Generator(device="xla")
    copied.set_state(state)
    assert torch.equal(torch.rand(4, device="xla", generator=copied).cpu(), first.cpu())
    assert torch.equal(torch.rand(2, generator=copied.clone_state(), device="xla").cpu(), copied_next(copied))


def copied_next(generator):
    return torch.rand(2, device="xla", generator=generator).cpu()


def test_states_and_generators_of_another_kind_are_errors():
    with pytest.raises(
        RuntimeError, match=r"\[xla.set_rng_state\] no state of a generator: got Float of \[2\]"
    ):
        torch.xla.set_rng_state(torch.zeros(2))
    with pytest.raises(RuntimeError, match="a generator of another device: got cpu, expected xla:0"):
        torch.empty(3, device="xla").uniform_(generator=torch.Generator())
    with pytest.raises(ValueError, match=r"\[lazy\] no such generator: got the device cpu, expected xla"):
        torch.xla.get_rng_state("cpu")


def test_a_step_with_dropout_is_compiled_once_and_reads_nothing():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, losses = torch.ones(4, 8, device="xla"), []
    for step in range(6):
        if step == 2:
            lazy.sync()
            lazy.reset_counters()
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        lazy.sync()
    counters = lazy.counters()
    assert "UncachedCompile" not in counters and "DeviceToHost" not in counters
    assert "HostToDevice" not in counters and not fallbacks()
    assert len({loss.item() for loss in losses}) == 6


def test_dropout_keeps_its_share_and_its_gradient():
    x = torch.ones(10000, device="xla", requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    kept = y.detach().cpu() != 0
    assert abs(kept.float().mean().item() - 0.75) < 0.02
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
    assert torch.equal(F.dropout(x, 0.5, training=False).cpu(), x.cpu())
    assert F.dropout(x, 1.0).abs().sum().item() == 0
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        F.dropout(x, 1.5)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_draws_the_same_numbers_again(reentrant):
    torch.manual_seed(2)
    x = torch.linspace(1, 2, 64).to("xla").requires_grad_()
    lazy.reset_counters()
    y = checkpoint(lambda value: F.dropout(value, 0.5) * value, x, use_reentrant=reentrant)
    y.sum().backward()
    assert "DeviceToHost" not in lazy.counters()
    expected = torch.where(y.detach() != 0, 4 * x.detach(), 0)  # of value^2 / 0.5
    torch.testing.assert_close(x.grad.cpu(), expected.cpu())


def test_threads_draw_different_numbers():
    torch.manual_seed(0)
    drawn, lock = [], threading.Lock()

    def work():
        for _ in range(20):
            number = torch.randint(2**60, (1,), device="xla").item()
            with lock:
                drawn.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 80
