"""The lazy device and its steps under PyTorch/XLA's names: torch_xla.device, sync, compile and the like.

Where the extension of the lazy device is not built, the device is torch's CPU, whose ops run at once.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import warnings
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torchere.errors import NotFoundError, UnimplementedError

if TYPE_CHECKING:
    import torch


def lazy_device() -> ModuleType | None:
    """torchere.lazy, or None where its extension is not built."""
    return _found()[0]


@functools.cache
def _found() -> tuple[ModuleType | None, str]:
    """The same, and why it is not there."""
    try:
        from torchere import lazy
    except NotFoundError as error:
        return None, str(error)
    return lazy, ""


@functools.cache
def _warn_of_the_cpu() -> None:
    warnings.warn(f"[torch_xla] torch_xla.device() is the CPU: {_found()[1]}", stacklevel=3)


def device(index: int | None = None) -> torch.device:
    """The current device; with an index that device, which becomes the current one. The CPU, with a warning,
    where the lazy device is not built."""
    import torch

    if lazy_device() is None:
        _warn_of_the_cpu()
        _check_index(index, 1)
        return torch.device("cpu")
    if index is not None:
        _check_index(index, torch.xla.device_count())
        torch.xla.set_device(index)
    return torch.device("xla", torch.xla.current_device())


def _check_index(index: int | None, count: int) -> None:
    if index is not None and not 0 <= index < count:
        raise IndexError(f"[torch_xla.device] no such device: got index {index}, expected 0 to {count - 1}")


def devices() -> list[torch.device]:
    """All devices of the plugin."""
    import torch

    if lazy_device() is None:
        return [device()]
    return [torch.device("xla", index) for index in range(torch.xla.device_count())]


def real_devices() -> list[str]:
    """The plugin's names for its devices: ["CPU:0"]."""
    import torch

    return ["CPU:0"] if lazy_device() is None else torch.ops.torchere_lazy.device_names()


def device_count() -> int:
    """How many devices the plugin has."""
    return len(real_devices())


def sync(wait: bool = False, reset_scope: bool = True) -> None:
    """Starts the computation of everything that is pending on the current device, then runs the step's
    closures. With `wait`, it returns when everything is computed. `reset_scope` is accepted: there are no
    scopes."""
    if lazy_device() is not None:
        import torch

        torch.ops.torchere_lazy.sync(torch.xla.current_device())
        if wait or os.environ.get("XLA_SYNC_WAIT", "0").lower() in ("1", "true"):
            torch.ops.torchere_lazy.wait()
    _run_step_closures()


# Of the process, as its steps are.
_closures: list[tuple[Callable[[], Any], bool]] = []
_running: list[Future[Any]] = []


@functools.cache
def _closure_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="step_closures")


def add_step_closure(
    closure: Callable[..., Any], args: tuple[Any, ...] = (), run_async: bool = False
) -> None:
    """Calls the closure once, after the next sync; with `run_async` on another thread, whose error the sync
    after that one raises."""
    _closures.append((functools.partial(closure, *args), run_async))


def _run_step_closures() -> None:
    for future in [future for future in _running if future.done()]:
        _running.remove(future)
        future.result()
    pending = _closures[:]
    _closures.clear()
    for closure, run_async in pending:
        if run_async:
            _running.append(_closure_thread().submit(closure))
        else:
            closure()


_function_numbers = itertools.count()
_function_ids: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def compile(
    f: Callable[..., Any] | None = None,
    full_graph: bool | None = False,
    name: str | None = None,
    max_different_graphs: int | None = None,
) -> Any:
    """A function (or module) as one step: what was pending before is computed first, and what it traced when
    it
    returns. Without a function, a context manager and a decorator: `with torch_xla.compile(): ...`,
    `@torch_xla.compile()`.

    With `full_graph`, to read a value inside is an error. More than `max_different_graphs` different graphs,
    over all its calls, are an error too. `name` is what errors call it.
    """
    shown = name or getattr(f, "__name__", None) or (type(f).__name__ if f is not None else "the region")
    number = next(_function_numbers) if f is None else _number_of(f)
    limit = -1 if max_different_graphs is None else max_different_graphs

    @contextlib.contextmanager
    def region() -> Iterator[None]:
        if lazy_device() is None:
            try:
                yield
            finally:
                sync()
            return
        import torch

        ops = torch.ops.torchere_lazy
        sync()
        ops.enter_region(shown, number, bool(full_graph), limit)
        try:
            yield
        finally:
            ops.end_tracing()
            try:
                sync()
            finally:
                ops.leave_region()

    return region() if f is None else region()(f)


def _number_of(f: Any) -> int:
    """A number of a function's, the same for each of its regions while it lives."""
    try:
        known = _function_ids.get(f)
        if known is None:
            known = _function_ids[f] = next(_function_numbers)
            weakref.finalize(f, _forget, known)
        return known
    except TypeError:  # of a class without weak references, or not hashable
        return next(_function_numbers)


def _forget(number: int) -> None:
    if (lazy := lazy_device()) is not None:
        lazy._ops().forget_region(number)


def step() -> Any:
    """compile() of a region: `with torch_xla.step(): ...`."""
    return compile()


def manual_seed(seed: int, device: Any = None) -> None:
    """Seeds a device's random numbers, the current one's by default."""
    from torchere.core import xla_model

    xla_model.set_rng_state(seed, device)


def launch(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    start_method: str = "spawn",
    debug_single_process: bool = False,
) -> None:
    """Calls fn(0, *args) in this process, which has all devices. PyTorch/XLA starts a process for each
    device: with several of them, that is an error unless `debug_single_process` is set."""
    del start_method
    if (count := device_count()) > 1 and not debug_single_process:
        raise UnimplementedError(
            f"[torch_xla.launch] a process for each device: got {count} devices, expected 1, or "
            "debug_single_process=True"
        )
    fn(0, *args)
