"""Optimizers on the device: the CPU's values, and no compilation for step counts and learning rates."""

import copy

import pytest
import torch

from torchere import lazy

OPTIMIZERS = {
    "sgd": (torch.optim.SGD, {}),
    "sgd_momentum": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.01}),
    "sgd_nesterov": (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    "adam": (torch.optim.Adam, {}),
    "adam_decay": (torch.optim.Adam, {"weight_decay": 0.1}),
    "adam_amsgrad": (torch.optim.Adam, {"amsgrad": True}),
    "adamw": (torch.optim.AdamW, {"weight_decay": 0.1}),
    "rmsprop": (torch.optim.RMSprop, {"momentum": 0.5}),
    "adagrad": (torch.optim.Adagrad, {"lr_decay": 0.1}),
}


def train(model, kind, device, steps, **options):
    model = copy.deepcopy(model).to(device)
    given = torch.linspace(-1, 1, 40).reshape(5, 8).to(device)
    made, own = OPTIMIZERS[kind]
    optimizer = made(model.parameters(), lr=0.01, **own, **options)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    compiles = []
    for _ in range(steps):
        optimizer.zero_grad()
        (torch.tanh(model(given)) ** 2).mean().backward()
        optimizer.step()
        scheduler.step()
        if device == "xla":
            lazy.sync()
            compiles.append(lazy.counters().get("UncachedCompile", 0))
    return [parameter.detach().cpu() for parameter in model.parameters()], compiles


@pytest.mark.parametrize("foreach", [False, True], ids=["single", "foreach"])
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_equal_the_cpus_and_compile_twice(kind, foreach):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.Linear(6, 4))
    expected, _ = train(model, kind, "cpu", 8, foreach=foreach)
    got, compiles = train(model, kind, "xla", 8, foreach=foreach)
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    assert compiles[1:] == [compiles[1]] * 7, "a step compiled although it only has other numbers"
    assert not [name for name in lazy.counters() if name.startswith("aten::")]


def test_a_python_int_that_counts_does_not_compile():
    x, seen = torch.ones(3).to("xla"), []
    for step in range(2, 9):
        y = (x * step + step**2) / (1 - 0.9**step)
        assert y[0].item() == pytest.approx((step + step**2) / (1 - 0.9**step), rel=1e-6)
        seen.append(lazy.counters()["UncachedCompile"])
    assert seen[0] == seen[-1]
