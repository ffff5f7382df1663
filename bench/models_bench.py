"""The nine models on our runtime, beside eager torch, torch.compile, ONNX Runtime and OpenVINO, in one run.

For each model: the time of a call, of exporting (with the memory that it takes) and of loading. Every engine
has a process of its own, and they take turns, round after round, so that what else the machine does falls on
all of them. No result is timed that is not within 1e-4 of eager's, measured by its largest magnitude. The
table, the figures and a plot are written to bench/results/. An engine that is not installed shows as absent;
`make bench` installs them all.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import memory_bench
import numpy as np
import torch
from engines import ENGINES, Engine
from further_models import FURTHER
from machine import describe_machine, measure_round_trip
from model_figures import as_markdown, as_svg
from model_files import EXPORTS, describe, read_calls
from nine_models import NINE, SMALL, Model, find

TOLERANCE = 1e-4  # of the result's largest magnitude
RESULTS = Path(__file__).resolve().parent / "results"
LONGEST = 900  # seconds that a process may take for an answer
SETTLING = 0.1  # seconds before a turn: threads of some engines spin for as long after their work


class Failed(Exception):
    """What a process said when it could not do its part."""


class Worker:
    """A process that does what it is asked, one thing after the other."""

    def __init__(self, environment: dict[str, str]):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        kept = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})

    def ask(self, task: Callable[..., Any], *arguments: Any) -> Any:
        try:
            self.pipe.send((task, arguments))
            if not self.pipe.poll(LONGEST):
                raise Failed(f"no answer in {LONGEST} s")
            error, answer = self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join(10)
            raise Failed(f"the process ended with {self.process.exitcode}") from None
        if error:
            raise Failed(error)
        return answer

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def serve(pipe: Any) -> None:
    """What a worker's process runs. Whatever a library prints goes to stderr."""
    os.dup2(2, 1)
    while True:
        try:
            task, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = (None, task(*arguments))
        except Exception as error:
            answer = (f"{type(error).__name__}: {str(error).strip() or 'no message'}"[:2000], None)
        pipe.send(answer)


def export(model: str, name: str, folder: Path) -> dict[str, float]:
    """Exports a model; the seconds and the bytes that it took. What is loaded once counts in neither."""
    kind = EXPORTS[name]
    kind().export(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval(), (torch.zeros(1, 2),))
    module, arguments = find(model).build(), find(model).arguments()[0]
    memory_bench.reset_peak()
    before, start = memory_bench.status("VmRSS"), time.perf_counter()
    exported = kind()
    exported.export(module, arguments)
    seconds, growth = time.perf_counter() - start, memory_bench.status("VmHWM") - before
    exported.save(folder)
    return {"seconds": seconds, "bytes": max(growth, 0)}


