"""Adapts the arguments of torchere.export to torch.export: modules for functions and methods, tuples of
arguments, example inputs that do not alias."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

from torchere.errors import InvalidArgumentError


def as_module(target: Any) -> Any:
    """A torch.nn.Module whose forward is `target`: a module, a method of one, or any callable."""
    import torch

    if isinstance(target, torch.nn.Module):
        return target
    owner = getattr(target, "__self__", None)
    if inspect.ismethod(target) and isinstance(owner, torch.nn.Module):
        return _module_with_forward(owner, target.__func__)
    if callable(target):
        return _module_of_callable(target)
    raise InvalidArgumentError(
        f"[export] nothing to export: got a {type(target).__name__}, expected a torch.nn.Module, a "
        "function, a method or a torch.export.ExportedProgram"
    )


def _module_with_forward(module: Any, function: Callable) -> Any:
    """The module with another of its methods as forward; parameters and submodules are shared."""
    twin = copy.copy(module)
    object.__setattr__(twin, "forward", function.__get__(twin))
    return twin


def _module_of_callable(function: Callable) -> Any:
    import torch

    module = torch.nn.Module()
    # Modules that the function refers to become submodules, so that their weights are weights of the program.
    for name, value in _referenced(function).items():
        if isinstance(value, torch.nn.Module):
            module.add_module(f"{name}_" if hasattr(module, name) else name, value)

    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    # Errors omit this file name: the user's line is in the function.
    forward.__code__ = forward.__code__.replace(co_filename="<torchere>")
    forward.__signature__ = _signature(function)  # torch names the inputs after it
    object.__setattr__(module, "forward", forward)
    return module


def _signature(function: Callable) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # a builtin
        return inspect.signature(lambda *args, **kwargs: None)


def _referenced(function: Callable) -> dict[str, Any]:
    """The variables outside the function that its code refers to, and the fields of its object, by name."""
    if isinstance(function, functools.partial):
        values = [*function.args, *function.keywords.values()]
        return _referenced(function.func) | {f"argument_{i}": value for i, value in enumerate(values)}
    found: dict[str, Any] = {}
    bound = getattr(function, "__self__", None)
    if bound is not None and not inspect.ismodule(bound):
        found |= vars(bound) if hasattr(bound, "__dict__") else {}
    code = inspect.unwrap(function)
    if inspect.ismethod(code):
        code = code.__func__
    if inspect.isfunction(code):
        variables = inspect.getclosurevars(code)
        found |= {**variables.globals, **variables.nonlocals}
    elif hasattr(function, "__dict__"):
        found |= vars(function)
    return found


def as_arguments(args: Any) -> tuple[Any, ...]:
    """The positional arguments as a tuple: a value that is not a tuple or list is the only argument."""
    if isinstance(args, tuple):
        return args
    return tuple(args) if isinstance(args, list) else (args,)


def separate(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with numpy arrays as tensors, and with a copy of each tensor that aliases
    another argument or a weight. torch would merge such tensors into one."""
    import torch
    import torch.utils._pytree as pytree

    from torchere.arrays import as_tensor

    seen = {_memory(tensor) for tensor in [*module.parameters(), *module.buffers()]}

    def own(leaf: Any) -> Any:
        leaf = as_tensor(leaf)
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if _memory(leaf) in seen:
            leaf = leaf.detach().clone().requires_grad_(leaf.requires_grad)
        seen.add(_memory(leaf))
        return leaf

    return pytree.tree_map(own, (args, kwargs))


def beside_weights(module: Any, arguments: Any) -> Any:
    """Example arguments of a module whose weights are all on the meta device, moved there."""
    import torch
    import torch.utils._pytree as pytree

    devices = {tensor.device.type for tensor in [*module.parameters(), *module.buffers()]}
    if devices != {"meta"}:
        return arguments
    return pytree.tree_map_only(torch.Tensor, lambda leaf: leaf.to("meta"), arguments)


def _memory(tensor: Any) -> Any:
    """The identity of a tensor's memory; a unique object if there is no storage."""
    import torch

    from torchere.arrays import is_type_alone

    if tensor.layout != torch.strided or is_type_alone(tensor) or tensor.device.type != "cpu":
        return id(tensor)
    return tensor.untyped_storage().data_ptr() or id(tensor)
