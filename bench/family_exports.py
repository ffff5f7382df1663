"""What is added to torch.export's own time on the model families: each in a process of its own, several at
once if asked, and a table of all. `family_exports.py NAME` measures one, and prints its row as JSON.

A family that fails, or takes too long, is a line of the table, and no number of it.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import logging
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from added_time import OURS, ours, timed

LONGEST = 3600  # seconds that a family's process may take
SHOWN = 10  # of the families, those to which most is added
CAPTURE, PEERS = "torch.export", ("run_decompositions", "torch.onnx")


@dataclasses.dataclass
class Row:
    """A family's seconds, by step; `most` is what our own went to, `failures` what went wrong."""

    name: str
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    steps: dict[str, float] = dataclasses.field(default_factory=dict)
    expanded: dict[str, float] = dataclasses.field(default_factory=dict)
    failures: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def share(self) -> float:
        """What we add, in percent of torch.export's own time."""
        return 100 * self.seconds["ours"] / self.seconds[CAPTURE]

    @property
    def fell_back(self) -> str:
        """The ops that have no lowering of their own, with what their expansion took."""
        ops = sorted(self.expanded.items(), key=lambda item: -item[1])
        if "run_decompositions" in self.steps:
            ops.insert(0, ("the whole program, by run_decompositions", self.steps["run_decompositions"]))
        return ", ".join(f"{op} {milliseconds(spent)}" for op, spent in ops) or "none"

    def line(self) -> str:
        times = "".join(f"{step:>20} {seconds:8.3f}" for step, seconds in self.seconds.items())
        failures = "".join(f"   {step} failed: {text}" for step, text in self.failures.items())
        return f"{self.name:<36}{times}{failures}"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


def families() -> dict[str, Any]:
    from families import TORCHVISION, TRANSFORMERS

    return {str(family): family for family in TORCHVISION + TRANSFORMERS}


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def measure(name: str) -> Row:
    """torch.export, our steps, and torch's own ways on from there."""
    logging.disable(logging.WARNING)  # of torch, about sizes that it cannot solve for
    torch.set_num_threads(1)
    family, row = families()[name], Row(name)
    ours(torch.export.export(torch.nn.ReLU(), (torch.ones(1),)))  # tables that are made once
    torch.manual_seed(0)
    model, args = family.make().eval(), family.inputs(*family.exported_with)
    exported, row.seconds[CAPTURE] = timed(
        lambda: torch.export.export(model, args, dynamic_shapes=(*family.shapes,))
    )
    program, row.seconds["ours"] = ours(exported)
    row.steps = {step: program.timings[step] for step in OURS if step in program.timings}
    row.expanded = program.expanded
    further = {"run_decompositions": exported.run_decompositions}
    if importlib.util.find_spec("onnxscript"):
        further["torch.onnx"] = lambda: torch.onnx.export(exported, dynamo=True, verbose=False)
    for step, call in further.items():
        try:
            row.seconds[step] = timed(call)[1]
        except Exception as error:  # they raise whatever their passes do
            row.failures[step] = first_line(error)
    return row


def measured_apart(name: str) -> Row:
    """The row of a family from a process of its own."""
    command = [sys.executable, __file__, name]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LONGEST, check=True
        )
        row = Row(**json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        row = Row(name, failures={"the process": f"took more than {LONGEST} s"})
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[-1]
        row = Row(name, failures={"the process": last})
    print(row.line(), flush=True)
    return row


def percentile95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def print_table(names: list[str], jobs: int) -> None:
    """The figures of the families, all of them where none is named."""
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(measured_apart, names or families()))
    whole = [row for row in rows if "ours" in row.seconds]
    print(f"\n{len(whole)} of {len(rows)} families; CPU seconds{'median':>14}   95th percentile")
    for step in (CAPTURE, "ours", *PEERS):
        if times := [row.seconds[step] for row in whole if step in row.seconds]:
            print(f"{step:<24}({len(times):2}) {statistics.median(times):16.3f} {percentile95(times):17.3f}")
    if whole:
        shares = [row.share for row in whole]
        print(f"ours, % of torch.export      {statistics.median(shares):16.1f} {percentile95(shares):17.1f}")
    print(f"\nthe {SHOWN} to which most is added{'':<9}added     steps; ops that are expanded")
    for row in sorted(whole, key=lambda row: -row.share)[:SHOWN]:
        steps = ", ".join(f"{step} {milliseconds(spent)}" for step, spent in row.steps.items())
        print(
            f"{row.name:<36} {milliseconds(row.seconds['ours'])}, {row.share:.1f}%   {steps}; {row.fell_back}"
        )
    if failed := [row for row in rows if row.failures]:
        print("\nfailed")
        for row in failed:
            print(f"{row.name:<36} {'; '.join(f'{step}: {text}' for step, text in row.failures.items())}")


if __name__ == "__main__":
    print(json.dumps(dataclasses.asdict(measure(sys.argv[1]))))
