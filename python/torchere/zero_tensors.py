"""Kernels of ops on torch's tensors of zeros without memory, which forward derivatives make. torch's own ask
for sizes as numbers: a capture that meets them takes an open size for that of the example."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

# Whether a result is such a tensor, of whether its operands are.
_IS_ZERO: dict[str, Callable[[bool, bool], bool]] = {
    "add": lambda left, right: left and right,
    "sub": lambda left, right: left and right,
    "mul": lambda left, right: left or right,
    "div": lambda left, right: left and not right,
}

_lock = threading.Lock()
_users = 0  # contexts that are open
_torchs_lookup: Any = None
_changed: list[Any] = []  # ops for which torch keeps a kernel of these


@contextlib.contextmanager
def sizes_kept_open() -> Iterator[None]:
    """A context in which these kernels take the place of torch's in captures: elsewhere torch does not ask
    for kernels in Python."""
    from torch._ops import OpOverload

    global _users, _torchs_lookup
    with _lock:
        _users += 1
        if _users == 1:
            _torchs_lookup = OpOverload._get_dispatch
            OpOverload._get_dispatch = _lookup
            _forget_kernels()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                OpOverload._get_dispatch = _torchs_lookup
                _forget_kernels()


def _forget_kernels() -> None:
    """Has torch ask again for these kernels, and for its own of the most frequent ops."""
    import torch
    from torch._C import DispatchKey

    frequent = [getattr(torch.ops.aten, name).Tensor for name in _IS_ZERO]
    for op in [*_changed, *frequent]:
        op._dispatch_cache.pop(DispatchKey.ZeroTensor, None)
    _changed.clear()


def _lookup(op: Any, key: Any) -> Any:
    """torch's OpOverload._get_dispatch, with these kernels."""
    import torch
    from torch._C import DispatchKey

    if key != DispatchKey.ZeroTensor or key in op.py_kernels:
        return _torchs_lookup(op, key)
    kernel = None
    for name, is_zero in _IS_ZERO.items():
        if op is getattr(torch.ops.aten, name).Tensor:
            kernel = _elementwise(op, is_zero)
    if kernel is None:
        if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "ZeroTensor"):
            return _torchs_lookup(op, key)
        kernel = _of_dense(op)
    op._dispatch_cache[key] = kernel
    _changed.append(op)
    return kernel


def _is_zeros(operand: Any) -> bool:
    import torch

    return isinstance(operand, torch.Tensor) and operand._is_zerotensor()


def _of_dense(op: Any) -> Callable[..., Any]:
    """The op on its operands with memory, as torch's fallback."""
    import torch
    from torch.utils import _pytree as pytree

    def with_memory(operand: Any) -> Any:
        if not _is_zeros(operand):
            return operand
        return torch.zeros(operand.shape, dtype=operand.dtype, device=operand.device)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.tree_map(with_memory, (args, kwargs))
        return op(*args, **kwargs)

    return kernel


def _elementwise(op: Any, is_zero: Callable[[bool, bool], bool]) -> Callable[..., Any]:
    import torch
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as Promotion
    from torch._prims_common import elementwise_dtypes

    divides = op is torch.ops.aten.div.Tensor
    kind = Promotion.INT_TO_FLOAT if divides else Promotion.DEFAULT
    of_dense = _of_dense(op)

    def kernel(left: Any, right: Any, **options: Any) -> Any:
        if not is_zero(_is_zeros(left), _is_zeros(right)):
            return of_dense(left, right, **options)
        shape = torch.broadcast_shapes(left.shape, right.shape)
        _, dtype = elementwise_dtypes(left, right, type_promotion_kind=kind)
        return torch._efficientzerotensor(shape, dtype=dtype, device=left.device)

    return kernel
