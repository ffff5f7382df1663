"""torch.cond, torch.while_loop, scan and map: graphs in graphs that take values from around them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from judged_engines import assert_same_everywhere
from torch import nn
from torch._higher_order_ops import map as map_over
from torch._higher_order_ops import scan
from torch.export import Dim

import torchere
from torchere.capture import capture
from torchere.errors import CaptureError, UnimplementedError

BATCH = {0: Dim("batch", max=64)}


def rows(count: int, start: float = -2.0) -> torch.Tensor:
    return torch.arange(count * 4.0).reshape(count, 4) / 3 + start


class Branch(nn.Module):
    """Closures over weights, a buffer and a value of the graph; two results, one of them bool."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", torch.linspace(1, 2, 4))

    def forward(self, x):
        y = x.cumsum(0)

        def on_true(x):
            return self.linear(x) + y, x > 0

        def on_false(x):
            return (x * self.scale).cumsum(0), y < 0

        return torch.cond(x.sum() > 0, on_true, on_false, (x,))


class BranchBySize(nn.Module):
    """Predicates over sizes."""

    def forward(self, x):
        rows, columns = x.shape
        a = torch.cond(rows > 3, lambda x: x.sin(), lambda x: x.cos(), (x,))
        b = torch.cond((rows <= 2) & (columns == 4), lambda x: x + 1, lambda x: x - 1, (x,))
        c = torch.cond(torch.sym_not(rows >= 3) | (rows != 4), lambda x: x * 2, lambda x: x * 3, (x,))
        return a, b, c


class BranchOnInt(nn.Module):
    """An int of the call in the predicate, in both branches and in a shape."""

    def forward(self, x, n: int):
        a = torch.cond(x.sum() > n, lambda x: x + n, lambda x: x - n * 2, (x,))
        return a, torch.cond(
            x.sum() > 0, lambda x: torch.zeros(n) + x.sum(), lambda x: torch.ones(n) * x.prod(), (x,)
        )


class NewShapes(nn.Module):
    """Sizes that only the branches compute with; results that are int constants; a branch of nothing."""

    def forward(self, x):
        a = torch.cond(
            x.sum() > 0,
            lambda x: torch.zeros(x.shape[0] * 2) + x.sum(),
            lambda x: torch.cat([x[:, 0], x[:, 1]]),
            (x,),
        )
        b = torch.cond(x.sum() > 0, lambda: torch.ones(3), lambda: torch.arange(3.0), ())
        return a, b, torch.cond(x.sum() > 0, lambda x: (1, x + 1), lambda x: (2, x * 2), (x,))


class CountedLoop(nn.Module):
    """Ints are carried, from a constant and from a size, and go on into the arithmetic of sizes. A tensor is
    carried twice and used by closure."""

    def forward(self, x, y):
        count, a = torch.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 0.5 + i), (0, x))
        rows, b, c = torch.while_loop(
            lambda i, b, c: i < y.shape[0] * 2, lambda i, b, c: (i + 3, b + y, c * 2), (y.shape[0] - 2, y, y)
        )
        return count * 2 + 1, a, rows, b + c + count + (rows - 1) // 2


class LoopOnTensors(nn.Module):
    """Carries a bool, an integer, a float and a tensor."""

    def forward(self, x):
        def body(go, count, factor, y):
            return y.sum() < 500, count + 1, factor * 0.5, y * 2 + factor

        state = (torch.tensor(True), torch.tensor(0), torch.tensor(1.0), x)
        return torch.while_loop(lambda go, count, factor, y: go & (count < 9), body, state)


