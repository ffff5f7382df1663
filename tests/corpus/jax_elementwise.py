"""Modules of jax's elementwise functions: one for each function and kind of dtypes, shapes in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax.scipy.special as special
from case import Case
from jax import lax
from jax_lowering import KINDS, Shapes, argument, lowered

# Kinds of dtypes (jax_lowering.KINDS) -> the functions of jax.lax that take them.
UNARY = {
    "s": "bessel_i0e bessel_i1e",
    "fn": "cbrt ceil digamma erf erf_inv erfc floor is_finite lgamma round",
    "fcn": """acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log1p logistic reciprocal rsqrt sin
        sinh sqrt tan tanh""",
    "fiucm": "neg sign square",
    "ficn": "abs",
    "iubm": "bitwise_not",
    "ium": "clz population_count",
    "c": "conj imag real",
}
BINARY = {
    "s": "igamma igamma_grad_a igammac polygamma random_gamma_grad zeta",
    "fn": "nextafter",
    "fcn": "atan2 pow",
    "fiucnm": "add div mul sub",
    "fiunm": "rem",
    "fiucbnm": "eq ne max min",
    "fiubnm": "ge gt le lt",
    "iubm": "bitwise_and bitwise_or bitwise_xor",
    "ium": "shift_left shift_right_arithmetic shift_right_logical mulhi",
}
SPECIAL = [
    "entr",
    "expit",
    "gamma",
    "gammaln",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "rel_entr",
    "softmax",
    "xlog1py",
    "xlogy",
]
TWO_OPERANDS = {"kl_div", "rel_entr", "xlog1py", "xlogy"}


def cases() -> Iterator[Case]:
    shapes = Shapes()
    for operands, table in ((1, UNARY), (2, BINARY)):
        for kinds, names in table.items():
            for name in names.split():
                for kind in kinds:
                    yield of_kind(getattr(lax, name), f"{name}/{kind}", operands, KINDS[kind], shapes)
    yield from conversions()
    yield from ternary()
    yield from accuracies()
    for name in SPECIAL:
        operands = [argument((2, 3))] * (2 if name in TWO_OPERANDS else 1)
        yield lowered(f"special.{name}", getattr(special, name), *operands)


def of_kind(function: Callable, name: str, operands: int, dtypes: list[str], shapes: Shapes) -> Case:
    """One module that applies a function to operands of each dtype."""
    arguments = [[argument(shapes.next(), dtype)] * operands for dtype in dtypes]
    return lowered(name, lambda calls: [function(*call) for call in calls], arguments)


def conversions() -> Iterator[Case]:
    every = [dtype for kind in "fiucbnm" for dtype in KINDS[kind]]
    for target in every:
        sources = [dtype for dtype in every if dtype not in KINDS["c"] or target in KINDS["c"]]
        arguments = [argument((2, 3), dtype) for dtype in sources]
        yield lowered(
            f"convert_element_type/{target}",
            lambda values, target=target: [lax.convert_element_type(value, target) for value in values],
            arguments,
        )
    for source, target, shape in [
        ("float32", "int32", (2, 3)),
        ("float32", "uint8", (2, 3)),
        ("uint8", "float32", (3, 4)),
        ("float64", "uint32", ()),
        ("bfloat16", "float16", (0,)),
        ("int4", "uint8", (5, 2)),
        ("float8_e4m3fn", "int8", (4,)),
    ]:
        bitcast = lambda x, target=target: lax.bitcast_convert_type(x, target)
        yield lowered(f"bitcast_convert_type/{source}-{target}", bitcast, argument(shape, source))
    for name, exponent, mantissa in [("float32", 5, 10), ("bfloat16", 4, 3), ("float64", 8, 7)]:
        reduce = lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m)
        yield lowered(f"reduce_precision/{name}", reduce, argument((3,), name))


def ternary() -> Iterator[Case]:
    for kind in "fiucbnm":
        dtypes = KINDS[kind]
        if kind in "fiub":
            clamps = lambda rows: [lax.clamp(*row) for row in rows]
            arguments = [[argument((2, 3), dtype)] * 3 for dtype in dtypes]
            yield lowered(f"clamp/{kind}", clamps, arguments)
            arguments = [[argument((), dt), argument((4,), dt), argument((), dt)] for dt in dtypes]
            yield lowered(f"clamp-scalar/{kind}", clamps, arguments)
        selects = lambda pred, rows: [lax.select(pred, *row) for row in rows]
        for name, shape in [("whole", (2, 3)), ("scalar", ())]:
            arguments = [[argument((2, 3), dtype)] * 2 for dtype in dtypes]
            yield lowered(f"select-{name}/{kind}", selects, argument(shape, "bool"), arguments)
    yield lowered(
        "select_n", lax.select_n, argument((5,), "int32"), *[argument((5,)), argument((5,)), argument((5,))]
    )
    yield lowered("complex", lax.complex, argument((2, 3)), argument((2, 3)))
    yield lowered("complex/float64", lax.complex, argument((), "float64"), argument((), "float64"))
    yield lowered("betainc", lax.betainc, *[argument((3,))] * 3)
    for name, method in [
        ("away", lax.RoundingMethod.AWAY_FROM_ZERO),
        ("even", lax.RoundingMethod.TO_NEAREST_EVEN),
    ]:
        yield lowered(f"round/{name}", lambda x, method=method: lax.round(x, method), argument((7,)))
    for power in (-3, 0, 1, 2, 7):
        yield lowered(f"integer_pow/{power}", lambda x, p=power: lax.integer_pow(x, p), argument((3,)))


def accuracies() -> Iterator[Case]:
    """Functions with an accuracy asked for."""
    tolerance = lax.Tolerance(atol=1e-3, rtol=2e-5, ulps=3)
    for name in [
        "cbrt",
        "cos",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "logistic",
        "rsqrt",
        "sin",
        "sqrt",
        "tan",
        "tanh",
    ]:
        function = getattr(lax, name)
        for label, accuracy in [("highest", lax.AccuracyMode.HIGHEST), ("tolerance", tolerance)]:
            call = lambda x, f=function, a=accuracy: f(x, accuracy=a)
            yield lowered(f"{name}/{label}", call, argument((2, 2)))
