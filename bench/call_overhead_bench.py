"""What a call of a tiny exported program costs beyond the plugin, in C++ and in Python. Microseconds a call.

"plugin" is a bare C++ loop over the plugin's own functions: input buffers on the caller's memory, execution,
the result's address, and the end of all of them. "execution" leaves the buffers of the inputs out. Best of
many repeats; a figure of the overhead is one best less the other.

    python bench/call_overhead_bench.py [--json] [--repeats N]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

import torchere

CALLS = 2000
ROOT = Path(__file__).resolve().parents[1]


def tiny(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def binary(name: str) -> Path:
    """One of the parts of bench/ in C++."""
    return Path(os.environ.get("TORCHERE_BUILD", ROOT / "build/release")) / "bin" / name


def time_calls(call, repeats: int) -> float:
    """The best of the repeats."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - start) / CALLS * 1e6)
    return best


def measure(repeats: int = 50) -> dict[str, float]:
    """Best microseconds a call: execution, plugin, session (C++), python_session, python, eager."""
    x = torch.randn(3, 16)
    program = torchere.export(tiny, (x,))
    program(x)
    session = program._ready_session()
    times = {}
    with tempfile.TemporaryDirectory() as directory, torch.no_grad():
        program.save(f"{directory}/tiny")
        output = subprocess.check_output(
            [binary("call_overhead"), f"{directory}/tiny", str(repeats), str(CALLS)], text=True
        )
        times = {name: figures["best"] for name, figures in json.loads(output).items()}
        times["python_session"] = time_calls(lambda: session.call(0, [x]), repeats)
        times["python"] = time_calls(lambda: program(x), repeats)
        times["eager"] = time_calls(lambda: tiny(x), repeats)
    return times


def overheads(times: dict[str, float]) -> dict[str, float]:
    """What calls cost beyond the plugin."""
    return {"C++": times["session"] - times["plugin"], "Python": times["python"] - times["plugin"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="write one JSON document")
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    times = measure(options.repeats)
    if options.json:
        json.dump({"microseconds": times, "overhead": overheads(times)}, sys.stdout, indent=2)
        print()
        return
    print("x * 2 + 1 of [3, 16], us a call (best)")
    for name, value in times.items():
        print(f"  {name:<16}{value:8.2f}")
    print("beyond the plugin")
    for name, value in overheads(times).items():
        print(f"  {name:<16}{value:8.2f}")


if __name__ == "__main__":
    main()
