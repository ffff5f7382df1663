"""The CPU engine beyond the time of a call (bench/models_bench.py): of each saved model the time to plan it,
a second process's start, the memory that it takes, and programs with open sizes.

    python bench/engine_bench.py [--further] [--models NAME ...] [--rounds N] [--as-found] [--dynamic-only]
        [--json]

Each process has the engine alone. "plan" is what the plugin takes from the module to its plan, on the own
clock of its thread, as its log has it. "first result" is the time from the load of the program to its first
result in a process that finds the executable in the cache, "warm" a later call in it. Of the first result,
"imported" are the modules of the package that the load needs, compiled as an installer leaves them; "opened"
is the load of the program, and "plan" the reading of its plan, with which the first call begins; "packed" is
what the weights of a weight program take to be computed and packed; "rest" is what is none of these and no
warm call: the client, memory that is first written, threads that start, what steps pack by themselves.
The same of a process that finds its weights packed on disk (TORCHERE_CPU_PACKED_CACHE): "mapped" are the
digests of the weights and of what was packed. The kinds of processes start in turns; times are medians of
the rounds, with the least first result beside. "stored" is what the first of these took to write the file.
"copied" is a copy of as many bytes as the weights have, by as many threads, to
new memory: from memory that no cache holds, in the same process afterwards, the least of three; then, as
packing finds them, from the files, which are mapped, in a process that does nothing else. Memory that
the host of a virtual machine has taken back is what varies most, in a copy as in packing: each process writes
1 GiB and twice the weights' bytes and frees them before its clock starts, so that the host has given them.
--as-found leaves that out. "anonymous" is what the memory beyond files of a further process grew by with the
program, and "counted" what the engine says that it takes: packed weights, the memory of a run, what threads
keep for their kernels, and results. That process has run a small program before, for which "client" is the
growth: modules, the plugin, its threads. Of open sizes: the time of planning a new one, a second call of each
of fifty beside later ones, and calls of five of them, each behind one of another size, beside those of
programs that were exported for that size, in the same places.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

# The model, and a program that needs next to nothing.
SAVE = """
import sys
import torch, torchere
from nine_models import find

def save(model, arguments, folder):
    torchere.export(model, arguments).save(folder)
    torch.save(arguments, folder + "/arguments.pt")

model = find(sys.argv[1])
save(model.build(), model.arguments()[0], sys.argv[2])
save(torch.nn.Tanh(), (torch.randn(64, 64),), sys.argv[3])
"""

# What a process begins with: the size of the weights, and memory that the host has to give.
BEGINNING = """
import json, os, sys, threading, time
import numpy
weights = sum(entry.stat().st_size for entry in os.scandir(sys.argv[1] + "/data"))

def ask_for_memory():
    numpy.ones(2**30 + 2 * weights if sys.argv[2] == "given" else 0, numpy.uint8)
"""

START = (
    BEGINNING
    + """
import torch, torchere
clock = time.perf_counter
arguments = torch.load(sys.argv[1] + "/arguments.pt")
torchere.plugins.find("torchere_cpu")
ask_for_memory()
start = clock()
load = torchere.load
imported = clock() - start
program = load(sys.argv[1])
opened = clock() - start - imported
program(*arguments)
first = clock() - start
calls = []
for _ in range(5):
    last = clock()
    program(*arguments)
    calls.append(clock() - last)

def copy(source, workers):
    start, target = clock(), numpy.empty_like(source)
    pairs = zip(numpy.array_split(target, workers), numpy.array_split(source, workers))
    threads = [threading.Thread(target=numpy.copyto, args=pair) for pair in pairs]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return clock() - start

source = numpy.ones(weights, numpy.uint8)
copied = min(copy(source, len(os.sched_getaffinity(0))) for _ in range(3))
counts = torchere.plugins.client().compile_counts
print(json.dumps({"imported": imported, "opened": opened, "first": first, "warm": min(calls),
                  "copied": copied, "weights": weights, **counts}))
"""
)

MEMORY = """
import ctypes, json, sys
import torch, torchere
from memory_bench import status

def run(folder):
    program = torchere.load(folder)
    for _ in range(6):
        results = program(*arguments[folder])
    return program, results

