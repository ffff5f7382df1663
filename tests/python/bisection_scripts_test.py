"""The scripts of program.bisect for what is more than one op of ATen's: lowerings of the user's, control
flow, functional forms. Each is written while something is wrong, and fails alone."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from warm_process import run_python
from wrong_lowering import losing, wrong

import torchere

AUTO = torch.export.Dim.AUTO
SINE = ("stablehlo.tanh", "stablehlo.sine")


def exit_code(script):
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(script, run_name="__main__")
    return caught.value.code


def exit_code_alone(script, *injected):
    """Of a script in a process of its own, with what is wrong if that is not in it."""
    command = [script, *injected]
    if injected:
        command = [Path(__file__).with_name("wrong_lowering.py"), *command]
    done = run_python(*command)
    assert done.stderr == ""
    assert ("values are wrong" in done.stdout) == (done.returncode == 1)
    return done.returncode


@pytest.fixture
def library():
    """Two ops of the user's."""
    made = torch.library.Library("bisected", "DEF")
    made.define("doubled_relu(Tensor x) -> Tensor")
    made.impl("doubled_relu", lambda x: x.relu() * 2, "CPU")
    made.impl("doubled_relu", torch.empty_like, "Meta")
    made.define("halves(Tensor x, int dim=0) -> (Tensor, Tensor)")
    made.impl("halves", lambda x, dim=0: (x * 0.5, torch.cat([x, x], dim) * 0.5), "CPU")
    made.impl("halves", lambda x, dim=0: (torch.empty_like(x), torch.cat([x, x], dim)), "Meta")
    return made


def use_relu(x):
    return torch.ops.bisected.doubled_relu(x + 1) - 1


def use_halves(x):
    half, twice = torch.ops.bisected.halves(x.tanh())
    return half.sum() + twice.sum()


def relu_as_text(factor):
    def lowering(x):
        size = "x".join(str(size) if isinstance(size, int) else "?" for size in x.shape)
        kind = f"tensor<{size}xf32>"
        return f"""
          func.func @relu(%x: {kind}) -> {kind} {{
            %zero = stablehlo.subtract %x, %x : {kind}
            %0 = stablehlo.maximum %x, %zero : {kind}
            %1 = stablehlo.{factor} %0, %0 : {kind}
            return %1 : {kind}
          }}"""

    return lowering


RELU, HALVES = (
    "bisected::doubled_relu(Tensor x) -> Tensor",
    "bisected::halves(Tensor x, int dim=0) -> (Tensor, Tensor)",
)


def wrong_halves(x, dim=0):
    return x / 2, torch.cat([x, x], dim) / 3


@pytest.mark.parametrize(
    ("function", "schema", "lowering", "detail"),
    [
        (use_relu, RELU, lambda x: x.clamp(min=0) * torch.tensor([2.0, 2.0, 3.0]), "clamp = torch.ops.aten"),
        (use_relu, RELU, relu_as_text("multiply"), "stablehlo.multiply %0, %0"),
        (use_halves, HALVES, wrong_halves, "cat = torch.ops.aten"),
    ],
    ids=["traced", "text", "two_results"],
)
def test_a_wrong_registered_lowering(library, tmp_path, function, schema, lowering, detail):
    x = torch.randn(4, 3)
    torchere.register_lowering(schema, lowering, replace=True)
    program = torchere.export(function, x, dynamic_shapes=({0: AUTO},))
    found = program.bisect(x, repro=tmp_path / "repro")
    assert (found.culprit.op, found.culprit.what) == (
        schema.replace("::", ".").partition("(")[0] + ".default",
        "decomposition",
    )
    assert found.culprit.code.strip().startswith(("return torch.ops.bisected", "half, twice = torch.ops"))
    assert not found.skipped and detail in found.culprit.detail
    assert exit_code_alone(found.script) == 1


def test_a_right_lowering_in_text_has_no_culprit(library):
    torchere.register_lowering(RELU, relu_as_text("add"), replace=True)
    found = torchere.export(use_relu, torch.randn(4, 3)).bisect(torch.randn(4, 3))
    assert found.ok and not found.skipped


def test_a_wrong_decomposition_of_an_op_of_the_users(library, tmp_path):
    x = torch.randn(4, 3)
    relu = {torch.ops.bisected.doubled_relu.default: lambda x: x.relu()}
    found = torchere.export(use_relu, x, decompositions=relu).bisect(x, repro=tmp_path / "repro")
    assert found.culprit.what == "decomposition"
    assert exit_code_alone(found.script) == 1


