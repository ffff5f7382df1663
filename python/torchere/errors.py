"""Torchère's exceptions: one class per code that callers distinguish."""

from __future__ import annotations

import sys
from typing import Any


class Error(RuntimeError):
    """What went wrong. `code` is a gRPC name such as "INVALID_ARGUMENT"; `where` is the place in the user's
    model ("model.py:31 in encoder.layer.0") and `advice` what to do about it, empty when there is none."""

    code = "UNKNOWN"

    def __init__(self, message: str, code: str | None = None, where: str = "", advice: str = ""):
        at = f"; at {where}" if where else ""
        super().__init__(f"{message}{at}\n  to do: {advice}" if advice else f"{message}{at}")
        self.code = code or type(self).code
        self.where = where
        self.advice = advice


class InvalidArgumentError(Error, ValueError):
    """An argument that a call does not accept."""

    code = "INVALID_ARGUMENT"


class NotFoundError(Error, LookupError):
    """A name, a file or a device that does not exist."""

    code = "NOT_FOUND"


class AlreadyExistsError(Error):
    """A target that already exists."""

    code = "ALREADY_EXISTS"


class UnimplementedError(Error, NotImplementedError):
    """An unsupported operation."""

    code = "UNIMPLEMENTED"


class CaptureError(Error):
    """torch could not capture or decompose the program; its own exception is the cause."""

    code = "FAILED_PRECONDITION"


def __getattr__(name: str) -> Any:
    """`LinAlgError` is torch's as well, and so there as soon as torch is imported."""
    if name != "LinAlgError" or "torch" not in sys.modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    torch_error: Any = sys.modules["torch"].linalg.LinAlgError
    documented = {"__doc__": "A matrix has no such factors, or no inverse.", "__module__": __name__}
    globals()[name] = type(name, (Error, torch_error), {**documented, "code": "ABORTED"})
    return globals()[name]


_CLASSES: dict[str, type[Error]] = {
    "INVALID_ARGUMENT": InvalidArgumentError,
    "OUT_OF_RANGE": InvalidArgumentError,
    "NOT_FOUND": NotFoundError,
    "ALREADY_EXISTS": AlreadyExistsError,
    "UNIMPLEMENTED": UnimplementedError,
}


def from_core(code: str, message: str, where: str) -> Error:
    """The exception for an error of the core."""
    if code == "ABORTED" and message.startswith("[aten.") and "torch" in sys.modules:
        return sys.modules[__name__].LinAlgError(message, code, where)
    return _CLASSES.get(code, Error)(message, code, where)
