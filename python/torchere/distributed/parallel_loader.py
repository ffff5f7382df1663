"""PyTorch/XLA's torch_xla.distributed.parallel_loader for one process: batches on the device, a step for
each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchere import absent_names, tracing
from torchere.core import xla_model
from torchere.errors import UnimplementedError

__all__ = ["MpDeviceLoader"]

__getattr__ = absent_names.getter("distributed.parallel_loader")

# They only decide how PyTorch/XLA's threads prepare batches.
_SCHEDULING = {
    "device_prefetch_size",
    "host_to_device_transfer_threads",
    "loader_prefetch_size",
}


class MpDeviceLoader:
    """A loader's batches with their tensors on the device. torch_xla.sync() is called between batches, or
    between groups of `batches_per_execution`, and at the end."""

    def __init__(self, loader: Any, device: Any, batches_per_execution: int = 1, **options: Any):
        if unknown := options.keys() - _SCHEDULING:
            raise UnimplementedError(
                f"[MpDeviceLoader] got {', '.join(sorted(unknown))}, expected batches_per_execution, "
                f"{', '.join(sorted(_SCHEDULING))}"
            )
        self._loader, self._device, self._batches = loader, device, batches_per_execution

    def __iter__(self) -> Iterator[Any]:
        for number, batch in enumerate(self._loader):
            if number and number % self._batches == 0:
                tracing.sync()
            moved = xla_model.send_cpu_data_to_device([batch], self._device)
            yield moved[0]
        tracing.sync()

    def __len__(self) -> int:
        return len(self._loader)
