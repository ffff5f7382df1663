"""torch.xla: what torch and its users look for in the module of a device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from torchere.lazy import random_state

get_rng_state = random_state.get_rng_state
get_rng_state_all = random_state.get_rng_state_all
initial_seed = random_state.initial_seed
manual_seed = random_state.manual_seed
manual_seed_all = random_state.manual_seed_all
seed = random_state.seed
seed_all = random_state.seed_all
set_rng_state = random_state.set_rng_state
set_rng_state_all = random_state.set_rng_state_all


# torch.utils.checkpoint keeps the random state of devices that are in use.
_initialized = True


def is_available() -> bool:
    """Whether the plugin can be loaded and has a device."""
    from torchere import plugins
    from torchere.errors import Error

    try:
        plugins.find()
    except Error:
        return False
    return device_count() > 0


def is_initialized() -> bool:
    """Whether the device was used in this process, or in the one that it was forked from."""
    return torch.ops.torchere_lazy.is_used()


def device_count() -> int:
    """How many devices the plugin has: xla:0, xla:1, ... RuntimeError if it cannot be loaded."""
    return len(torch.ops.torchere_lazy.device_names())


def current_device() -> int:
    """The index of the device on which this thread makes the tensors of "xla"."""
    return torch.ops.torchere_lazy.current_device()


def set_device(device: Any) -> None:
    """Makes a device (an index, a name, or a torch.device) this thread's current one."""
    torch.ops.torchere_lazy.set_device(index_of(device))


def get_device_name(device: Any = None) -> str:
    """The plugin's name for a device: "CPU:0"."""
    names, index = torch.ops.torchere_lazy.device_names(), index_of(device)
    if index >= len(names):
        raise IndexError(f"[xla:{index}] no such device: got index {index}, expected less than {len(names)}")
    return names[index]


@contextlib.contextmanager
def device(device: Any) -> Iterator[None]:
    """Within it, the device is the current one; nothing changes for None and negative indices."""
    if device is None or (isinstance(device, int) and device < 0):
        yield
        return
    before = current_device()
    set_device(device)
    try:
        yield
    finally:
        set_device(before)


def synchronize(device: Any = None) -> None:
    """Computes what is pending on a device, the current one by default, and waits for it."""
    torch.ops.torchere_lazy.sync(index_of(device))
    torch.ops.torchere_lazy.wait()


def index_of(device: Any) -> int:
    """The index of a device that is given as an index, a name, a torch.device, or None for the current
    one."""
    if isinstance(device, int):
        return device
    given = torch.device(device) if device is not None else torch.device("xla")
    if given.type != "xla":
        raise ValueError(f"[torch.xla] not one of its devices: got {given}, expected xla")
    return current_device() if given.index is None else given.index


def _is_in_bad_fork() -> bool:
    return torch.ops.torchere_lazy.is_forked()
