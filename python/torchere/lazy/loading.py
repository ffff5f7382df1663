"""torch.load onto the device.

torch rebuilds a tensor by giving it a storage that lies on the device. Tensors of the device have no storage
that could be filled: a storage is read on the CPU and marked, and each tensor of it is made there and copied.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import _utils

_TARGET = "_torchere_device"
_COPY = "_torchere_copy"


def follow_torch() -> None:
    """From now on torch.load(map_location="xla") works."""
    torch.serialization.register_package(60, _tag, _marked)  # torch has 10 to 30, each once
    rebuild = _utils._rebuild_tensor

    def rebuilt(storage: Any, offset: int, size: Any, stride: Any) -> torch.Tensor:
        tensor = rebuild(storage, offset, size, stride)
        device = getattr(storage._untyped_storage, _TARGET, None)
        return tensor if device is None else _on_device(tensor, storage._untyped_storage, device)

    _utils._rebuild_tensor = rebuilt


def _tag(storage: Any) -> str | None:
    """torch saves tensors of the device as copies on the CPU, so that no storage has the tag."""
    return None


def _marked(storage: Any, location: str) -> Any:
    if not location.startswith("xla"):
        return None
    from torchere.lazy import device_module

    index = device_module.index_of(location)
    device_module.get_device_name(index)  # an error if there is no such device
    setattr(storage, _TARGET, torch.device("xla", index))
    return storage


def _on_device(tensor: torch.Tensor, storage: Any, device: torch.device) -> torch.Tensor:
    """A tensor on the device. Those of one storage and dtype share their elements there as well."""
    whole = getattr(storage, _COPY, None)
    if whole is None:
        is_whole = tensor.is_contiguous() and tensor.numel() * tensor.element_size() == storage.nbytes()
        if is_whole:
            whole = tensor.to(device)
            setattr(storage, _COPY, whole)
            return whole
        flat = torch.empty(0, dtype=tensor.dtype).set_(storage)
        whole = flat.to(device)
        setattr(storage, _COPY, whole)
    if whole.dtype != tensor.dtype:
        return tensor.to(device)
    return whole.detach().as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
