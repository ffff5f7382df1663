"""torch.ops.xla.write_mlir_debuginfo(tensor, text): the op that made the tensor has the text as its location
in the module. Importing this module defines the op."""

from __future__ import annotations

from typing import Any

import torch

_LIBRARY = torch.library.Library("xla", "FRAGMENT")
_LIBRARY.define("write_mlir_debuginfo(Tensor x, str data) -> Tensor")


def write_mlir_debuginfo(x: torch.Tensor, data: str) -> torch.Tensor:
    """The tensor. In an exported program, the op that made it is said to be at `data`, which the module's
    text shows."""
    return torch.ops.xla.write_mlir_debuginfo(x, data)


@torch.library.impl(_LIBRARY, "write_mlir_debuginfo", "CompositeExplicitAutograd")
def _copy(x: torch.Tensor, data: str) -> torch.Tensor:
    del data  # only an export reads it
    return x.clone()


@torch.library.impl(_LIBRARY, "write_mlir_debuginfo", "Meta")
def _type(x: torch.Tensor, data: str) -> torch.Tensor:
    del data
    return torch.empty_like(x)


def _backward(_: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
    return gradient, None


torch.library.register_autograd("xla::write_mlir_debuginfo", _backward, lib=_LIBRARY)
