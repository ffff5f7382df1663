"""Torchère: PyTorch programs as portable StableHLO, run by any PJRT plugin."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The module of each public name. They are imported lazily, so that `import torchere` costs
# nothing and loads neither torch nor the core.
_HOMES = {
    "CaptureError": "torchere.errors",
    "DeviceArray": "torchere._core",
    "Error": "torchere.errors",
    "StableHLOProgram": "torchere.program",
    "compile": "torchere.tracing",
    "device": "torchere.tracing",
    "device_count": "torchere.tracing",
    "devices": "torchere.tracing",
    "explain": "torchere.explanation",
    "export": "torchere.exporting",
    "launch": "torchere.tracing",
    "load": "torchere.program",
    "load_lowerings": "torchere.lowerings",
    "manual_seed": "torchere.tracing",
    "real_devices": "torchere.tracing",
    "register_kernel": "torchere.lowerings",
    "register_lowering": "torchere.lowerings",
    "step": "torchere.tracing",
    "sync": "torchere.tracing",
}
_MODULES = (
    "amp",
    "core",
    "debug",
    "distributed",
    "errors",
    "interpreter",
    "jax",
    "plugins",
    "runtime",
    "stablehlo",
)

__all__ = [
    "CaptureError",
    "DeviceArray",
    "Error",
    "StableHLOProgram",
    "amp",
    "compile",
    "core",
    "debug",
    "device",
    "device_count",
    "devices",
    "distributed",
    "errors",
    "explain",
    "export",
    "interpreter",
    "jax",
    "launch",
    "load",
    "load_lowerings",
    "manual_seed",
    "plugins",
    "real_devices",
    "register_kernel",
    "register_lowering",
    "runtime",
    "stablehlo",
    "step",
    "sync",
]

if TYPE_CHECKING:
    from torchere import amp, core, debug, distributed, errors, interpreter, jax, plugins, runtime, stablehlo
    from torchere._core import DeviceArray
    from torchere.errors import CaptureError, Error
    from torchere.explanation import explain
    from torchere.exporting import export
    from torchere.lowerings import load_lowerings, register_kernel, register_lowering
    from torchere.program import StableHLOProgram, load
    from torchere.tracing import (
        compile,
        device,
        device_count,
        devices,
        launch,
        manual_seed,
        real_devices,
        step,
        sync,
    )


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"torchere.{name}")
    else:
        raise AttributeError(f"module 'torchere' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
