"""Lowers jax functions to text, and the dtypes and shapes that the families of jax modules share."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator

import jax
import ml_dtypes
import numpy as np
from case import Case
from jax._src import config
from jax.extend.backend import clear_backends

# Collectives are lowered for a mesh of this many devices; nothing runs on them. Another test of the process
# may have started JAX with fewer.
DEVICES = 8
if jax.config.jax_num_cpu_devices != DEVICES:
    clear_backends()
    jax.config.update("jax_num_cpu_devices", DEVICES)

FLOATS = ["float32", "float16", "bfloat16", "float64"]
SIGNED = ["int32", "int8", "int16", "int64"]
UNSIGNED = ["uint32", "uint8", "uint16", "uint64"]
COMPLEX = ["complex64", "complex128"]
BOOL = ["bool"]
# Types narrower than what processors compute with.
NARROW_FLOATS = [
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3b11fnuz",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e8m0fnu",
    "float4_e2m1fn",
]
NARROW_INTEGERS = ["int4", "uint4", "int2", "uint2"]
KINDS = {
    "f": FLOATS,
    "s": ["float32"],  # for functions that expand to much
    "i": SIGNED,
    "u": UNSIGNED,
    "c": COMPLEX,
    "b": BOOL,
    "n": NARROW_FLOATS,
    "m": NARROW_INTEGERS,
}

# The shapes that elementwise functions go through in turn, so that each occurs with many of them.
SHAPES = [(2, 3), (), (3,), (1,), (0,), (2, 0, 3), (1, 4, 1, 2), (17,)]


def dtype(name: str) -> np.dtype:
    """The dtype of that name, also of those that numpy itself has not."""
    return np.dtype(getattr(ml_dtypes, name, name))


def argument(shape: tuple[int, ...], name: str = "float32") -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype(name))


class Shapes:
    """SHAPES one after the other, for ever."""

    def __init__(self) -> None:
        self._shapes = itertools.cycle(SHAPES)

    def next(self) -> tuple[int, ...]:
        return next(self._shapes)


@contextlib.contextmanager
def lowering() -> Iterator[None]:
    """64-bit types as written; locations of one frame, so that they tell nothing of who called; shardings
    as attributes of mhlo, which any parser keeps, instead of ops of Shardy's dialect, which only XLA has."""
    with jax.enable_x64(True), config.traceback_in_locations_limit(1), config.use_shardy_partitioner(False):
        yield


def lowered(name: str, function: Callable, *arguments, platform: str = "cpu", **options) -> Case:
    """The module that jit lowers a function to; the options are jit's."""
    traced = jax.jit(function, **options).trace(*arguments)
    return Case("jax", name, traced.lower(lowering_platforms=(platform,)).as_text(debug_info=True))


def exported(name: str, function: Callable, *arguments, **options) -> Case:
    """The module that jax.export makes of a function; the options are export's."""
    program = jax.export.export(jax.jit(function), **options)(*arguments)
    return Case("jax", name, str(program.mlir_module()))
