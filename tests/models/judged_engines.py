"""A program on several engines: the default plugin, the reference interpreter, and again after it was saved.
jaxlib judges its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree

import torchere
from torchere import plugins
from torchere.bundle import VariableType
from torchere.interpreter import interpret


def verified_by_jaxlib(text: str) -> bool:
    """Whether upstream's StableHLO reads the module, which raises on a module that is invalid."""
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.verify()


def interpreted(program: torchere.StableHLOProgram, *inputs: Any) -> list[Any]:
    """The flat results of the program's module on the reference interpreter."""
    bundle = program._bundle
    leaves = pytree.tree_leaves(inputs)

    def argument(location: Any) -> Any:
        if location.type_ is VariableType.PARAMETER:
            return bundle.state_dict[location.name]
        if location.type_ is VariableType.CONSTANT:
            return bundle.additional_constants[location.position]
        leaf = leaves[location.position]
        return leaf.numpy() if isinstance(leaf, torch.Tensor) else leaf

    function = bundle.stablehlo_funcs[0]
    results = interpret(function.text, *map(argument, function.meta.input_locations))
    signature = json.loads(program._core_bundle.signature(function.meta.name))
    return list(results)[:-1] if signature.get("checks") else results  # the last one is the status


def assert_same(got: Any, expected: Any) -> None:
    """Leaf by leaf, floats to a few units in the last place of float32."""
    got, expected = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        one = one if isinstance(one, torch.Tensor) else torch.tensor(one)
        other = torch.as_tensor(other)
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def assert_same_everywhere(
    program: torchere.StableHLOProgram, module: torch.nn.Module, calls: list[tuple], folder: Path
) -> None:
    """The program gives what the module gives: here, on the interpreter, saved and loaded."""
    assert verified_by_jaxlib(program.get_stablehlo_text())
    program.save(folder)
    loaded = torchere.load(folder)
    for inputs in calls:
        with torch.no_grad():
            expected = module(*inputs)
        assert_same(program(*inputs), expected)
        assert_same(loaded(*inputs), expected)
        assert_same(interpreted(program, *inputs), expected)


def assert_plans_all(program: torchere.StableHLOProgram, *args: Any, **kwargs: Any) -> None:
    """On the engine, each op of the program has a kernel: none is left to the interpreter's evaluation."""
    if plugins.client().platform_name != "torchere_cpu":
        return
    rows = program.profile(*args, **kwargs).rows
    assert rows
    assert {row.op for row in rows if row.kernel == "evaluation"} == set()


def tensors_of(outputs: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]


def assert_equal_to_scale(got: Any, expected: Any) -> None:
    """Floats within 1e-4 of each output's largest magnitude, infinities and all others equal. Numbers beyond
    1e30 are masks, not results, and do not count as magnitudes."""
    got, expected = tensors_of(got), tensors_of(expected)
    assert len(got) == len(expected) > 0
    for one, other in zip(got, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        if not (other.is_floating_point() or other.is_complex()):
            assert torch.equal(one, other)
            continue
        measured = other.isfinite() & (other.abs() < 1e30)
        torch.testing.assert_close(one[~measured], other[~measured], equal_nan=True)
        scale = other[measured].abs().max().item() if measured.any() else 0.0
        torch.testing.assert_close(one[measured], other[measured], atol=1e-4 * scale, rtol=0)


def with_random_weights(model: torch.nn.Module) -> torch.nn.Module:
    """Weights that start as zeros, as biases do, would hide what becomes of them."""
    for parameter in model.parameters():
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    return model.eval()
