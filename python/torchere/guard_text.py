"""torch's guards of a program that was loaded from a file, which has them only as the text of Python
expressions: "L['x'].size()[0] % 4 == 0"."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


def read_guards(texts: list[str], placeholders: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """The relations as sympy's, over the symbols of the placeholders' values, and the texts that are not
    understood."""
    reader = _Reader(placeholders)
    relations, unread = [], []
    for text in texts:
        try:
            relations.append(reader.read(ast.parse(text, mode="eval").body))
        except (KeyError, AttributeError, TypeError, ValueError, IndexError, SyntaxError):
            unread.append(text)
    return relations, unread


def _by_kind(of_ints: Callable[..., Any], of_floats: Callable[..., Any]) -> Callable[..., Any]:
    """The operator of two numbers, which is another one where one of them is a float."""
    return lambda a, b: (of_ints if a.is_integer and b.is_integer else of_floats)(a, b)


class _Reader:
    def __init__(self, placeholders: dict[str, Any]):
        import sympy
        from torch.utils._sympy import functions

        self.placeholders = placeholders
        self.integer = sympy.Integer
        self.float = sympy.Float
        self.operators: dict[type, Callable[..., Any]] = {
            ast.Add: sympy.Add,
            ast.Sub: lambda a, b: a - b,
            ast.Mult: sympy.Mul,
            ast.Pow: _by_kind(functions.PowByNatural, functions.FloatPow),
            ast.FloorDiv: functions.FloorDiv,
            ast.Div: _by_kind(functions.IntTrueDiv, functions.FloatTrueDiv),
            ast.Mod: functions.Mod,
            ast.BitAnd: functions.BitwiseFn_bitwise_and,
            ast.BitOr: functions.BitwiseFn_bitwise_or,
            ast.USub: lambda a: -a,
            ast.Not: sympy.Not,
            ast.And: sympy.And,
            ast.Or: sympy.Or,
            ast.Eq: sympy.Eq,
            ast.NotEq: sympy.Ne,
            ast.Lt: sympy.Lt,
            ast.LtE: sympy.Le,
            ast.Gt: sympy.Gt,
            ast.GtE: sympy.Ge,
        }
        self.functions: dict[str, Callable[..., Any]] = {
            "max": functions.Max,
            "min": functions.Min,
            "math.trunc": functions.TruncToInt,
            "math.floor": functions.FloorToInt,
            "math.ceil": functions.CeilToInt,
            "round": lambda *args: (functions.RoundToInt, functions.RoundDecimal)[len(args) - 1](*args),
            "abs": sympy.Abs,
            "torch.sym_float": functions.ToFloat,
            "torch._sym_sqrt": functions.OpaqueUnaryFn_sqrt,
        }
        self.choose = functions.Where

    def read(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self.integer(node.value) if type(node.value) is int else self.float(node.value)
        if isinstance(node, ast.BinOp):
            return self.operators[type(node.op)](self.read(node.left), self.read(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.operators[type(node.op)](self.read(node.operand))
        if isinstance(node, ast.BoolOp):
            return self.operators[type(node.op)](*map(self.read, node.values))
        if isinstance(node, ast.Compare):
            (operator,), (right,) = node.ops, node.comparators
            return self.operators[type(operator)](self.read(node.left), self.read(right))
        if isinstance(node, ast.IfExp):
            return self.choose(self.read(node.test), self.read(node.body), self.read(node.orelse))
        if isinstance(node, ast.Call):
            return self.functions[ast.unparse(node.func)](*map(self.read, node.args))
        return self.source(node)

    def source(self, node: ast.expr) -> Any:
        """L['x'].size()[0], or L['n'] for an int."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            axis = ast.literal_eval(node.slice)
            value = self.input(node.value.func.value).shape[axis]
        else:
            value = self.input(node)
        return value.node.expr if hasattr(value, "node") else self.integer(value)

    def input(self, node: ast.expr) -> Any:
        """torch names the placeholder of L['x'][0]['k'] x_0_k."""
        keys = []
        while isinstance(node, ast.Subscript):
            keys.append(str(ast.literal_eval(node.slice)))
            node = node.value
        return self.placeholders["_".join(reversed(keys))]
