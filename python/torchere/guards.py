"""torch's guards: its assumptions about sizes during the capture, beyond each dimension's range.

A module may do one thing where one size is larger than another and something else where it is not; the
captured program holds the way that the example's sizes took.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

#: An expression of the program's symbols, with its minimum and maximum.
Guard = tuple[str, int | None, int | None]


# How many of the guards of a ShapeEnv are the capture's: later ones come from our expansions.
_captured: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def remember_guards(exported_program: Any) -> None:
    """Says that the program has ranges for the guards of the present; called before it is expanded."""
    environment = _shape_environment(exported_program)
    if environment is not None:
        _captured.setdefault(environment, len(environment.guards))


def size_guards(exported_program: Any) -> list[Guard]:
    """The guards without duplicates. Only comparisons of integers are included."""
    environment = _shape_environment(exported_program)
    if environment is None:
        return []
    relations = [environment.replace(guard.expr) for guard in environment.guards]
    guards = (
        guard
        for index, relation in enumerate(relations)
        for guard in _bounds(relation, is_known=index < _captured.get(environment, len(relations)))
    )
    return list(dict.fromkeys(guards))


def unguarded_integers(exported_program: Any) -> frozenset[str]:
    """The symbols of int inputs that may be negative although torch's range starts at 0: that is its default
    for sizes, and its assumptions about an int are guards."""
    import torch

    environment = _shape_environment(exported_program)
    guards = [guard.expr for guard in environment.guards] if environment is not None else []
    # A program that was read from a file has them only as text.
    if not guards and getattr(exported_program, "_guards_code", None):
        return frozenset()
    guarded = {str(symbol) for guard in guards for symbol in guard.free_symbols}
    values = [node.meta.get("val") for node in exported_program.graph.find_nodes(op="placeholder")]
    integers = {str(value) for value in values if isinstance(value, torch.SymInt)}
    return frozenset(integers - guarded)


def _shape_environment(exported_program: Any) -> Any:
    """torch's ShapeEnv, found through any symbol; None in a static program."""
    import torch

    for node in exported_program.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        for size in sizes:
            if isinstance(size, torch.SymInt):
                return size.node.shape_env
    return None


def _bounds(relation: Any, is_known: bool) -> Iterator[Guard]:
    """What a relation bounds; where the program's ranges are known to hold it, not that of a symbol alone."""
    import sympy

    if isinstance(relation, sympy.And):
        for part in relation.args:
            yield from _bounds(part, is_known)
    if not isinstance(relation, sympy.core.relational.Relational):
        return
    is_range = relation.lhs.is_Symbol and relation.rhs.is_Integer and not isinstance(relation, sympy.Ne)
    if is_known and is_range:
        return
    expression, offset = (relation.lhs, int(relation.rhs)) if is_range else (relation.lhs - relation.rhs, 0)
    if not expression.is_integer or not expression.free_symbols:
        return
    if isinstance(relation, sympy.Ne):
        yield str(expression**2), 1, None
    elif isinstance(relation, sympy.Eq):
        yield str(expression), offset, offset
    elif isinstance(relation, (sympy.Gt, sympy.Ge)):
        yield str(expression), offset + int(isinstance(relation, sympy.Gt)), None
    else:
        yield str(expression), None, offset - int(isinstance(relation, sympy.Lt))
