"""What the processes of the models' bench hand each other in a folder: exported programs, arguments, results.

Exporters write the programs, each with what it needs; describe() writes the rest, from eager torch.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import torch
from nine_models import find

Arrays = list[np.ndarray]
PROGRAM = "program"  # the directory that torchere writes
ONNX = "model.onnx"


def describe(name: str, folder: Path) -> dict[str, Any]:
    """Writes the arguments, eager's results and the first state; returns the model's work and size."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    model = find(name)
    module, calls = model.build(), model.arguments()
    state = module.state() if hasattr(module, "state") else []
    counter = FlopCounterMode(display=False)
    with torch.no_grad():
        results = [module(*call) for call in calls]
        # The counter does not know the fused ops of attention.
        torch.backends.mha.set_fastpath_enabled(False)
        with sdpa_kernel(SDPBackend.MATH), counter:
            module(*calls[-1])
    _write(folder / "state.npz", state)
    _write(folder / "results.npz", results)
    for index, call in enumerate(calls):
        _write(folder / f"call_{index}.npz", call)
    unique = {weight.data_ptr(): weight.nbytes for weight in module.parameters()}
    return {"flops": counter.get_total_flops(), "weight_bytes": sum(unique.values())}


def read_calls(folder: Path) -> tuple[list[Arrays], Arrays]:
    """The arguments of each call, and eager's results."""
    results = _read(folder / "results.npz")
    return [_read(folder / f"call_{index}.npz") for index in range(len(results))], results


def read_state(folder: Path) -> Arrays:
    return _read(folder / "state.npz")


def _write(path: Path, tensors: list[torch.Tensor] | tuple[torch.Tensor, ...]) -> None:
    np.savez(path, **{str(index): tensor.numpy() for index, tensor in enumerate(tensors)})


def _read(path: Path) -> Arrays:
    with np.load(path) as file:
        return [file[str(index)] for index in range(len(file.files))]


class Export:
    """A way to export a module, and to write what came of it. `packages` are what it needs."""

    name = ""
    packages: tuple[str, ...] = ()
    program: Any = None

    def export(self, module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    @classmethod
    def is_here(cls) -> bool:
        return all(importlib.util.find_spec(package) for package in cls.packages)


class TorchExport(Export):
    """What every exporter here begins with, alone."""

    name = "torch.export alone"

    def export(self, module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        self.program = torch.export.export(module, arguments)

    def save(self, folder: Path) -> None:
        """Nothing loads it."""


class TorchereExport(Export):
    name = "Torchère"
    packages = ("torchere",)

    def export(self, module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        import torchere

        self.program = torchere.export(module, arguments)

    def save(self, folder: Path) -> None:
        self.program.save(folder / PROGRAM)


class OnnxExport(Export):
    name = "torch.onnx"
    packages = ("onnx", "onnxscript")

    def export(self, module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        given: tuple[Any, ...] = arguments
        if hasattr(module, "without_state"):
            given = (*arguments, module.state())
            module = module.without_state()
        self.program = torch.onnx.export(module, given, dynamo=True, verbose=False)

    def save(self, folder: Path) -> None:
        self.program.save(folder / ONNX)


EXPORTS: dict[str, type[Export]] = {
    export.name: export for export in (TorchExport, TorchereExport, OnnxExport)
}
