"""Profile: what each kernel of a call took, as the CPU engine measures it."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """One step of the engine's plan."""

    kernel: str  #: "matmul"
    op: str  #: "stablehlo.dot_general"; empty for a step that the plan added
    source: str  #: "model.py:31 in encoder.layer.0", or a part of it
    runs: int
    seconds: float  #: of all runs
    flops: float
    bytes: float
    rate: str  #: "103.2 GFLOP/s" or "8.1 GB/s", whichever is closer to the machine's peak
    share_of_peak: float


@dataclasses.dataclass(frozen=True)
class Profile:
    """What program.profile measured. It prints as a table, the kernels that took longest first."""

    result: Any  #: of the call
    program: str
    isa: str
    threads: int
    peak_flops: float  #: a second, of this machine
    peak_bandwidth: float  #: bytes a second
    seconds: float  #: of all kernels
    rows: tuple[KernelTime, ...]  #: in the order of their first runs
    _table: str = dataclasses.field(repr=False)
    _trace: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self._table

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace for chrome://tracing and Perfetto."""
        Path(path).write_text(self._trace, encoding="utf-8")


def read_profile(result: Any, fields: str, table: str, trace: str) -> Profile:
    """From what the session says of a call."""
    values = json.loads(fields)
    rows = tuple(KernelTime(**row) for row in values.pop("rows"))
    return Profile(result=result, rows=rows, _table=table, _trace=trace, **values)
