"""The tensors that a function finds when it is called: of its modules, optimizers, closure and globals."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

_DEPTH = 8
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, types.ModuleType)
_PLAIN += (torch.device, torch.dtype)

ABSENT = object()  # put in a place, it takes away what is there


@dataclasses.dataclass
class Place:
    """Where a tensor was found, under which name, and how another is put there."""

    name: str
    tensor: torch.Tensor
    is_parameter: bool
    put: Callable[[Any], None]


def captured_tensors(function: Callable[..., Any]) -> dict[str, Place]:
    """By name: "weight" of a module that is itself the function, "model.weight" of one in its closure. A
    tensor that is found in several places has the name of the first."""
    found: dict[str, Place] = {}
    walk = _Walk(found)
    walk.visit(function, "", lambda _: None, 0)
    return found


class _Walk:
    def __init__(self, found: dict[str, Place]):
        self.found = found
        self.seen: dict[int, Any] = {}

    def visit(self, value: Any, name: str, put: Callable[[Any], None], depth: int) -> None:
        if isinstance(value, _PLAIN) or id(value) in self.seen or depth > _DEPTH:
            return
        self.seen[id(value)] = value
        if isinstance(value, torch.Tensor):
            self._add(value, name, put)
            return
        for part, child, put_child in _parts(value):
            self.visit(child, _joined(name, part), put_child, depth + 1)

    def _add(self, tensor: torch.Tensor, name: str, put: Callable[[Any], None]) -> None:
        while name in self.found:
            name += "_"
        self.found[name] = Place(name, tensor, isinstance(tensor, torch.nn.Parameter), put)
        if tensor.is_leaf and tensor.grad is not None:
            self.visit(tensor.grad, f"{name}.grad", functools.partial(_put_gradient, tensor), 0)


def _joined(name: str, part: str) -> str:
    return f"{name}.{part}" if name and part else name or part


Parts = Iterator[tuple[str, Any, Callable[[Any], None]]]


def _parts(value: Any) -> Parts:
    """What an object holds: name, value, and how another value is put in its place."""
    if isinstance(value, torch.nn.Module):
        yield from _module_parts(value)
    elif isinstance(value, torch.optim.Optimizer):
        yield from _optimizer_parts(value)
    elif isinstance(value, types.FunctionType):
        yield from _function_parts(value)
    elif isinstance(value, types.MethodType):
        yield "", value.__self__, _refuse
        yield "", value.__func__, _refuse
    elif isinstance(value, functools.partial):
        for part in (value.func, value.args, value.keywords):
            yield "", part, _refuse
    elif isinstance(value, Mapping):
        for key, item in list(value.items()):
            yield str(key), item, functools.partial(_put_item, value, key)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield str(index), item, functools.partial(_put_item, value, index)
    elif hasattr(value, "__dict__"):
        for key, item in list(vars(value).items()):
            yield key, item, functools.partial(_put_attribute, value, key)


def _module_parts(module: torch.nn.Module) -> Parts:
    for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
        yield name, tensor, functools.partial(_put_attribute, module, name)
    for name, child in module._modules.items():
        yield name, child, _refuse
    for name, value in vars(module).items():
        if not name.startswith("_"):
            yield name, value, functools.partial(_put_attribute, module, name)
    if isinstance(forward := type(module).forward, types.FunctionType):
        yield "", forward, _refuse


def _optimizer_parts(optimizer: torch.optim.Optimizer) -> Parts:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for index, parameter in enumerate(parameters):
        yield f"params.{index}", parameter, _refuse
    for index, parameter in enumerate(parameters):
        for key, value in optimizer.state.get(parameter, {}).items():
            put = functools.partial(_put_item, optimizer.state[parameter], key)
            yield f"state.{index}.{key}", value, put
    for index, group in enumerate(optimizer.param_groups):
        for key, value in group.items():
            if key != "params":
                yield f"{key}.{index}", value, functools.partial(_put_item, group, key)


def _function_parts(function: types.FunctionType) -> Parts:
    """Modules first: what an optimizer holds as well has the module's names."""
    parts: list[tuple[str, Any, Callable[[Any], None]]] = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # an empty cell
            parts.append((name, cell.cell_contents, functools.partial(_put_attribute, cell, "cell_contents")))
    for name in _global_names(function.__code__):
        value = function.__globals__.get(name)
        if not _is_library(value):
            parts.append((name, value, functools.partial(_put_item, function.__globals__, name)))
    yield from sorted(parts, key=lambda part: not isinstance(part[1], torch.nn.Module))
    yield "", list(function.__defaults__ or ()), _refuse
    yield "", dict(function.__kwdefaults__ or {}), _refuse


def _global_names(code: types.CodeType) -> list[str]:
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return [*code.co_names, *(name for child in inner for name in _global_names(child))]


def _is_library(value: Any) -> bool:
    """Functions and objects of torch hold no tensors of the user's."""
    module = getattr(value, "__module__", None) or ""
    holders = (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)
    return not isinstance(value, holders) and module.split(".")[0] in ("torch", "torchere", "builtins")


def _put_item(holder: Any, key: Any, value: Any) -> None:
    if value is not ABSENT:
        holder[key] = value
    elif isinstance(holder, dict):
        holder.pop(key, None)


def _put_attribute(holder: Any, name: str, value: Any) -> None:
    if value is not ABSENT:
        setattr(holder, name, value)
    elif hasattr(holder, name):
        delattr(holder, name)


def _put_gradient(tensor: torch.Tensor, value: Any) -> None:
    tensor.grad = None if value is ABSENT else value


def _refuse(value: Any) -> None:
    raise TypeError("what is here is not replaced")
