"""PyTorch/XLA's torch_xla.amp: autocast on a device."""

from __future__ import annotations

from typing import Any

import torch

from torchere import absent_names

__all__ = ["autocast"]

#: As a package has: torch_xla.amp.syncfree is looked for then, and its error says why it is absent.
__path__: list[str] = []

__getattr__ = absent_names.getter("amp")


class autocast(torch.amp.autocast):
    """torch.autocast() of a device's kind, in bfloat16 unless told otherwise."""

    def __init__(
        self, device: Any, enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool = True
    ):
        kind = torch.device(device).type
        super().__init__(kind, dtype=dtype or torch.bfloat16, enabled=enabled, cache_enabled=cache_enabled)