class LoopInBranchInLoop(nn.Module):
    """A loop in a branch of a loop, and the innermost takes a value of the outermost graph."""

    def forward(self, x, rounds):
        bias = x.amax(0)

        def body(i, y):
            def halve(a):
                start = torch.zeros((), dtype=torch.int64)
                return torch.while_loop(
                    lambda j, z: j < rounds, lambda j, z: (j + 1, z * 0.5 + bias), (start, a)
                )[1]

            return i + 1, torch.cond(y.sum() > 3, halve, lambda a: a * 2, (y,))

        return torch.while_loop(lambda i, y: i < 4, body, (torch.zeros((), dtype=torch.int64), x))


class BranchInLoopInBranch(nn.Module):
    """The int that the loop in a branch carries is used by the branches in it."""

    def forward(self, x):
        def repeat(x):
            def body(i, y):
                return i + 1, torch.cond(y.sum() > i, lambda y: y - i, lambda y: y * 2 + i * 3, (y,))

            return torch.while_loop(lambda i, y: i < 6, body, (1, x * 1.5))[1]

        return torch.cond(x.shape[0] > 2, repeat, lambda x: x + 1, (x,))


class Scans(nn.Module):
    """Closures over a weight; several carried values and sequences; other axes; backwards."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4).requires_grad_(False)  # torch refuses bool results else

    def forward(self, x, z):
        def step(carried, element):
            mean, count = carried
            row, other = element
            mean = torch.tanh(self.linear(mean) + row)
            return (mean, count + 1), (mean * other, row > 0)

        initial = (torch.zeros(4), torch.tensor(2))
        carried, made = scan(step, initial, (x, z), dim=0)
        last, columns = scan(lambda c, y: (c + y, c * 1.0), torch.zeros(2), x[:2], dim=1, reverse=True)
        return carried, made, last, columns


class Maps(nn.Module):
    """Over two tensors, with one that is the same for each element; in a branch."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.linspace(1, 2, 4))

    def forward(self, x):
        def mapped(x):
            return map_over(lambda row, factor: (row * factor).cumsum(0) + row.sum(), x, self.scale)

        return mapped(x), torch.cond(x.sum() > 0, mapped, lambda x: x * 2, (x,))


