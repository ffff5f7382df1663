"""PyTorch/XLA's torch_xla.core.xla_model for one process: devices, steps, random numbers, StableHLO.

The functions for several replicas are those of a group of one process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

from torchere import absent_names, tracing
from torchere.errors import UnimplementedError
from torchere.tracing import add_step_closure

__all__ = [
    "REDUCE_AND",
    "REDUCE_MAX",
    "REDUCE_MIN",
    "REDUCE_MUL",
    "REDUCE_OR",
    "REDUCE_SUM",
    "RateTracker",
    "add_step_closure",
    "all_reduce",
    "broadcast_master_param",
    "do_on_ordinals",
    "fork_rng",
    "get_local_ordinal",
    "get_ordinal",
    "get_rng_state",
    "get_stablehlo",
    "get_stablehlo_bytecode",
    "get_xla_supported_devices",
    "is_master_ordinal",
    "is_xla_tensor",
    "mark_step",
    "master_print",
    "mesh_reduce",
    "optimizer_step",
    "reduce_gradients",
    "rendezvous",
    "save",
    "send_cpu_data_to_device",
    "set_rng_state",
    "unlazy",
    "wait_device_ops",
    "xla_device",
    "xla_device_hw",
    "xla_real_devices",
    "xla_rendezvous",
    "xrt_world_size",
]

REDUCE_SUM, REDUCE_MUL = "sum", "mul"
REDUCE_AND, REDUCE_OR = "and", "or"
REDUCE_MIN, REDUCE_MAX = "min", "max"

__getattr__ = absent_names.getter("core.xla_model")


def xla_device(n: int | None = None, devkind: str | None = None) -> Any:
    """torch_xla.device(n). `devkind` has to be the plugin's platform."""
    if devkind is not None and devkind.upper() not in (known := _platforms()):
        raise RuntimeError(f"[xla_device] no such device: got {devkind}, expected {_listed(sorted(known))}")
    return tracing.device(n)


def _platforms() -> set[str]:
    return {name.rpartition(":")[0] for name in tracing.real_devices()}


def get_xla_supported_devices(devkind: str | None = None, max_devices: int | None = None) -> list[str] | None:
    """["xla:0", ...], at most `max_devices` of them; None if the plugin's platform is not `devkind`."""
    if devkind is not None and devkind.upper() not in _platforms():
        return None
    return [str(device) for device in tracing.devices()][: max_devices or None]


def xla_real_devices(devices: Iterable[Any] | None = None) -> list[str]:
    """The plugin's names ("CPU:0") for devices, all of them by default."""
    names = tracing.real_devices()
    return [names[_index_of(device)] for device in devices] if devices else names


def xla_device_hw(device: Any) -> str:
    """The plugin's platform: "CPU"."""
    return tracing.real_devices()[_index_of(device)].rpartition(":")[0]


def _index_of(device: Any) -> int:
    import torch

    given, known = torch.device(device), tracing.devices()
    if given.type != known[0].type or (given.index or 0) >= len(known):
        raise RuntimeError(f"[xla_model] no such device: got {given}, expected one of {_listed(known)}")
    return given.index or 0


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def is_xla_tensor(tensor: Any) -> bool:
    return tensor.device.type == "xla"


def mark_step(wait: bool = False, reset_scope: bool = True) -> None:
    """torch_xla.sync()."""
    tracing.sync(wait, reset_scope)


def wait_device_ops(devices: Sequence[Any] = ()) -> None:
    """Waits for what was started, on all devices; what is pending stays pending."""
    del devices  # the plugin's executions are counted for all of them
    if tracing.lazy_device() is not None:
        _ops().wait()


def unlazy(tensors: Iterable[Any]) -> None:
    """Computes the tensors, and waits for them."""
    if tracing.lazy_device() is None:
        return
    from torchere.lazy import buffers

    for array in [buffers.array_of(tensor) for tensor in tensors]:
        array.block_until_ready()


