"""OpInfo and ModuleInfo on the lazy device: the CPU's values, errors, gradients; fallbacks are counted.

The interpreter's plugin runs them, in processes of their own; in the sweep there are more samples, and XLA
compiles them too.
"""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opinfo_deviations import DEVIATIONS, EARLY_READS, EARLY_READS_OF_MANY

PROGRAM = Path(__file__).parent / "opinfo_sweep.py"
WITHOUT_FALLBACK = 350  # at least so many ops


def rows_of(
    folder: Path, samples: int, processes: int, shards: int | None = None, **variables: str
) -> list[dict[str, Any]]:
    """What became of each call. Each process takes one of the shards, which are as many as processes
    unless they are given."""
    running = []
    for shard in range(processes):
        output = folder / f"{shard}.jsonl"
        number = f"{shard}/{shards or processes}"
        command = [sys.executable, PROGRAM, output, f"--samples={samples}", f"--shard={number}"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", **variables}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        running.append((process, output))
    rows = []
    for process, output in running:
        _, stderr = process.communicate()
        assert process.returncode == 0, stderr[-3000:]
        rows += [json.loads(line) for line in output.read_text().splitlines()]
    return rows


def complaints(rows: list[dict[str, Any]], plugin: str, samples: int) -> list[str]:
    """Problems that no entry covers, entries that cover none although this run should show it, and copies
    before the final read."""
    found = [
        f"{row['call']}: {row['problem']}"
        for row in rows
        if row["problem"] and not any(deviation.covers(row) for deviation in DEVIATIONS)
    ]
    taken = {row["op"] for row in rows}
    for deviation in DEVIATIONS:
        if deviation.plugin == plugin and deviation.samples <= samples:
            found += [f"stale: {op}: {deviation.reason}" for op in deviation.stale(rows) if op in taken]
    early = {row["op"] for row in rows if row["reads"] and not row["fallbacks"] and row["form"] != "error"}
    listed = EARLY_READS | (EARLY_READS_OF_MANY if samples > 1 else {})
    found += [f"{op} copies to the host before its result is read" for op in sorted(early - set(listed))]
    found += [f"stale: {op} copies nothing to the host" for op in sorted(taken & set(listed) - early)]
    return found


def summary(rows: list[dict[str, Any]]) -> str:
    """A table of the counts: by form the calls, and the ops by the worst of their calls."""
    forms = collections.defaultdict(list)
    for row in rows:
        forms["module" if row["form"].startswith("module") else row["form"]].append(row)
    lines = [
        "| | calls | ops | without a fallback | with counted fallbacks | listed |",
        "|---|---|---|---|---|---|",
    ]
    for form, chosen in forms.items():
        listed = {row["op"] for row in chosen if row["problem"]}
        falling = {row["op"] for row in chosen if row["fallbacks"]} - listed
        every = {row["op"] for row in chosen}
        counts = len(chosen), len(every), len(every - falling - listed), len(falling), len(listed)
        lines.append(f"| {form} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def ops_without_fallback(rows: list[dict[str, Any]]) -> set[str]:
    """OpInfo's ops, of which no call falls back or differs, whatever its dtype."""
    calls = [row for row in rows if row["form"] == "function"]
    return {row["op"] for row in calls} - {row["op"] for row in calls if row["fallbacks"] or row["problem"]}


def test_values_errors_and_gradients_are_those_of_the_cpu(tmp_path):
    """Of a part of the ops; the sweep takes them all."""
    rows = rows_of(tmp_path, samples=1, processes=2, shards=16, PJRT_DEVICE="interpreter")
    found = complaints(rows, "interpreter", samples=1)
    assert not found, "\n".join(found)
    assert len(ops_without_fallback(rows)) >= len({row["op"] for row in rows}) // 2


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("plugin", "samples"), [("interpreter", 1), ("interpreter", 12), ("cpu", 12), ("torchere_cpu", 12)]
)
def test_all_samples(tmp_path, plugin, samples):
    rows = rows_of(tmp_path, samples, os.cpu_count() or 1, PJRT_DEVICE=plugin)
    print(
        f"\n{plugin}: {len(ops_without_fallback(rows))} ops without a fallback in any dtype\n{summary(rows)}"
    )
    found = complaints(rows, plugin, samples)
    assert not found, "\n".join(found)
    assert len(ops_without_fallback(rows)) >= WITHOUT_FALLBACK