def use_cond(x):
    y = x * 2
    return torch.cond(y.sum() > 0, lambda y: y.tanh(), lambda y: y.tanh() + y.shape[0], (y,))


def use_nested_cond(x):
    def inner(y):
        return torch.cond(y.sum() > -9, lambda y: y.tanh(), lambda y: y + 1, (y,))

    return torch.cond(x.sum() > -99, inner, lambda y: y - 1, (x,))


def use_while(x):
    return torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.tanh()), (torch.tensor(0), x))[1]


def use_scan(x):
    table = torch.tensor([0.5, 2.0, 4.0])
    return scan(lambda carried, row: (carried + row.tanh() * table, carried * 2), torch.zeros(3), x)


def use_map(x):
    return map_rows(lambda row, w: (row * w).tanh(), x, torch.ones(3))


LOOPS = [
    (use_cond, "cond"),
    (use_nested_cond, "cond"),
    (use_while, "while_loop"),
    (use_scan, "scan"),
    (use_map, "map_impl"),
]


@pytest.mark.parametrize(("function", "op"), LOOPS, ids=[function.__name__ for function, _ in LOOPS])
def test_wrong_control_flow(tmp_path, function, op):
    x = torch.randn(4, 3)
    sizes = None if function is use_scan else ({0: AUTO},)
    with wrong(*SINE):
        found = torchere.export(function, x, dynamic_shapes=sizes).bisect(x, repro=tmp_path / "repro")
        assert exit_code(found.script) == 1
    assert (found.culprit.op, found.culprit.what) == (f"higher_order.{op}", "lowering")
    floats = [row for row in found.culprit.rows if row.dtype == "float32"]
    assert all(row.eager_error is not None for row in floats)  # float64 runs its graphs
    assert exit_code(found.script) == 0


class Counted(torch.nn.Module):
    """A view that is read after a write to its base, with state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.ones(3))

    def forward(self, x, unused):
        self.seen += x.sum(0)
        y = x + unused.shape[0]
        rows = y.view(-1)
        y[1:].mul_(3)
        return (rows.view(-1, 3) * self.seen).relu()  # read


def test_a_lost_write(tmp_path):
    given = torch.randn(4, 3), torch.randn(2)
    lost = "aten.mul_.Tensor"
    with losing(lost):
        program = torchere.export(Counted(), given, dynamic_shapes=({0: AUTO}, None))
        found = program.bisect(*given, repro=tmp_path / "repro")
    assert (found.culprit.op, found.culprit.what) == ("aten.view.default", "functionalization")
    assert found.culprit.code.strip().endswith("# read")
    script = Path(found.script).read_text()
    assert "torch.ops.aten.mul_.Tensor(" in script  # the writes are in it as they were captured
    assert "unused" not in script and "aten.relu" not in script  # what the value does not depend on is not
    assert exit_code_alone(found.script, lost) == 1
    assert exit_code(found.script) == 0


def test_a_wrong_decomposition_of_a_write_that_is_not_idempotent(tmp_path):
    """What it reads is what it was before the op wrote to it."""

    def exponential(x):
        y = x + 1
        y.exp_()
        return y * 2

    decomposed = {torch.ops.aten.exp_.default: lambda x: x.copy_(x + 1)}
    program = torchere.export(exponential, torch.randn(4, 3), decompositions=decomposed)
    found = program.bisect(torch.zeros(4, 3), repro=tmp_path / "repro")
    assert (found.culprit.op, found.culprit.what) == ("aten.exp_.default", "decomposition")
    assert found.culprit.rows[0].eager_error < 1e-6
    assert exit_code(found.script) == 1


def test_no_script_without_the_users_code(library, tmp_path):
    """A graph of control flow that calls an op of the user's."""

    def choose(x):
        return torch.cond(x.sum() > -99, use_relu, lambda x: x - 1, (x,))

    x = torch.randn(4, 3)
    torchere.register_lowering(RELU, lambda x: x.relu(), replace=True)
    found = torchere.export(choose, x).bisect(x, repro=tmp_path / "repro")
    assert found.culprit.op == "higher_order.cond" and not found.script
    assert str(found).splitlines()[-1] == (
        "  no script reproduces it alone: it calls bisected.doubled_relu.default, which is not known without "
        "your code"
    )
    assert not (tmp_path / "repro").exists()
