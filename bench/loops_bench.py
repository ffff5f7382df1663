"""Loops with small bodies in JAX, on the CPU engine and on JAX's own CPU platform.

    python bench/loops_bench.py [--rounds 5] [--seconds 0.2] [--names levenshtein,kalman] [--peer LIBRARY]
        [--json]

The programs of loop_programs.py. Each platform has a process of its own; they take turns, and a ratio is that
of the medians of one round. "error" is the largest difference from JAX's own results over the largest of
these. `--peer` adds another build of the engine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

WORKER = """
import statistics, sys, time
import jax, numpy as np
from loop_programs import PROGRAMS

print(jax.devices()[0].platform, flush=True)
calls = {}
for line in sys.stdin:
    name, seconds, file = line.split()
    function, arguments = PROGRAMS[name]
    if name not in calls:
        calls[name] = jax.jit(function)
        for _ in range(3):
            results = jax.block_until_ready(calls[name](*arguments))
        np.savez(file, *map(np.asarray, jax.tree.leaves(results)))
    times, end = [], time.perf_counter() + float(seconds)
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        jax.block_until_ready(calls[name](*arguments))
        times.append((time.perf_counter() - start) * 1e3)
    print(statistics.median(times), flush=True)
"""


class Platform:
    def __init__(self, name: str, library: str | None = None) -> None:
        environment = {**os.environ, "JAX_PLATFORMS": name, "PYTHONPATH": str(Path(__file__).parent)}
        if library:
            environment["PJRT_NAMES_AND_LIBRARY_PATHS"] = f"{name}:{library}"
        self.worker = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.worker.stdout is not None
        if self.worker.stdout.readline().strip() != name:
            raise RuntimeError(f"JAX did not start on the platform {name}")

    def time_call(self, name: str, seconds: float, file: str) -> float:
        """Milliseconds of a call, the median of those in so many seconds."""
        assert self.worker.stdin is not None and self.worker.stdout is not None
        print(name, seconds, file, file=self.worker.stdin, flush=True)
        return float(self.worker.stdout.readline())


def largest_error(file: str, expected_file: str) -> float:
    import numpy as np

    with np.load(file) as results, np.load(expected_file) as expected:
        errors = []
        for name in expected:
            got, value = results[name].astype(np.float64), expected[name].astype(np.float64)
            errors.append(float(np.abs(got - value).max() / max(np.abs(value).max(), 1e-30)))
        return max(errors)


def measure(
    platforms: dict[str, Platform], name: str, rounds: int, seconds: float, folder: str
) -> dict[str, Any]:
    times: dict[str, list[float]] = {platform: [] for platform in platforms}
    for _ in range(rounds):
        for platform, worker in platforms.items():
            times[platform].append(worker.time_call(name, seconds, f"{folder}/{platform}-{name}.npz"))
    error = largest_error(f"{folder}/engine-{name}.npz", f"{folder}/JAX-{name}.npz")
    ratios = {
        platform: sorted(peer / ours for ours, peer in zip(times["engine"], times[platform], strict=True))
        for platform in platforms
        if platform != "engine"
    }
    return {"ms": times, "ratios": ratios, "error": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each platform in a round")
    parser.add_argument("--names", default="", help="of programs, separated by commas")
    parser.add_argument("--peer", help="the library of another build of the engine")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from loop_programs import PROGRAMS

    platforms = {"engine": Platform("torchere_cpu"), "JAX": Platform("cpu")}
    if options.peer:
        platforms["peer"] = Platform("torchere_cpu", options.peer)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names.split(",") if options.names else PROGRAMS:
            made = measure(platforms, name, options.rounds, options.seconds, folder)
            figures[name] = made
            if options.json:
                continue
            columns = [f"{platform} {median(times):8.3f}" for platform, times in made["ms"].items()]
            columns += [f"to {other} {median(ratios):6.2f}" for other, ratios in made["ratios"].items()]
            print(f"{name:<18}", *columns, f"error {made['error']:.0e}", flush=True)
    if options.json:
        print(json.dumps(figures))
        return
    for other in next(iter(figures.values()))["ratios"]:
        ratios = [median(made["ratios"][other]) for made in figures.values()]
        print(f"geometric mean to {other} {geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
