"""The ops of torch's core set that have no row: what takes each in its place, and a program that holds it."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.export import Dim, ExportedProgram

X = torch.arange(12.0).reshape(4, 3)
ATEN = torch.ops.aten


def core_ops() -> list[str]:
    """The overloads that torch tags as core."""
    found = []
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        if namespace == "aten":
            op = getattr(getattr(ATEN, packet), overload or "default", None)
            if op is not None and torch.Tag.core in op.tags:
                found.append(str(op))
    return found


def captured(function: Callable[..., Any], *inputs: torch.Tensor, is_dynamic: bool = False) -> Any:
    """torch's program of the function; the sizes of the first input may be open."""

    class Call(torch.nn.Module):
        def forward(self, *values: torch.Tensor) -> Any:
            return function(*values)

    sizes = [None] * len(inputs)
    if is_dynamic:
        sizes[0] = dict.fromkeys(range(inputs[0].dim()), Dim.AUTO)
    return torch.export.export(Call(), inputs, dynamic_shapes=(tuple(sizes),))


def with_op(program: ExportedProgram, size: Any, op: Any, of: Any, *rest: int) -> ExportedProgram:
    """The program with another op in the place of the node that computes a size: torch.export itself replaces
    some ops by the sizes that they follow from."""
    nodes = {node.target if node.op == "call_function" else node.op: node for node in program.graph.nodes}
    nodes[size].target, nodes[size].args, nodes[size].kwargs = op, (nodes[of], *rest), {}
    return program


def resized(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    y.resize_(2, 6)
    return y * 2


def atan2(x: torch.Tensor) -> torch.Tensor:
    result = torch.empty(4, 3)
    torch.atan2(x, x + 1, out=result)
    return result + 1


def normalized(x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
    result = ATEN._native_batch_norm_legit(x, None, None, mean, variance, True, 0.1, 1e-5)[0]
    return result + mean + variance


def by_numel(x: torch.Tensor) -> torch.Tensor:
    return x.new_ones(x.numel())


def by_size(x: torch.Tensor) -> torch.Tensor:
    return x * x.shape[1]


def by_offset(x: torch.Tensor) -> torch.Tensor:
    return x[2] * (2 * x.shape[1])


def by_layout(x: torch.Tensor) -> torch.Tensor:
    return x * (2 + int(ATEN.sym_is_contiguous.default(x)))


@dataclasses.dataclass(frozen=True)
class Taken:
    """An op without a row: what takes it, and a function whose program holds it."""

    by: str
    function: Callable[..., torch.Tensor]
    others: tuple[torch.Tensor, ...] = ()  # inputs after the first
    is_dynamic: bool = False
    replaced: tuple[Any, ...] | None = None  # with_op's arguments

    def program(self) -> ExportedProgram:
        found = captured(self.function, X, *self.others, is_dynamic=self.is_dynamic)
        return with_op(found, *self.replaced) if self.replaced else found


SIZES = "sizes, strides and offsets are expressions of the symbols: src/exporter/symbol_table.cpp"
TAKEN = {
    "_native_batch_norm_legit.default": Taken(
        "its functional form: src/functionalization/rewrites.cpp",
        normalized,
        (torch.zeros(3), torch.ones(3)),
    ),
    "atan2.out": Taken("expanded to atan2 and copy_: python/torchere/expansion.py", atan2),
    "resize_.default": Taken("expanded by torch's decomposition: python/torchere/expansion.py", resized),
    "sym_is_contiguous.default": Taken("a constant of the captured program", by_layout, is_dynamic=True),
    "sym_numel.default": Taken(SIZES, by_numel, is_dynamic=True),
    "sym_size.int": Taken(SIZES, by_size, is_dynamic=True),
    "sym_stride.int": Taken(
        SIZES,
        by_size,
        is_dynamic=True,
        replaced=(ATEN.sym_size.int, ATEN.sym_stride.int, "placeholder", 0),
    ),
    "sym_storage_offset.default": Taken(
        SIZES,
        by_offset,
        is_dynamic=True,
        replaced=(operator.mul, ATEN.sym_storage_offset.default, ATEN.select.int),
    ),
}
