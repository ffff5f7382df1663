"""Random PyTorch programs give on the engine what they give in eager mode, exported for their sizes and for
an open one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pytest
import torch
from random_modules import RandomModule
from torch import Tensor
from torch.export import Dim

import torchere
from torchere.errors import InvalidArgumentError

#: How much an error may be, in errors of eager mode in float32, and in parts of the largest element.
EAGER, SCALE = 30, 3e-5
#: Of results that are nearly 0 all over: a norm of equal elements divides what is left of their difference.
LEAST = 3e-4


def expected_of(module: RandomModule, inputs: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]] | None:
    """Eager results, in float32 and in float64; nothing where the two differ, by overflow or a step that
    rounding crosses, as a comparison is."""
    with torch.no_grad():
        results = module(*inputs)
        module.double()
        exact = module(*(value.double() for value in inputs))
        module.float()
    for got, right in zip(results, exact, strict=True):
        if not right.isfinite().all() or (got - right).abs().max() > 1e-3 * max(1.0, right.abs().max()):
            return None
    return results, exact


def differences(got: Sequence[Tensor], expected: tuple[list[Tensor], list[Tensor]], told: str) -> list[str]:
    found = []
    for i, (result, eager, exact) in enumerate(zip(got, *expected, strict=True)):
        if result.shape != eager.shape or result.dtype != eager.dtype:
            found.append(f"{told}, result {i}: got {list(result.shape)}, expected {list(eager.shape)}")
            continue
        error, own = (float((value - exact).abs().max()) for value in (result, eager))
        if not error <= max(EAGER * own, SCALE * float(exact.abs().max()), LEAST):
            found.append(f"{told}, result {i}: off by {error:.3g}, eager mode by {own:.3g}")
    return found


def check(seeds: range) -> None:
    wrong, compared = [], 0
    for seed in seeds:
        module = RandomModule(seed).eval()
        if expected := expected_of(module, module.example):
            got = torchere.export(module, tuple(module.example))(*module.example)
            wrong += differences(got, expected, f"seed {seed}")
            compared += 1
    assert not wrong, "\n".join(wrong)
    assert compared > 0.9 * len(seeds)


def check_open_size(seeds: range) -> None:
    """One dimension of the first input is open; some programs fix it, and some sizes fit no program."""
    wrong, compared = [], 0
    for seed in seeds:
        module = RandomModule(seed, steps=8).eval()
        first, *others = module.example
        axis = seed % first.dim()
        open_dims = ({axis: Dim.AUTO}, *({} for _ in others))
        program = torchere.export(module, (first, *others), dynamic_shapes={"inputs": open_dims})
        for size in (first.shape[axis], 2 * first.shape[axis] + 3, first.shape[axis]):
            shape = list(first.shape)
            shape[axis] = size
            inputs = [torch.randn(shape, generator=torch.Generator().manual_seed(size)), *others]
            expected = None
            with contextlib.suppress(RuntimeError, IndexError):
                expected = expected_of(module, inputs)
            if expected is None:
                continue
            try:
                got = program(*inputs)
            except InvalidArgumentError as error:  # the program fixes the size
                assert "wrong size of dimension" in str(error)
                continue
            wrong += differences(got, expected, f"seed {seed}, size {size}")
            compared += 1
    assert not wrong, "\n".join(wrong)
    assert compared > len(seeds)


def test_some_agree():
    check(range(40))


def test_some_of_open_size_agree():
    check_open_size(range(20))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_many_agree(part):
    check(range(1000 + 200 * part, 1200 + 200 * part))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_many_of_open_size_agree(part):
    check_open_size(range(1000 + 100 * part, 1100 + 100 * part))
