"""What differs from the CPU's float32 may be as near to float64: both round, and where terms cancel little is
left of either."""

from __future__ import annotations

import torch
import torch.utils._pytree as pytree
from sample_programs import difference, tolerances

MOST_ERROR = 3  # of the CPU's own


def widened(values, of_integers: bool = False):
    """With float64 for all float32; for integers too, if these are no places and sizes."""

    def widen(tensor: torch.Tensor) -> torch.Tensor:
        is_wide = tensor.dtype == torch.float32 or (of_integers and tensor.dtype == torch.int64)
        return tensor.detach().double().requires_grad_(tensor.requires_grad) if is_wide else tensor

    return pytree.tree_map_only(torch.Tensor, widen, values)


def is_as_near(got: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor, accumulates: bool) -> bool:
    """Whether `got` is as near to `exact`, of float64, as `expected` or as the tolerance."""
    if got.dtype != torch.float32 or exact.dtype != torch.float64 or exact.shape != got.shape:
        return False
    if not difference(got, exact.float(), accumulates):
        return True
    finite = exact.isfinite()
    if (finite != got.isfinite()).any() or (finite != expected.isfinite()).any():
        return False
    errors, own = ((each.double() - exact)[finite].abs() for each in (got, expected))
    scale = exact[finite].abs()
    if accumulates:
        own, scale = own.max(), scale.max()
    return bool((errors <= torch.maximum(MOST_ERROR * own, tolerances(torch.float32)[0] * scale)).all())
