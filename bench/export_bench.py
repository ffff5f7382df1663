"""Export time of the nine models, step by step: the walk over the graph, lowering, verifying. Milliseconds,
best and median of the rounds.

    python bench/export_bench.py [--models NAME...] [--rounds N] [--against DIR]

`--against` holds another checkout of this project, which is built, against this one: each exports in a
process of its own, in turns, and the last column is the median of the rounds' ratios, this one's time over
the other's.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import torch
from nine_models import NINE, Model, find

import torchere

OURS = ("walk", "expand", "functionalize", "run_decompositions", "lower", "verify")
ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 5

Timings = dict[str, float]  # seconds of each step


def captured(model: Model) -> torch.export.ExportedProgram:
    return torch.export.export(model.build(), model.arguments()[0])


def export(program: torch.export.ExportedProgram) -> Timings:
    """The timings of one export, with the sum of our steps as "ours"."""
    timings = dict(torchere.export(program).timings)
    timings["ours"] = sum(timings.get(step, 0.0) for step in OURS)
    return timings


def measure(name: str = "resnet50", rounds: int = ROUNDS) -> list[Timings]:
    program = captured(find(name))
    return [export(program) for _ in range(rounds)]


def serve(name: str) -> None:
    """Exports a model once for each line of stdin."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    program = captured(find(name))
    print(json.dumps({}), file=answers, flush=True)
    for _ in sys.stdin:
        print(json.dumps(export(program)), file=answers, flush=True)


class Exporter:
    """A process that exports a model with the package of one checkout."""

    def __init__(self, tree: Path, model: str):
        self.tree = tree
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tree / "python")},
        )

    def answer(self) -> Timings:
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.tree}: the export failed")
        return json.loads(line)

    def export(self) -> Timings:
        print(file=self.process.stdin, flush=True)
        return self.answer()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def take_turns(trees: list[Path], model: str, rounds: int) -> list[list[Timings]]:
    """The rounds of each tree. Every round is led by another one."""
    exporters = [Exporter(tree, model) for tree in trees]
    for exporter in exporters:
        exporter.answer()  # ready
        exporter.export()  # what is loaded once does not count
    runs: list[list[Timings]] = [[] for _ in trees]
    for round_ in range(rounds):
        for turn in range(len(trees)):
            index = (round_ + turn) % len(trees)
            runs[index].append(exporters[index].export())
    for exporter in exporters:
        exporter.close()
    return runs


def table(runs: list[list[Timings]]) -> list[str]:
    lines = []
    for step in runs[0][0]:
        times = [[run[step] * 1e3 for run in tree] for tree in runs]
        line = f"  {'+'.join(OURS) if step == 'ours' else step:<20}"
        for tree in times:
            line += f"{min(tree):9.2f}{statistics.median(tree):9.2f}"
        if len(times) == 2:
            line += f"{statistics.median(ours / other for ours, other in zip(*times, strict=True)):9.3f}"
        lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=[model.name for model in NINE])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--against", type=Path, metavar="DIR")
    parser.add_argument("--serve", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    trees = [ROOT, *([options.against.resolve()] if options.against else [])]
    print(
        f"{'ms':<22}"
        + "".join(f"{'best':>9}{'median':>9}" for _ in trees)
        + f"{'ratio':>9}" * (len(trees) == 2)
    )
    for name in options.models:
        print(name)
        print("\n".join(table(take_turns(trees, name, options.rounds))), flush=True)


if __name__ == "__main__":
    main()
