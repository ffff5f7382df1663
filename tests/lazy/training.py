"""Trains a model on the CPU and on the lazy device, and compares: python training.py MODEL DTYPE [--each]

A batch norm over few values enlarges rounding from step to step, and the derivatives of relu and max_pool
jump, so that two correct computations in float32 part within 20 steps. So whole runs are compared in float64,
where what rounding grows to is far below any error, and float32 step by step (--each): each step begins from
the CPU's state. There a model with jumps is compared by its losses and statistics, which have none, and its
gradients with smooth functions in their place (smooth_resnet18).
"""

import argparse
import copy
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from torchere import lazy

STEPS = 20
RATE_CHANGES_AT = 10
# Models whose derivatives jump where a value crosses zero, or another value.
JUMPING = {"resnet18"}


def tolerance_of(kind: str, dtype: str, is_each: bool) -> float:
    """The largest difference of a tensor, as a part of the tensor's largest element."""
    if dtype == "float64":
        return 1e-9
    return 1e-4 if kind == "gradients" or (kind == "learned" and is_each) else 1e-5


class Transformer(torch.nn.Module):
    """Predicts the next of 11 tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(11, 16)
        layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, activation="gelu")
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(16, 11)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length, dtype = tokens.shape[1], self.head.weight.dtype
        mask = torch.nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device, dtype=dtype)
        return self.head(self.layers(self.embedding(tokens), mask=mask, is_causal=True))


Optimizer = Callable[..., torch.optim.Optimizer]
Task = tuple[torch.nn.Module, Optimizer, torch.Tensor, torch.Tensor]


def transformer() -> Task:
    tokens = torch.randint(0, 11, (4, 9))
    # The gradient of a key's bias is zero but for rounding, which Adam would scale up without this epsilon.
    return Transformer(), lambda p: torch.optim.Adam(p, lr=1e-3, eps=1e-4), tokens[:, :-1], tokens[:, 1:]


def resnet18() -> Task:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
    importlib.import_module("torchvision_schemas")  # before torchvision
    import torchvision

    model = torchvision.models.resnet18(num_classes=10)
    images, target = torch.randn(4, 3, 64, 64), torch.tensor([1, 3, 5, 7])
    return model, lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.9), images, target


def smooth_resnet18() -> Task:
    model, *others = resnet18()
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, torch.nn.ReLU):
                setattr(module, name, torch.nn.SiLU())
            elif isinstance(child, torch.nn.MaxPool2d):
                setattr(module, name, torch.nn.AvgPool2d(3, 2, 1))
    return model, *others


MODELS = {"transformer": transformer, "resnet18": resnet18, "smooth_resnet18": smooth_resnet18}


class Training:
    """A model with its optimizer on a device."""

    def __init__(self, task: Task, dtype: torch.dtype, device: str):
        model, optimizer, inputs, target = task
        self.model = copy.deepcopy(model).to(device, dtype).train()
        self.inputs = inputs.to(device, dtype if inputs.is_floating_point() else None)
        self.target = target.to(device)
        self.optimizer = optimizer(self.model.parameters())

    def step(self) -> torch.Tensor:
        self.optimizer.zero_grad()
        outputs = self.model(self.inputs)
        loss = torch.nn.functional.cross_entropy(outputs.flatten(0, -2), self.target.flatten())
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def scale_rate(self, factor: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] *= factor

    def statistics(self) -> dict[str, torch.Tensor]:
        return dict(self.model.named_buffers())

    def learned(self) -> dict[str, torch.Tensor]:
        """Parameters, and what the optimizer keeps."""
        learned = {}
        for name, parameter in self.model.named_parameters():
            learned[name] = parameter.detach()
            for key, value in self.optimizer.state[parameter].items():
                learned[f"{name}.{key}"] = value.detach()
        return learned

    def gradients(self) -> dict[str, torch.Tensor]:
        return {f"{name}.grad": parameter.grad for name, parameter in self.model.named_parameters()}

    def take(self, other: "Training") -> None:
        """The other's state."""
        given = other.learned() | other.statistics()
        with torch.no_grad():
            for name, value in (self.learned() | self.statistics()).items():
                value.copy_(given[name])


class Comparison:
    """The largest differences that were seen, and those above their tolerances."""

    def __init__(self, dtype: str, is_each: bool):
        self.dtype, self.is_each = dtype, is_each
        self.largest: dict[str, float] = {}
        self.wrong: list[str] = []

    def add(
        self, kind: str, step: int, got: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor]
    ) -> None:
        tolerance = tolerance_of(kind, self.dtype, self.is_each)
        assert got.keys() == wanted.keys(), (sorted(got), sorted(wanted))
        for name, tensor in wanted.items():
            mine = got[name].cpu()
            assert mine.dtype == tensor.dtype and mine.shape == tensor.shape, name
            scale = tensor.abs().max().item()
            difference = (mine.double() - tensor.double()).abs().max().item()
            part = difference / scale if difference else 0.0
            self.largest[kind] = max(self.largest.get(kind, 0.0), part)
            if not part <= tolerance:
                self.wrong.append(f"step {step}: {name}: differs by {part:.3g} of {scale:.3g}")


def compare(model: str, dtype: str, is_each: bool) -> Comparison:
    torch.manual_seed(0)
    task, kinds = MODELS[model](), ["statistics", "learned", "gradients"]
    if is_each and model in JUMPING:
        kinds = ["statistics"]
    ours, cpu = (Training(task, getattr(torch, dtype), device) for device in ("xla", "cpu"))
    comparison = Comparison(dtype, is_each)
    losses, expected, compiled = [], [], []
    for step in range(STEPS):
        if step == RATE_CHANGES_AT:
            ours.scale_rate(0.3), cpu.scale_rate(0.3)
        if is_each:
            ours.take(cpu)
        losses.append(ours.step())
        lazy.sync()
        compiled.append(lazy.counters()["UncachedCompile"])
        expected.append(cpu.step())
        if is_each or step == STEPS - 1:
            for kind in kinds:
                comparison.add(kind, step, getattr(ours, kind)(), getattr(cpu, kind)())
    for step, (loss, wanted) in enumerate(zip(losses, expected, strict=True)):
        comparison.add("losses", step, {"loss": loss}, {"loss": wanted})
    assert expected[-1] < expected[0]
    assert compiled[1] == compiled[-1], f"compiled after the second step: {compiled}"
    return comparison


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("dtype", choices=["float64", "float32"])
    parser.add_argument("--each", action="store_true", help="each step begins from the CPU's state")
    options = parser.parse_args()
    comparison = compare(options.model, options.dtype, options.each)
    print(" ".join(f"{kind} {part:.2g}" for kind, part in comparison.largest.items()))
    sys.exit("\n".join(comparison.wrong[:20]) or 0)


if __name__ == "__main__":
    main()
