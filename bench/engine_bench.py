"""The CPU engine beyond the time of a call (bench/models_bench.py): of each saved model the time to plan it,
a second process's start, the memory that it takes, and programs with open sizes.

    python bench/engine_bench.py [--further] [--models NAME ...] [--dynamic-only] [--json]

Each process has the engine alone. "plan" is what the plugin takes from the module to its plan, on the own
clock of its thread, as its log has it. "first result" is the time from the load of the program to its first
result in a process that finds the executable in the cache, "warm" a later call in it. Of the first result,
"imported" are the modules of the package that the load needs, compiled as an installer leaves them; "opened"
is the load of the program, and "plan" the reading of its plan, with which the first call begins; "packed" is
what the weights of a weight program take to be computed and packed; "rest" is what is none of these and no
warm call: the client, memory that is first written, threads that start, what steps pack by themselves.
"copied" is a copy of as many bytes as the weights have, by as many threads, to
new memory: from memory that no cache holds, in the same process afterwards. "anonymous" is what the process's
memory beyond files grew by, from before the client to after the calls. Of open sizes: the time of planning a
new one, and a second call of each of fifty beside a program that was exported for that size.
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

SAVE = """
import sys
import torch, torchere
from nine_models import find
model = find(sys.argv[1])
torchere.export(model.build(), model.arguments()[0]).save(sys.argv[2])
torch.save(model.arguments()[0], sys.argv[2] + "/arguments.pt")
"""

START = """
import json, os, sys, threading, time
import numpy, torch, torchere
from memory_bench import status
clock = time.perf_counter
arguments = torch.load(sys.argv[1] + "/arguments.pt")
torchere.plugins.find("torchere_cpu")
before, start = status("RssAnon"), clock()
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
anonymous = status("RssAnon") - before

def copy(source, workers):
    start, target = clock(), numpy.empty_like(source)
    pairs = zip(numpy.array_split(target, workers), numpy.array_split(source, workers))
    threads = [threading.Thread(target=numpy.copyto, args=pair) for pair in pairs]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return clock() - start

weights = sum(entry.stat().st_size for entry in os.scandir(sys.argv[1] + "/data"))
source = numpy.ones(weights, numpy.uint8)
copied = min(copy(source, len(os.sched_getaffinity(0))) for _ in range(3))
counts = torchere.plugins.client().compile_counts
print(json.dumps({"imported": imported, "opened": opened, "first": first, "warm": min(calls),
                  "copied": copied, "weights": weights, "anonymous": anonymous, **counts}))
"""

# An encoder with an open length, as BERT is one: each length's first call plans.
DYNAMIC = """
import json, sys, time
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
second, later, fixed = {}, {}, {}
for length in lengths:  # the second use packs what is packed then
    second[length] = call(program, ids[length])
    later[length] = min(call(program, ids[length]) for _ in range(5))
ratios = []
for length in lengths[::10]:
    static = torchere.export(model, (ids[length],))
    static(ids[length]), static(ids[length])
    pairs = [(call(program, ids[length]), call(static, ids[length])) for _ in range(20)]  # in turns
    fixed[length] = min(pair[1] for pair in pairs)
    ratios.append(min(pair[0] for pair in pairs) / fixed[length])
print(json.dumps({
    "compiled": torchere.plugins.client().compile_counts["compiled"] - len(fixed),
    "sizes": len(lengths),
    "second": [second[length] / later[length] for length in lengths],
    "static": ratios,
}))
"""


def ask(source: str, *arguments: Any, cache: str | None = None) -> tuple[str, str]:
    """What a process prints that has the engine alone, and its log. Executables are kept in the folder
    `cache`, if there is one."""
    environment = {
        **os.environ,
        "PJRT_DEVICE": "torchere_cpu",
        "TORCHERE_CACHE": "1G" if cache else "0",
        "TORCHERE_CACHE_DIR": cache or "",
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


def measure(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        saved, cache = f"{folder}/saved", f"{folder}/cache"
        ask(SAVE, name, saved)
        _, log = ask(START, saved, cache=cache)
        plan = times("planned", log)[0]
        figures, log = ask(START, saved, cache=cache)
        second = json.loads(figures)
        if second["loaded"] != 1:
            raise RuntimeError(f"{name}: the executable was not found in the cache: {second}")
        second["loaded_plan"] = sum(times("bytes of a plan", log)) / 1e3
        second["packed"] = sum(times("computed and packed weights", log)) / 1e3
        parts = ("imported", "opened", "loaded_plan", "packed", "warm")
        second["rest"] = second["first"] - sum(second[part] for part in parts)
        return {"plan_ms": plan, **second}


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
    parser.add_argument("--dynamic-only", action="store_true", help="only the program with open sizes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    for name in [] if options.dynamic_only else choose(options):
        figures[name] = measure(name)
        if not options.json:
            row = figures[name]
            print(
                f"{name:36} plan {row['plan_ms']:6.1f} ms, first result {row['first'] * 1e3:7.1f} ms "
                f"(imported {row['imported'] * 1e3:.1f}, opened {row['opened'] * 1e3:.1f}, "
                f"plan {row['loaded_plan'] * 1e3:.1f}, packed {row['packed'] * 1e3:.1f}, "
                f"rest {row['rest'] * 1e3:.1f}), "
                f"warm {row['warm'] * 1e3:7.2f} ms, copied {row['copied'] * 1e3:.1f} ms, "
                f"anonymous {row['anonymous'] / 2**20:7.1f} MiB"
            )
    figures["dynamic"] = dynamic = measure_dynamic()
    if options.json:
        print(json.dumps(figures))
        return 0
    print(
        f"open length, {dynamic['sizes']} sizes: {dynamic['compiled']} compiled; the plan of a new one takes "
        f"{median(dynamic['plan_ms']):.1f} ms (at most {max(dynamic['plan_ms']):.1f}); the second call takes "
        f"{median(dynamic['second']):.2f} of a later one, which takes {median(dynamic['static']):.2f} of a "
        "static program's"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
