"""Where a row may differ from eager torch, each with its reason. An entry without a failing sample fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

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


DEVIATIONS: list[Deviation] = []

# Rows that refuse some sizes that are known only at run time, with an error that says so.
NEEDS_CONSTANT_SIZES: dict[str, str] = {
    "cumsum.default": "the window of the sum is as long as the dimension, and windows are constant",
    "cumprod.default": "the window of the product is as long as the dimension, and windows are constant",
}
