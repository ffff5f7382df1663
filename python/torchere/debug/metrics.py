"""PyTorch/XLA's torch_xla.debug.metrics: what the lazy device counts and measures. Where it is not built,
there is nothing to see."""

from __future__ import annotations

from collections.abc import Sequence

from torchere import absent_names, tracing

__all__ = [
    "clear_all",
    "clear_counters",
    "clear_metrics",
    "counter_names",
    "counter_value",
    "executed_fallback_ops",
    "metric_data",
    "metric_names",
    "metrics_report",
    "short_metrics_report",
]

__getattr__ = absent_names.getter("debug.metrics")


def counter_names() -> list[str]:
    """Of the counters that have counted something: "xla::add", "aten::sort", "CachedCompile", ..."""
    lazy = tracing.lazy_device()
    return [] if lazy is None else sorted(lazy.counters())


def counter_value(name: str) -> int | None:
    """A counter's value; None if it has not counted."""
    lazy = tracing.lazy_device()
    return None if lazy is None else lazy.counters().get(name)


def executed_fallback_ops() -> list[str]:
    """The ops that were computed on the CPU."""
    return [name for name in counter_names() if name.startswith("aten::")]


def metric_names() -> list[str]:
    lazy = tracing.lazy_device()
    return [] if lazy is None else lazy.metric_names()


def metric_data(name: str) -> tuple[int, float, list[tuple[float, float]]] | None:
    """How many samples a metric has had, their sum, and the last ones as (time, value); None if there is no
    such metric."""
    lazy = tracing.lazy_device()
    return None if lazy is None else lazy.metric_data(name)


def metrics_report() -> str:
    """All counters and metrics as text."""
    lazy = tracing.lazy_device()
    return "" if lazy is None else lazy.metrics_report()


def short_metrics_report(
    counter_names: Sequence[str] | None = None, metric_names: Sequence[str] | None = None
) -> str:
    """The most important ones, or those that are named."""
    lazy = tracing.lazy_device()
    return "" if lazy is None else lazy.short_metrics_report(counter_names, metric_names)


def clear_counters() -> None:
    if (lazy := tracing.lazy_device()) is not None:
        lazy.reset_counters()


def clear_metrics() -> None:
    if (lazy := tracing.lazy_device()) is not None:
        lazy.reset_metrics()


def clear_all() -> None:
    clear_metrics()
    clear_counters()
