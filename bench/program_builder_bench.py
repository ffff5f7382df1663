"""What it costs to build, hash and drop a million nodes of two tensor arguments: nanoseconds a node, in one
program and in programs of a thousand. A lazy device pays it for every op that runs.

    python bench/program_builder_bench.py [--json] [--repeats N]
"""

import argparse
import json
import subprocess

from call_overhead_bench import binary

STEPS = ("build", "hash", "drop", "all")


def measure(repeats: int) -> dict[str, dict[str, dict[str, float]]]:
    """{"1000 nodes a program": {"build": {"best": ..., "median": ...}, ...}, ...}."""
    output = subprocess.check_output([binary("program_builder_bench"), str(repeats)], text=True)
    return {name: steps for name, steps in json.loads(output).items() if name != "sum"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    figures = measure(options.repeats)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'ns a node, best (median)':<26}" + "".join(f"{step:>16}" for step in STEPS))
    for name, steps in figures.items():
        cells = (f"{steps[step]['best']:.1f} ({steps[step]['median']:.1f})" for step in STEPS)
        print(f"{name:<26}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
