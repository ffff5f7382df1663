"""Conversion of numpy arrays and torch tensors at the package's boundary."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def as_tensor(value: Any) -> Any:
    """A numpy array as a torch tensor that shares its memory (a copy if it is read-only); other values
    unchanged."""
    import numpy
    import torch

    if not isinstance(value, numpy.ndarray):
        return value
    return torch.from_numpy(value if value.flags.writeable else value.copy())


def as_array(weight: Any) -> Any:
    """A weight of the core as a numpy array that shares its memory; if numpy lacks its dtype, as a torch
    tensor (if torch is installed) or as raw bytes."""
    import numpy

    try:
        dtype = numpy.dtype(weight.dtype)
    except TypeError:
        dtype = None
    # Other packages may have registered more dtypes with numpy; the result must not depend on imports.
    if dtype is None or dtype.isbuiltin != 1:
        return weight_tensor(weight) if has_torch() else numpy.asarray(weight.storage)
    start = weight.storage_offset * dtype.itemsize
    elements = numpy.asarray(weight.storage)[start:]
    elements = elements[: elements.size // dtype.itemsize * dtype.itemsize].view(dtype)
    strides = [stride * dtype.itemsize for stride in weight.strides]
    return numpy.lib.stride_tricks.as_strided(elements, weight.shape, strides)


def weight_tensor(weight: Any) -> Any:
    """A weight of the core as a torch tensor that shares its memory."""
    import torch

    dtype = getattr(torch, weight.dtype)
    if 0 in weight.shape:
        return torch.empty(weight.shape, dtype=dtype)
    elements = torch.frombuffer(weight.storage, dtype=dtype, count=weight.storage.size // dtype.itemsize)
    return elements.as_strided(weight.shape, weight.strides, weight.storage_offset)


def has_torch() -> bool:
    """Whether torch can be imported; nothing is imported."""
    return sys.modules.get("torch") is not None or importlib.util.find_spec("torch") is not None


def plain_tensor(tensor: Any) -> Any:
    """A tensor subclass as a torch.Tensor that shares its memory; None if it has no storage of its own: a
    class that overrides __torch_dispatch__ (FakeTensor, DTensor, MaskedTensor, torchao's) may keep its
    elements anywhere."""
    import torch

    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return None
    if torch.nn.parameter.is_lazy(tensor):
        return None
    with torch._C.DisableTorchFunctionSubclass():  # what the subclass would do instead
        return torch._C.TensorBase.as_subclass(tensor, torch.Tensor)


def is_type_alone(tensor: Any) -> bool:
    """Whether a tensor has no elements to read, but all else: a fake one, or one on the meta device."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
    if not (tensor.is_meta if is_plain else isinstance(tensor, FakeTensor)):
        return False
    return tensor.layout == torch.strided and not tensor.is_quantized


def describe_tensor(tensor: Any) -> str:
    """Why a tensor has no plain memory, for errors."""
    way_out = " (pass its full_tensor())" if type(tensor).__name__ == "DTensor" else ""
    return f"{_tensor_kind(tensor)}, expected a tensor with memory of its own{way_out}"


def _tensor_kind(tensor: Any) -> str:
    import torch

    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return f"a {type(tensor).__name__}"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "a tensor inside a function transform (torch.vmap, torch.func)"
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.layout != torch.strided:
        return f"a tensor of the layout {tensor.layout}"
    return "a functional tensor" if torch._is_functional_tensor(tensor) else "a tensor without storage"


def describe_array(value: Any) -> str:
    """Why an object with __dlpack__ cannot be read, for errors."""
    dtype = "" if has_mask(value) else getattr(value, "dtype", "")
    kind = f"{type(value).__name__} of {dtype}" if str(dtype) else type(value).__name__
    return f"{kind}, expected one of native numbers or bools, without a mask"


def has_mask(value: Any) -> bool:
    """Whether it is one of numpy's masked arrays, whose mask would be lost."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


def scalar_array(value: Any) -> Any:
    """A scalar of numpy as an array without dimensions; None if it is no number."""
    import numpy

    is_number = value.dtype.kind in "biufc" or value.dtype.isbuiltin == 2  # those of other packages
    return numpy.asarray(value) if is_number else None


def scalar_number(value: Any) -> Any:
    """A scalar of numpy as Python's number or bool; None if Python has none that equals it."""
    import numpy

    number = value.item() if value.dtype.kind in "biufc" else None
    return None if isinstance(number, numpy.generic) else number


def bits_of(value: Any) -> Any:
    """The elements of a numpy array as unsigned integers if the dtype is another package's (ml_dtypes'
    bfloat16), which numpy cannot export; else None."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return None
    if value.dtype.isbuiltin != 2 or value.dtype.itemsize > 2 or not value.dtype.isnative:
        return None
    return value.view(numpy.ndarray).view(f"u{value.dtype.itemsize}")
