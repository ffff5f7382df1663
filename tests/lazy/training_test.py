"""Models trained on the lazy device: the CPU's losses and parameters, and what is compiled."""

import copy
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from torchere import lazy

STEPS = 20
RATE_CHANGES_AT = 10


class Transformer(torch.nn.Module):
    """Predicts the next of 11 tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(11, 16)
        layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, activation="gelu")
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(16, 11)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.layers(self.embedding(tokens), mask=mask, is_causal=True))


def trained(
    model: torch.nn.Module, device: str, optimizer: Callable, inputs: torch.Tensor, target: torch.Tensor
) -> tuple[list[float], dict[str, torch.Tensor], list[int]]:
    """The losses, the state afterwards, and how often a program was compiled by the end of each step."""
    model = copy.deepcopy(model).to(device).train()
    inputs, target = inputs.to(device), target.to(device)
    optimizer = optimizer(model.parameters())
    losses, compiled = [], []
    for step in range(STEPS):
        if step == RATE_CHANGES_AT:
            for group in optimizer.param_groups:
                group["lr"] *= 0.3
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, -2), target.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if device == "xla":
            lazy.sync()
        compiled.append(lazy.counters().get("UncachedCompile", 0))
    state = {name: value.cpu() for name, value in model.state_dict().items()}
    return [loss.item() for loss in losses], state, compiled


def check(
    model: torch.nn.Module,
    optimizer: Callable,
    inputs: torch.Tensor,
    target: torch.Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-5,
) -> None:
    expected = trained(model, "cpu", optimizer, inputs, target)
    lazy.reset_counters()
    losses, state, compiled = trained(model, "xla", optimizer, inputs, target)
    assert losses == pytest.approx(expected[0], rel=min(rtol, 1e-4))
    assert losses[-1] < losses[0]
    for name, wanted in expected[1].items():
        torch.testing.assert_close(
            state[name], wanted, rtol=rtol, atol=atol, msg=lambda text, n=name: f"{n}: {text}"
        )
    assert compiled[1] == compiled[-1], f"compiled after the second step: {compiled}"


def test_a_transformer_with_adam():
    torch.manual_seed(0)
    tokens = torch.randint(0, 11, (4, 9))
    # The gradient of a key's bias is zero but for rounding, which Adam would scale up without this epsilon.
    check(Transformer(), lambda p: torch.optim.Adam(p, lr=1e-3, eps=1e-4), tokens[:, :-1], tokens[:, 1:])


@pytest.mark.sweep
def test_resnet18_with_sgd():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
    importlib.import_module("torchvision_schemas")  # before torchvision
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=10)
    images, target = torch.randn(4, 3, 64, 64), torch.tensor([1, 3, 5, 7])
    # The statistics of four images differ in their last digits, which 20 steps carry on.
    check(model, lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.9), images, target, 1e-3, 1e-4)
