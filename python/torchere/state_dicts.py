"""Checks and converts a state dict for a program's weights, with the messages of torch's load_state_dict."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set
from typing import Any

from torchere import _core
from torchere.errors import InvalidArgumentError

Checked = tuple[dict[str, Any], list[str], list[str]]


def check_state_dict(
    state_dict: Mapping[str, Any],
    weights: Mapping[str, _core.Weight],
    optional: Set[str],
    strict: bool,
    program: str,
) -> Checked:
    """The values in the weights' dtypes, the missing and the unexpected keys; raises all that is wrong."""
    if not isinstance(state_dict, Mapping):
        raise InvalidArgumentError(
            f"[load_state_dict] wrong kind of state dict: got {type(state_dict).__name__}, expected a "
            "mapping of names to tensors"
        )
    missing = [name for name in weights if name not in state_dict and name not in optional]
    unexpected = [str(name) for name in state_dict if name not in weights]
    wrong = []
    if strict and unexpected:
        wrong.append(f"Unexpected key(s) in state_dict: {_quoted(unexpected)}.")
    if strict and missing:
        wrong.append(f"Missing key(s) in state_dict: {_quoted(missing)}.")
    values = {}
    for name, weight in weights.items():
        if name not in state_dict:
            continue
        value = _converted(state_dict[name], weight.dtype)
        if value is None:
            wrong.append(
                f'While copying the parameter named "{name}", expected a tensor or an array from checkpoint '
                f"but received {type(state_dict[name])}."
            )
        elif tuple(value.shape) != tuple(weight.shape):
            wrong.append(
                f"size mismatch for {name}: copying a param with shape {tuple(value.shape)} from checkpoint, "
                f"the shape in current model is {tuple(weight.shape)}."
            )
        else:
            values[name] = value
    if wrong:
        lines = "\n\t".join([f"[load_state_dict] Error(s) in loading state_dict for {program}:", *wrong])
        raise InvalidArgumentError(lines)
    return values, missing, unexpected


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _converted(value: Any, dtype: str) -> Any:
    """A tensor or array in that dtype, on the host; the same where it is so already. None for other
    objects."""
    torch = sys.modules.get("torch")
    if isinstance(value, _core.DeviceArray):
        value = value.numpy() if torch is None else value.torch()
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach().to(device="cpu", dtype=getattr(torch, dtype)).resolve_conj().resolve_neg()
    import numpy

    if not isinstance(value, numpy.ndarray | numpy.generic):
        return None
    value = numpy.asarray(value)
    if torch is None:
        return value.astype(dtype, copy=False)
    return torch.from_numpy(value if value.flags.writeable else value.copy()).to(getattr(torch, dtype))


def has_equal_elements(left: Any, right: Any) -> bool:
    """Whether two arrays of one dtype and shape are equal, bit by bit."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(left, torch.Tensor):
        left, right = (tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (left, right))
        return left.equal(right)
    return left.tobytes() == right.tobytes()
