"""The rows of the op table, and the operators of torch that they stand for."""

import functools

import torch

from torchere import _core


@functools.cache
def schemas() -> dict[str, str]:
    """Every row's schema by its op's name: {"aten.abs.default": "aten::abs(Tensor self) -> Tensor"}."""
    return dict(_core.operators())


def overload(row: str) -> torch._ops.OpOverload:
    """torch.ops.aten.add.Tensor, from "aten.add.Tensor"."""
    namespace, packet, name = row.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), name)


def words(text: str) -> list[str]:
    """A list of names, written as text."""
    return text.split()
