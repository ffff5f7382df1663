"""A program's parts under the names that PyTorch/XLA gives them: functions with .meta, weights, constants."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Sequence
from typing import Any

from torchere import _core
from torchere.arrays import as_array
from torchere.errors import InvalidArgumentError
from torchere.weights import with_weights


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

    @classmethod
    def parameter(cls, name: str) -> InputLocation:
        return cls(VariableType.PARAMETER, name=name)

    @classmethod
    def input_arg(cls, position: int) -> InputLocation:
        return cls(VariableType.INPUT_ARG, position=position)

    @classmethod
    def constant(cls, position: int) -> InputLocation:
        return cls(VariableType.CONSTANT, position=position)


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


class _Lazy:
    """A dataclass whose fields are read from a bundle of the core when they are first asked for. Copies and
    pickles have all fields."""

    def __getattr__(self, name: str) -> Any:
        read = vars(self).get("_read")
        if read is None or name not in type(self).__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = read(name)
        setattr(self, name, value)
        return value

    def __getstate__(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return fields | {name: value for name, value in vars(self).items() if name == "_complete"}

    @classmethod
    def _of(cls, read: Any) -> Any:
        made = cls.__new__(cls)
        vars(made)["_read"] = read
        return made


@dataclasses.dataclass
class StableHLOFunc(_Lazy):
    """A function of a bundle: its description and its module."""

    meta: StableHLOFunctionMeta
    bytecode: bytes
    text: str | None


@dataclasses.dataclass
class StableHLOModelBundle(_Lazy):
    """The functions, the state dict (name -> array) and the constants of a program. Arrays of a program of
    ours alias its memory."""

    state_dict: dict[str, Any]
    additional_constants: list[Any]
    stablehlo_funcs: list[StableHLOFunc]


class StableHLOJSONSerializer(json.JSONEncoder):
    """Writes these classes as JSON, as they are in a .meta: json.dumps(meta, cls=StableHLOJSONSerializer)."""

    def default(self, o: Any) -> Any:
        if dataclasses.is_dataclass(o) and not isinstance(o, type):
            return {field.name: getattr(o, field.name) for field in dataclasses.fields(o)}
        return o.value if isinstance(o, VariableType) else super().default(o)


def stablehlo_obj_hook(dct: dict[str, Any]) -> Any:
    """Reads them again: json.loads(text, object_hook=stablehlo_obj_hook). An object with other keys than
    those of one of the classes stays a dict."""
    for cls in (StableHLOFunctionMeta, StableHLOFunc, VariableSignature, InputLocation):
        if {field.name for field in dataclasses.fields(cls)} == dct.keys():
            if cls is InputLocation:
                return InputLocation(VariableType(dct["type_"]), dct["position"], dct["name"])
            return cls(**dct)
    return dct


def bundle_of(core: _core.Bundle) -> StableHLOModelBundle:
    """The bundle of a program of ours."""
    readers = {
        "state_dict": lambda: {name: as_array(core.weight(name)) for name in core.weight_names},
        "additional_constants": lambda: [as_array(constant) for constant in core.constants],
        "stablehlo_funcs": lambda: [_function_of(core, name) for name in core.functions],
    }
    return StableHLOModelBundle._of(lambda field: readers[field]())


def _function_of(core: _core.Bundle, name: str) -> StableHLOFunc:
    readers = {
        "meta": lambda: _read_meta(core.meta(name)),
        "bytecode": lambda: core.bytecode(name),
        "text": lambda: core.text(name),
    }
    function = StableHLOFunc._of(lambda field: readers[field]())
    # What a .meta cannot hold: state, ranges, names, trees.
    vars(function)["_complete"] = core.meta(name), core.signature(name)
    return function


def core_bundle(bundle: StableHLOModelBundle) -> _core.Bundle:
    """A bundle as the core has it, checked as a saved program is when it is loaded. No array is copied."""
    constants = enumerate(bundle.additional_constants)
    named = {f"constant_{index}": _as_array(value) for index, value in constants}
    state = {name: _as_array(value) for name, value in bundle.state_dict.items()}
    if clashing := sorted(named.keys() & state.keys()):
        raise InvalidArgumentError(f"[{clashing[0]}] a weight has the name of a constant: expected another")
    if not bundle.stablehlo_funcs:
        raise InvalidArgumentError("[stablehlo_funcs] a bundle without functions: expected at least one")
    core = _core.restore_bundle(
        [_function_parts(function) for function in bundle.stablehlo_funcs],
        [_type_of(name, value) for name, value in state.items()],
        [_type_of(name, value) for name, value in named.items()],
        bool(state) or not any(_takes_weights(function.meta) for function in bundle.stablehlo_funcs),
    )
    return with_weights(core, state | named) if state or named else core


def _takes_weights(meta: StableHLOFunctionMeta) -> bool:
    return any(location.type_ is VariableType.PARAMETER for location in meta.input_locations)


def _function_parts(function: StableHLOFunc) -> _core.FunctionParts:
    meta, signature = vars(function).get("_complete", (None, None))
    if meta is not None and _read_meta(meta) == function.meta:
        return _core.FunctionParts(signature, function.bytecode, function.text or "")
    text = json.dumps(function.meta, cls=StableHLOJSONSerializer)
    return _core.FunctionParts(text, function.bytecode or b"", function.text or "", is_meta=True)


def _as_array(value: Any) -> Any:
    """A number of numpy's as the array that it stands for."""
    import numpy

    return numpy.asarray(value) if isinstance(value, numpy.generic) else value


def _type_of(name: str, value: Any) -> tuple[str, str, Sequence[int], None]:
    """The parts of a weight without its elements, which with_weights() takes."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        raise InvalidArgumentError(
            f"[{name}] no array: got a {type(value).__name__}, expected an array or a tensor"
        )
    return name, str(dtype).removeprefix("torch."), tuple(value.shape), None


def _read_meta(text: str) -> StableHLOFunctionMeta:
    meta = json.loads(text, object_hook=stablehlo_obj_hook)
    meta.unused_inputs = [(location, signature) for location, signature in meta.unused_inputs]
    return meta
