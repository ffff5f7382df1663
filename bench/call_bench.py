"""Overhead of calling a small program: torch's tensors in, torch's tensors out. Best and median of 20.

Eager torch is printed beside it for scale. "session" is the call without the walk over the arguments' tree.
"""

import statistics
import time
from collections.abc import Callable

import torch

import torchere

REPEATS = 20
CALLS = 1000


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def time_calls(call: Callable[[], object]) -> list[float]:
    """Microseconds a call, for each of the repeats."""
    times = []
    for _ in range(REPEATS + 1):  # the first warms up
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    return times[1:]


def measure() -> dict[str, list[float]]:
    """Microseconds a call of a two-layer perceptron (16, 32, 4; batch 3)."""
    module, x = Mlp().eval(), torch.randn(3, 16)
    program = torchere.export(module, (x,))
    program(x)
    session = program._ready_session()
    with torch.no_grad():
        return {
            "eager": time_calls(lambda: module(x)),
            "session": time_calls(lambda: session.call(0, [x])),
            "program": time_calls(lambda: program(x)),
        }


def main() -> None:
    print("small MLP, us a call    best   median")
    for name, times in measure().items():
        print(f"{name:<20} {min(times):7.1f}  {statistics.median(times):7.1f}")


if __name__ == "__main__":
    main()
