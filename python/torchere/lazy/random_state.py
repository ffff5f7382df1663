"""Random numbers on the device: torch.xla.manual_seed and the like, and what torch.manual_seed calls.

A generator's state is an int64 tensor on its device, of the seed and of how much was drawn, so that to keep
and to restore it neither computes nor reads anything (docs/random_numbers.md).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import torch


def generator(device: Any = None) -> torch.Generator:
    """The generator of a device: an index, a name, a torch.device, or None for the current one."""
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "xla":
            raise ValueError(f"[lazy] no such generator: got the device {device}, expected xla")
        device = device.index
    return torch.ops.torchere_lazy.default_generator(-1 if device is None else device)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator."""
    generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds every device's generator."""
    torch.ops.torchere_lazy.seed_all(signed(int(seed)))


def seed() -> None:
    generator().seed()


def seed_all() -> None:
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    return generator().initial_seed()


def get_rng_state(device: Any = None) -> torch.Tensor:
    return torch.ops.torchere_lazy.generator_state(generator(device))


def set_rng_state(new_state: torch.Tensor, device: Any = None) -> None:
    generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    return [get_rng_state(index) for index in range(len(torch.ops.torchere_lazy.device_names()))]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def follow_torch() -> None:
    """torch.manual_seed and torch.seed seed this device too. torch calls those devices that it knows, and has
    one function for others, which is the place to add this one."""
    seed_others = torch.random._seed_custom_device

    @functools.wraps(seed_others)
    def seed_others_and_this(seed: int) -> None:
        seed_others(seed)
        manual_seed_all(seed)

    torch.random._seed_custom_device = seed_others_and_this


def signed(seed: int) -> int:
    """The same 64 bits as an int64."""
    if not -(2**63) <= seed < 2**64:
        raise RuntimeError(f"[lazy] seed out of range: got {seed}, expected 64 bits, with or without a sign")
    return seed - 2**64 if seed >= 2**63 else seed
