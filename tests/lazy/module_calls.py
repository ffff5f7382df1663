"""torch's ModuleInfo database on the lazy device and on the CPU: results, gradients, buffers afterwards."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from exact_values import differences, widened
from sample_programs import difference
from samples import tensors_of
from torch.testing._internal.common_modules import FunctionInput, ModuleInfo, module_db

from torchere import lazy


def infos() -> dict[str, ModuleInfo]:
    """By "nn.Linear"."""
    return {info.name: info for info in module_db}


def outcomes(info: ModuleInfo, most: int) -> Iterator[dict[str, Any]]:
    """What became of each of at most `most` uses of a module, in training and in evaluation."""
    for training in (True, False):
        torch.manual_seed(0)
        drawn = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
        )
        for use in drawn[:: max(1, -(-len(drawn) // most))]:
            if (found := _outcome(info, use, training)) is None:
                continue
            yield {
                "op": info.name,
                "form": "module, training" if training else "module",
                "dtype": "float32",
                "call": f"{info.name}({use.constructor_input}): {use.desc or use.forward_input}"[:300],
                **found,
            }


def _outcome(info: ModuleInfo, use: Any, training: bool) -> dict[str, Any] | None:
    """None where the CPU refuses the use."""
    made = info.module_cls(*use.constructor_input.args, **use.constructor_input.kwargs).train(training)
    try:
        expected, again = (_run(copy.deepcopy(made), use.forward_input, "cpu") for _ in range(2))
    except RuntimeError:
        return None
    is_random = any(difference(a, b, accumulates=False) for a, b in zip(expected, again, strict=True))
    lazy.reset_counters()
    try:
        results = _run(copy.deepcopy(made).to("xla"), use.forward_input, "xla")
        problem = ""
    except Exception as error:
        results, problem = [], f"raises {type(error).__name__}: {error}"
    counters = lazy.counters()
    if not problem:
        problem = _compared(results, expected, is_random, lambda: _exact(made, use.forward_input))
    return {
        "problem": problem[:400],
        "fallbacks": sorted(name for name in counters if name.startswith("aten::")),
        "reads": counters.get("DeviceToHost", 0),
        "random": is_random,
    }


def _run(module: torch.nn.Module, given: FunctionInput, device: str) -> list[torch.Tensor]:
    """Results, gradients of inputs and parameters, and buffers."""
    leaves: list[torch.Tensor] = []

    def move(tensor: torch.Tensor) -> torch.Tensor:
        moved = tensor.detach().clone().to(device).requires_grad_(tensor.requires_grad)
        leaves.append(moved)
        return moved

    args, kwargs = pytree.tree_map_only(torch.Tensor, move, (given.args, given.kwargs))
    results = tensors_of(module(*args, **kwargs))
    differentiable = [r for r in results if r.requires_grad and r.is_floating_point()]
    if differentiable:
        torch.stack([(result * _weights(result)).sum() for result in differentiable]).sum().backward()
    leaves += module.parameters()
    gradients = [leaf.grad for leaf in leaves if leaf.grad is not None]
    return [tensor.detach() for tensor in (*results, *gradients, *module.buffers())]


def _weights(result: torch.Tensor) -> torch.Tensor:
    """Others for each element, so that the gradients of normalized results do not cancel."""
    count = result.numel()
    return torch.linspace(0.5, 2, max(1, count)).square()[:count].reshape(result.shape).to(result.device)


def _exact(module: torch.nn.Module, given: FunctionInput) -> list[torch.Tensor]:
    """What _run() gives in float64 on the CPU."""
    args, kwargs = widened((given.args, given.kwargs))
    return _run(copy.deepcopy(module).double(), FunctionInput(*args, **kwargs), "cpu")


def _compared(
    results: list[torch.Tensor],
    expected: list[torch.Tensor],
    is_random: bool,
    compute_exact: Callable[[], list[torch.Tensor]],
) -> str:
    if len(results) != len(expected):
        return f"{len(results)} results and gradients, the CPU has {len(expected)}"
    try:
        got = [result.cpu() for result in results]
    except RuntimeError as error:
        return f"fails to compute: {error}"
    if not is_random:
        return differences(got, expected, accumulates=True, compute_exact=compute_exact)
    shapes = [(i, g.shape, e.shape) for i, (g, e) in enumerate(zip(got, expected, strict=True))]
    return "; ".join(f"result {i}: got {g}, expected {e}" for i, g, e in shapes if g != e)
