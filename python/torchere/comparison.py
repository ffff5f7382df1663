"""The verdict on one value of a program, beside eager PyTorch's and the same computed in float64."""

from __future__ import annotations

import dataclasses
from typing import Any

#: What a value's error may be at most: so many times eager PyTorch's own error against float64, ...
FACTOR = 10
#: ... plus a part of the scale, by dtype: units in the last place, but for float64, which has no better one.
_FLOORS = {"float64": 1e-10, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
#: The same part where there is no value in float64, and eager PyTorch's is the reference.
_FLOORS_ALONE = {"float64": 1e-10, "float32": 1e-4, "float16": 1e-2, "bfloat16": 6e-2}
#: Other floats (8 bits).
_FLOOR_OF_OTHERS = 0.3
#: An error of eager PyTorch's own beyond this part of the scale is no rounding.
_FAR = {"float64": 1e-3, "float32": 0.02, "float16": 0.3, "bfloat16": 0.5}
#: Elements of so many times the median magnitude, and masks (-1e38), have a scale of their own: themselves.
_OUTLIER = 1e4
_MASK = 1e30


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One value compared. Errors are against float64, or against eager PyTorch where there is none; relative
    ones are parts of the scale. `eager_error` is eager PyTorch's own; None where there is no float64."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float
    relative_error: float
    eager_error: float | None
    verdict: str  #: "ok", or what is wrong

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"

    def cells(self) -> list[str]:
        eager = "-" if self.eager_error is None else f"{self.eager_error:.1e}"
        shape = f"({', '.join(map(str, self.shape))})"
        return [
            self.name,
            self.dtype,
            shape,
            f"{self.error:.1e}",
            f"{self.relative_error:.1e}",
            eager,
            self.verdict,
        ]


HEADINGS = ["value", "dtype", "shape", "error", "relative", "eager's own", "verdict"]


def table(rows: list[list[str]], indent: str = "") -> str:
    """Lines of columns, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def compare(name: str, ours: Any, eager: Any, double: Any = None) -> Comparison:
    """Judges a leaf of a result. `double` is the same computed in float64; None where it could not be."""
    import torch

    if not isinstance(eager, (torch.Tensor, int, float, complex)) or eager is None:
        return _plain(name, ours, eager)
    ours, eager = torch.as_tensor(_as_float64(ours)), torch.as_tensor(_as_float64(eager))
    dtype, shape = str(ours.dtype).removeprefix("torch."), tuple(ours.shape)
    problem = ""
    if ours.dtype != eager.dtype:
        problem = f"another dtype: got {dtype}, expected {str(eager.dtype).removeprefix('torch.')}"
    elif ours.shape != eager.shape:
        problem = f"another shape: got {shape}, expected {tuple(eager.shape)}"
    if problem:
        return Comparison(name, dtype, shape, float("inf"), float("inf"), None, problem)
    if double is not None:
        double = torch.as_tensor(double)
        double = double if double.shape == eager.shape else None
    if not (ours.is_floating_point() or ours.is_complex()):
        return _exact(name, ours, eager, double)
    if not ours.numel():
        return Comparison(name, dtype, shape, 0.0, 0.0, None if double is None else 0.0, "ok")
    return _Rounded(name, ours, eager, double).judge()


def _as_float64(value: Any) -> Any:
    """Python's floats are float64."""
    import torch

    return torch.tensor(value, dtype=torch.float64) if isinstance(value, float) else value


def _plain(name: str, ours: Any, expected: Any) -> Comparison:
    is_equal = type(ours) is type(expected) and ours == expected
    verdict = "ok" if is_equal else f"another value: got {ours!r}, expected {expected!r}"
    error = 0.0 if is_equal else float("inf")
    return Comparison(name, type(ours).__name__, (), error, error, None, verdict)


def _exact(name: str, ours: Any, eager: Any, double: Any) -> Comparison:
    """Ints and bools: equal to eager PyTorch's, or, where rounding decides (argmax), to float64's."""
    differs = ours != eager
    if double is not None:
        differs &= ours != double
    count = int(differs.sum())
    error = float((ours[differs].double() - eager[differs].double()).abs().max()) if count else 0.0
    verdict = f"{count} of {ours.numel()} elements differ" if count else "ok"
    dtype = str(ours.dtype).removeprefix("torch.")
    return Comparison(name, dtype, tuple(ours.shape), error, error, None, verdict)


class _Rounded:
    """Floats and complex numbers, in float64."""

    def __init__(self, name: str, ours: Any, eager: Any, double: Any):
        self.name, self.dtype = name, ours.dtype
        self.shape = tuple(ours.shape)
        self.has_double = double is not None
        self.ours, self.eager = _real(ours), _real(eager)
        self.reference = _real(double) if self.has_double else self.eager

    def judge(self) -> Comparison:
        import torch

        ours, reference = self.ours, self.reference
        are_finite = ours.isfinite() & reference.isfinite()
        is_bad = ~are_finite & ~_are_same(ours, self.eager) & ~_are_same(ours, reference)
        magnitude = reference.abs()
        mask = min(_MASK, 0.9 * torch.finfo(self.dtype).max)
        usual = magnitude[are_finite & (magnitude > 0) & (magnitude < mask)]
        limit = min(float(usual.median()) * _OUTLIER, mask) if usual.numel() else 0.0
        bulk, outliers = are_finite & (magnitude <= limit), are_finite & (magnitude > limit)
        scale = _most(magnitude[bulk])
        error, eager = _most((ours - reference).abs()[bulk]), self.eager_error(bulk)
        tiny = torch.finfo(self.dtype).tiny
        part, own = error / max(scale, tiny), eager / max(scale, tiny)
        if bool(outliers.any()):
            part = max(part, _most(((ours - reference).abs() / magnitude)[outliers]))
            own = max(own, self.eager_error(outliers, magnitude))
            error = max(error, _most((ours - reference).abs()[outliers]))
        verdict = self.verdict(part, own, error <= tiny, int(is_bad.sum()))
        if bool(is_bad.any()):
            error = part = float("inf")
        return Comparison(
            self.name, self.text, self.shape, error, part, own if self.has_double else None, verdict
        )

    @property
    def text(self) -> str:
        return str(self.dtype).removeprefix("torch.")

    def eager_error(self, where: Any, over: Any = None) -> float:
        errors = (self.eager - self.reference).abs()
        errors = errors if over is None else errors / over
        return _most(errors[where & self.eager.isfinite()])

    def verdict(self, part: float, own: float, is_nothing: bool, bad: int) -> str:
        real = _real_dtype(self.dtype)
        if bad:
            return f"{bad} of {self.ours.numel()} elements are not finite where they should be, or are"
        if own > _FAR.get(real, 1.0):
            return f"eager PyTorch differs from its own float64 by {own:.1e}: nothing to compare with"
        floors = _FLOORS if self.has_double else _FLOORS_ALONE
        allowed = FACTOR * own + floors.get(real, _FLOOR_OF_OTHERS)
        return "ok" if part <= allowed or is_nothing else f"wrong: got {part:.1e}, expected {allowed:.1e}"


def _real(value: Any) -> Any:
    import torch

    value = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    return value.detach().double()


def _real_dtype(dtype: Any) -> str:
    text = str(dtype).removeprefix("torch.")
    return {"complex64": "float32", "complex128": "float64", "complex32": "float16"}.get(text, text)


def _are_same(one: Any, other: Any) -> Any:
    return (one == other) | (one.isnan() & other.isnan())


def _most(values: Any) -> float:
    return float(values.max()) if values.numel() else 0.0
