"""Which ops have an out= form that is the op itself, followed by the writes."""

from __future__ import annotations

from table import Table
from torchgen.model import NativeFunction, SchemaKind

# These change the size of what they write to, or give what the device cannot hold.
_LEFT_OUT = ("copy", "resize", "set", "lift", "_copy_from", "_copy_from_and_resize")


def out_forms(table: Table) -> list[tuple[NativeFunction, NativeFunction]]:
    """Pairs of an out= form and the op that computes what it writes."""
    functional = {
        function.func.signature(): function
        for function in table.known.values()
        if function.func.kind() == SchemaKind.functional
    }
    pairs = []
    for form in table.known.values():
        function = functional.get(form.func.signature())
        if function and form not in table.supported and _is_write_of(form, function):
            pairs.append((form, function))
    return sorted(pairs, key=lambda pair: str(pair[0].func.name))


def _is_write_of(form: NativeFunction, function: NativeFunction) -> bool:
    return (
        form.func.kind() == SchemaKind.out
        and str(function.func.name.name) not in _LEFT_OUT
        and not form.has_composite_implicit_autograd_kernel
        and not function.func.arguments.tensor_options
        and len(form.func.returns) == len(function.func.returns) == len(form.func.arguments.out)
        and all(str(argument.type) == "Tensor" for argument in form.func.arguments.out)
        and all(str(result.type) == "Tensor" for result in function.func.returns)
    )
