"""The reference interpreter: runs StableHLO exactly as specified, slowly, without a plugin."""

from __future__ import annotations

from typing import Any

# The dtype names of numpy, or else of ml_dtypes, and StableHLO's.
NAMES = {
    "bool": "i1",
    "int2": "i2",
    "int4": "i4",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint2": "ui2",
    "uint4": "ui4",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "float4_e2m1fn": "f4E2M1FN",
    "float6_e2m3fn": "f6E2M3FN",
    "float6_e3m2fn": "f6E3M2FN",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}
_DTYPES = {theirs: ours for ours, theirs in NAMES.items()}


def interpret(text: str, *inputs: Any, entry: str = "") -> list[Any]:
    """Runs a function of a StableHLO module and returns its results as numpy arrays.

    The function is `main`, or the module's only one, unless `entry` names it. The inputs are array-like;
    their dtypes must match the function's. Types that numpy lacks, such as bfloat16, need ml_dtypes.
    The module may contain assertions of the `check` dialect: a failed one raises InvalidArgumentError, as do
    arguments of wrong types.
    """
    from torchere import _core

    results = _core.interpret(text, [_to_raw(value) for value in inputs], entry)
    return [_from_raw(*result) for result in results]


def _to_raw(value: Any) -> tuple[str, tuple[int, ...], bytes]:
    import numpy

    array = numpy.asarray(value)
    if array.dtype.name not in NAMES:
        raise TypeError(f"[interpret] StableHLO has no elements of dtype {array.dtype}")
    # tobytes keeps the array's byte order, which must be little-endian.
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return NAMES[array.dtype.name], array.shape, native.tobytes()


def _from_raw(name: str, shape: list[int], data: bytes) -> Any:
    import numpy

    dtype = _DTYPES[name]
    try:
        kind = numpy.dtype(dtype)
    except TypeError:
        import ml_dtypes

        kind = numpy.dtype(getattr(ml_dtypes, dtype))
    return numpy.frombuffer(data, kind).reshape(shape)
