"""Arguments of the package's own functions: checks of them, and how errors show them."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

from torchere.errors import InvalidArgumentError

_LONGEST = 100


def shown(value: Any) -> str:
    """The value's repr(), of which long ones are cut."""
    return cut(repr(value))


def cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def path_text(path: str | os.PathLike[str], function: str) -> str:
    """The path as a string, for a function that errors name."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise InvalidArgumentError(f"[{function}] a NUL byte in the path: got {shown(text)}, expected none")
    return text


def seed_bits(seed: Any) -> int:
    """The 64 bits of a seed with or without a sign, which is whatever Python takes for an index."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise InvalidArgumentError(
            f"[manual_seed] wrong kind of seed: got {shown(seed)}, expected an integer"
        ) from None
    if not -(2**63) <= number < 2**64:
        raise InvalidArgumentError(
            f"[manual_seed] the seed does not fit 64 bits: got {shown(number)}, expected {-(2**63)} to "
            f"{2**64 - 1}"
        )
    return number % 2**64


def composite_names(composites: Iterable[str]) -> set[str]:
    """The argument `composites` of export()."""
    if isinstance(composites, str):
        raise InvalidArgumentError(
            f"[export] composites: got the string {shown(composites)}, expected a set of names, such as "
            '{"sdpa"}'
        )
    return set(composites)


def positional_arguments(method_name: str, args: Any) -> tuple[Any, ...]:
    """The positional arguments of a call, which are given as one tuple."""
    if not isinstance(args, tuple | list):
        raise InvalidArgumentError(
            f"[{method_name}] wrong kind of args: got a {type(args).__name__}, expected a tuple, such as (x,)"
        )
    return tuple(args)
