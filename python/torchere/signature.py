"""What a function takes and gives, as records and as text: the leaves of its arguments and results."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torchere.arrays import has_torch


@dataclasses.dataclass(frozen=True)
class ValueInfo:
    """A leaf of a function's arguments or results.

    `kind` is "tensor", "int" (an int that may change from call to call) or "constant", of which `value` is
    the value. The `value` of an int is the expression ("batch", "m + 1") that it has to equal, None if it is
    free. A size in `shape` is an int, the name of a dynamic dimension ("batch"), or an expression of
    such names ("2*batch + 1"). `dtype` is torch's, or its name where torch is not installed.
    """

    name: str
    kind: str
    dtype: Any = None
    shape: tuple[int | str, ...] | None = None
    value: Any = None

    def __str__(self) -> str:
        if self.kind == "constant":
            return f"{self.name} = {self.value!r}"
        if self.kind == "int":
            return f"{self.name}: int" + ("" if self.value is None else f" = {self.value}")
        return f"{self.name}: {str(self.dtype).removeprefix('torch.')}[{', '.join(map(str, self.shape))}]"


@dataclasses.dataclass(frozen=True)
class Signature:
    """A function's name, inputs and outputs, and the ranges of its dynamic sizes: name or expression ->
    (least, most), None where there is no bound."""

    name: str
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    ranges: Mapping[str, tuple[int | None, int | None]]

    def __str__(self) -> str:
        lines = [f"{self.name}("]
        lines += [f"    {value}" for value in self.inputs]
        lines.append(") ->")
        lines += [f"    {value}" for value in self.outputs]
        if self.ranges:
            lines.append("where")
            lines += [f"    {size}: {_range_text(*bounds)}" for size, bounds in self.ranges.items()]
        return "\n".join(lines)


def _range_text(least: int | None, most: int | None) -> str:
    if least is None:
        return "any" if most is None else f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def read_signature(
    signature: str, constant_inputs: Mapping[int, Any], constant_outputs: Mapping[int, Any]
) -> Signature:
    """From the JSON of a function's signature, and the values of its constants by position."""
    fields = json.loads(signature)
    inputs: dict[int, ValueInfo] = {}
    for entry in [*fields["inputs"], *fields["unused_inputs"]]:
        if entry["source"] == "user_input":
            inputs[entry["position"]] = _computed(entry, entry["name"])
    for entry in fields["constant_inputs"]:
        position = entry["position"]
        inputs[position] = ValueInfo(entry["name"], "constant", value=constant_inputs[position])
    names = _result_names(fields)
    outputs = {
        entry["position"]: _computed(entry, names[entry["position"]])
        for entry in fields["outputs"]
        if entry["destination"] == "user_output"
    }
    for position, value in constant_outputs.items():
        outputs[position] = ValueInfo(names[position], "constant", value=value)
    ranges = {str(item["expression"]): (item["min"], item["max"]) for item in fields["range_constraints"]}
    return Signature(fields["name"], _in_order(inputs), _in_order(outputs), ranges)


def _in_order(leaves: dict[int, ValueInfo]) -> tuple[ValueInfo, ...]:
    return tuple(leaves[position] for position in sorted(leaves))


def _computed(entry: dict[str, Any], name: str) -> ValueInfo:
    kind = "int" if entry.get("sym_int") else "tensor"
    value = entry.get("value")
    value = None if kind == "tensor" or value in (None, name) else str(value)
    return ValueInfo(name, kind, _dtype(entry["dtype"]), tuple(entry["shape"]), value)


def _dtype(name: str) -> Any:
    if not has_torch():
        return name
    import torch

    return getattr(torch, name, name)


def _result_names(fields: dict[str, Any]) -> list[str]:
    """A name for each result, made of the keys and indices that lead to it, as torch names inputs: "logits",
    "hidden_states_0"; "output" where the first step is no name."""
    tree, count = fields["output_tree"]["tree"], fields["user_output_count"]
    if tree is None:
        return ["output"] if count == 1 else [f"output_{position}" for position in range(count)]
    return ["_".join(path) for path in _paths(tree, ())]


def _paths(tree: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if tree["kind"] == "leaf":
        yield path or ("output",)
        return
    children = tree.get("children", [])
    keys = tree.get("keys") or range(len(children))
    for key, child in zip(keys, children, strict=True):
        step = re.sub(r"\W+", "_", str(key))
        is_name = bool(path) or step.isidentifier()
        yield from _paths(child, (*path, step) if is_name else ("output", step))
