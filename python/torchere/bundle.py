"""A program's parts under the names that PyTorch/XLA gives them: functions with .meta, weights, constants."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
from typing import Any

from torchere import _core
from torchere.arrays import as_array


class VariableType(enum.Enum):
    """The source of a function argument."""

    INPUT_ARG = "input_arg"
    PARAMETER = "parameter"
    CONSTANT = "constant"


@dataclasses.dataclass
class VariableSignature:
    """A tensor's shape (-1 where it is dynamic), dtype ("float32") and dynamic dimensions."""

    shape: list[int]
    dtype: str
    dynamic_dims: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class InputLocation:
    """The user's argument at `position`, the weight called `name`, or the constant at `position`."""

    type_: VariableType
    position: int = -1
    name: str = ""


@dataclasses.dataclass
class StableHLOFunctionMeta:
    """A function's inputs and outputs: the contents of functions/NAME.meta."""

    name: str
    stablehlo_version: str
    input_signature: list[VariableSignature]
    output_signature: list[VariableSignature]
    input_locations: list[InputLocation]
    unused_inputs: list[tuple[InputLocation, VariableSignature]]
    input_pytree_spec: str | None = None
    output_pytree_spec: str | None = None


class StableHLOFunc:
    """A function of a bundle: its description and its module."""

    def __init__(self, bundle: _core.Bundle, name: str):
        self._bundle = bundle
        self._name = name

    @functools.cached_property
    def meta(self) -> StableHLOFunctionMeta:
        return _read_meta(self._bundle.meta(self._name))

    @property
    def text(self) -> str:
        return self._bundle.text(self._name)

    @property
    def bytecode(self) -> bytes:
        return self._bundle.bytecode(self._name)


class StableHLOModelBundle:
    """The functions, the state dict (name -> array) and the constants of a program. Arrays alias its
    memory."""

    def __init__(self, bundle: _core.Bundle):
        self._bundle = bundle
        self.stablehlo_funcs = [StableHLOFunc(bundle, name) for name in bundle.functions]

    @functools.cached_property
    def state_dict(self) -> dict[str, Any]:
        return {name: as_array(self._bundle.weight(name)) for name in self._bundle.weight_names}

    @functools.cached_property
    def additional_constants(self) -> list[Any]:
        return [as_array(constant) for constant in self._bundle.constants]


def _read_meta(text: str) -> StableHLOFunctionMeta:
    fields = json.loads(text)
    fields["input_signature"] = [VariableSignature(**item) for item in fields["input_signature"]]
    fields["output_signature"] = [VariableSignature(**item) for item in fields["output_signature"]]
    fields["input_locations"] = [_read_location(item) for item in fields["input_locations"]]
    fields["unused_inputs"] = [
        (_read_location(location), VariableSignature(**signature))
        for location, signature in fields["unused_inputs"]
    ]
    return StableHLOFunctionMeta(**fields)


def _read_location(item: dict[str, Any]) -> InputLocation:
    return InputLocation(VariableType(item["type_"]), item["position"], item["name"])
