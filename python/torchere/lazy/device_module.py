"""torch.xla: what torch looks for in the module of a device."""

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


def _is_in_bad_fork() -> bool:
    return False
