"""StableHLOCompositeBuilder; PyTorch/XLA's torch_xla.experimental.mark_pattern_utils."""

from __future__ import annotations

import uuid
from typing import Any

import torch

from torchere.experimental import xla_marker

__all__ = ["StableHLOCompositeBuilder"]


@torch._dynamo.assume_constant_result
def _new_id() -> str:
    return uuid.uuid4().hex


class StableHLOCompositeBuilder:
    """Makes a stablehlo.composite of what lies between two calls in a model's forward.

    `name` has a namespace ("test.sdpa"). `attr` are the composite's attributes: ints (i64), floats (f32),
    strings, bools, and lists of them. Numbers in the region are constants of the graph: a compiler that is to
    know them needs them as attributes. A builder may be used several times: each use is a composite.
    """

    def __init__(self, name: str, attr: dict[str, Any] | None = None):
        xla_marker.assert_valid_composite_attr(attr, name)
        self.name = name
        self.attr = attr
        self.id = _new_id()

    def mark_inputs(self, *tensors: Any) -> Any:
        """The tensors to compute with instead of those given: one, or a tuple."""
        return self._mark(tensors, is_input=True)

    def mark_outputs(self, *tensors: Any) -> Any:
        """The composite's results, to be read instead of the tensors given: one, or a tuple."""
        return self._mark(tensors, is_input=False)

    def _mark(self, tensors: tuple[Any, ...], is_input: bool) -> Any:
        attr = None if is_input else xla_marker.serialize_composite_attr(self.attr)
        marked = []
        for position, tensor in enumerate(tensors):
            if not isinstance(tensor, torch.Tensor):
                raise ValueError(
                    f"[{self.name}] {'input' if is_input else 'output'} {position} of the composite: got "
                    f"{type(tensor).__name__}, expected a torch.Tensor"
                )
            marked.append(
                torch.ops.xla.mark_tensor(
                    tensor, name=self.name, pos=position, id=self.id, is_input=is_input, attr=attr
                )
            )
        return marked[0] if len(marked) == 1 else tuple(marked)
