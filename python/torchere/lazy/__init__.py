"""The lazy device: tensors on "xla" record ops; what they hold is compiled and computed when it is read.

Importing this package gives torch the device. The extension that does so is built once for each torch:
`python -m torchere.lazy build`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from torchere.lazy import extension
from torchere.lazy.inspection import (
    checked_indices,
    counters,
    dump_graphs,
    dump_ir,
    executed_fallback_ops,
    explain_recompilations,
    get_stablehlo,
    get_stablehlo_bytecode,
    metric_data,
    metric_names,
    metrics_report,
    reset_counters,
    reset_metrics,
    short_metrics_report,
    source_lines,
)

__all__ = [
    "checked_indices",
    "counters",
    "device",
    "dump_graphs",
    "dump_ir",
    "executed_fallback_ops",
    "explain_recompilations",
    "get_stablehlo",
    "get_stablehlo_bytecode",
    "limits",
    "metric_data",
    "metric_names",
    "metrics_report",
    "reset_counters",
    "reset_metrics",
    "save",
    "set_limits",
    "short_metrics_report",
    "source_lines",
    "statistics",
    "sync",
    "wait",
]

if sys.argv[:1] != ["-m"]:  # python -m torchere.lazy: its command builds what would be loaded here
    extension.load()


def device(index: int | None = None):
    """The current torch.device, "xla:0" unless torch.xla.set_device() chose another; or that of an index."""
    import torch

    return torch.device("xla", torch.xla.current_device() if index is None else index)


def sync(index: int | None = None) -> None:
    """Starts the computation of all that this thread recorded and what is connected with it, and returns when
    its program is compiled. What other threads are tracing of their own is theirs to sync. Errors:
    RuntimeError with the compiler's message; what fails in the execution fails those who read it. Without an
    index it is the current device, as torch.xla.set_device() chose it."""
    _ops().sync(-1 if index is None else index)


def wait() -> None:
    """Waits until all that was started is computed, or has failed, on all devices."""
    _ops().wait()


def save(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    dir: str | os.PathLike[str],
    *,
    kwargs: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Traces fn(*args, **kwargs) on the device and saves it as an artifact, which `torchere run` and
    torchere.load() run without the device: the tensors among the arguments are its inputs, all others that it
    reads are weights, what it writes in place is state that calls carry on, and its results are returned as
    fn returns them. Nothing is computed, and what fn writes is as before afterwards.

    Weights are found in the modules, optimizers and containers that fn refers to, and have their names. A
    step that cannot be saved is refused by name: one that reads a value on the host, that computes an op
    there, or that leaves a tensor where none was before."""
    from torchere.lazy.saving import save_step

    save_step(fn, args, dir, kwargs, overwrite)


def statistics(index: int | None = None) -> dict[str, int]:
    """What there is at this moment: "nodes" that tensors or pending ops own, "pending_ops", computations that
    are "running" or wait for their turn, compiled "programs" in memory, interned "calls" and "types", and
    "numbers" on the device. And of the plugin's client, since the process began: "plugin_compiles", and
    "disk_cache_loads" in place of others. Of the current device without an index."""
    return dict(_ops().statistics(-1 if index is None else index))


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


def manual_seed(seed: int) -> None:
    """Seeds the random numbers of every device of the plugin; torch.manual_seed does so too."""
    from torchere.lazy import random_state

    random_state.manual_seed_all(seed)


def _ops():
    import torch

    return torch.ops.torchere_lazy
