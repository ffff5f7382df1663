"""Notices when the tensors whose memory a program uses as its weights are written in place."""

from __future__ import annotations

from collections.abc import Container, Mapping
from operator import attrgetter
from typing import Any

from torchere import _core

_version = attrgetter("_version")


class LentWeights:
    """Tensors of a module that a program has as weights without a copy, with their version counters, which
    torch raises at each in-place write. What plugins keep of a weight (packed copies, what is computed of it)
    is made of one version. Tensors that were created in inference mode have no counter."""

    def __init__(self, tensors: Mapping[str, Any], bundle: _core.Bundle, states: Container[str]):
        """Of these tensors those whose memory the bundle has under their names. `states` are left out: a
        program has copies of them."""
        weights: dict[str, _core.Weight] = {}
        if tensors:
            weights = {name: bundle.weight(name) for name in bundle.weight_names if name not in states}
            weights |= {constant.name: constant for constant in bundle.constants}
        self._states = states
        self._tensors = {
            name: tensor
            for name, tensor in tensors.items()
            if name in weights and _is_lent(tensor, weights[name].address)
        }
        self._counted = list(self._tensors.values())
        self._versions = list(map(_version, self._counted))

    def have_changed(self) -> bool:
        return list(map(_version, self._counted)) != self._versions

    def changed(self) -> dict[str, Any]:
        """name -> tensor, of those that were written since this object was made."""
        present = zip(self._tensors.items(), self._versions, strict=True)
        return {name: tensor for (name, tensor), version in present if tensor._version != version}

    def within(self, bundle: _core.Bundle, others: Mapping[str, Any] | None = None) -> LentWeights:
        """These and `others` at their present versions, as far as the bundle has their memory."""
        return LentWeights(self._tensors | dict(others or {}), bundle, self._states)


def _is_lent(tensor: Any, address: int | None) -> bool:
    import torch

    return (
        address is not None
        and type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
        and tensor.device.type == "cpu"
        and tensor.layout == torch.strided
        and not tensor.is_inference()
        and tensor.data_ptr() == address
    )
