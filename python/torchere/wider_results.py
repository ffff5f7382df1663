"""torch's out_dtype: an op whose result has another dtype than its operands, as products of bytes have."""

from __future__ import annotations

import functools
from typing import Any


def is_out_dtype(op: Any) -> bool:
    import torch

    return op is getattr(torch.ops.higher_order, "out_dtype", None)


def in_out_dtype(op: Any, dtype: Any, *args: Any) -> Any:
    """The op on operands that hold what its result is to hold, as eager mode computes it."""
    import torch

    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    dtypes = {tensor.dtype for tensor in tensors}
    if op is torch.ops.aten.mm.default and dtypes == {torch.int8} and dtype == torch.int32:
        return torch.ops.aten._int_mm.default(*tensors)
    common = functools.reduce(torch.promote_types, dtypes, dtype)
    return op(*(value.to(common) if isinstance(value, torch.Tensor) else value for value in args)).to(dtype)