def distance(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, as a part of the largest magnitude; an error if that is too much."""
    magnitude = float(np.abs(expected).max())
    if not (np.isfinite(magnitude) and magnitude > 0):
        raise ValueError(f"eager's result is no measure: its largest magnitude is {magnitude}")
    result = float(np.abs(got - expected).max()) / magnitude
    if not result <= TOLERANCE:
        raise ValueError(f"differs from eager by {result:.1e} of the result's magnitude")
    return result


class Running:
    """The engine of this process, and how it is called. There is one in a process."""

    engine: Engine
    calls: int


def load(model: str, name: str, folder: Path, threads: int) -> dict[str, float]:
    """Loads a model and compares its results with eager's; the seconds until the first, and the error."""
    calls, expected = read_calls(folder)
    engine = ENGINES[name]()
    for package in engine.packages:
        __import__(package)
    start = time.perf_counter()
    engine.load(find(model), folder, threads, calls)
    results = engine.call(0)
    seconds = time.perf_counter() - start
    worst = 0.0
    for index, array in enumerate(expected):
        if index > 0:
            results = engine.call(index)
        (got,) = engine.as_arrays(results)
        if got.shape != array.shape or got.dtype != array.dtype:
            raise ValueError(f"got {got.dtype}{got.shape}, expected {array.dtype}{array.shape}")
        worst = max(worst, distance(got, array))
    Running.engine, Running.calls = engine, len(calls)
    return {"seconds": seconds, "error": worst}


def run(seconds: float) -> list[float]:
    """Calls for about so long; the milliseconds of each call."""
    engine, calls, times = Running.engine, Running.calls, []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        for index in range(calls):
            start = time.perf_counter()
            engine.call(index)
            times.append((time.perf_counter() - start) * 1e3)
    return times


class Bench:
    """One model's figures, gathered in a folder of its own."""

    def __init__(self, model: Model, options: argparse.Namespace, folder: Path):
        self.model, self.options, self.folder = model, options, folder
        folder.mkdir()
        self.environment = {
            # Caches on disk begin empty, so that a first load is a first load.
            "XDG_CACHE_HOME": str(folder / "cache"),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": str(options.threads),
        }
        self.figures: dict[str, Any] = {"model": model.name, "exports": {}, "engines": {}}

    def measure(self) -> dict[str, Any]:
        missing = [package for package in self.model.packages if not find_spec(package)]
        if missing:
            self.figures["absent"] = f"needs {', '.join(missing)}"
            return self.figures
        try:
            self.figures |= self.once(describe, self.model.name, self.folder)
        except Failed as failure:
            self.figures["failed"] = str(failure)
            return self.figures
        for name in self.options.exports:
            if EXPORTS[name].is_here():
                self.figures["exports"][name] = self.exported(name)
        workers = {name: self.start(name) for name in self.options.engines if ENGINES[name].is_here()}
        try:
            self.take_turns({name: worker for name, worker in workers.items() if worker})
        finally:
            for worker in filter(None, workers.values()):
                worker.__exit__()
        return self.figures

    def once(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Does something in a process of its own."""
        with Worker(self.environment) as worker:
            return worker.ask(task, *arguments)

    def exported(self, name: str) -> dict[str, Any]:
        try:
            return self.once(export, self.model.name, name, self.folder)
        except Failed as failure:
            return {"failed": str(failure)}

    def start(self, name: str) -> Worker | None:
        """A process with the engine ready, or none if it failed."""
        figures: dict[str, Any] = {}
        self.figures["engines"][name] = figures
        arguments = (self.model.name, name, self.folder, self.options.threads)
        worker = None
        try:
            if not self.options.quick:
                figures["first_load_s"] = self.once(load, *arguments)["seconds"]
            worker = Worker(self.environment)
            loaded = worker.ask(load, *arguments)
        except Failed as failure:
            figures["failed"] = str(failure)
            if worker:
                worker.__exit__()
            return None
        figures |= {"load_s": loaded["seconds"], "error": loaded["error"], "rounds_ms": []}
        return worker

    def take_turns(self, workers: dict[str, Worker]) -> None:
        """Each round lets every engine run once, and begins with another one."""
        names = list(workers)
        self.figures["round_trip_ns"] = [settled_round_trip()]
        for number in range(self.options.rounds + 1):  # the first warms up
            for name in names[number % len(names) :] + names[: number % len(names)]:
                figures = self.figures["engines"][name]
                if "failed" in figures:
                    continue
                time.sleep(SETTLING)
                try:
                    times = workers[name].ask(run, self.options.seconds)
                except Failed as failure:
                    figures["failed"] = str(failure)
                    continue
                if number:
                    figures["rounds_ms"].append(statistics.median(times))
        self.figures["round_trip_ns"].append(settled_round_trip())


def settled_round_trip() -> float | None:
    """Once threads of the engines no longer spin."""
    time.sleep(2 * SETTLING)
    return measure_round_trip()


def choose(options: argparse.Namespace) -> list[Model]:
    models = FURTHER if options.further else SMALL if options.quick else NINE
    if options.models:
        unknown = set(options.models) - {model.name for model in models}
        if unknown:
            sys.exit(
                f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(m.name for m in models)}"
            )
        models = [model for model in models if model.name in options.models]
    return models


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="small models and few rounds: shows that all works"
    )
    parser.add_argument("--further", action="store_true", help="the models of further_models.py instead")
    parser.add_argument("--rounds", type=int, help="how often the engines take turns (default 15)")
    parser.add_argument("--seconds", type=float, help="how long a turn is (default 1)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--exports", nargs="+", choices=list(EXPORTS), default=list(EXPORTS))
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--output", type=Path, help="folder for the results (default: bench/results)")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.quick else 15)
    options.seconds = options.seconds or (0.02 if options.quick else 1.0)
    return options


def failures(figures: dict[str, Any]) -> list[str]:
    """What did not work of ours."""
    ours = "Torchère"
    found = []
    for row in figures["models"]:
        parts = [row, row["exports"].get(ours, {}), row["engines"].get(ours, {})]
        found += [f"{row['model']}: {part['failed']}" for part in parts if "failed" in part]
    return found


def write(figures: dict[str, Any], output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    (output / "models.md").write_text(as_markdown(figures))
    (output / "models.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    (output / "models.svg").write_text(as_svg(figures))


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    output = options.output or (None if options.quick or options.further else RESULTS)
    figures = {
        "machine": describe_machine(options.threads),
        "rounds": options.rounds,
        "seconds_a_turn": options.seconds,
        "engines": options.engines,
        "models": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        for number, model in enumerate(choose(options)):
            print(f"{model.name} ...", file=sys.stderr, flush=True)
            figures["models"].append(Bench(model, options, Path(folder) / str(number)).measure())
            if output:  # after each, as a run takes long
                write(figures, output)
    print(as_markdown(figures))
    for failure in failures(figures):
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
