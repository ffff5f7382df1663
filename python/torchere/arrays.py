"""Arrays at the edge of the package: numpy arrays and torch tensors, in and out."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def as_tensor(value: Any) -> Any:
    """A numpy array as a torch tensor of the same memory (a copy where it is read-only); others as they
    are."""
    import numpy
    import torch

    if not isinstance(value, numpy.ndarray):
        return value
    return torch.from_numpy(value if value.flags.writeable else value.copy())


def as_array(weight: Any) -> Any:
    """A weight of the core as a numpy array of the same memory; as a torch tensor where numpy lacks its dtype
    (and torch is there), else as raw bytes."""
    import numpy

    try:
        dtype = numpy.dtype(weight.dtype)
    except TypeError:
        dtype = None
    # Other packages may have taught numpy more dtypes; what comes out must not depend on who was imported.
    if dtype is None or dtype.isbuiltin != 1:
        return weight_tensor(weight) if has_torch() else numpy.asarray(weight.storage)
    start = weight.storage_offset * dtype.itemsize
    elements = numpy.asarray(weight.storage)[start:]
    elements = elements[: elements.size // dtype.itemsize * dtype.itemsize].view(dtype)
    strides = [stride * dtype.itemsize for stride in weight.strides]
    return numpy.lib.stride_tricks.as_strided(elements, weight.shape, strides)


def weight_tensor(weight: Any) -> Any:
    """A weight of the core as a torch tensor of the same memory."""
    import torch

    dtype = getattr(torch, weight.dtype)
    if 0 in weight.shape:
        return torch.empty(weight.shape, dtype=dtype)
    elements = torch.frombuffer(weight.storage, dtype=dtype, count=weight.storage.size // dtype.itemsize)
    return elements.as_strided(weight.shape, weight.strides, weight.storage_offset)


def has_torch() -> bool:
    """Whether torch can be imported; nothing is imported."""
    return sys.modules.get("torch") is not None or importlib.util.find_spec("torch") is not None
