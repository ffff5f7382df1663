"""Calls of a server that waits between requests: how long a call takes after the process was idle, beside
calls in a row, on the engines of models_bench.py.

    python bench/idle_calls_bench.py [--pause SECONDS] [OPTIONS OF models_bench.py]

After each pause come three calls, of which the third is measured: the first reads from memory what caches
have lost. Each engine has a process of its own; times are medians. Threads sleep in the pause, and help only
where the system wakes them on another core than the caller's. Calls in a row come last: they leave the
threads where they are at their best.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from models_bench import Bench, Failed, Worker, choose, parse, run


def run_after_pauses(pause: float, seconds: float) -> list[float]:
    """The milliseconds of the third call after each."""
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(pause)
        run(0)
        run(0)
        times += run(0)
    return times


class IdleBench(Bench):
    def take_turns(self, workers: dict[str, Worker]) -> None:
        for name, worker in workers.items():
            try:
                idle = median(worker.ask(run_after_pauses, self.options.pause, self.options.seconds))
                row = median(worker.ask(run, self.options.seconds / 4))
                print(
                    f"{self.model.name}: {name} {idle:.2f} ms after a pause, {row:.2f} in a row", flush=True
                )
            except Failed as failure:
                print(f"{self.model.name}: {name} failed: {failure}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--pause", type=float, default=0.1)
    own, others = parser.parse_known_args()
    options = parse(others)
    options.pause = own.pause
    models, options.quick = choose(options), True  # first loads are not measured
    with tempfile.TemporaryDirectory() as folder:
        for number, model in enumerate(models):
            IdleBench(model, options, Path(folder) / str(number)).measure()


if __name__ == "__main__":
    main()
