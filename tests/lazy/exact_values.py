"""What differs from the CPU's float32 may be as near to float64: both round, and where terms cancel little is
left of either."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.utils._pytree as pytree
from sample_programs import difference, tolerances

MOST_ERROR = 3  # of the CPU's own
MOST_OF_SCALE = 1e-3  # with another sign, say, the CPU's result is no measure


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
    least, most = tolerances(torch.float32)[0] * scale, MOST_OF_SCALE * scale
    return bool((errors <= (MOST_ERROR * own).clamp(least, most)).all())


def differences(
    got: list[torch.Tensor],
    expected: list[torch.Tensor],
    accumulates: bool,
    compute_exact: Callable[[], list[torch.Tensor] | None],
) -> str:
    """By result: what differs from `expected`, and is not as near to what `compute_exact` may give."""
    found = {i: difference(g, e, accumulates) for i, (g, e) in enumerate(zip(got, expected, strict=True))}
    found = {i: text for i, text in found.items() if text}
    exact = compute_exact() if found else None
    if exact is not None:
        found = {
            i: text for i, text in found.items() if not is_as_near(got[i], expected[i], exact[i], accumulates)
        }
    return "; ".join(f"result {i}: {text}" for i, text in found.items())
