"""A functional program of the core as something to be run and written node by node: its nodes in eager
PyTorch, and parts of it as programs."""

from __future__ import annotations

import ctypes
import functools
import importlib
import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torchere import _core

if TYPE_CHECKING:
    from torchere.program import StableHLOProgram

_GETITEM = "_operator.getitem"


class FunctionalGraph:
    """The nodes of a program's main graph, by index."""

    def __init__(self, program: _core.Program):
        self.program = program
        self.nodes = program.graph_nodes()
        self.indices = {node.name: index for index, node in enumerate(self.nodes)}
        self.users: dict[int, list[int]] = {}
        for index, node in enumerate(self.nodes):
            for used in set(references(node)):
                self.users.setdefault(used, []).append(index)

    def calls(self) -> Iterator[tuple[int, Any]]:
        return ((index, node) for index, node in enumerate(self.nodes) if node.kind == "call")

    def results_of(self, index: int) -> list[int]:
        """The tensors that a call gives: itself, or the elements of its list that are read."""
        if self.nodes[index].type_kind == "tensor":
            return [index]
        if self.nodes[index].type_kind != "list":
            return []
        elements = [user for user in self.users.get(index, ()) if self.nodes[user].op == _GETITEM]
        return [user for user in elements if self.nodes[user].type_kind == "tensor"]

    def tensors_of(self, index: int) -> list[int]:
        """The tensors that a call reads, also by way of their sizes, each once."""
        found: dict[int, None] = {}
        for used in references(self.nodes[index]):
            if self.nodes[used].type_kind == "tensor":
                found[used] = None
            elif self.nodes[used].kind == "call":
                found |= dict.fromkeys(self.tensors_of(used))
        return list(found)

    def between(self, results: Iterable[int], inputs: Iterable[int]) -> list[int]:
        """The calls that compute the results from the inputs, in order."""
        pending, ends, found = list(results), set(inputs), set()
        while pending:
            place = pending.pop()
            if place not in found and place not in ends and self.nodes[place].kind == "call":
                found.add(place)
                pending += references(self.nodes[place])
        return sorted(found)

    def is_element(self, index: int) -> bool:
        return self.nodes[index].op == _GETITEM

    def last_uses(self) -> dict[int, list[int]]:
        """For each node, the values that no later one reads."""
        last: dict[int, list[int]] = {}
        for used, users in self.users.items():
            last.setdefault(max(users), []).append(used)
        return last


def references(node: Any) -> Iterator[int]:
    """The nodes among a node's arguments."""

    def walk(value: Any) -> Iterator[int]:
        if isinstance(value, _core.NodeValue):
            yield value.index
        elif isinstance(value, (list, tuple)):
            for element in value:
                yield from walk(element)

    for _, value in node.arguments:
        yield from walk(value)


@functools.cache
def callable_of(op: str) -> Any:
    """ "aten.add.Tensor" as torch.ops.aten.add.Tensor, "_operator.add", "math.ceil", "torch.sym_max"."""
    import torch

    home, _, name = op.rpartition(".")
    if home in ("_operator", "math", "torch") or home.startswith("torch."):
        return getattr({"_operator": operator, "math": math}.get(home) or importlib.import_module(home), name)
    return functools.reduce(getattr, op.split("."), torch.ops)


def evaluate(node: Any, values: Mapping[int, Any], convert: Any = None) -> Any:
    """What a call gives in eager PyTorch. `convert` is applied to its arguments."""
    args, kwargs = arguments_of(node, values.__getitem__, constant_of)
    if convert is not None:
        import torch.utils._pytree as pytree

        args, kwargs = pytree.tree_map(convert, (args, kwargs))
    op = _strideless(node.op)
    try:
        return callable_of(op)(*args, **kwargs)
    except RuntimeError:
        # Views of the captured tensors, whose strides copies and scattered values need not have.
        import torch
        import torch.utils._pytree as pytree

        args, kwargs = pytree.tree_map_only(torch.Tensor, torch.Tensor.contiguous, (args, kwargs))
        return callable_of(op)(*args, **kwargs)


