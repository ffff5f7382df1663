"""torchere.explain: one report of what an export makes of a program, without failing."""

from __future__ import annotations

from pathlib import Path

import torch

import torchere

DIM = torch.export.Dim


def line_of(text):
    """The number of the line of this file that ends with the text."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


class Mixed(torch.nn.Module):
    """A missing op twice, an op that is expanded, state, a constant, Python numbers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.table = torch.tensor([1.0, 2.0])

    def forward(self, x, scale=2, mode="a", flag=None):
        self.calls += 1
        y = torch.tensordot(x, x, 1) * scale
        z = torch.linalg.ldl_factor(y)[0]  # first
        x.mul_(2)
        return torch.linalg.ldl_factor(y + 1)[0] + z + self.table[0]  # second


def test_all_that_concerns_a_program_is_in_its_fields():
    report = torchere.explain(Mixed(), (torch.randn(3, 3), 2, "a"))
    assert not report.ok
    (missing,) = report.missing_ops
    assert (missing.op, missing.count) == ("aten.linalg_ldl_factor.default", 2)
    places = [f"explanation_test.py:{line_of(text)}" for text in ("first", "second")]
    assert list(missing.places) == places
    assert missing.decompositions[0] == "torch's decomposition needs aten.linalg_ldl_factor_ex.default"
    assert missing.advice == (
        "write it with ops that `torchere ops` lists, or decompose it: torchere.export(..., "
        "decompositions={torch.ops.aten.linalg_ldl_factor.default: function})"
    )
    assert [(one.name, one.value) for one in report.constant_inputs] == [("scale", 2), ("mode", "a")]
    assert [(one.name, one.kind) for one in report.written] == [("calls", "buffer"), ("x", "input")]
    (table,) = report.constant_tensors
    assert (table.name, table.dtype, table.shape, table.byte_size) == ("table", "float32", (2,), 8)
    expanded = {op.op: op for op in report.expanded_ops}
    assert expanded["aten.tensordot.default"].count == 1 and expanded["aten.tensordot.default"].seconds > 0
    assert report.ops["aten.linalg_ldl_factor.default"] == 2
    (problem,) = report.problems
    assert problem.message.startswith("[export] 1 op of this program cannot be lowered yet:")
    text = str(report)
    assert text.startswith("Mixed: cannot be exported (")
    assert f"    aten.linalg_ldl_factor.default: 2 uses, at {', '.join(places)}\n" in text
    assert "  inputs that became constants\n    scale = 2\n    mode = 'a'\n" in text
    assert "  what calls write\n    calls (buffer)\n    x (input)\n" in text
    assert text.endswith("  constant tensors\n    table: float32 [2], 8 bytes")


def test_a_program_that_can_be_exported():
    report = torchere.explain(torch.nn.Linear(3, 3), torch.ones(4, 3))
    assert report.ok and str(report) == "Linear: can be exported (1 calls of 1 ops)"
    exported = torch.export.export(torch.nn.Linear(3, 3), (torch.ones(4, 3),))
    assert torchere.explain(exported).ok
    report = torchere.explain(
        Mixed(),
        torch.randn(3, 3),
        decompositions={torch.ops.aten.linalg_ldl_factor.default: lambda x: (x * 2, x[0].int())},
    )
    assert report.ok and not report.missing_ops


class Fours(torch.nn.Module):
    def forward(self, x, y):
        return x.reshape(4, 3) + 1, y * 2


def fixed(report):
    return {dim.name: (dim.size, dim.asked) for dim in report.fixed_dimensions}


def test_dimensions_that_became_static():
    args = (torch.ones(4, 3), torch.ones(1, 2))
    shapes = {"x": {0: DIM("batch"), 1: DIM.DYNAMIC}, "y": {0: DIM.AUTO, 1: DIM.AUTO}}
    report = torchere.explain(Fours(), args, dynamic_shapes=shapes)
    assert not report.ok  # a name is a demand
    assert "dimension 'batch' is dynamic in dynamic_shapes" in report.problems[0].message
    assert fixed(report) == {
        "x.shape[0]": (4, "batch"),
        "x.shape[1]": (3, "DYNAMIC"),
        "y.shape[0]": (1, "AUTO"),
    }
    report = torchere.explain(
        Fours(), args, dynamic_shapes={"x": {0: DIM.AUTO}, "y": {0: DIM.AUTO, 1: DIM.AUTO}}
    )
    assert report.ok  # a wish
    assert fixed(report) == {"x.shape[0]": (4, "AUTO"), "y.shape[0]": (1, "AUTO")}
    assert (
        "  dimensions that became static\n"
        "    x.shape[0] = 4, asked for as AUTO: the model takes it for one number\n"
        "    y.shape[0] = 1, asked for as AUTO: torch takes sizes of 0 and 1 for constants: give an example "
        "of 2 or more"
    ) in str(report)


class Branches(torch.nn.Module):
    def forward(self, x):
        n = x[0].item()
        a = x.sum().item()
        if a > 7:  # a
            x = x + 1
        y = torch.zeros(5)[: x.shape[0]]
        if n == 3:  # n
            y = y * 2
        return y


def test_decisions_that_depend_on_data(capfd):
    for _ in range(2):  # torch numbers files once in a process
        report = torchere.explain(Branches(), torch.tensor([3, 6]))
        assert not report.ok
        assert [guard.place for guard in report.data_guards] == [
            f"explanation_test.py:{line_of(text)}" for text in ("a", "n")
        ]
        assert [guard.checks for guard in report.data_guards] == [
            ("torch._check(a > 7)", "torch._check(a <= 7)"),
            ("torch._check(n == 3)", "torch._check(n != 3)"),
        ]
        assert report.data_guards[0].code == "if a > 7:  # a"
    text = str(report)
    assert "Python needs a value that only a call has" in text
    assert "      to do: torch._check(a > 7) or torch._check(a <= 7)\n" in text
    assert capfd.readouterr().err == ""  # torch's own text of the graph


def test_the_checks_are_what_makes_the_program_exportable():
    def zeros(x):
        n = x[0].item()
        torch._check(n == 3)
        y = x + 1
        return y * 2 if n == 3 else y

    assert torchere.explain(zeros, torch.tensor([3, 6])).ok


@torch.library.custom_op("explained::price", mutates_args=())
def price(x: torch.Tensor) -> torch.Tensor:
    return x * 1.19


class Options:
    scale = 2


def test_what_torch_cannot_capture_is_explained():
    report = torchere.explain(lambda x: torch.ops.explained.price(x) + 1, torch.ones(3))
    (problem,) = report.problems
    assert "explained::price has no fake kernel" in problem.message
    assert problem.advice.startswith('@torch.library.register_fake("explained::price")')
    report = torchere.explain(lambda x, o: x * o.scale, (torch.ones(3), Options()))
    assert "an argument of a class that torch.export does not know" in report.problems[0].message
    assert not report.ops


def test_an_op_of_the_users_own_library():
    price.register_fake(torch.empty_like)
    report = torchere.explain(lambda x: torch.ops.explained.price(x) + 1, torch.ones(3))
    (missing,) = report.missing_ops
    assert missing.op == "explained.price.default"
    assert missing.decompositions == ("torch has no decomposition of it",)
    assert missing.advice.endswith(
        'torchere.stablehlo.StableHLOExportOptions(custom_ops_allowed_in_graph={"explained"})'
    )
