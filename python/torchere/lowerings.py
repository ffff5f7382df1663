"""Lowerings of the user's own ops: functions in Python, and libraries."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from torchere import _core
from torchere.arguments import path_text
from torchere.errors import AlreadyExistsError, InvalidArgumentError

# By the op's name; with the schema as torch prints it.
_registered: dict[str, tuple[str, Callable[..., Any]]] = {}


def register_lowering(schema: str, function: Callable[..., Any], *, replace: bool = False) -> None:
    """Says what an op without a lowering becomes in every program that is exported from now on.

    `schema` is the op's, as torch has it: "mylib::op(Tensor x, int n) -> Tensor". The function gets the op's
    arguments, tensors without data, and gives either tensors, computed from them with torch's functions, or
    StableHLO as text: a function or a module whose @main takes the op's tensors in order, and returns its
    results. With `replace`, another lowering of the op may have been registered before.
    """
    parsed = _core.Schema(schema)
    if not callable(function):
        raise InvalidArgumentError(
            f"[{parsed.name}] a lowering: got {type(function).__name__}, expected a function"
        )
    if parsed.name in _rows():
        raise AlreadyExistsError(
            f"[{parsed.name}] the op has a lowering already: expected an op that `torchere ops` does not "
            "list (to do: torchere.export(..., decompositions={op: function}))"
        )
    if not replace and (parsed.name in _registered or parsed.name in _core.loaded_lowerings()):
        raise AlreadyExistsError(
            f"[{parsed.name}] a lowering of the op is registered already: expected replace=True, or another "
            "op"
        )
    _registered[parsed.name] = (str(parsed), function)


def load_lowerings(path: str | os.PathLike[str]) -> list[str]:
    """Loads a library of lowerings in C or C++ (torchere/lowering.h) by its path; gives its ops' names."""
    return _core.load_lowerings(path_text(path, "load_lowerings"))


def register_kernel(
    target: str,
    library: str | os.PathLike[str],
    symbol: str,
    *,
    plugin: str = "",
    platform: str = "",
) -> None:
    """Makes a function of a shared library the kernel of all custom calls to `target`, on one plugin.

    The function is a handler of XLA's FFI, and the custom calls have an api_version of 4. The plugin is named
    as elsewhere; one without PJRT's FFI extension raises an error. `platform` is XLA's name of the platform,
    which follows from the plugin.
    """
    from torchere import plugins

    plugins.client(plugin).register_kernel(target, path_text(library, "register_kernel"), symbol, platform)


def lowering_of(op: Any) -> Callable[..., Any] | None:
    """The function registered for an op. Its schema must be the op's."""
    entry = _registered.get(str(op))
    if entry is None:
        return None
    schema, function = entry
    own = str(_core.Schema(str(op._schema)))
    if own != schema:
        raise InvalidArgumentError(
            f"[{op}] the schema that its lowering is registered with is not the op's: got {schema}, expected "
            f"{own}"
        )
    return function


@functools.cache
def text_op() -> Any:
    """The op that stands for a function in StableHLO; the core lowers it, and the interpreter runs it where
    torch does."""
    import torch

    library = torch.library.Library("torchere", "FRAGMENT")
    library.define("stablehlo_text(Tensor[] args, str op, str text) -> Tensor[]")
    library.impl("stablehlo_text", _run_text, "CPU")
    text_op.library = library  # type: ignore[attr-defined]  # its ops live as long as it does
    return torch.ops.torchere.stablehlo_text.default


def _run_text(args: list[Any], op: str, text: str) -> list[Any]:
    import torch

    from torchere.interpreter import NAMES

    given = []
    for value in args:
        dense = value.detach().resolve_conj().resolve_neg().reshape(-1)
        elements = bytes(dense.view(torch.uint8).numpy())
        given.append((NAMES[str(value.dtype).removeprefix("torch.")], tuple(value.shape), elements))
    dtypes = {theirs: getattr(torch, ours, None) for ours, theirs in NAMES.items()}
    made = []
    for name, shape, elements in _core.interpret(text, given):
        empty = torch.empty(shape, dtype=dtypes[name])
        full = torch.frombuffer(bytearray(elements), dtype=empty.dtype) if elements else empty
        made.append(full.reshape(shape))
    return made


@functools.cache
def _rows() -> frozenset[str]:
    return frozenset(name for name, _ in _core.operators())
