"""Calls of a server that waits between requests: how long a call takes after the process was idle, beside
calls in a row, of this package and of ONNX Runtime.

    python bench/idle_calls_bench.py [--models NAME ...] [--pause SECONDS] [--seconds SECONDS]

After each pause come three calls, of which the third is measured: the first reads from memory what caches
have lost. Each engine has a process of its own; times are medians. Threads sleep in the pause, and help only
where the system wakes them on another core than the caller's. Calls in a row come last: they leave the
threads where they are at their best.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from nine_models import find

MODELS = ["mlp b32", "mobilenet_v3_large", "efficientnet_b0", "resnet50"]


def torchere_call(module: torch.nn.Module, arguments: tuple) -> Callable[[], Any]:
    import torchere

    program = torchere.export(module, arguments)
    return lambda: program(*arguments)


def onnxruntime_call(module: torch.nn.Module, arguments: tuple) -> Callable[[], Any]:
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        torch.onnx.export(module, arguments, f"{folder}/model.onnx", dynamo=True, verbose=False)
        session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    feed = {name: argument.numpy() for name, argument in zip(names, arguments, strict=True)}
    return lambda: session.run(None, feed)


ENGINES = {"Torchère": torchere_call, "ONNX Runtime": onnxruntime_call}


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(call: Callable[[], Any], pause: float, seconds: float) -> str:
    idle, row = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(pause)
        call()
        call()
        idle.append(timed(call))
    end = time.monotonic() + seconds / 4
    while time.monotonic() < end:
        row.append(timed(call))
    return f"{median(idle) * 1e3:.2f} ms after a pause, {median(row) * 1e3:.2f} in a row"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--engine", choices=ENGINES, help="this one alone, in this process")
    parser.add_argument("--pause", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=6.0)
    options = parser.parse_args()
    for name in options.models:
        if options.engine:
            model = find(name)
            call = ENGINES[options.engine](model.build(), model.arguments()[0])
            print(f"{name}: {options.engine} {measure(call, options.pause, options.seconds)}", flush=True)
            continue
        for engine in ENGINES:
            settings = ["--pause", str(options.pause), "--seconds", str(options.seconds)]
            command = [sys.executable, __file__, "--models", name, "--engine", engine, *settings]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            print(lines[-1], flush=True)


if __name__ == "__main__":
    main()
