"""Arrays on the device that tensors and programs share, and calls of programs with tensors of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from torchere import _core
from torchere.errors import InvalidArgumentError

if TYPE_CHECKING:
    from torchere.calls import CallConvention


def is_lazy(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_xla


def array_of(tensor: torch.Tensor) -> _core.DeviceArray:
    """The tensor's elements as an array of the same memory. Computes what is pending, and waits for
    nothing."""
    return _core.DeviceArray._take(torch.ops.torchere_lazy.give(tensor.detach()))


def tensor_of(array: _core.DeviceArray) -> torch.Tensor:
    """A tensor of the device that shows the array."""
    return torch.ops.torchere_lazy.take(array._give())


def common_device(name: str, leaves: Sequence[Any]) -> torch.device | None:
    """The device of the tensors among a call's leaves if it is this one; None if they are on the CPU alone.
    Numbers (tensors without dimensions) may be on the CPU beside it, as in torch. InvalidArgumentError if
    there are two."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    ours = next((tensor.device for tensor in tensors if tensor.is_xla), None)
    if ours is None:
        return None
    for tensor in tensors:
        if tensor.device != ours and not (tensor.device.type == "cpu" and tensor.dim() == 0):
            raise InvalidArgumentError(
                f"[{name}] tensors on two devices: got {tensor.device}, expected {ours}, where another "
                "argument is"
            )
    return ours


def call(session: _core.Session, convention: CallConvention, leaves: Sequence[Any], place: str) -> list[Any]:
    """Calls a function with tensors of the device among its leaves. Nothing is copied to the host, and
    nobody waits but for results that are numbers. What the function writes to its arguments is written
    there."""
    arrays = [array_of(leaf) if is_lazy(leaf) else leaf for leaf in leaves]
    results = session.call_on_device(convention.index, arrays, place)
    _write(convention, leaves, arrays)
    for position, result in enumerate(results):
        if isinstance(result, _core.DeviceArray):
            is_number = position in convention.number_outputs
            results[position] = result.torch().item() if is_number else tensor_of(result)
    return results


def call_on_device(
    session: _core.Session, convention: CallConvention, leaves: Sequence[Any], place: str
) -> list[Any]:
    """The same, but that results are DeviceArrays."""
    arrays = [array_of(leaf) if is_lazy(leaf) else leaf for leaf in leaves]
    results = session.call_on_device(convention.index, arrays, place)
    _write(convention, leaves, arrays)
    return results


def _write(convention: CallConvention, leaves: Sequence[Any], arrays: Sequence[Any]) -> None:
    for position in convention.written_inputs:
        if is_lazy(leaves[position]):
            with torch.no_grad():
                leaves[position].copy_(tensor_of(arrays[position]))
