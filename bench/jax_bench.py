"""A BERT written in plain JAX, on the CPU engine and on JAX's own CPU platform.

    python bench/jax_bench.py [--rounds 7] [--seconds 0.5] [--json]

Base size, one sequence of 128 tokens, f32: products, softmax, layer norms and gelu as numpy-like code, the
weights as the arguments of the jitted function. Each platform has a process of its own; they take turns, and
a ratio is that of the medians of one round. "error" is the largest difference from JAX's own results over the
largest of these.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from statistics import median
from typing import Any

PLATFORMS = {"Torchère": "torchere_cpu", "JAX": "cpu"}

WORKER = """
import statistics, sys, time
import jax, jax.numpy as jnp, numpy as np

HEADS, WIDTH, LAYERS, TOKENS, VOCABULARY = 12, 768, 12, 128, 30522
random = np.random.default_rng(0)


def weight(*shape):
    return jnp.asarray(random.normal(0, 0.02, shape).astype(np.float32))


def dense(inputs, outputs):
    return {"w": weight(inputs, outputs), "b": weight(outputs)}


def norm():
    return {"scale": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}


def layer():
    names = ("query", "key", "value", "output")
    return {**{name: dense(WIDTH, WIDTH) for name in names}, "norm": norm(),
            "up": dense(WIDTH, 4 * WIDTH), "down": dense(4 * WIDTH, WIDTH), "last": norm()}


def linear(p, x):
    return x @ p["w"] + p["b"]


def normalize(p, x):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-12) * p["scale"] + p["bias"]


def heads(x):
    return x.reshape(*x.shape[:-1], HEADS, -1).swapaxes(-2, -3)


def attend(p, x, mask):
    query, key, value = (heads(linear(p[name], x)) for name in ("query", "key", "value"))
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(WIDTH // HEADS)
    probabilities = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e9), axis=-1)
    return linear(p["output"], (probabilities @ value).swapaxes(-2, -3).reshape(x.shape))


@jax.jit
def bert(p, ids, mask):
    x = normalize(p["norm"], p["words"][ids] + p["places"][: ids.shape[-1]] + p["kinds"][0])
    for each in p["layers"]:
        x = normalize(each["norm"], x + attend(each, x, mask))
        inner = jax.nn.gelu(linear(each["up"], x), approximate=False)
        x = normalize(each["last"], x + linear(each["down"], inner))
    return x, jnp.tanh(linear(p["pooler"], x[:, 0]))


p = {"words": weight(VOCABULARY, WIDTH), "places": weight(512, WIDTH), "kinds": weight(2, WIDTH),
     "norm": norm(), "layers": [layer() for _ in range(LAYERS)], "pooler": dense(WIDTH, WIDTH)}
ids = jnp.asarray(random.integers(0, VOCABULARY, (1, TOKENS)))
mask = jnp.asarray(np.arange(TOKENS)[None] < TOKENS - 8)
call = lambda: jax.block_until_ready(bert(p, ids, mask))
for _ in range(3):
    results = call()
np.savez(sys.argv[1], *map(np.asarray, results))
print(jax.devices()[0].platform, flush=True)
for line in sys.stdin:
    times, end = [], time.perf_counter() + float(line)
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    print(statistics.median(times), flush=True)
"""


def start(platform: str, file: str) -> subprocess.Popen[str]:
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": platform},
    )
    assert worker.stdout is not None
    if worker.stdout.readline().strip() != platform:
        raise RuntimeError(f"JAX did not start on the platform {platform}")
    return worker


def time_call(worker: subprocess.Popen[str], seconds: float) -> float:
    """Milliseconds of a call, the median of those in so many seconds."""
    assert worker.stdin is not None and worker.stdout is not None
    print(seconds, file=worker.stdin, flush=True)
    return float(worker.stdout.readline())


def largest_error(file: str, expected_file: str) -> float:
    import numpy as np

    with np.load(file) as results, np.load(expected_file) as expected:
        return max(
            float(np.abs(results[name] - expected[name]).max() / np.abs(expected[name]).max())
            for name in expected
        )


def measure(rounds: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        files = {name: f"{folder}/{platform}.npz" for name, platform in PLATFORMS.items()}
        workers = {name: start(platform, files[name]) for name, platform in PLATFORMS.items()}
        times: dict[str, list[float]] = {name: [] for name in PLATFORMS}
        for _ in range(rounds):
            for name, worker in workers.items():
                times[name].append(time_call(worker, seconds))
        error = largest_error(files["Torchère"], files["JAX"])
        for worker in workers.values():
            worker.communicate()
    ratios = sorted(peer / ours for ours, peer in zip(times["Torchère"], times["JAX"], strict=True))
    return {"ms": times, "ratios": ratios, "error": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each platform in a round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.rounds, options.seconds)
    if options.json:
        print(json.dumps(figures))
        return
    ratios = figures["ratios"]
    for name, times in figures["ms"].items():
        print(f"{name:<10} {median(times):8.2f} ms a call")
    print(f"ratio {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), error {figures['error']:.1e}")


if __name__ == "__main__":
    main()
