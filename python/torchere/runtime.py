"""PyTorch/XLA's torch_xla.runtime: the plugin and its devices, as one process has them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torchere import absent_names, tracing
from torchere.errors import UnimplementedError

__all__ = [
    "addressable_device_count",
    "addressable_runtime_device_count",
    "device_type",
    "global_device_count",
    "global_ordinal",
    "global_runtime_device_count",
    "host_index",
    "initialize_cache",
    "is_bf16_supported",
    "is_spmd",
    "local_device_count",
    "local_ordinal",
    "local_process_count",
    "process_count",
    "process_index",
    "set_device_type",
    "using_pjrt",
    "world_size",
    "xla_device",
]

__getattr__ = absent_names.getter("runtime")


def using_pjrt() -> bool:
    """Always: devices are used through PJRT alone."""
    return True


def device_type() -> str:
    """What the environment chooses: "CPU", also for the engine, or the name of the plugin that PJRT_DEVICE or
    TORCHERE_PLUGIN names."""
    chosen = os.environ.get("TORCHERE_PLUGIN") or os.environ.get("PJRT_DEVICE") or "CPU"
    if chosen.lower() == "torchere_cpu":
        return "CPU"
    is_path = "/" in chosen or chosen.endswith(".so")
    return Path(chosen).stem if is_path else chosen.upper().split("_")[0]


def set_device_type(pjrt_device: str) -> None:
    """Sets PJRT_DEVICE. RuntimeError if the device was used already, or if TORCHERE_PLUGIN, which comes
    first, names another plugin."""
    before = os.environ.get("TORCHERE_PLUGIN")
    if before and before.lower() != pjrt_device.lower():
        raise RuntimeError(
            f"[set_device_type] TORCHERE_PLUGIN names another plugin: got {pjrt_device}, expected {before}"
        )
    if pjrt_device.lower() != device_type().lower() and _is_used():
        raise RuntimeError(
            f"[set_device_type] the device was used already: got {pjrt_device}, expected {device_type()}"
        )
    os.environ["PJRT_DEVICE"] = pjrt_device


def _is_used() -> bool:
    import torch

    return tracing.lazy_device() is not None and torch.xla.is_initialized()


def initialize_cache(path: str | os.PathLike[str], readonly: bool = False) -> None:
    """The folder of the compile cache (docs/cache.md), which is elsewhere by default. RuntimeError if the
    device was used already. One that is only read is not there."""
    if readonly:
        raise UnimplementedError(
            "[initialize_cache] a cache that is only read: got readonly=True, expected False"
        )
    if _is_used():
        raise RuntimeError("[initialize_cache] the device was used already: expected the call before that")
    os.environ["TORCHERE_CACHE_DIR"] = str(Path(path).absolute())


def xla_device(n: int | None = None, devkind: str | None = None) -> Any:
    """torch_xla.device(n)."""
    from torchere.core import xla_model

    return xla_model.xla_device(n, devkind)


def is_bf16_supported() -> bool:
    """Whether the device computes with bfloat16."""
    import torch

    try:
        return (torch.tensor([1.0], dtype=torch.bfloat16, device=tracing.device()) + 1).cpu().item() == 2.0
    except RuntimeError:
        return False


def addressable_device_count() -> int:
    """How many devices this process has."""
    return tracing.device_count()


addressable_runtime_device_count = addressable_device_count
global_device_count = addressable_device_count
global_runtime_device_count = addressable_device_count
local_device_count = addressable_device_count


def local_process_count() -> int:
    return 1


def process_count() -> int:
    return 1


def process_index() -> int:
    return 0


def host_index() -> int:
    return 0


def world_size() -> int:
    """How many processes take part: one."""
    return 1


def global_ordinal() -> int:
    return 0


def local_ordinal() -> int:
    return 0


def is_spmd() -> bool:
    """Tensors are on one device each."""
    return False