small, large = sys.argv[1:3]
arguments = {folder: torch.load(folder + "/arguments.pt") for folder in (small, large)}
torchere.plugins.find("torchere_cpu")
statistics = lambda: torchere.plugins.client().memory_statistics()["in_use"]
start = status("RssAnon")
kept = run(small)
ctypes.CDLL(None).malloc_trim(0)  # what is free must not hide what the program takes
before, counted = status("RssAnon"), statistics()
kept += run(large)
print(json.dumps({"client": before - start, "anonymous": status("RssAnon") - before,
                  "counted": statistics() - counted}))
"""

# The weights from their files to new memory, each thread its part of every file.
COPY = (
    BEGINNING
    + """
import mmap
ask_for_memory()
start = time.perf_counter()
workers = len(os.sched_getaffinity(0))
pairs = []
for entry in os.scandir(sys.argv[1] + "/data"):
    with open(entry.path, "rb") as file:
        source = numpy.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), numpy.uint8)
    pairs.append((numpy.array_split(numpy.empty_like(source), workers), numpy.array_split(source, workers)))

def copy(worker):
    for targets, sources in pairs:
        numpy.copyto(targets[worker], sources[worker])

threads = [threading.Thread(target=copy, args=(worker,)) for worker in range(workers)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(time.perf_counter() - start))
"""
)

# An encoder with an open length, as BERT is one: each length's first call plans.
DYNAMIC = """
import json, sys, time
from statistics import median
import torch, torchere
from torch.export import Dim
from nine_models import Encoder

torch.manual_seed(0)
config = dict(vocab_size=1000, hidden_size=int(sys.argv[1]), num_hidden_layers=int(sys.argv[2]),
              num_attention_heads=4, intermediate_size=4 * int(sys.argv[1]))
model = Encoder(**config).eval()
lengths = list(range(8, 108, 2))
ids = {length: torch.randint(1000, (1, length)) for length in lengths}
sizes = ({1: Dim("length", min=2, max=512)},)
program = torchere.export(model, (ids[lengths[0]],), dynamic_shapes=sizes)

def call(program, ids):
    start = time.thread_time()
    program(ids)
    return time.thread_time() - start

program(torch.randint(1000, (1, 7)))  # compiles
for length in lengths:
    program(ids[length])
second, later = [], []
for length in lengths:  # the second use packs what is packed then
    second.append(call(program, ids[length]))
    later.append(min(call(program, ids[length]) for _ in range(5)))
static = {length: torchere.export(model, (ids[length],)) for length in lengths[::10]}
pairs = {length: [] for length in static}
for turn in range(22):
    for length in static:  # each call follows one of another length, which has been in the caches
        pair = []
        for chosen in (program, static[length]):
            program(ids[length + 2])
            pair.append(call(chosen, ids[length]))
        if turn > 1:
            pairs[length].append(pair)
ratios = [median(first) / median(other) for first, other in (zip(*each) for each in pairs.values())]
print(json.dumps({
    "compiled": torchere.plugins.client().compile_counts["compiled"] - len(static),
    "sizes": len(lengths),
    "second": [first / other for first, other in zip(second, later)],
    "static": ratios,
}))
"""


def ask(source: str, *arguments: Any, cache: str | None = None, packed: str = "") -> tuple[str, str]:
    """What a process prints that has the engine alone, and its log. Executables are kept in the folder
    `cache`, packed weights in `packed`, if there is one."""
    environment = {
        **os.environ,
        "PJRT_DEVICE": "torchere_cpu",
        "TORCHERE_CACHE": "1G" if cache else "0",
        "TORCHERE_CACHE_DIR": cache or "",
        "TORCHERE_CPU_PACKED_CACHE": packed,
        "TORCHERE_LOG": "debug",
        "PYTHONPATH": str(Path(__file__).resolve().parent),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed modules are compiled
    command = [sys.executable, "-c", source, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode:
        raise RuntimeError(result.stderr[-2000:])
    return result.stdout, result.stderr


def times(pattern: str, log: str) -> list[float]:
    """The milliseconds of the log's lines with the pattern."""
    return [float(each) for each in re.findall(pattern + r" in ([\d.]+) ms", log)]


def start(name: str, saved: str, memory: str, cache: str, packed: str = "") -> dict[str, Any]:
    """The figures of one process that finds its executable in the cache. `memory`: "given" or "found"."""
    printed, log = ask(START, saved, memory, cache=cache, packed=packed)
    figures = json.loads(printed)
    if figures["loaded"] != 1:
        raise RuntimeError(f"{name}: the executable was not found in the cache: {figures}")
    figures["loaded_plan"] = sum(times("bytes of a plan", log)) / 1e3
    figures["packed"] = sum(times("computed and packed weights", log)) / 1e3
    figures["mapped"] = sum(times(r"mapped \d+ bytes of packed weights", log)) / 1e3
    figures["stored"] = sum(times(r"stored \d+ bytes of packed weights", log)) / 1e3
    parts = ("imported", "opened", "loaded_plan", "packed", "mapped", "warm")
    figures["rest"] = figures["first"] - sum(figures[part] for part in parts)
    return figures


def middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    least = {"first_least": min(run["first"] for run in runs)}
    return {key: median(run[key] for run in runs) for key in runs[0]} | least


def measure(name: str, rounds: int, memory: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        saved, cache, packed = f"{folder}/saved", f"{folder}/cache", f"{folder}/packed"
        small = f"{folder}/small"
        ask(SAVE, name, saved, small)
        _, log = ask(START, saved, memory, cache=cache)
        plan = times("planned", log)[0]
        stored = start(name, saved, memory, cache, packed)["stored"]
        os.sync()  # the disk has all files, so that no process waits while they are written
        runs, found, copies = [], [], []
        for _ in range(rounds):
            runs.append(start(name, saved, memory, cache))
            copies.append(json.loads(ask(COPY, saved, memory)[0]))
            found.append(start(name, saved, memory, cache, packed))
        size = sum(entry.stat().st_size for entry in os.scandir(packed))
        row = {"plan_ms": plan, **middle(runs), "found": middle(found)}
        ask(MEMORY, small, saved, cache=cache)  # the cache has the small program from now on
        for figures, where in ((row, ""), (row["found"], packed)):
            figures |= json.loads(ask(MEMORY, small, saved, cache=cache, packed=where)[0])
        return row | {"copied_files": median(copies), "stored": stored, "packed_bytes": size}


def row_text(row: dict[str, Any]) -> str:
    def ms(part: str) -> str:
        return f"{row[part] * 1e3:.1f}"

    return (
        f"first result {ms('first')} ms, least {ms('first_least')} (imported {ms('imported')}, opened "
        f"{ms('opened')}, plan {ms('loaded_plan')}, packed {ms('packed')}, mapped {ms('mapped')}, rest "
        f"{ms('rest')}), warm {row['warm'] * 1e3:.2f} ms, copied {ms('copied')} ms, anonymous "
        f"{row['anonymous'] / 2**20:.1f} MiB, counted {row['counted'] / 2**20:.1f}, client "
        f"{row['client'] / 2**20:.1f}"
    )


def measure_dynamic(width: int = 64, layers: int = 12) -> dict[str, Any]:
    figures, log = ask(DYNAMIC, width, layers)
    plans = times("planned", log)
    answer = json.loads(figures)
    return answer | {"plan_ms": plans[1 : 1 + answer["sizes"]]}


def choose(options: argparse.Namespace) -> list[str]:
    from further_models import FURTHER
    from nine_models import NINE

    names = [model.name for model in (FURTHER if options.further else NINE)]
    unknown = set(options.models or ()) - set(names)
    if unknown:
        sys.exit(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options.models or names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--further", action="store_true", help="the models of further_models.py")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each kind")
    parser.add_argument("--as-found", action="store_true", help="with memory as the host has left it")
    parser.add_argument("--dynamic-only", action="store_true", help="only the program with open sizes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    for name in [] if options.dynamic_only else choose(options):
        figures[name] = row = measure(name, options.rounds, "found" if options.as_found else "given")
        if not options.json:
            print(
                f"{name}: plan {row['plan_ms']:.1f} ms, {row_text(row)}, "
                f"copied from the files {row['copied_files'] * 1e3:.1f} ms"
            )
            print(
                f"    packed weights on disk ({row['packed_bytes'] / 2**20:.0f} MiB, stored in "
                f"{row['stored'] * 1e3:.0f} ms): {row_text(row['found'])}"
            )
    figures["dynamic"] = dynamic = measure_dynamic()
    if options.json:
        print(json.dumps(figures))
        return 0
    print(
        f"open length, {dynamic['sizes']} sizes: {dynamic['compiled']} compiled; the plan of a new one takes "
        f"{median(dynamic['plan_ms']):.1f} ms (at most {max(dynamic['plan_ms']):.1f}); the second call takes "
        f"{median(dynamic['second']):.2f} of the least of five later ones; one between calls of another size "
        f"takes {median(dynamic['static']):.2f} (at most {max(dynamic['static']):.2f}) of a static program's "
        "there"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
