"""What tracing costs: the time of an op on the lazy device beside eager's, and of a sync of a known graph.

Sixteen elements, so that eager's time is overhead too. The best of many rounds of both, in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from torchere import lazy

OPS = 200  # a round
ROUNDS = 60


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for _ in range(OPS // 2):
        x = torch.add(x, y)
        x = torch.mul(x, y)
    return x


def traced_beside_eager(requires_grad: bool) -> tuple[float, float]:
    """Nanoseconds an op: eager's, and the lazy device's without what is computed."""
    tensors = {}
    for device in ("cpu", "xla"):
        given = torch.full((2, 16), 1.0).to(device)
        tensors[device] = [row.clone().requires_grad_(requires_grad) for row in (given[0], given[1])]
    lazy.sync()
    best = dict.fromkeys(tensors, float("inf"))
    for _ in range(ROUNDS):
        for device, (x, y) in tensors.items():
            start = time.perf_counter()
            result = chain(x, y)
            best[device] = min(best[device], (time.perf_counter() - start) / OPS * 1e9)
            del result
    return best["cpu"], best["xla"]


def sync_overhead(ops: int = 1000) -> float:
    """Milliseconds of a sync of a known graph, of sums of one element each."""
    x, y = torch.ones(1).to("xla"), torch.ones(1).to("xla")
    best = float("inf")
    for _ in range(20):
        z = x
        for _ in range(ops):
            z = torch.add(z, y)
        best = min(best, seconds(lazy.sync))
    return best * 1e3


def main() -> None:
    for requires_grad in (False, True):
        eager, traced = traced_beside_eager(requires_grad)
        kind = "with autograd" if requires_grad else "without autograd"
        print(f"an op {kind}: eager {eager:.0f} ns, traced {traced:.0f} ns, ratio {traced / eager:.2f}")
    print(f"a sync of 1,000 known ops: {sync_overhead():.3f} ms")


if __name__ == "__main__":
    main()
