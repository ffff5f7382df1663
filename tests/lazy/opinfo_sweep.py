"""OpInfo and ModuleInfo on the lazy device: opinfo_sweep.py OUTPUT [--samples N] [--shard K/N].

Each call is a line of JSON. A process of its own, for PJRT_DEVICE chooses the plugin of a whole process.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "lazy"), str(TESTS / "ops"), str(TESTS)]
warnings.simplefilter("ignore")

import module_calls  # noqa: E402
import opinfo_calls  # noqa: E402
import opinfo_errors  # noqa: E402
from opinfo_deviations import samples_of  # noqa: E402


def rows(samples: int, shard: int, shards: int) -> Iterator[dict[str, Any]]:
    for name, op in list(opinfo_calls.ops().items())[shard::shards]:
        most = samples_of(name, samples)
        chosen = [
            call
            for form in opinfo_calls.FORMS
            for dtype in opinfo_calls.DTYPES
            for call in opinfo_calls.calls(op, dtype, form, most)
        ]
        for outcome in opinfo_calls.outcomes(chosen):
            yield {
                "op": name,
                "form": outcome.call.form,
                "dtype": str(outcome.call.dtype).removeprefix("torch."),
                "call": str(outcome.call)[:300],
                "problem": outcome.problem[:400],
                "fallbacks": outcome.fallbacks,
                "reads": outcome.early_reads,
                "random": outcome.is_random,
            }
        yield from opinfo_errors.outcomes(op)
    for name, info in list(module_calls.infos().items())[shard::shards]:
        yield from module_calls.outcomes(info, samples_of(name, samples))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--shard", default="0/1")
    options = parser.parse_args()
    shard, shards = map(int, options.shard.split("/"))
    with options.output.open("w") as file:
        for row in rows(options.samples, shard, shards):
            print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()
