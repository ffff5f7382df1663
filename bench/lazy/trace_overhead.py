"""What tracing costs: the time of an op on the lazy device beside eager's, and of a sync of a known graph.

Sixteen elements, so that eager's time is overhead too. Rounds of both, in turns: the median of their ratios,
and the best time of each.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable

import torch

from torchere import lazy

OPS = 200  # a round
ROUNDS = 60

Step = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
View = Callable[[torch.Tensor], torch.Tensor]

# One op each; what results has the first operand's type.
KINDS: dict[str, Step] = {
    "add": torch.add,
    "mul": torch.mul,
    "add a number": lambda x, _: x + 0.5,
    "tanh": lambda x, _: torch.tanh(x),
    "where": lambda x, y: torch.where(x > y, x, y),
    "in place": lambda x, y: x.add_(y),
}
WITHOUT_AUTOGRAD = {"in place", "where"}
# Of a tensor of four by four, not of each other: their cost would depend on the step.
VIEWS: dict[str, View] = {
    "reshape": lambda x: x.reshape(16),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "t": lambda x: x.t(),
    "expand": lambda x: x.expand(2, 4, 4),
    "select": lambda x: x.select(0, 1),
    "x[1]": lambda x: x[1],
    "x[1:3]": lambda x: x[1:3],
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.squeeze(0),
}


def chain(step: Step, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for _ in range(OPS):
        x = step(x, y)
    return x


def views(view: View, x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    for _ in range(OPS - 1):
        view(x)
    return view(x)


def traced_beside_eager(
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], shape: tuple[int, ...], requires_grad: bool
) -> tuple[float, float, float]:
    """Nanoseconds an op: eager's, the lazy device's without what is computed; and the median ratio."""
    tensors = {}
    for device in ("cpu", "xla"):
        given = torch.full((2, *shape), 1.0).to(device)
        tensors[device] = [row.clone().requires_grad_(requires_grad) for row in (given[0], given[1])]
    lazy.sync()
    times: dict[str, list[float]] = {"cpu": [], "xla": []}
    for _ in range(ROUNDS):
        for device, (x, y) in tensors.items():
            x = x if requires_grad else x.clone()
            start = time.perf_counter()
            result = run(x, y)
            times[device].append((time.perf_counter() - start) / OPS * 1e9)
            del result
        lazy.sync()
    pairs = list(zip(times["cpu"], times["xla"], strict=True))[5:]
    ratio = statistics.median(traced / eager for eager, traced in pairs)
    return min(times["cpu"]), min(times["xla"]), ratio


def sync_overhead(ops: int = 1000) -> tuple[float, float]:
    """Milliseconds of a sync of a known graph, of sums of one element each: until it returns, and until the
    result is there."""
    x, y = torch.ones(1).to("xla"), torch.ones(1).to("xla")
    syncs, ends = [], []
    for _ in range(40):
        z = x
        for _ in range(ops):
            z = torch.add(z, y)
        start = time.perf_counter()
        lazy.sync()
        syncs.append(time.perf_counter() - start)
        lazy.wait()
        ends.append(time.perf_counter() - start)
    return statistics.median(syncs) * 1e3, statistics.median(ends) * 1e3


def main() -> None:
    for requires_grad in (False, True):
        print("with autograd" if requires_grad else "without autograd")
        runs = {
            name: (functools.partial(chain, step), (16,))
            for name, step in KINDS.items()
            if not (requires_grad and name in WITHOUT_AUTOGRAD)
        }
        runs |= {name: (functools.partial(views, view), (4, 4)) for name, view in VIEWS.items()}
        for name, (run, shape) in runs.items():
            eager, traced, ratio = traced_beside_eager(run, shape, requires_grad)
            print(f"  {name:14} eager {eager:6.0f} ns, traced {traced:6.0f} ns, ratio {ratio:.2f}")
    returned, computed = sync_overhead()
    print(f"a sync of 1,000 known ops: {returned:.3f} ms, with their execution {computed:.3f} ms")


if __name__ == "__main__":
    main()
