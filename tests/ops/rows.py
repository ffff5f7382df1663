"""The rows of the op table, and the operators of torch that they stand for."""

import functools
import importlib

import torch

from torchere import _core


@functools.cache
def schemas() -> dict[str, str]:
    """The rows that are torch's overloads: {"aten.abs.default": "aten::abs(Tensor self) -> Tensor"}."""
    return {name: schema for name, schema in _core.operators() if name.count(".") == 2}


def callables() -> dict[str, str]:
    """The other rows: {"_operator.lt": "_operator::lt(SymInt a, SymInt b) -> bool"}."""
    return {name: schema for name, schema in _core.operators() if name not in schemas()}


# What has to be imported for ops that torch itself does not bring.
_OWNERS = {
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
    "transformers": "transformers.integrations.moe",
    "xla": "torchere.experimental.xla_mlir_debuginfo",
}


def overload(row: str) -> torch._ops.OpOverload:
    """torch.ops.aten.add.Tensor, from "aten.add.Tensor"."""
    namespace, packet, name = row.split(".")
    if namespace in _OWNERS:
        importlib.import_module(_OWNERS[namespace])
    return getattr(getattr(getattr(torch.ops, namespace), packet), name)


def words(text: str) -> list[str]:
    """A list of names, written as text."""
    return text.split()