def get_stablehlo(tensors: Sequence[Any] | None = None) -> str:
    """The StableHLO that computes the tensors; without them, what mark_step() would compute."""
    return _built("get_stablehlo").get_stablehlo(tensors, device=_device_of(tensors))


def get_stablehlo_bytecode(tensors: Sequence[Any] | None = None) -> bytes:
    """The same as a portable artifact."""
    return _built("get_stablehlo_bytecode").get_stablehlo_bytecode(tensors, device=_device_of(tensors))


def _device_of(tensors: Sequence[Any] | None) -> int:
    import torch

    return tensors[0].device.index if tensors else torch.xla.current_device()


def _built(name: str) -> Any:
    lazy = tracing.lazy_device()
    if lazy is None:
        raise RuntimeError(
            f"[{name}] nothing is traced: got the CPU, expected the lazy device; "
            "run: python -m torchere.lazy build"
        )
    return lazy


def _ops() -> Any:
    import torch

    return torch.ops.torchere_lazy


def set_rng_state(seed: int, device: Any = None) -> None:
    """Seeds a device's random numbers, or sets a state that get_rng_state() gave: the seed in the lower 64
    bits, how much was drawn above them."""
    import torch

    if tracing.lazy_device() is None:
        _set_cpu_state(seed)
        return
    from torchere.lazy.random_state import signed

    words = [signed(seed & (2**64 - 1)), signed(seed >> 64 if seed >= 0 else 0)]
    torch.xla.set_rng_state(torch.tensor(words, dtype=torch.int64), torch.xla.index_of(device))


def get_rng_state(device: Any = None) -> int:
    """The state of a device's random numbers, for set_rng_state(): the seed, until something is drawn."""
    import torch

    if tracing.lazy_device() is None:
        return _cpu_state()
    seed, drawn = torch.xla.get_rng_state(torch.xla.index_of(device)).tolist()
    return seed % 2**64 | drawn % 2**64 << 64


def _cpu_state() -> int:
    """The seed, and above its 64 bits the bytes of the generator's state, once something was drawn."""
    import torch

    seed, state = torch.initial_seed() % 2**64, torch.get_rng_state()
    if torch.equal(state, torch.Generator().manual_seed(seed).get_state()):
        return seed
    return seed | int.from_bytes(state.numpy().tobytes(), "little") << 64


def _set_cpu_state(state: int) -> None:
    import torch

    if state < 2**64:  # a seed, which may be negative
        torch.manual_seed(state)
        return
    given, expected = state >> 64, torch.get_rng_state().numel()
    if given.bit_length() > 8 * expected:
        raise RuntimeError(
            f"[set_rng_state] got {given.bit_length()} bits above the seed, expected none or "
            f"those of get_rng_state() on the CPU, {8 * expected} at most"
        )
    torch.set_rng_state(torch.frombuffer(bytearray(given.to_bytes(expected, "little")), dtype=torch.uint8))


@contextlib.contextmanager
def fork_rng(device: Any = None, enabled: bool = True) -> Iterator[None]:
    """Afterwards, the random numbers go on as if nothing had been drawn within."""
    if not enabled:
        yield
        return
    state = get_rng_state(device)
    try:
        yield
    finally:
        set_rng_state(state, device)


def optimizer_step(
    optimizer: Any,
    barrier: bool = False,
    optimizer_args: dict[str, Any] | None = None,
    groups: Any = None,
    pin_layout: bool = True,
) -> Any:
    """optimizer.step(); with `barrier`, mark_step() after it."""
    reduce_gradients(optimizer, groups, pin_layout)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def save(data: Any, file_or_path: Any, master_only: bool = True, global_master: bool = False) -> None:
    """torch.save() of the data with its tensors on the CPU."""
    import torch

    del master_only, global_master  # this process is the master
    torch.save(_on_cpu(data), file_or_path)


