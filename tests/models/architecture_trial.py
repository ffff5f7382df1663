"""How far an architecture comes: captured by torch, lowered, verified by jaxlib, equal to eager."""

from __future__ import annotations

import copy
import dataclasses
import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from architecture import Architecture
from judged_engines import (
    assert_equal_to_scale,
    assert_plans_all,
    tensors_of,
    verified_by_jaxlib,
    with_random_weights,
)

import torchere
from torchere import _core, plugins
from torchere.exporting import capture_with_torch

# In order. A row that is not captured is torch's to mend, all others are ours.
STEPS = ("made", "captured", "lowered", "verified", "equal")


@dataclasses.dataclass
class Trial:
    """The last step that an architecture came to, and what the next one raised."""

    step: str = STEPS[0]
    error: Exception | None = None


def try_architecture(row: Architecture, on_interpreter: bool = False) -> Trial:
    """`on_interpreter`: XLA's plugin must refuse the call, and the interpreter's runs it. The engine runs
    all."""
    trial = Trial()
    torch.manual_seed(0)
    model = with_random_weights(row.make())
    reference = copy.deepcopy(model)  # programs hold weights by reference, and models write to their buffers
    # The calls draw other inputs than the export.
    inputs = [split(row.inputs()) for _ in range(2)]
    steps: dict[str, Callable[[], None]] = _steps(row, model, reference, inputs, on_interpreter)
    try:
        for name, step in steps.items():
            step()
            trial.step = name
    except Exception as error:  # whatever torch, the lowering or the plugin raises
        trial.error = error
    torch._dynamo.reset()
    gc.collect()
    return trial


def split(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (inputs, {}) if isinstance(inputs, tuple) else ((), inputs)


def refuse_sizes_from_data(
    program: torchere.StableHLOProgram, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The plugin must refuse the call; from then on the interpreter's runs the program."""
    with pytest.raises(torchere.errors.UnimplementedError, match="a size depends on the data"):
        program(*args, **kwargs)
    program._session = _core.Session(plugins.client("interpreter"), program._core_bundle)


def _steps(
    row: Architecture,
    model: torch.nn.Module,
    reference: torch.nn.Module,
    inputs: list[Any],
    on_interpreter: bool,
) -> dict[str, Callable[[], None]]:
    made: dict[str, Any] = {}

    def captured() -> None:
        args, kwargs = inputs[0]
        shapes = row.dynamic_shapes() if row.dynamic_shapes else None
        made["exported"] = capture_with_torch(model, args, kwargs, shapes, row.strict)

    def lowered() -> None:
        made["program"] = torchere.export(made["exported"])

    def verified() -> None:
        assert verified_by_jaxlib(made["program"].get_stablehlo_text())

    def equal() -> None:
        args, kwargs = copy.deepcopy(inputs[1])  # eager caches grow in place
        with torch.no_grad():
            expected = reference(*args, **kwargs)
        args, kwargs = inputs[1]
        if on_interpreter and plugins.client().platform_name == "cpu":
            refuse_sizes_from_data(made["program"], args, kwargs)
        got = made["program"](*args, **kwargs)
        assert any(t.is_floating_point() and t.any() for t in tensors_of(expected))
        assert_equal_to_scale(got, expected)
        if not on_interpreter:
            assert_plans_all(made["program"], *args, **kwargs)

    return {step.__name__: step for step in (captured, lowered, verified, equal)}
