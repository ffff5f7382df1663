"""The op that marks inputs and outputs of composites; PyTorch/XLA's torch_xla.experimental.xla_marker."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import torch

from torchere.errors import InvalidArgumentError

__all__ = [
    "BoundaryMetadata",
    "BoundaryMetadataSerializer",
    "assert_valid_composite_attr",
    "deserialize_composite_attr",
    "mark_tensor",
    "serialize_composite_attr",
]

XLA_LIB = torch.library.Library("xla", "FRAGMENT")


@dataclasses.dataclass
class BoundaryMetadata:
    """What a mark says."""

    name: str  #: of the composite
    pos: int  #: of the input or output
    id: str  #: of the builder
    is_input: bool = True
    attr: dict[str, Any] | None = None  #: of the composite; at its outputs


class BoundaryMetadataSerializer(json.JSONEncoder):
    def default(self, obj: Any) -> Any:
        return dataclasses.asdict(obj) if dataclasses.is_dataclass(obj) else super().default(obj)


def _is_valid(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_valid, value))
    return isinstance(value, (int, float, str, bool)) and not isinstance(value, torch.SymInt)


def assert_valid_composite_attr(attr: Any, composite: str = "composite") -> None:
    """Raises InvalidArgumentError for what stablehlo.composite cannot hold."""
    if attr is None:
        return
    if not isinstance(attr, dict):
        raise InvalidArgumentError(
            f"[{composite}] the attributes of a composite: got {type(attr).__name__}, expected a dict"
        )
    for name, value in attr.items():
        if not isinstance(name, str):
            raise InvalidArgumentError(
                f"[{composite}] the name of an attribute of the composite: got {name!r}, expected a str"
            )
        if not _is_valid(value):
            raise InvalidArgumentError(
                f"[{composite}] attribute '{name}' of the composite has an unsupported type: got {value!r} "
                f"of type {type(value).__name__}, expected int, float, str, bool or a list of them"
            )


def _plain(value: Any) -> Any:
    """JSON has no infinities."""
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return value if is_finite else {"float": repr(value)}


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_restored, value))
    return float(value["float"]) if isinstance(value, dict) else value


@torch._dynamo.assume_constant_result
def serialize_composite_attr(attr: dict[str, Any] | None) -> str | None:
    """The form in which a graph of torch.fx holds attributes: JSON."""
    if attr is None:
        return None
    assert_valid_composite_attr(attr)
    return json.dumps({name: _plain(value) for name, value in attr.items()})


@torch._dynamo.assume_constant_result
def deserialize_composite_attr(attr: str | None) -> dict[str, Any] | None:
    return None if attr is None else {name: _restored(value) for name, value in json.loads(attr).items()}


def mark_tensor(x: Any, name: str, pos: int, id: str, is_input: bool, attr: Any = None) -> Any:
    """The tensor's values, in memory of their own: an in-place op on what is marked writes to that alone."""
    return x.clone()


def _mark_fake(x: Any, name: str, pos: int, id: str, is_input: bool, attr: Any = None) -> Any:
    return torch.empty_like(x)


def _mark_backward(context: Any, gradient: Any) -> tuple[Any, ...]:
    return gradient, None, None, None, None, None


def _mark_vmap(info: Any, in_dims: Any, x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return torch.ops.xla.mark_tensor(x, *args, **kwargs), in_dims[0]


def _register() -> None:
    XLA_LIB.define(
        "mark_tensor(Tensor x, str name, int pos, str id, bool is_input, Any? attr=None) -> Tensor"
    )
    torch.library.impl(XLA_LIB, "mark_tensor", "CompositeExplicitAutograd")(mark_tensor)
    torch.library.register_fake("xla::mark_tensor", _mark_fake, lib=XLA_LIB)
    torch.library.register_autograd("xla::mark_tensor", _mark_backward, lib=XLA_LIB)
    torch.library.register_vmap("xla::mark_tensor", _mark_vmap, lib=XLA_LIB)
    # Inputs that nothing reads stay inputs of the composite.
    torch.fx.node.has_side_effect(torch.ops.xla.mark_tensor.default)


_register()
