"""Importing this module makes programs that import torch_xla work where it is not installed: `from
torch_xla.stablehlo import ...`, `torch_xla.save_as_stablehlo`, `torch_xla.core.xla_model.xla_device()`."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

from torchere import stablehlo

_MARK = "__torchere_compat__"


def device(index: int | None = None) -> Any:
    """The device on which tensors for a program live: until there is a lazy device, torch's CPU."""
    import torch

    del index  # every one is the CPU
    return torch.device("cpu")


def sync(wait: bool = False) -> None:
    """Executes the pending ops of a lazy device: a no-op on the CPU."""


def _module(name: str, doc: str, **attributes: Any) -> types.ModuleType:
    module = types.ModuleType(name, doc)
    module.__spec__ = importlib.machinery.ModuleSpec(name, loader=None, is_package=True)
    module.__path__ = []
    setattr(module, _MARK, True)
    vars(module).update(attributes)
    return module


def _refuse_beside_torch_xla() -> None:
    present = sys.modules.get("torch_xla")
    if present is None and importlib.util.find_spec("torch_xla") is None:
        return
    if present is not None and hasattr(present, _MARK):
        return
    raise ImportError(
        "[torch_xla_compat] torch_xla itself is installed, and its names cannot be taken over: uninstall it, "
        "or import torchere.stablehlo instead of torch_xla.stablehlo",
        name="torch_xla",
    )


def _install() -> None:
    _refuse_beside_torch_xla()
    xla_model = _module("torch_xla.core.xla_model", "Devices.", xla_device=device, mark_step=sync)
    core = _module("torch_xla.core", "Devices.", xla_model=xla_model)
    package = _module(
        "torch_xla",
        "Torchère under PyTorch/XLA's names.",
        core=core,
        stablehlo=stablehlo,
        device=device,
        sync=sync,
        save_as_stablehlo=stablehlo.save_as_stablehlo,
        save_torch_model_as_stablehlo=stablehlo.save_torch_model_as_stablehlo,
    )
    for module in (package, core, xla_model):
        sys.modules[module.__name__] = module
    sys.modules["torch_xla.stablehlo"] = stablehlo


_install()
