"""The lazy device: tensors on "xla" record ops; what they hold is compiled and computed when it is read.

Importing this package gives torch the device. The extension that does so is built once for each torch:
`python -m torchere.lazy build`.
"""

from __future__ import annotations

import sys

from torchere.lazy import extension

if sys.argv[:1] != ["-m"]:  # python -m torchere.lazy: its command builds what would be loaded here
    extension.load()


def device(index: int = 0):
    """The torch.device "xla:0", or another of the plugin's."""
    import torch

    return torch.device("xla", index)


def sync(index: int = 0) -> None:
    """Starts the computation of everything that tensors of the device show. Errors: RuntimeError with the
    compiler's or the plugin's message."""
    _ops().sync(index)


def get_stablehlo(index: int = 0) -> str:
    """The StableHLO of what sync() would compute."""
    return _ops().pending_text(index)


def counters() -> dict[str, int]:
    """What was counted since reset_counters(): "xla::add" for each traced op, "aten::sort" for each op that
    was computed on the CPU, "CachedCompile", "UncachedCompile", "HostToDevice" and "DeviceToHost"."""
    return {name: count for name, count in _ops().counters().items() if count}


def reset_counters() -> None:
    _ops().reset_counters()


def manual_seed(seed: int) -> None:
    """Seeds the random numbers of every device of the plugin; torch.manual_seed does so too."""
    from torchere.lazy import random_state

    random_state.manual_seed_all(seed)


def _ops():
    import torch

    return torch.ops.torchere_lazy
