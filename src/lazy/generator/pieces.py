"""What an op of full_codegen needs beside its entry, and what to write where it is missing."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from kernels import declaration, kernel, kernel_name, lowered_as, shard_of
from table import Table
from torchgen.model import NativeFunction


def missing_pieces(table: Table, lazy: Path, output: Path, shards: int) -> list[str]:
    """One complaint for each op that cannot be built yet: the file and the declaration that it needs, and its
    generated kernel. `lazy` is the folder of the sources, `output` that of the generated files."""
    complaints = []
    for op in table.full_codegen:
        needed = [_lowering(table, op), _shape(table, op), _leftover(lazy, op)]
        if found := [text for text in needed if text]:
            file = output / "lazy" / f"kernels_{shard_of(table, op, shards)}.cpp"
            complaints.append("\n".join([*found, f"  its kernel, in {file}:", _indented(kernel(table, op))]))
    return complaints


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


@functools.cache
def _rows() -> frozenset[str]:
    from torchere import _core

    return frozenset(name for name, _ in _core.operators())


def _lowering(table: Table, op: NativeFunction) -> str:
    callee = lowered_as(op, table.known)
    row = f"aten.{callee.func.name.name}.{callee.func.name.overload_name or 'default'}"
    if row in _rows():
        return ""
    several = len(callee.func.returns) > 1 or callee.func.returns[0].type.is_list_like()
    function = str(callee.func.name.name).strip("_")
    return (
        f"full_codegen: '{op.func.name}' has no lowering: expected in a file of src/lowering/ops/\n"
        f"    Result<{'Values' if several else 'mlir::Value'}> {function}(Context &cx, const Args &args);\n"
        f'    table.add("aten::{callee.func}", {function});'
    )


def _shape(table: Table, op: NativeFunction) -> str:
    import torch

    name = kernel_name(op)
    keys = ("Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
    keys += ("CompositeExplicitAutogradNonFunctional",)
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if name in table.own_shapes or any(has_kernel(f"aten::{op.func.name}", key) for key in keys):
        return ""
    return (
        f"full_codegen: '{op.func.name}' has no Meta kernel in torch to compute its shape: expected\n"
        f"    src/lazy/shapes/{name}.cpp, which defines in torchere::lazy::shapes, of tensors on meta,\n"
        f"    {declaration(op)}"
    )


def _leftover(lazy: Path, op: NativeFunction) -> str:
    """A kernel written by hand, which the generated one replaces."""
    name = re.escape(kernel_name(op))
    definition = re.compile(rf"^(?!static)[\w:<>, ]*\b{name}\([^;]*?\{{$", re.MULTILINE)
    for path in sorted((lazy / "kernels").glob("*.cpp")):
        if definition.search(path.read_text()):
            return f"full_codegen: '{op.func.name}' is generated: remove its kernel from {path}"
    return ""
