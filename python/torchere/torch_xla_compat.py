"""Importing this module makes programs that import torch_xla work where it is not installed: `from
torch_xla.stablehlo import ...`, `torch_xla.save_as_stablehlo`, `torch_xla.core.xla_model.xla_device()`. A
program that is to stay as it is runs with `python -m torchere.torch_xla_compat program.py`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import types
from collections.abc import Sequence
from typing import Any

import torchere
from torchere import stablehlo

_MARK = "__torchere_compat__"

#: torch_xla's modules that are torchere's of the same name. They are imported when they are asked for.
MODULES = (
    "experimental",
    "experimental.mark_pattern_utils",
    "experimental.quantized",
    "experimental.stablehlo_custom_call",
    "experimental.xla_marker",
    "experimental.xla_mlir_debuginfo",
    "stablehlo",
    "tf_saved_model_integration",
    "utils",
    "utils.stablehlo_test_utils",
)


def device(index: int | None = None) -> Any:
    """The device on which tensors for a program live: until there is a lazy device, torch's CPU."""
    import torch

    del index  # every one is the CPU
    return torch.device("cpu")


def sync(wait: bool = False) -> None:
    """Executes the pending ops of a lazy device: a no-op on the CPU."""


class _Alias(importlib.abc.Loader):
    """Gives a module of torchere as it is, under torch_xla's name."""

    def __init__(self, name: str):
        self.name = name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(self.name)
        self.spec, self.loader = module.__spec__, module.__loader__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__, module.__loader__ = self.spec, self.loader  # the import has put others there


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != "torch_xla" or name not in MODULES:
            return None
        ours = f"torchere.{name}"
        if importlib.util.find_spec(ours) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Alias(ours))


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
        # The last release of PyTorch/XLA, whose names these are; scripts compare it with others.
        __version__=f"2.9.0+torchere.{torchere.__version__}",
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
    # First, or the files of torchere.experimental would be imported a second time, under another name.
    sys.meta_path.insert(0, _Finder())


def _run(arguments: list[str]) -> None:
    """Runs a program as `python program.py ...` does, with torch_xla's names."""
    importlib.import_module("torchere.torch_xla_compat")
    sys.argv[:] = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ != "__main__":
    _install()
elif len(sys.argv) < 2:
    sys.exit("usage: python -m torchere.torch_xla_compat PROGRAM.py [ARGUMENT ...]")
else:
    _run(sys.argv[1:])
