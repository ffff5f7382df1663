"""Importing this module makes programs that import torch_xla work where it is not installed: `from
torch_xla.stablehlo import ...`, `torch_xla.device()`, `torch_xla.core.xla_model.mark_step()`. A program that
is to stay as it is runs with `python -m torchere.torch_xla_compat program.py`.

`import torch_xla` itself gives torch the device "xla", where the extension of the lazy device is built.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing.spawn
import os
import runpy
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import torchere
from torchere import absent_names, stablehlo, tracing

_MARK = "__torchere_compat__"

#: torch_xla's modules that are torchere's of the same name. They are imported when they are asked for.
MODULES = (
    "amp",
    "core",
    "core.xla_model",
    "debug",
    "debug.metrics",
    "distributed",
    "distributed.parallel_loader",
    "experimental",
    "experimental.mark_pattern_utils",
    "experimental.quantized",
    "experimental.stablehlo_custom_call",
    "experimental.xla_marker",
    "experimental.xla_mlir_debuginfo",
    "runtime",
    "stablehlo",
    "tf_saved_model_integration",
    "utils",
    "utils.stablehlo_test_utils",
)


#: torch_xla's functions that are torchere's of the same name.
FUNCTIONS = (
    "compile",
    "device",
    "device_count",
    "devices",
    "launch",
    "manual_seed",
    "real_devices",
    "save_as_stablehlo",
    "save_torch_model_as_stablehlo",
    "step",
    "sync",
)


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


class _Package(importlib.abc.Loader):
    """Makes the package torch_xla."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        setattr(module, _MARK, True)
        module.__doc__ = "Torchère under PyTorch/XLA's names."
        # The last release of PyTorch/XLA, whose names these are; scripts compare it with others.
        module.__version__ = f"2.9.0+torchere.{torchere.__version__}"  # type: ignore[attr-defined]
        module.__getattr__ = _attribute  # type: ignore[method-assign]
        module.__dir__ = lambda: sorted([*vars(module), *FUNCTIONS, *_SUBMODULES])  # type: ignore[method-assign]
        tracing.lazy_device()


_SUBMODULES = [name for name in MODULES if "." not in name]


def _attribute(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"torch_xla.{name}")
    if name in FUNCTIONS:
        return getattr(stablehlo if name.startswith("save_") else tracing, name)
    if name.startswith("__"):
        raise AttributeError(f"module 'torch_xla' has no attribute {name!r}", name=name)
    return absent_names.lookup("", name)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != "torch_xla":
            return None
        if not name:
            return importlib.machinery.ModuleSpec(fullname, _Package(), is_package=True)
        if name in MODULES:
            return importlib.machinery.ModuleSpec(fullname, _Alias(f"torchere.{name}"))
        if reason := absent_names.module_reason(name):
            raise ModuleNotFoundError(
                f"[{fullname}] torchere has no such module of PyTorch/XLA's: {reason}; docs/torch_xla.md has "
                "those that it has",
                name=fullname,
            )
        return None


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
    # First, or the files of torchere.experimental would be imported a second time, under another name.
    sys.meta_path.insert(0, _Finder())


class _ImportInChild:
    """Pickled, it is the import of this module."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return importlib.import_module, ("torchere.torch_xla_compat",)


def _run(arguments: list[str]) -> None:
    """Runs a program as `python program.py ...` does, with torch_xla's names, which processes that it spawns
    have as well."""
    importlib.import_module("torchere.torch_xla_compat")
    prepare: Callable[[str], dict[str, Any]] = multiprocessing.spawn.get_preparation_data
    # A child reads this before it runs the program's file, and leaves out what it does not know.
    multiprocessing.spawn.get_preparation_data = lambda name: {**prepare(name), _MARK: _ImportInChild()}
    sys.argv[:] = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ != "__main__":
    _install()
elif len(sys.argv) < 2:
    sys.exit("usage: python -m torchere.torch_xla_compat PROGRAM.py [ARGUMENT ...]")
else:
    _run(sys.argv[1:])
