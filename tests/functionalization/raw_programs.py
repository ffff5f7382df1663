"""Runs what torch.export captured, made functional by the core, on the interpreter; compares with eager."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree

from torchere import _core, plugins
from torchere.capture import capture
from torchere.program import StableHLOProgram


class Function(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def as_module(target: Any) -> torch.nn.Module:
    return target if isinstance(target, torch.nn.Module) else Function(target)


def separate(inputs: Any) -> Any:
    """Copies that keep the strides."""
    return pytree.tree_map_only(torch.Tensor, lambda t: t.clone(memory_format=torch.preserve_format), inputs)


def captured(target: Any, inputs: tuple, **options: Any) -> torch.export.ExportedProgram:
    return torch.export.export(copy.deepcopy(as_module(target)), separate(inputs), **options)


def functional(exported: torch.export.ExportedProgram) -> _core.Program:
    """The captured graph, made functional by the core alone."""
    program = capture(exported, minimums={})
    _core.functionalize(program)
    program.verify()
    return program


def interpreted(exported: torch.export.ExportedProgram) -> StableHLOProgram:
    program = functional(exported)
    lowered = _core.export_program(program)
    made = StableHLOProgram._from_exported(lowered, program, {}, True, None, exported.call_spec.out_spec)
    made._session = _core.Session(plugins.client("interpreter"), made._core_bundle)
    return made


def assert_equal(got: Any, expected: Any, what: str) -> None:
    got, expected = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    assert len(got) == len(expected), what
    for index, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        if not isinstance(theirs, torch.Tensor):
            assert ours == theirs, what
            continue
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, f"{what} {index}: {ours}, {theirs}"
        torch.testing.assert_close(
            ours,
            theirs,
            rtol=1e-6,
            atol=1e-6,
            equal_nan=True,
            msg=lambda text, i=index: f"{what} {i}: {text}",
        )


def check(target: Any, *inputs: Any, calls: int = 2, others: tuple = (), **options: Any) -> None:
    """Results, inputs and state after each call are eager's; `others` are inputs of another size."""
    eager = copy.deepcopy(as_module(target))
    program = interpreted(captured(target, inputs, **options))
    for values in [inputs] * calls + ([others] if others else []):
        ours, theirs = separate(values), separate(values)
        expected, got = eager(*theirs), program(*ours)
        assert_equal(got, expected, "result")
        assert_equal(ours, theirs, "input")
    state = program.state_dict()
    for name, value in eager.state_dict().items():
        assert_equal(state[name], value, f"state {name}")
