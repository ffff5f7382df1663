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
    """Starts the computation of all that this thread recorded and what is connected with it, and returns when
    its program is compiled. What other threads are tracing of their own is theirs to sync. Errors:
    RuntimeError with the compiler's message; what fails in the execution fails those who read it."""
    _ops().sync(index)


def wait(index: int = 0) -> None:
    """Waits until all that was started is computed, or has failed."""
    _ops().wait(index)


def get_stablehlo(index: int = 0) -> str:
    """The StableHLO of what sync() would compute."""
    return _ops().pending_text(index)


def counters() -> dict[str, int]:
    """What was counted since reset_counters(): "xla::add" for each traced op, "aten::sort" for each op that
    was computed on the CPU, "CachedCompile", "UncachedCompile", "HostToDevice" and "DeviceToHost"."""
    return {name: count for name, count in _ops().counters().items() if count}


def reset_counters() -> None:
    _ops().reset_counters()


def statistics(index: int = 0) -> dict[str, int]:
    """What there is at this moment: "nodes" that tensors or pending ops own, "pending_ops", computations that
    are "running" or wait for their turn, compiled "programs" in memory, interned "calls" and "types", and
    "numbers" on the device. And of the plugin's client, since the process began: "plugin_compiles", and
    "disk_cache_loads" in place of others."""
    return dict(_ops().statistics(index))


def limits() -> dict[str, int]:
    """The limits that set_limits() sets."""
    return dict(_ops().limits())


def set_limits(**limits: int) -> None:
    """pending_ops: how many ops are recorded without a sync before the device makes one, with a warning.
    programs, calls, numbers: how many compiled programs, interned calls and numbers are kept; beyond that the
    least recently used are evicted. The variables TORCHERE_LAZY_PENDING_OPS, TORCHERE_LAZY_PROGRAMS,
    TORCHERE_LAZY_CALLS and TORCHERE_LAZY_NUMBERS set them for a process."""
    for name, value in limits.items():
        _ops().set_limit(name, value)


def _ops():
    import torch

    return torch.ops.torchere_lazy
