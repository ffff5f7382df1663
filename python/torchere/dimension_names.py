"""The user's names of dynamic dimensions (torch.export.Dim), which torch replaces by symbols."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any


def dimension_names(module: Any, exported_program: Any, dynamic_shapes: Any) -> dict[str, str]:
    """Symbol -> name ("s77" -> "batch"), for symbols that are a size by themselves, or the only one in it."""
    import torch
    import torch.utils._pytree as pytree

    if not dynamic_shapes or not exported_program.example_inputs:
        return {}
    leaves = pytree.tree_leaves(exported_program.example_inputs)
    specs = [spec for spec in exported_program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    placeholders = {node.name: node for node in exported_program.graph.nodes if node.op == "placeholder"}
    values = {
        id(leaf): placeholders[spec.arg.name].meta.get("val")
        for leaf, spec in zip(leaves, specs, strict=True)
    }
    args, kwargs = exported_program.example_inputs
    bound = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    arguments = bound if isinstance(dynamic_shapes, dict) else tuple(bound.values())

    names: dict[str, str] = {}
    for tensor, axis, dim in _dims(arguments, dynamic_shapes):
        size = values[id(tensor)].shape[axis]
        symbols = size.node.expr.free_symbols if isinstance(size, torch.SymInt) else ()
        root = getattr(dim, "root", dim)
        if len(symbols) == 1 and hasattr(root, "__name__"):
            names.setdefault(str(next(iter(symbols))), root.__name__)
    return names


def _dims(value: Any, shapes: Any) -> Iterator[tuple[Any, int, Any]]:
    """(tensor, axis, Dim) of every dimension that `shapes` makes dynamic."""
    import torch

    if shapes is None or value is None:
        return
    if isinstance(value, torch.Tensor):
        axes = shapes.items() if isinstance(shapes, dict) else enumerate(shapes)
        for axis, dim in axes:
            if isinstance(dim, torch.export.Dim):
                yield value, axis, dim
    elif isinstance(value, dict) and isinstance(shapes, dict):
        for key, shape in shapes.items():
            yield from _dims(value.get(key), shape)
    elif isinstance(value, (list, tuple)) and isinstance(shapes, (list, tuple)):
        for element, shape in zip(value, shapes, strict=False):
            yield from _dims(element, shape)
