"""torch.xla: what torch looks for in the module of a device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def device_count() -> int:
    from torchere import plugins

    return len(plugins.client().devices)


def current_device() -> int:
    return 0


@contextlib.contextmanager
def device(_: Any) -> Iterator[None]:
    """Tensors say their device themselves."""
    yield


def synchronize(device: Any = None) -> None:
    from torchere import lazy

    index = torch.device(device).index if device is not None else None
    lazy.sync(index or 0)


# Random numbers are drawn by the CPU's generator.
def get_rng_state(device: Any = None) -> torch.Tensor:
    return torch.get_rng_state()


def set_rng_state(state: torch.Tensor, device: Any = None) -> None:
    torch.set_rng_state(state)


def manual_seed_all(seed: int) -> None:
    """Called by torch.manual_seed, which seeds the CPU's generator itself."""


def _is_in_bad_fork() -> bool:
    return False