def _strideless(op: str) -> str:
    """Views of sizes, as reshape: the values are the same, and any strides will do."""
    return "aten.reshape.default" if op in ("aten.view.default", "aten._unsafe_view.default") else op


def arguments_of(node: Any, value_of: Any, constant: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments by position up to the first that is left out, and the others by name."""
    import torch

    def read(value: Any) -> Any:
        if isinstance(value, _core.NodeValue):
            return value_of(value.index)
        if isinstance(value, (list, tuple)):
            return type(value)(map(read, value))
        return constant(value)

    target = callable_of(node.op)
    given = {name: read(value) for name, value in node.arguments}
    if not isinstance(target, torch._ops.OpOverload):
        return list(given.values()), {}
    args = []
    for argument in target._schema.arguments:
        if argument.kwarg_only or argument.name not in given:
            break
        args.append(given.pop(argument.name))
    return args, given


def constant_of(value: Any) -> Any:
    import torch

    if not isinstance(value, _core.TorchConstant):
        return value
    if value.kind == "device":
        return torch.device(value.name)
    return callable_of(value.name) if value.kind == "op" else getattr(torch, value.name)


def text_of(node: Any, names: Mapping[int, str]) -> str:
    """The call as Python writes it."""
    args, kwargs = arguments_of(node, lambda index: _Text(names[index]), _constant_text)
    given = [*map(_written, args), *(f"{name}={_written(value)}" for name, value in kwargs.items())]
    return f"{callee_text(node.op)}({', '.join(given)})"


def callee_text(op: str) -> str:
    """What callable_of() gives, as Python writes it."""
    home, _, name = op.rpartition(".")
    if home == "_operator":
        return f"operator.{name}"
    return op if home == "math" or op.startswith("torch.") else f"torch.ops.{op}"


class _Text(str):
    """A text that is written as it is."""

    __slots__ = ()


def _constant_text(value: Any) -> _Text:
    if isinstance(value, float) and not math.isfinite(value):
        return _Text(f'float("{value}")')
    if not isinstance(value, _core.TorchConstant):
        return _Text(repr(value))
    if value.kind == "device":
        return _Text(f"torch.device({value.name!r})")
    return _Text(f"torch.ops.{value.name}" if value.kind == "op" else f"torch.{value.name}")


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({''.join(f'{_written(element)}, ' for element in value)})"
    return f"[{', '.join(map(_written, value))}]" if isinstance(value, list) else str(value)


class Parts:
    """Parts of a program as programs of their own, each kind of call compiled once."""

    def __init__(self, graph: FunctionalGraph, options: Mapping[str, Any]):
        self.graph = graph
        self.options = options
        self.known: dict[str, StableHLOProgram] = {}

    def run(self, results: list[int], inputs: Iterable[int], values: Mapping[int, Any]) -> list[Any]:
        """The results, computed from the values of `inputs` and of what sizes follow from."""
        from torchere.program import StableHLOProgram

        part = self.graph.program.extract(results, list(inputs))
        key = part.structural_hash()
        if key not in self.known:
            exported = _core.export_program(part, "part", **self.options)
            self.known[key] = StableHLOProgram(_core.make_bundle([exported], True, None))
        given = [values[self.graph.indices[name]] for name, _ in part.inputs]
        found = self.known[key](*given)
        return list(found) if isinstance(found, (tuple, list)) else [found]


def held_tensor(entry: tuple[Any, ...]) -> Any:
    """A weight as the core lists it, as a tensor in its memory."""
    import torch

    dtype, shape, strides, offset, address = entry
    kind = getattr(torch, dtype)
    if 0 in shape:
        return torch.empty(shape, dtype=kind)
    count = offset + 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    memory = (ctypes.c_byte * (count * kind.itemsize)).from_address(address)
    return torch.frombuffer(memory, dtype=kind, count=count).as_strided(shape, strides, offset)