class CountingModule(nn.Module):
    """State from call to call beside a branch that reads it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return torch.cond(self.calls > 1, lambda x: x * self.calls, lambda x: x - 1, (x,))


@dataclasses.dataclass
class Case:
    module: Callable[[], nn.Module]
    calls: list[tuple[Any, ...]]
    dynamic_shapes: Any = None


CASES = [
    Case(Branch, [(rows(3),), (rows(2, 9.0),), (rows(5, -9.0),)], (BATCH,)),
    Case(BranchBySize, [(rows(3),), (rows(2),), (rows(4),), (rows(6),)], (BATCH,)),
    Case(BranchOnInt, [(rows(3), 4), (rows(2, 9.0), 6), (rows(2, -9.0), 3)], (BATCH, Dim.DYNAMIC)),
    Case(NewShapes, [(rows(3),), (rows(5, -9.0),)], (BATCH,)),
    Case(
        CountedLoop,
        [(rows(3), rows(3, 1.0)), (rows(5), rows(5, -4.0))],
        (BATCH, {0: Dim("batch", max=64)}),
    ),
    Case(LoopOnTensors, [(rows(3, 1.0),), (rows(2, -9.0),)], (BATCH,)),
    Case(
        LoopInBranchInLoop,
        [(rows(3), torch.tensor(2)), (rows(2, 1.0), torch.tensor(0)), (rows(4, -9.0), torch.tensor(3))],
        (BATCH, None),
    ),
    Case(Maps, [(rows(3),), (rows(3, 1.0),)]),
    Case(Maps, [(rows(3),), (rows(5, 1.0),)], (BATCH,)),
    Case(BranchInLoopInBranch, [(rows(3),), (rows(2),), (rows(5, -9.0),)], (BATCH,)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module.__name__)
def test_control_flow(case, tmp_path):
    module = case.module().eval()
    captured = torch.export.export(module, case.calls[0], dynamic_shapes=case.dynamic_shapes)
    program = torchere.export(captured)
    # torch's passes annotate some of the nodes that they make, for themselves.
    assert str(capture(captured)) == re.sub(r"# Annotation: \{.*?\} ", "# ", str(captured))
    assert_same_everywhere(program, module, case.calls, tmp_path / "saved")


SCANS = [
    Case(Scans, [(rows(3), rows(3, 1.0)), (rows(3, -9.0), rows(3))]),
    Case(
        Scans,
        [(rows(3), rows(3, 1.0)), (rows(5, -9.0), rows(5))],
        (BATCH, {0: Dim("batch", max=64)}),
    ),
]


@pytest.mark.parametrize("case", SCANS, ids=["static", "dynamic"])
def test_scan(case, tmp_path):
    module = case.module().eval()
    program = torchere.export(module, case.calls[0], dynamic_shapes=case.dynamic_shapes)
    assert_same_everywhere(program, module, case.calls, tmp_path / "saved")


def test_state_beside_a_branch():
    module = CountingModule()
    program = torchere.export(module, (rows(2),))
    for _ in range(3):
        torch.testing.assert_close(program(rows(2)), module(rows(2)))
    assert program.state_dict()["calls"] == 3


def test_one_branch_and_one_loop_each():
    text = torchere.export(LoopInBranchInLoop(), (rows(3), torch.tensor(2))).get_stablehlo_text()
    assert len(re.findall(r"stablehlo\.while\(", text)) == 2
    assert len(re.findall(r'"stablehlo\.if"\(', text)) == 1


def test_results_of_two_sizes_are_refused():
    class TwoSizes(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x[:2] * 1, lambda x: x * 2, (x,))

    with pytest.raises(UnimplementedError) as caught:
        torchere.export(TwoSizes(), (rows(3),))
    assert re.fullmatch(
        r"\[higher_order\.cond\] a result's size depends on what is run: got 'u0', expected the same sizes "
        r"from every branch and round; at control_flow_test\.py:\d+",
        str(caught.value),
    )


def test_ops_without_a_lowering_are_found_in_branches():
    class Missing(nn.Module):
        def forward(self, x):
            def body(i, y):
                return i + 1, torch.cond(
                    y.sum() > 0, lambda y: torch.special.airy_ai(y), lambda y: y.sin(), (y,)
                )

            return torch.while_loop(lambda i, y: i < 2, body, (0, x))

    with pytest.raises(UnimplementedError) as caught:
        torchere.export(Missing(), (torch.ones(3),))
    assert re.fullmatch(
        r"\[export\] 1 op of this program cannot be lowered yet:\n"
        r"  aten\.special_airy_ai\.default: 1 use, first at control_flow_test\.py:\d+\n  to do: .*",
        str(caught.value),
    )


def mutating(x):
    def on_true(x):
        x.add_(1)
        return x + 1

    return torch.cond(x.sum() > 0, on_true, lambda x: x * 2, (x * 1,))


def aliasing(x):
    return torch.cond(x.sum() > 0, lambda x: x.T, lambda x: x.T * 2, (x,))


def of_two_dtypes(x):
    return torch.cond(x.sum() > 0, lambda x: x.double(), lambda x: x * 2, (x,))


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (mutating, r"Higher Order Operator: torch\.cond[\s\S]*Input mutation detected at \[l_args_"),
        (aliasing, r"Higher Order Operator: torch\.cond[\s\S]*Input-to-output aliasing detected"),
        (of_two_dtypes, r"torch\.cond,\s+expected same dtype but got torch\.float64 and torch\.float32"),
    ],
)
def test_what_torch_refuses_names_the_users_line(function, reason):
    line = function.__code__.co_firstlineno
    with pytest.raises(CaptureError, match=reason) as caught:
        torchere.export(function, (torch.eye(3),))
    file, _, number = caught.value.where.partition(":")
    assert file == "control_flow_test.py"
    assert line < int(number) <= line + 6