def _on_cpu(data: Any) -> Any:
    from torchere.core.nested_tensors import map_tensors

    return map_tensors(data, is_xla_tensor, lambda tensor: tensor.cpu())


def send_cpu_data_to_device(datas: Any, device: Any, input_sharding: Any = None) -> Any:
    """The data with its CPU tensors on the device, those within dataclasses and other objects too; of one
    tensor, a list."""
    import torch

    from torchere.core.nested_tensors import map_tensors

    if input_sharding is not None:
        raise UnimplementedError("[send_cpu_data_to_device] got an input_sharding, expected None")
    given = [datas] if isinstance(datas, torch.Tensor) else datas
    return map_tensors(given, lambda tensor: tensor.device.type == "cpu", lambda tensor: tensor.to(device))


# One process, which is its own group.


def xrt_world_size(defval: int = 1) -> int:
    del defval
    return 1


def get_ordinal(defval: int = 0) -> int:
    del defval
    return 0


def get_local_ordinal(defval: int = 0) -> int:
    del defval
    return 0


def is_master_ordinal(local: bool = True) -> bool:
    del local
    return True


def master_print(*args: Any, fd: IO[str] | None = None, local: bool = False, flush: bool = False) -> None:
    del local
    print(*args, file=fd or sys.stdout, flush=flush)


def all_reduce(
    reduce_type: str, inputs: Any, scale: float = 1.0, groups: Any = None, pin_layout: bool = True
) -> Any:
    """Over one process: a copy of a tensor, or the list of tensors itself."""
    import torch

    del reduce_type, scale, groups, pin_layout
    return inputs.clone() if isinstance(inputs, torch.Tensor) else inputs


def reduce_gradients(optimizer: Any, groups: Any = None, pin_layout: bool = True) -> None:
    """Of one process: they are reduced."""


def broadcast_master_param(model: Any) -> None:
    """This process is the master."""
    del model
    mark_step()


def xla_rendezvous(payload: bytes = b"", ordinals: Any = None, tag: str | None = None) -> list[bytes]:
    """Meets nobody else: a mark_step(), and the own payload."""
    del ordinals, tag
    if not isinstance(payload, bytes):
        raise TypeError(f"[xla_rendezvous] the payload: got {type(payload).__name__}, expected bytes")
    mark_step()
    return [payload]


def rendezvous(tag: str, payload: bytes = b"", replicas: Sequence[int] = ()) -> list[bytes]:
    return xla_rendezvous(payload, replicas or None, tag)


def do_on_ordinals(target: Callable[..., Any], data: Any = (), ordinals: Sequence[int] = (0,)) -> Any:
    """target(*data), with the data on the CPU, if 0 is among the ordinals."""
    return target(*_on_cpu(data)) if 0 in ordinals else None


def mesh_reduce(tag: str, data: Any, reduce_fn: Callable[[list[Any]], Any]) -> Any:
    """reduce_fn of a list of the own data, on the CPU."""
    del tag
    return reduce_fn([_on_cpu(data)])


class RateTracker:
    """How many items a loop has done in a second: smoothed since the last rate(), and over all."""

    def __init__(self, smooth_factor: float | None = None):
        default = float(os.environ.get("RATE_TRACKER_SMOOTHING", "0.4"))
        self._weight_of_old = default if smooth_factor is None else smooth_factor
        self._start = self._last = time.time()
        self._total = self._since = 0.0
        self._smoothed: float | None = None

    def add(self, count: float) -> None:
        self._total += count
        self._since += count

    def rate(self) -> float:
        now = time.time()
        if now <= self._last:
            return 0.0
        rate = self._since / (now - self._last)
        if self._smoothed is not None:
            rate += self._weight_of_old * (self._smoothed - rate)
        self._smoothed, self._since, self._last = rate, 0.0, now
        return rate

    def global_rate(self) -> float:
        seconds = time.time() - self._start
        return self._total / seconds if seconds > 0 else 0.0
