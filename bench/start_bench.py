"""How long a process takes from a saved ResNet-50 to its first result: a first one, which compiles, and a
second, which finds the executable in the compile cache. Milliseconds, the best of the repeats; of the last
column also the median.

"plugin" is the load of the plugin's library and its client, which every process pays; "first call" is the
session's creation and its first result; "call" is a later one. What a process pays beyond the plugin's own
load is the load of the program and the first call, less a later call.

"bare" is how much of the second process's start is work of the plugin that no client can leave out: a bare
C++ loop over the plugin's functions, with the same executable and weights, loads the executable and executes
it. (The engine plans the program again and packs its weights; XLA's CPU plugin, PJRT_DEVICE=cpu, links the
executable's code, and builds what runs its convolutions in the first call.)

    python bench/start_bench.py [--json] [--repeats N] [--model NAME]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import torchvision_schemas  # noqa: F401  before torchvision

# isort: split
import torchvision
from call_overhead_bench import binary

import torchere

START = """
import json, sys, time
import torch, torchere
from torchere import plugins
clock = time.perf_counter
x = torch.zeros(1, 3, 224, 224)
time.sleep(0.1)  # torch's threads spin for a while after their work, which was not the start's
start = clock()
program = torchere.load(sys.argv[1])
loaded = clock()
client = plugins.client()
ready = clock()
program(x)
first = clock()
calls = []
for _ in range(5):
    last = clock()
    program(x)
    calls.append(clock() - last)
times = {"load": loaded - start, "plugin": ready - loaded, "first call": first - ready, "call": min(calls)}
print(json.dumps(times | {"compiled": client.compile_counts["compiled"]}))
"""


def start(directory: str, cache: str) -> dict[str, float]:
    """The milliseconds of one process, and how many programs it compiled."""
    variables = os.environ | {"TORCHERE_CACHE": "1", "TORCHERE_CACHE_DIR": cache}
    figures = json.loads(subprocess.check_output([sys.executable, "-c", START, directory], env=variables))
    return {name: value if name == "compiled" else value * 1e3 for name, value in figures.items()}


def start_bare(directory: str, cache: str) -> dict[str, float]:
    """The same of a process that does nothing but what the plugin needs."""
    (entry,) = Path(cache).glob("*.executable")
    variables = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "1"}
    figures = json.loads(
        subprocess.check_output([binary("start_overhead"), directory, str(entry)], env=variables)
    )
    figures["first call"] += figures["executable"] + figures["buffers"]
    return {"load": 0.0} | figures


def beyond_the_plugin(figures: dict[str, float]) -> float:
    """Milliseconds that the start takes beyond the plugin's load and the work of one call."""
    return figures["load"] + figures["first call"] - figures["call"]


def measure(model: str = "resnet50", repeats: int = 5) -> dict[str, dict[str, float]]:
    module = torchvision.models.get_model(model).eval()
    with tempfile.TemporaryDirectory() as directory:
        saved = f"{directory}/{model}"
        torchere.export(module, (torch.zeros(1, 3, 224, 224),)).save(saved)
        cold = [start(saved, f"{directory}/cache{i}") for i in range(max(repeats // 2, 1))]
        warm, bare = [], []
        for _ in range(repeats):  # in turns, so that a busy machine slows both alike
            warm.append(start(saved, f"{directory}/cache0"))
            bare.append(start_bare(saved, f"{directory}/cache0"))
    assert all(run["compiled"] == 1 for run in cold) and all(run["compiled"] == 0 for run in warm)
    return {name: best(runs) for name, runs in {"cold": cold, "warm": warm, "bare": bare}.items()}


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    """Each figure's best, not those of one run: a run whose later call happened to be slow looks good."""
    figures = {name: min(run[name] for run in runs) for name in runs[0]}
    figures["beyond the plugin"] = beyond_the_plugin(figures)
    figures["median"] = median(map(beyond_the_plugin, runs))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="write one JSON document")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--model", default="resnet50", help="of torchvision [resnet50]")
    options = parser.parse_args()
    figures = measure(options.model, options.repeats)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        print()
        return
    columns = ["load", "plugin", "first call", "call", "beyond the plugin", "median"]
    print(f"{options.model + ', ms':<16}" + "".join(f"{column:>19}" for column in columns))
    for name, run in figures.items():
        print(f"  {name:<14}" + "".join(f"{run[column]:19.1f}" for column in columns))


if __name__ == "__main__":
    main()
