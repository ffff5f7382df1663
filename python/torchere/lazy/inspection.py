"""Seeing what the lazy device does: programs and StableHLO of tensors, counters, metrics, and why a graph was
compiled again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

_SHORT_COUNTERS = ("CachedCompile", "UncachedCompile", "HostToDevice", "DeviceToHost")
_SHORT_METRICS = ("CompileTime", "ExecuteTime", "TransferToDeviceTime", "TransferFromDeviceTime")


def get_stablehlo(tensors: Iterable[Any] | None = None, *, device: int = 0) -> str:
    """The StableHLO that computes the tensors; without them, what sync() would compute. Where source lines
    are recorded (source_lines()), the text has them as locations."""
    return _ops().stablehlo_text(list(tensors or ()), device)


def get_stablehlo_bytecode(tensors: Iterable[Any] | None = None, *, device: int = 0) -> bytes:
    """The same as a portable artifact."""
    return _ops().stablehlo_bytecode(list(tensors or ()), device).numpy().tobytes()


def dump_ir(tensors: Iterable[Any] | None = None, *, device: int = 0) -> str:
    """The ops that compute the tensors as torch prints an exported program, with source lines where they are
    recorded; without tensors, the ops that sync() would run."""
    return _ops().program_text(list(tensors or ()), device)


def dump_graphs(folder: str | os.PathLike[str] | None) -> None:
    """Writes each graph that is compiled from now on to a folder: graph_<process>_<number>.txt as dump_ir()
    has it, and the same name with .mlir; None: no longer. TORCHERE_LAZY_DUMP names the folder from the
    start."""
    _ops().dump_graphs(os.fspath(folder) if folder is not None else "")


@contextlib.contextmanager
def source_lines(is_on: bool = True) -> Iterator[None]:
    """Within it, each op keeps the line of the program that called it, which costs time. The environment
    variable TORCHERE_LAZY_SOURCE_LINES=1 does the same from the start."""
    before = _ops().record_lines(is_on)
    try:
        yield
    finally:
        _ops().record_lines(before)


@contextlib.contextmanager
def checked_indices(is_on: bool = True) -> Iterator[None]:
    """Within it, indices that were computed on the device are read where an op takes them, so that one which
    is out of range is an error at its line. Each read computes what is pending: this is for finding a fault.
    The environment variable TORCHERE_LAZY_CHECK_INDICES=1 does the same from the start."""
    before = _ops().read_indices(is_on)
    try:
        yield
    finally:
        _ops().read_indices(before)


def explain_recompilations(limit: int = 10) -> str:
    """For the last graphs that were compiled although one like them had been: the first differences of the
    two (op, argument, shape, users), with the source lines of both where they are recorded. Empty if there is
    none."""
    return _ops().explain_recompilations(limit)


def counters() -> dict[str, int]:
    """What was counted since reset_counters(): "xla::add" for each traced op, "aten::sort" for each op that
    was computed on the CPU, "CachedCompile", "UncachedCompile", "HostToDevice" and "DeviceToHost"."""
    return {name: count for name, count in _ops().counters().items() if count}


def reset_counters() -> None:
    _ops().reset_counters()


def executed_fallback_ops() -> list[str]:
    """The ops that were computed on the CPU since reset_counters(): "aten::sort"."""
    return [name for name in counters() if name.startswith("aten::")]


def metrics_report() -> str:
    """All counters and metrics as text, with the time of each step and its percentiles, and why graphs were
    compiled again."""
    report = _ops().metrics_report()
    if reasons := explain_recompilations():
        report += f"Recompilations:\n{reasons}"
    return report


def short_metrics_report(
    counter_names: Iterable[str] | None = None, metric_names: Iterable[str] | None = None
) -> str:
    """The same of a few counters and metrics, and of every op that was computed on the CPU."""
    wanted = list(counter_names or _SHORT_COUNTERS), list(metric_names or _SHORT_METRICS)
    return _ops().chosen_metrics(*wanted)


def metric_names() -> list[str]:
    return sorted(_ops().metric_names())


def metric_data(name: str) -> tuple[int, float, list[tuple[float, float]]] | None:
    """Of a metric, how many samples there were, their sum, and the last ones as (seconds since 1970, value);
    None if there is no such metric."""
    data = _ops().metric_data(name)
    if not data:
        return None
    return int(data[0]), data[1], list(zip(data[2::2], data[3::2], strict=True))


def reset_metrics() -> None:
    """Forgets the samples of all metrics, and the graphs that were compiled."""
    _ops().reset_metrics()


def _ops() -> Any:
    import torch

    return torch.ops.torchere_lazy
