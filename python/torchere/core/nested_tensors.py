"""Tensors within any data: containers, dataclasses, and objects with attributes, as loaders give them."""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_leaves, tree_map

# Their attributes are no data; a module has a to() of its own.
_WITHOUT_DATA = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    torch.nn.Module,
)


def map_tensors(
    data: Any,
    is_meant: Callable[[torch.Tensor], bool],
    change: Callable[[torch.Tensor], torch.Tensor],
) -> Any:
    """The data with change(tensor) for each tensor that is meant. Objects that hold such tensors are copied,
    others are the same ones."""
    return _Mapping(is_meant, change).of(data)


class _Mapping:
    def __init__(
        self, is_meant: Callable[[torch.Tensor], bool], change: Callable[[torch.Tensor], torch.Tensor]
    ):
        self.is_meant = is_meant
        self.change = change
        self.copies: dict[int, Any] = {}  # by object: they may refer to each other

    def of(self, data: Any) -> Any:
        return tree_map(self.of_leaf, data, is_leaf=_is_sequence)

    def of_leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return self.change(leaf) if self.is_meant(leaf) else leaf
        if _is_sequence(leaf):  # the sizes of its batches stay on the CPU
            data, sizes, *indices = leaf
            return type(leaf)(self.of(data), sizes, *map(self.of, indices))
        if not self.concerns(leaf, set()):
            return leaf
        if isinstance(leaf, (set, frozenset)):
            return type(leaf)(map(self.of, leaf))
        if id(leaf) not in self.copies:
            self.copies[id(leaf)] = result = copy.copy(leaf)
            for name, value in _attributes(leaf).items():
                object.__setattr__(result, name, self.of(value))  # frozen dataclasses refuse their own
        return self.copies[id(leaf)]

    def concerns(self, leaf: Any, seen: set[int]) -> bool:
        """Whether a tensor that is meant is found within."""
        if isinstance(leaf, torch.Tensor):
            return self.is_meant(leaf)
        if id(leaf) in seen:
            return False
        seen.add(id(leaf))
        parts = leaf if isinstance(leaf, (set, frozenset)) else _attributes(leaf).values()
        return any(self.concerns(part, seen) for value in parts for part in tree_leaves(value))


def _is_sequence(value: Any) -> bool:
    """Torch takes it for a tuple, whose parts would be tensors like others."""
    return isinstance(value, PackedSequence)


def _attributes(leaf: Any) -> dict[str, Any]:
    if isinstance(leaf, _WITHOUT_DATA):
        return {}
    names = list(vars(leaf)) if hasattr(leaf, "__dict__") else []
    if dataclasses.is_dataclass(leaf):  # with slots, too
        names += [field.name for field in dataclasses.fields(leaf)]
    return {name: getattr(leaf, name) for name in names if hasattr(leaf, name)}
