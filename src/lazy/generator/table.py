"""The table of ops: src/lazy/ops.yaml, in the format of PyTorch/XLA's, read and checked.

torchgen itself accepts tables with an op listed twice, in two columns, or marked without being listed; here
these are errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torchgen
import yaml
from torchgen.gen import parse_native_yaml
from torchgen.model import NativeFunction, SchemaKind

COLUMNS = ("full_codegen", "ir_gen", "supported", "symint", "autograd")
KEYS = ("backend", "cpp_namespace", *COLUMNS)


class TableError(Exception):
    """Everything that is wrong with a table, one complaint a line."""


@dataclass(frozen=True)
class Table:
    """The ops of each column in the table's order, and torch's declarations."""

    namespace: str
    full_codegen: tuple[NativeFunction, ...]
    supported: tuple[NativeFunction, ...]
    autograd: frozenset[str]
    number_operands: Mapping[str, frozenset[str]]  # by op, the Scalar arguments that are operands
    known: Mapping[str, NativeFunction]  # all that torch declares
    own_shapes: frozenset[str]  # the kernels whose shape function is written by hand, in src/lazy/shapes


def native_functions() -> dict[str, NativeFunction]:
    """torch's declarations, by "add.Tensor"."""
    folder = Path(torchgen.__file__).parent / "packaged/ATen/native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    return {str(function.func.name): function for function in parsed.native_functions}


def read_table(path: Path, numbers: Path) -> Table:
    """The checked table. Raises TableError with all complaints."""
    content = yaml.safe_load(path.read_text())
    known = native_functions()
    operands = {op: frozenset(names) for op, names in (yaml.safe_load(numbers.read_text()) or {}).items()}
    complaints = _complaints(content, known) + _number_complaints(operands, known)
    if complaints:
        raise TableError("\n".join(f"{path}: {complaint}" for complaint in complaints))

    def column(name: str) -> tuple[NativeFunction, ...]:
        return tuple(known[op] for op in content.get(name) or [])

    return Table(
        content["cpp_namespace"],
        column("full_codegen"),
        column("supported"),
        frozenset(content.get("autograd") or []),
        operands,
        known,
        frozenset(file.stem for file in (numbers.parent / "shapes").glob("*.cpp")),
    )


def _complaints(content: Mapping[str, Any], known: Mapping[str, NativeFunction]) -> list[str]:
    complaints = [
        f"unknown key '{key}': expected one of {', '.join(KEYS)}" for key in content if key not in KEYS
    ]
    if content.get("backend") != "XLA":
        complaints.append(f"backend: got {content.get('backend')}, expected XLA")
    columns = {name: list(content.get(name) or []) for name in COLUMNS}
    for name, ops in columns.items():
        complaints += [f"{name}: '{op}' is listed twice" for op in sorted(set(ops)) if ops.count(op) > 1]
        complaints += [f"{name}: torch has no op '{op}'" for op in ops if op not in known]
    generated, written = set(columns["full_codegen"]), set(columns["supported"])
    complaints += [f"'{op}' is in full_codegen and in supported" for op in sorted(generated & written)]
    for name in ("symint", "autograd"):
        missing = sorted(set(columns[name]) - generated - written)
        complaints += [f"{name}: '{op}' is neither in full_codegen nor in supported" for op in missing]
    for op in columns["full_codegen"]:
        if op in known and (reason := unsupported(known[op])):
            complaints.append(f"full_codegen: '{op}' {reason}: list it in supported, and write its kernel")
    return complaints


def unsupported(function: NativeFunction) -> str:
    """Why no kernel can be generated for an op; empty if one can."""
    if function.func.kind() != SchemaKind.functional:
        return "writes to an argument"
    if function.is_view_op:
        return "gives a view"
    arguments = function.func.arguments
    if arguments.tensor_options and any(argument.type.is_tensor_like() for argument in arguments.flat_all):
        return "may be asked for on another device than its operand's"
    if "dynamic_output_shape" in function.tags:
        return "has a result whose size depends on elements"
    if not function.func.returns or not all(result.type.is_tensor_like() for result in function.func.returns):
        return "has a result that is no tensor"
    return ""


def draws(function: NativeFunction) -> bool:
    """Whether an op draws random numbers; some do so from a generator that they do not take."""
    return "nondeterministic_seeded" in function.tags or takes_generator(function)


def takes_generator(function: NativeFunction) -> bool:
    return any(str(argument.type).startswith("Generator") for argument in function.func.arguments.flat_all)


def _number_complaints(
    operands: Mapping[str, frozenset[str]], known: Mapping[str, NativeFunction]
) -> list[str]:
    complaints = []
    for op, names in operands.items():
        if op not in known:
            complaints.append(f"number operands: torch has no op '{op}'")
            continue
        scalars = {
            argument.name for argument in known[op].func.arguments.flat_all if str(argument.type) == "Scalar"
        }
        complaints += [f"number operands: '{op}' has no Scalar '{name}'" for name in sorted(names - scalars)]
    return complaints
