"""Which ops have an in-place form whose kernel is that of the op itself, followed by the write."""

from __future__ import annotations

from table import Table, draws
from torchgen.model import NativeFunction, SchemaKind

# These change the size of what they write to; copy_ writes to tensors of the host too (kernels/transfer.cpp).
_LEFT_OUT = ("copy", "resize", "set")


def in_place_forms(table: Table) -> list[tuple[NativeFunction, NativeFunction]]:
    """Pairs of an in-place op and the op that computes what it writes."""
    pairs = []
    for function in (*table.full_codegen, *table.supported):
        name = function.func.name
        overload = f".{name.overload_name}" if name.overload_name else ""
        form = table.known.get(f"{name.name}_{overload}")
        if form and form not in table.supported and _is_write_of(form, function):
            pairs.append((form, function))
    return sorted(pairs, key=lambda pair: str(pair[0].func.name))


def _is_write_of(form: NativeFunction, function: NativeFunction) -> bool:
    types = [str(argument.type) for argument in form.func.arguments.flat_all]
    return (
        form.func.kind() == SchemaKind.inplace
        and function.func.kind() == SchemaKind.functional
        and str(function.func.name.name) not in _LEFT_OUT
        and not form.has_composite_implicit_autograd_kernel
        and len(form.func.returns) == 1
        and not draws(function)
        and types == [str(argument.type) for argument in function.func.arguments.flat_all]
        and not any("SymInt" in name for name in types)
    )


def write_check(form: NativeFunction, function: NativeFunction) -> str:
    """What eager refuses of a write, in C++."""
    if str(function.func.name.name) in ("fill", "zero"):
        return "WriteCheck::Fill"
    return "WriteCheck::Pointwise" if "pointwise" in form.tags | function.tags else "WriteCheck::Memory"
