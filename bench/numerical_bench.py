"""Numerical programs on the CPU engine, beside eager PyTorch and JAX's own CPU platform.

    python bench/numerical_bench.py [NAME ...] [--rounds 5] [--seconds 0.1] [--json]

Spectrograms, Fourier transforms, complex numbers and linear algebra (numerical_torch.py, numerical_jax.py).
Each of PyTorch's programs is exported and run on the engine, each of JAX's runs on its platform torchere_cpu.
Every engine has a process of its own; they take turns, and a ratio is the median of the rounds' ratios.
Milliseconds are medians of all of a call, with what the framework takes. An error is the largest difference
from the same program in f64, as a part of the largest result.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import median
from typing import Any

from models_bench import Failed, Worker

SIDES = {"torch": ("torchere", "eager"), "jax": ("torchere_cpu", "cpu")}
PLATFORMS = {"torchere_cpu": "torchere_cpu,cpu", "cpu": "cpu"}  # what is exact is computed on JAX's own


class Running:
    """What this process calls."""

    call: Any
    wait: Any


def as_arrays(results: Any) -> list[Any]:
    import numpy as np

    leaves = results if isinstance(results, tuple | list) else (results,)
    return [np.asarray(leaf.resolve_conj() if hasattr(leaf, "resolve_conj") else leaf) for leaf in leaves]


def error_of(results: Any, expected: list[Any]) -> float:
    import numpy as np

    worst = 0.0
    for got, exact in zip(as_arrays(results), expected, strict=True):
        scale = float(np.abs(exact).max()) or 1.0
        worst = max(worst, float(np.abs(got.astype(exact.dtype) - exact).max()) / scale)
    return worst


def prepare_torch(name: str, engine: str) -> float:
    import torch
    from numerical_torch import PROGRAMS

    torch.set_num_threads(2)
    function, make = PROGRAMS[name]
    arguments = make()

    class Module(torch.nn.Module):
        def forward(self, *given: torch.Tensor) -> Any:
            return function(*given)

    def widened(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)

    torch.set_default_dtype(torch.float64)
    expected = as_arrays(function(*map(widened, arguments)))
    torch.set_default_dtype(torch.float32)
    call: Any = function
    if engine == "torchere":
        import torchere

        call = torchere.export(Module(), arguments)
    Running.call, Running.wait = (lambda: call(*arguments)), lambda results: results
    with torch.no_grad():
        return error_of(call(*arguments), expected)


def prepare_jax(name: str, engine: str) -> float:
    import jax
    import numpy as np
    from numerical_jax import PROGRAMS

    assert jax.devices()[0].platform == engine
    function, make = PROGRAMS[name]
    arguments = [jax.device_put(argument) for argument in make()]
    call = jax.jit(function)
    Running.call, Running.wait = (lambda: call(*arguments)), jax.block_until_ready
    wide = [np.asarray(a, np.complex128 if np.iscomplexobj(a) else np.float64) for a in arguments]
    with jax.default_device(jax.devices("cpu")[0]):
        expected = as_arrays(jax.jit(function)(*wide))
    return error_of(call(*arguments), expected)


def run(seconds: float) -> float:
    """The median of calls for so long, in milliseconds."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        Running.wait(Running.call())
        times.append((time.perf_counter() - start) * 1e3)
    return median(times)


def start(engine: str) -> Worker:
    platforms = {"JAX_PLATFORMS": PLATFORMS[engine]} if engine in PLATFORMS else {}
    return Worker({"OMP_NUM_THREADS": "2", "TF_CPP_MIN_LOG_LEVEL": "3"} | platforms)


def measure(side: str, name: str, workers: dict[str, Worker], options: argparse.Namespace) -> dict[str, Any]:
    """One program's figures. A worker that fails is replaced."""
    prepare = {"torch": prepare_torch, "jax": prepare_jax}[side]
    errors: dict[str, float] = {}
    times: dict[str, list[float]] = {engine: [] for engine in workers}
    try:
        for engine in workers:
            errors[engine] = workers[engine].ask(prepare, name, engine)
        for number in range(options.rounds + 1):  # the first is left out
            for engine in workers:
                taken = workers[engine].ask(run, options.seconds)
                if number:
                    times[engine].append(taken)
    except Failed as failure:
        workers[engine].__exit__()
        workers[engine] = start(engine)
        return {"side": side, "name": name, "failed": f"{engine}: {failure}"}
    ours, other = SIDES[side]
    ratio = median(b / a for a, b in zip(times[ours], times[other], strict=True))
    figures = {"ours": median(times[ours]), "other": median(times[other]), "ratio": ratio}
    return {"side": side, "name": name, "errors": [errors[ours], errors[other]], **figures}


def names_of(side: str) -> list[str]:
    if side == "torch":
        from numerical_torch import PROGRAMS as torch_programs

        return list(torch_programs)
    from numerical_jax import PROGRAMS as jax_programs

    return list(jax_programs)


def selects(parts: list[str], name: str) -> bool:
    return not parts or any(part in name for part in parts)


def as_line(row: dict[str, Any]) -> str:
    head = f"{row['side']:5} {row['name']:28}"
    if "failed" in row:
        return f"{head} failed: {row['failed'][:300]}"
    errors = " ".join(f"{error:.1e}" for error in row["errors"])
    return f"{head} {row['ours']:9.3f} {row['other']:9.3f} ms, ratio {row['ratio']:5.2f}, errors {errors}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names; all programs if there are none")
    parser.add_argument("--side", choices=list(SIDES), action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each engine in a round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for side in options.side or SIDES:
        names = [name for name in names_of(side) if selects(options.names, name)]
        workers = {engine: start(engine) for engine in SIDES[side]} if names else {}
        for name in names:
            row = measure(side, name, workers, options)
            print(json.dumps(row) if options.json else as_line(row), flush=True)
        for worker in workers.values():
            worker.__exit__()


if __name__ == "__main__":
    main()
