"""Every row of the op table against the schema of the installed torch."""

import inspect
import operator
import re

import pytest
import torch
from rows import callables, overload, schemas
from torch._higher_order_ops.map import map_dense


def normalized(argument: torch._C.Argument) -> tuple:
    """What must agree: name, type, place and default. A SymInt counts as an int."""
    kind = str(argument.type).replace("SymInt", "int")
    default = argument.default_value if argument.has_default_value() else "(none)"
    return argument.name, kind, argument.N, argument.kwarg_only, repr(default)


def alias(argument: torch._C.Argument) -> str:
    """Whether its memory is shared, or written to."""
    info = argument.alias_info
    return "" if info is None else "written" if info.is_write else "shared"


def difference(schema: torch._C.FunctionSchema, installed: torch._C.FunctionSchema) -> list[str]:
    ours, theirs = ([normalized(a) for a in s.arguments] for s in (schema, installed))
    problems = [f"the row has {a}, torch has not" for a in ours if a not in theirs]
    problems += [f"torch has {a}, the row has not" for a in theirs if a not in ours]
    if not problems and ours != theirs:
        problems.append("the arguments are in another order")
    results = [[str(r.type) for r in s.returns] for s in (schema, installed)]
    if results[0] != results[1]:
        problems.append(f"the row gives {results[0]}, torch gives {results[1]}")
    aliases = [[alias(each) for each in (*s.arguments, *s.returns)] for s in (schema, installed)]
    if aliases[0] != aliases[1]:
        problems.append("the row and torch differ in what shares memory or is written to")
    return problems


@pytest.mark.parametrize("row", sorted(schemas()))
def test_row_has_torchs_schema(row):
    installed = overload(row)._schema
    assert difference(torch._C.parse_schema(schemas()[row]), installed) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("aten::add.Tensor(Tensor self, Tensor other) -> Tensor", "torch has ('alpha'"),
        ("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor", "the row has ('alpha'"),
        ("aten::add.Tensor(Tensor self, Tensor other, Scalar alpha=1) -> Tensor", "the row has ('alpha'"),
        ("aten::add.Tensor(Tensor other, Tensor self, *, Scalar alpha=1) -> Tensor", "another order"),
        ("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor[]", "the row gives"),
        ("aten::add.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor", "written to"),
        ("aten::add.Tensor(Tensor(a) self, Tensor other, *, Scalar alpha=1) -> Tensor(a)", "shares memory"),
    ],
)
def test_the_comparison_sees_each_difference(text, problem):
    installed = torch.ops.aten.add.Tensor._schema
    assert any(problem in found for found in difference(torch._C.parse_schema(text), installed))


@pytest.mark.parametrize("row", sorted(callables()))
def test_what_has_no_schema_has_the_parameters_of_the_row(row):
    space, name = row.split(".")
    found = getattr(
        {"higher_order": torch.ops.higher_order, "_operator": operator, "torch": torch}[space], name
    )
    if row == "higher_order.map_impl":  # which takes whatever it is given
        found = map_dense
    elif space == "higher_order":
        found = found.__call__
    declared = re.findall(r"(\w+)[,)]", callables()[row].partition(" -> ")[0])
    parameters = inspect.signature(found).parameters.values()
    assert [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY] == declared


def test_names_are_torchs():
    for row in schemas():
        assert str(overload(row)) == row
