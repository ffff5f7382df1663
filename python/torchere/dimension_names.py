"""What the user says of dynamic dimensions (torch.export.Dim), which torch replaces by symbols."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any


@dataclasses.dataclass
class Dimensions:
    """Of torch's symbols, where one is a size by itself, or the only one in it."""

    names: dict[str, str] = dataclasses.field(default_factory=dict)  #: "s77" -> "batch"
    #: The least values of sizes; None for a named dimension, whose range torch keeps as the user gave it.
    minimums: dict[str, int | None] = dataclasses.field(default_factory=dict)


def dimensions(module: Any, exported_program: Any, dynamic_shapes: Any) -> Dimensions:
    import torch

    found = Dimensions()
    for _, _, dim, size in asked_dimensions(module, exported_program, dynamic_shapes):
        symbols = size.node.expr.free_symbols if isinstance(size, torch.SymInt) else ()
        if len(symbols) != 1:
            continue
        symbol = str(next(iter(symbols)))
        root = getattr(dim, "root", dim)
        if isinstance(dim, torch.export.Dim):
            found.minimums[symbol] = None
            if hasattr(root, "__name__"):
                found.names.setdefault(symbol, root.__name__)
        elif dim.min is not None and size.node.expr.is_Symbol:
            found.minimums.setdefault(symbol, dim.min)
    return found


def asked_dimensions(
    module: Any, exported_program: Any, dynamic_shapes: Any
) -> Iterator[tuple[str, int | None, Any, Any]]:
    """(input, axis, Dim or Dim.AUTO and its like, size in the program) of every dimension that
    `dynamic_shapes` makes dynamic; an int has no axis."""
    import torch.utils._pytree as pytree

    if not dynamic_shapes or not exported_program.example_inputs:
        return
    leaves, tree = pytree.tree_flatten(exported_program.example_inputs)
    leaves = [_Int() if type(leaf) is int else leaf for leaf in leaves]  # equal ints may be one object
    specs = [spec for spec in exported_program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    placeholders = {node.name: node for node in exported_program.graph.nodes if node.op == "placeholder"}
    names = {id(leaf): spec.arg.name for leaf, spec in zip(leaves, specs, strict=True)}
    args, kwargs = pytree.tree_unflatten(leaves, tree)
    bound = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    arguments = bound if isinstance(dynamic_shapes, dict) else tuple(bound.values())
    for leaf, axis, dim in _dims(arguments, dynamic_shapes):
        value = placeholders[names[id(leaf)]].meta.get("val")
        yield names[id(leaf)], axis, dim, value if axis is None else value.shape[axis]


class _Int:
    """Stands for an int argument."""


def int_names(exported_program: Any) -> dict[str, str]:
    """The symbols of int inputs, with the inputs' names."""
    import torch

    specs = exported_program.graph_signature.input_specs
    inputs = {spec.arg.name for spec in specs if spec.kind.name == "USER_INPUT"}
    nodes = exported_program.graph.find_nodes(op="placeholder")
    values = {node.name: node.meta.get("val") for node in nodes if node.name in inputs}
    names: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, torch.SymInt) and value.node.expr.is_Symbol:
            names.setdefault(str(value), name)  # the capture may have taken two ints for one
    return names


def _dims(value: Any, shapes: Any) -> Iterator[tuple[Any, int | None, Any]]:
    """(leaf, axis, dim) of every dimension that `shapes` makes dynamic, as asked_dimensions() has them."""
    import torch

    if shapes is None or value is None:
        return
    if isinstance(value, _Int):
        if isinstance(shapes, (torch.export.Dim, type(torch.export.Dim.AUTO))):
            yield value, None, shapes
        return
    if isinstance(value, torch.Tensor):
        axes = shapes.items() if isinstance(shapes, dict) else enumerate(shapes)
        for axis, dim in axes:
            if isinstance(dim, (torch.export.Dim, type(torch.export.Dim.AUTO))):
                yield value, axis, dim
    elif isinstance(value, dict) and isinstance(shapes, dict):
        for key, shape in shapes.items():
            yield from _dims(value.get(key), shape)
    elif isinstance(value, (list, tuple)) and isinstance(shapes, (list, tuple)):
        for element, shape in zip(value, shapes, strict=False):
            yield from _dims(element, shape)
