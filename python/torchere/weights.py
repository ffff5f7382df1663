"""Weights supplied to a program after its export: those of fake tensors, or others by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from torchere import _core
from torchere.arguments import path_text, shown
from torchere.errors import InvalidArgumentError

#: name -> tensor or array; or the directory of a saved program.
Weights = Mapping[str, Any] | str | os.PathLike[str]


def with_weights(bundle: _core.Bundle, weights: Weights) -> _core.Bundle:
    """The bundle with this data for the weights of these names; the others stay."""
    if isinstance(weights, (str, os.PathLike)):
        loaded = _core.load_bundle(path_text(weights, "with_weights"))
        if not loaded.weight_names:
            raise InvalidArgumentError(f"[{os.fspath(weights)}] was saved without weights: expected some")
        return bundle.with_weights(loaded)
    if not isinstance(weights, Mapping):
        raise InvalidArgumentError(
            f"[with_weights] no weights: got a {type(weights).__name__}, expected a dict of tensors or the "
            "directory of a saved program"
        )
    for name in weights:
        if not isinstance(name, str):
            raise InvalidArgumentError(
                f"[with_weights] a weight's name: got {shown(name)}, expected a string"
            )
    return bundle.with_weights({name: _with_strides_of_torch(value) for name, value in weights.items()})


def _with_strides_of_torch(value: Any) -> Any:
    """An array with negative strides, which torch has not, is copied."""
    strides = getattr(value, "strides", ()) if hasattr(value, "__array_interface__") else ()
    return value.copy() if any(stride < 0 for stride in strides) else value
