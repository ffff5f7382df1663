"""What the capture assumes of sizes and ints: ranges of single ones, and guards, relations of several.

A module may branch on whether one size is larger than another; the captured program contains only the branch
that the example's sizes took.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from torchere.guard_text import read_guards

#: An expression of the program's symbols, with its minimum and maximum; of a relation, which is 0 or 1, they
#: are 1.
Guard = tuple[str, int | None, int | None]

#: torch assumes so much of sizes that may vary. ExportedProgram.module() takes 0 and 1 all the same, where no
#: guard says otherwise: bounds up to this one are not compared.
_ASSUMED = 2
_KEPT_TEXTS = 4096  # of expressions
_INFINITIES = {"int_oo", "-int_oo", "oo", "-oo"}


@dataclasses.dataclass
class _Range:
    least: int | None
    most: int | None

    def narrow(self, least: int | None, most: int | None) -> None:
        self.least = max((bound for bound in (self.least, least) if bound is not None), default=None)
        self.most = min((bound for bound in (self.most, most) if bound is not None), default=None)


def captured_ranges(exported_program: Any) -> list[Guard]:
    """torch's ranges, as the ExportedProgram has them."""
    constraints = exported_program.range_constraints.items()
    return [(str(symbol), _bound(range.lower), _bound(range.upper)) for symbol, range in constraints]


def assumptions(exported_program: Any, minimums: Mapping[str, int | None]) -> list[Guard]:
    """What a call is to be checked for. `minimums` has the symbols whose least value is the user's own; None
    is that of torch's range."""
    relations_of_torch, are_all = _relations(exported_program)
    kept = _squeezed(exported_program)
    guards = [part for relation in [*relations_of_torch, *kept] for part in _parts(relation)]
    ints = _int_symbols(exported_program)
    ranges: dict[str, _Range] = {}
    for symbol, least, most in captured_ranges(exported_program):
        declared = minimums.get(symbol, 0)
        if are_all and declared is not None and least is not None and least <= _ASSUMED:
            least = minimums.get(symbol) if symbol in ints else declared or None  # no size is negative
        # torch's greatest size of what is selected from a tensor of any size.
        ranges[symbol] = _Range(least, None if most is not None and most >= sys.maxsize - 1 else most)
    relations = []
    for guard in guards:
        if isinstance(guard, str):
            relations.append((guard, 1, 1))
        else:
            symbol, least, most = guard
            ranges.setdefault(symbol, _Range(None, None)).narrow(least, most)
    own = [(symbol, range.least, range.most) for symbol, range in ranges.items()]
    return own + list(dict.fromkeys(relations))


def fixed_int(value: Any) -> int | None:
    """The value of an int, or of one that may vary, where the capture assumed a single one for it; else None.
    A program that was loaded from a file has it as an int."""
    import torch

    if isinstance(value, torch.SymInt):
        expression = value.node.expr
        return int(expression) if expression.is_Integer else None
    return value if type(value) is int else None


def number_text(number: Any) -> str:
    """A symbolic number as sympy prints it, but with all digits of its floats. Terms are not sorted, as the
    core does that: sympy would compute the value of each."""
    expression = getattr(getattr(number, "node", None), "expr", None)
    return str(number) if expression is None else _expression_text(expression)


def _expression_text(expression: Any) -> str:
    return _printer().doprint(expression)


@functools.cache
def _printer() -> Any:
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):
        def _print_Float(self, number: Any) -> str:
            return repr(float(number))

    printer = Printer({"order": "none"})
    # One size of a program is a part of the next.
    printer._print = functools.lru_cache(maxsize=_KEPT_TEXTS, typed=True)(printer._print)
    return printer


def _bound(value: Any) -> int | None:
    return None if str(value) in _INFINITIES else int(value)


def _relations(exported_program: Any) -> tuple[list[Any], bool]:
    """The guards as sympy's relations, and whether these are all of them."""
    environment = _shape_environment(exported_program)
    if environment is None:
        return [], True
    relations = [environment.replace(guard.expr) for guard in environment.guards]
    texts = getattr(exported_program, "_guards_code", None) or []
    if len(relations) >= len(texts):
        return relations, True
    # The program was loaded from a file: the environment has only guards of the loading and of expansions.
    inputs = [
        spec.arg.name
        for spec in exported_program.graph_signature.input_specs
        if spec.kind.name == "USER_INPUT"
    ]
    nodes = {node.name: node for node in exported_program.graph.find_nodes(op="placeholder")}
    read, unread = read_guards(texts, {name: nodes[name].meta.get("val") for name in inputs})
    for text in unread:
        warnings.warn(f"[export] calls do not check what torch assumed of sizes: got {text!r}", stacklevel=2)
    return relations + read, not unread


def _squeezed(exported_program: Any) -> Iterator[Any]:
    """A dynamic dimension stays in a captured squeeze, which in eager mode removes it where it is 1."""
    import sympy
    import torch

    packets = {torch.ops.aten.squeeze, torch.ops.aten.squeeze_, torch.ops.aten.squeeze_copy}
    for module in exported_program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if getattr(node.target, "overloadpacket", None) not in packets:
                continue
            shape = node.args[0].meta["val"].shape
            given = node.args[1] if len(node.args) > 1 and shape else range(len(shape))
            for axis in [given] if isinstance(given, int) else given:
                if isinstance(shape[axis], torch.SymInt):
                    yield sympy.Ne(shape[axis].node.expr, 1)


def _parts(relation: Any) -> Iterator[Guard | str]:
    """A symbol's bounds, or the text of a relation."""
    import sympy

    if isinstance(relation, sympy.And):
        for part in relation.args:
            yield from _parts(part)
    elif relation.free_symbols:
        yield _range_of(relation) or _expression_text(relation)


def _range_of(relation: Any) -> Guard | None:
    """The bounds that a relation of a symbol and a number is; None for another one."""
    import sympy

    if not isinstance(relation, sympy.core.relational.Relational):
        return None
    if relation.rhs.is_Symbol and relation.lhs.is_Integer:
        relation = relation.reversed
    if not (relation.lhs.is_Symbol and relation.rhs.is_Integer):
        return None
    symbol, number = str(relation.lhs), int(relation.rhs)
    bounds = {
        sympy.Eq: (number, number),
        sympy.Ge: (number, None),
        sympy.Gt: (number + 1, None),
        sympy.Le: (None, number),
        sympy.Lt: (None, number - 1),
    }
    bound = bounds.get(type(relation))
    return (symbol, *bound) if bound else None


def _int_symbols(exported_program: Any) -> frozenset[str]:
    """The symbols of int inputs: torch's range of one starts at 0, but only guards are assumptions."""
    import torch

    values = [node.meta.get("val") for node in exported_program.graph.find_nodes(op="placeholder")]
    return frozenset(str(value) for value in values if isinstance(value, torch.SymInt))


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
