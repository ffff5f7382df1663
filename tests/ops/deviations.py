"""Where a row may differ from eager torch, each with its reason. An entry without a failing sample fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
from samples import Sample


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Samples of some rows that are known to differ."""

    rows: tuple[str, ...]  # "add.Tensor", without "aten."
    reason: str
    when: Callable[[Sample], bool] = lambda sample: True

    def takes(self, row: str) -> bool:
        return row.removeprefix("aten.") in self.rows

    def covers(self, sample: Sample) -> bool:
        return self.takes(sample.row) and self.when(sample)

    def __str__(self) -> str:
        return f"{self.rows[0]}: {self.reason}"


def has_nan(sample: Sample) -> bool:
    tensors = [arg for arg in sample.args if isinstance(arg, torch.Tensor)]
    return any(bool(tensor.isnan().any()) for tensor in tensors)


DEVIATIONS: list[Deviation] = [
    Deviation(
        (
            "amax.default",
            "amin.default",
            "argmax.default",
            "argmin.default",
            "maximum.default",
            "minimum.default",
        ),
        "XLA's CPU compiler loses NaN in minimum and maximum (its switch xla_cpu_enable_fast_min_max)",
        has_nan,
    ),
]
