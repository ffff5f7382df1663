"""Programs that are no inference, in plain JAX, on the CPU engine and on JAX's own CPU platform.

    python bench/jax_programs_bench.py [--only REGEX] [--rounds 5] [--seconds 0.05] [--json]

Losses, statistics, reductions over any axes, random numbers, counts, scans, stencils and training steps. Each
platform has a process of its own; they take turns, and a ratio is that of the medians of one round. "error"
is the largest difference from JAX's own results over the largest of these.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

PLATFORMS = {"Torchère": "torchere_cpu", "JAX": "cpu"}

#: By name: a function of JAX, and its arguments.
Programs = dict[str, tuple[Callable[..., Any], list[Any]]]

random = np.random.default_rng(0)
KEY = np.uint32([0, 7])


def normal(*shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def below(limit: int, *shape: int) -> np.ndarray:
    return random.integers(0, limit, shape).astype(np.int32)


def add_losses(programs: Programs) -> None:
    import jax
    from jax import numpy as jnp

    def picked(logits: Any, labels: Any) -> Any:
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    def one_hot(logits: Any, labels: Any) -> Any:
        return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 1000) * jax.nn.log_softmax(logits), -1))

    def smooth_l1(a: Any, b: Any) -> Any:
        difference = jnp.abs(a - b)
        return jnp.mean(jnp.where(difference < 1, 0.5 * difference**2, difference - 0.5))

    def divergence(a: Any, b: Any) -> Any:
        return jnp.mean(jnp.sum(jax.nn.softmax(a) * (jax.nn.log_softmax(a) - jax.nn.log_softmax(b)), -1))

    def binary(logits: Any, labels: Any) -> Any:
        return jnp.mean(jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits))))

    def squared_error(a: Any, b: Any) -> Any:
        return jnp.mean((a - b) ** 2)

    def cosine(a: Any, b: Any) -> Any:
        return (a * b).sum(-1) / (jnp.linalg.norm(a, axis=-1) * jnp.linalg.norm(b, axis=-1))

    a, b, logits, labels = normal(512, 1024), normal(512, 1024), normal(256, 1000), below(1000, 256)
    programs["squared error 512x1024"] = squared_error, [a, b]
    programs["squared error 512x1024, bf16"] = (
        lambda a, b: squared_error(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16)),
        [a, b],
    )
    programs["smooth L1 512x1024"] = smooth_l1, [a, b]
    programs["binary cross entropy 512x1024"] = binary, [a, (b > 0).astype(np.float32)]
    programs["cross entropy 256x1000"] = picked, [logits, labels]
    programs["cross entropy by one-hot rows 256x1000"] = one_hot, [logits, labels]
    programs["gradient of cross entropy 256x1000"] = jax.grad(picked), [logits, labels]
    programs["Kullback-Leibler 256x1000"] = divergence, [logits, normal(256, 1000)]
    programs["cosine similarity 512x1024"] = cosine, [a, b]


def add_reductions(programs: Programs) -> None:
    import jax
    from jax import numpy as jnp

    a, flat, planes = normal(512, 1024), normal(1 << 20), normal(32, 64, 784)
    points, others = normal(1024, 3), normal(1024, 3)

    def standardized(a: Any) -> Any:
        return (a - a.mean(0)) / (a.std(0) + 1e-6)

    def batch_norm(x: Any, scale: Any, shift: Any) -> Any:
        mean = x.mean((0, 2), keepdims=True)
        variance = ((x - mean) ** 2).mean((0, 2), keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale[:, None] + shift[:, None]

    programs.update(
        {
            "pairs' distances 256x256x64": (
                lambda a, b: ((a[:, None] - b[None]) ** 2).sum(-1),
                [normal(256, 64), normal(256, 64)],
            ),
            "kernel sums 1024x1024x3": (
                lambda a, b: jnp.exp(-((a[:, None] - b[None]) ** 2).sum(-1)).sum(-1),
                [points, others],
            ),
            "logsumexp of 1M": (jax.nn.logsumexp, [flat]),
            "logsumexp 128x8192": (lambda a: jax.nn.logsumexp(a, -1), [normal(128, 8192)]),
            "mean and variance over rows 512x1024": (lambda a: (a.mean(0), a.var(0)), [a]),
            "mean, least, largest, deviation": (lambda a: (a.mean(), a.min(), a.max(), a.std()), [a]),
            "batch norm, training 32x64x784": (batch_norm, [planes, normal(64), normal(64)]),
            "softmax over rows 512x1024": (lambda a: jax.nn.softmax(a, 0), [a]),
            "softmax over the middle 32x64x784": (lambda a: jax.nn.softmax(a, 1), [planes]),
            "unit vectors, the middle 32x64x784": (
                lambda a: a / (jnp.linalg.norm(a, axis=1, keepdims=True) + 1e-6),
                [planes],
            ),
            "norm of 1M": (lambda a: jnp.sqrt(jnp.sum(a * a)), [flat]),
            "largest magnitude of 1M": (lambda a: jnp.max(jnp.abs(a)), [flat]),
            "how many are positive of 1M": (lambda a: jnp.sum(a > 0), [flat]),
            "squares over rows 4096x256": (lambda a: (a * a).sum(0), [normal(4096, 256)]),
            "squares along rows 4096x256": (lambda a: (a * a).sum(1), [normal(4096, 256)]),
            "squares, first and last 64x128x64": (lambda a: (a * a).sum((0, 2)), [normal(64, 128, 64)]),
            "integer products over rows 512x1024": (
                lambda a, b: (a * b).sum(0),
                [below(1000, 512, 1024), below(1000, 512, 1024)],
            ),
            "centered rows 512x1024": (lambda a: a - a.mean(0), [a]),
            "standardized columns 4096x64": (standardized, [normal(4096, 64)]),
            "total variation 3x512x512": (
                lambda x: jnp.abs(jnp.diff(x, axis=1)).sum() + jnp.abs(jnp.diff(x, axis=2)).sum(),
                [normal(3, 512, 512)],
            ),
        }
    )


def add_random_numbers(programs: Programs) -> None:
    import jax
    from jax import numpy as jnp

    def dropout(key: Any, x: Any) -> Any:
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)

    def quarter_circle(key: Any) -> Any:
        points = jax.random.uniform(key, (2, 1 << 19))
        return 4 * jnp.mean((points * points).sum(0) < 1)

    programs["uniform 1M"] = lambda key: jax.random.uniform(key, (1 << 20,)), [KEY]
    programs["normal 256x1024"] = lambda key: jax.random.normal(key, (256, 1024)), [KEY]
    programs["dropout 256x1024"] = dropout, [KEY, normal(256, 1024)]
    programs["pi by 0.5M points"] = quarter_circle, [KEY]
    programs["categorical 256x1000"] = jax.random.categorical, [KEY, normal(256, 1000)]
    programs["permutation of 10,000"] = lambda key: jax.random.permutation(key, 10000), [KEY]


def add_counts_and_scans(programs: Programs) -> None:
    import jax
    from jax import lax
    from jax import numpy as jnp

    def recurrence(decays: Any, inputs: Any) -> Any:
        return lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (decays, inputs))[1]

    def rolled(u: Any, v: Any) -> Any:
        def step(_: int, state: Any) -> Any:
            u, v = state
            v = v + 0.1 * (sum(jnp.roll(u, d, axis) for d in (1, -1) for axis in (0, 1)) - 4 * u)
            return u + 0.1 * v, v

        return lax.fori_loop(0, 20, step, (u, v))

    def sliced(u: Any) -> Any:
        def step(_: int, u: Any) -> Any:
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            return u.at[1:-1, 1:-1].add(0.1 * (around - 4 * u[1:-1, 1:-1]))

        return lax.fori_loop(0, 20, step, u)

    programs["counts of 100,000 in 256"] = (
        lambda x: jnp.bincount(x, length=256),
        [below(256, 100000)],
    )
    programs["histogram of 50,000 in 64"] = (
        lambda x: jnp.histogram(x, 64, (-4.0, 4.0))[0],
        [normal(50000)],
    )
    programs["sums of 1,000 segments of 100,000"] = (
        lambda x, at: jax.ops.segment_sum(x, at, 1000),
        [normal(100000), below(1000, 100000)],
    )
    programs["counts by one-hot rows 4096x128"] = (
        lambda x: jax.nn.one_hot(x, 128).sum(0),
        [below(128, 4096)],
    )
    programs["linear recurrence 4096x64"] = (
        recurrence,
        [1 - 0.1 * np.abs(normal(4096, 64)), normal(4096, 64)],
    )
    programs["cumulative sum 512x1024"] = lambda a: jnp.cumsum(a, 1), [normal(512, 1024)]
    programs["wave by rolls 256x256, 20 steps"] = rolled, [normal(256, 256), normal(256, 256)]
    programs["heat by slices 256x256, 20 steps"] = sliced, [normal(256, 256)]


def add_training(programs: Programs) -> None:
    import jax
    from jax import numpy as jnp

    def embedding(table: Any, ids: Any, target: Any) -> Any:
        return table - 0.1 * jax.grad(lambda t: jnp.mean((t[ids].mean(1) - target) ** 2))(table)

    def perceptron(x: Any, labels: Any, *weights: Any) -> Any:
        def loss(weights: Any) -> Any:
            w, b, v, c = weights
            logits = jax.nn.relu(x @ w + b) @ v + c
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

        return [weight - 0.1 * step for weight, step in zip(weights, jax.grad(loss)(weights), strict=True)]

    def norm_loss(x: Any, scale: Any, shift: Any, factors: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (((x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift) * factors).sum()

    def adam(w: Any, gradient: Any, m: Any, v: Any) -> Any:
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient * gradient
        return w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v

    def clipped(*gradients: Any) -> Any:
        norm = jnp.sqrt(sum((each * each).sum() for each in gradients))
        return [each / jnp.maximum(1, norm) for each in gradients]

    def nearest(x: Any, centers: Any) -> Any:
        places = jnp.argmin(((x[:, None] - centers[None]) ** 2).sum(-1), 1)
        members = jax.nn.one_hot(places, 16)
        return (members.T @ x) / jnp.maximum(members.sum(0), 1)[:, None]

    programs["embedding's step 10000x64"] = (
        embedding,
        [normal(10000, 64), below(10000, 128, 16), normal(128, 64)],
    )
    programs["embedding's gradient 1000x32"] = (
        lambda ids, rows: jnp.zeros((1000, 32)).at[ids].add(rows),
        [below(1000, 8192), normal(8192, 32)],
    )
    programs["perceptron's step 128x784"] = (
        perceptron,
        [normal(128, 784), below(10, 128), 0.03 * normal(784, 128), normal(128), normal(128, 10), normal(10)],
    )
    programs["layer norm's gradients 512x768"] = (
        jax.grad(norm_loss, (0, 1, 2)),
        [normal(512, 768), normal(768), normal(768), normal(512, 768)],
    )
    programs["Adam 1M"] = adam, [normal(1 << 20) for _ in range(3)] + [np.abs(normal(1 << 20))]
    programs["clipping by the norm of all"] = clipped, [normal(512, 512), normal(512, 512), normal(512)]
    programs["k-means step 4096x8"] = nearest, [normal(4096, 8), normal(16, 8)]


def all_programs() -> Programs:
    """The same in every process."""
    programs: Programs = {}
    for add in (add_losses, add_reductions, add_random_numbers, add_counts_and_scans, add_training):
        add(programs)
    return programs


def serve(folder: str) -> None:
    """Answers the names of programs and seconds on standard input with milliseconds of a call."""
    import jax

    programs, compiled = all_programs(), {}
    print(jax.devices()[0].platform, flush=True)
    for line in sys.stdin:
        name, seconds = json.loads(line)
        if name not in compiled:
            function, arguments = programs[name]
            compiled[name] = jax.jit(function), [jax.numpy.asarray(each) for each in arguments]
            results = jax.tree.leaves(compiled[name][0](*compiled[name][1]))
            numbers = [np.asarray(each, np.float64) for each in results]
            np.savez(f"{folder}/{list(programs).index(name)}.npz", *numbers)
        function, arguments = compiled[name]
        times: list[float] = []
        end = time.perf_counter() + seconds
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            jax.block_until_ready(function(*arguments))
            times.append((time.perf_counter() - start) * 1e3)
        print(statistics.median(times), flush=True)


class Worker:
    def __init__(self, platform: str, folder: str) -> None:
        os.mkdir(folder)
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": platform},
        )
        if self.answer() != platform:
            raise RuntimeError(f"JAX did not start on the platform {platform}")

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError("a process ended: see its error above")
        return line

    def time_call(self, name: str, seconds: float) -> float:
        assert self.process.stdin is not None
        print(json.dumps([name, seconds]), file=self.process.stdin, flush=True)
        return float(self.answer())


def largest_error(file: str, expected_file: str) -> float:
    with np.load(file) as results, np.load(expected_file) as expected:
        return max(
            float(np.abs(results[name] - expected[name]).max())
            / max(float(np.abs(expected[name]).max()), 1e-30)
            for name in expected
        )


def measure(names: list[str], rounds: int, seconds: float, show: Callable[[dict[str, Any]], None]) -> None:
    places = {name: place for place, name in enumerate(all_programs())}
    with tempfile.TemporaryDirectory() as folder:
        workers = {name: Worker(platform, f"{folder}/{platform}") for name, platform in PLATFORMS.items()}
        for name in names:
            times: dict[str, list[float]] = {platform: [] for platform in PLATFORMS}
            for number in range(rounds + 1):
                for platform, worker in workers.items():
                    taken = worker.time_call(name, seconds if number else 0)
                    if number:  # the first compiles
                        times[platform].append(taken)
            ratios = sorted(peer / ours for ours, peer in zip(*times.values(), strict=True))
            files = [f"{folder}/{platform}/{places[name]}.npz" for platform in PLATFORMS.values()]
            show({"name": name, "ms": times, "ratios": ratios, "error": largest_error(*files)})
        for worker in workers.values():
            worker.process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="of the programs' names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each platform in a round")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    figures: list[dict[str, Any]] = []

    def show(figure: dict[str, Any]) -> None:
        figures.append(figure)
        if options.json:
            return
        ours, peer = (statistics.median(times) for times in figure["ms"].values())
        ratios = figure["ratios"]
        middle = f"{statistics.median(ratios):5.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"{figure['name']:<40} {ours:8.3f} {peer:8.3f} ms, ratio {middle}, error {figure['error']:.1e}")

    names = [name for name in all_programs() if re.search(options.only, name)]
    measure(names, options.rounds, options.seconds, show)
    if options.json:
        print(json.dumps(figures))
    elif figures:
        ratios = [statistics.median(figure["ratios"]) for figure in figures]
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f} of {len(ratios)}")


if __name__ == "__main__":
    main()
