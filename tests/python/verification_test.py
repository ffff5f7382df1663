"""program.verify: results, state and written arguments beside eager PyTorch's and float64's; the verdict."""

from __future__ import annotations

import pytest
import torch

import torchere
from torchere.comparison import compare


class Counting(torch.nn.Module):
    """Writes a buffer, running statistics and its argument; gives floats, ints, a constant and a mask."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, flag=2):
        self.calls += 1
        y = torch.nn.functional.gelu(self.norm(self.linear(x)))
        x.add_(1)
        masked = torch.where(y > 0, y, torch.finfo(torch.float32).min)
        return {"half": y.half(), "best": (y.argmax(-1), flag), "masked": masked}


BATCH = {"x": {0: torch.export.Dim.AUTO}}


def tanh_gelu(x, approximate="none"):
    return torch.nn.functional.gelu(x, approximate="tanh")


def test_every_value_is_compared_and_nothing_advances():
    module, x = Counting(), torch.randn(7, 4)
    program = torchere.export(module, torch.randn(3, 4), dynamic_shapes=BATCH)
    program(torch.randn(5, 4))  # the program's state is now another one than the module's
    before = {name: value.clone() for name, value in program.state_dict().items()}
    given = x.clone()
    report = program.verify(x)
    assert report.ok, str(report)
    report.raise_if_wrong()
    assert torch.equal(x, given)
    assert all(torch.equal(value, before[name]) for name, value in program.state_dict().items())
    assert module.calls == 0
    rows = {row.name: row for row in report.rows}
    assert set(rows) == {
        "output['half']",
        "output['best'][0]",
        "output['best'][1]",
        "output['masked']",
        "norm.num_batches_tracked",
        "norm.running_mean",
        "norm.running_var",
        "calls",
        "x",
    }
    assert (rows["output['half']"].dtype, rows["output['half']"].shape) == ("float16", (7, 4))
    assert 0 < rows["output['masked']"].relative_error < 1e-6
    assert 0 < rows["output['masked']"].eager_error < 1e-6
    lines = str(report).splitlines()
    assert lines[0] == "forward: all values agree"
    assert " ".join(lines[1].split()) == "value dtype shape error relative eager's own verdict"
    assert len(lines) == 2 + len(rows)


def test_a_wrong_value_is_named_beside_those_that_are_right():
    program = torchere.export(
        Counting(), torch.randn(3, 4), decompositions={torch.ops.aten.gelu.default: tanh_gelu}
    )
    report = program.verify(torch.randn(3, 4))
    assert [row.name for row in report.rows if not row.ok] == ["output['masked']"]
    with pytest.raises(torchere.Error) as caught:
        report.raise_if_wrong()
    assert str(caught.value).startswith(
        "[forward] 1 of 9 values differ from eager PyTorch's, first output['masked']: wrong: got "
    )
    assert str(caught.value).endswith("to do: program.bisect(...) with the same arguments finds the op")


def test_weights_of_the_program_are_those_that_are_compared():
    module = Counting().eval()
    program = torchere.export(module, torch.randn(3, 4))
    other = program.with_weights({"linear.weight": torch.randn(4, 4)})
    x = torch.randn(3, 4)
    assert other.verify(x).ok
    assert not torch.equal(other(x.clone())["masked"], program(x.clone())["masked"])


class Tied(torch.nn.Module):
    """Weights and state under two names, and state that is no buffer."""

    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False)
        self.two.weight = self.one.weight
        self.register_buffer("first", torch.zeros(2))
        self.register_buffer("second", self.first)
        self.cache = torch.zeros(3)

    def forward(self, x):
        self.first.add_(1)
        self.cache.add_(x[0])
        return self.two(self.one(x)) * self.cache + self.second.sum()


def test_tied_weights_and_tensors_that_the_code_holds():
    module, x = Tied(), torch.randn(2, 3)
    program = torchere.export(module, torch.randn(2, 3))
    program(x)
    report = program.verify(x)
    assert report.ok, str(report)
    assert {row.name for row in report.rows} == {"output", "first", "second", "cache"}
    assert program.bisect(x).ok
    assert not module.cache.any() and not module.first.any()


def test_an_exported_program_a_function_and_control_flow():
    module = Counting()
    exported = torch.export.export(module, (torch.randn(3, 4),))
    report = torchere.export(exported).verify(torch.randn(3, 4))
    assert report.ok and len(report.rows) == 9

    def branches(x):
        y = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
        return torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.exp().log()), (torch.tensor(0), y))

    report = torchere.export(branches, torch.randn(3, 4)).verify(torch.randn(3, 4))
    assert report.ok, str(report)
    assert report.rows[1].eager_error is not None  # the captured graph in float64


def test_a_loaded_program_is_told_what_to_compare_with(tmp_path):
    module, x = Counting().eval(), torch.randn(3, 4)
    torchere.export(module, torch.randn(3, 4)).save(tmp_path / "p")
    program = torchere.load(tmp_path / "p")
    with pytest.raises(torchere.Error) as caught:
        program.verify(x)
    assert str(caught.value) == (
        "[verify] the program does not know what it was exported from: it was loaded, or unpickled\n"
        "  to do: program.verify(*args, against=module) compares with a module, a function or an "
        "ExportedProgram"
    )
    assert program.verify(x, against=module).ok
    assert not program.verify(x, against=lambda x: module(x) | {"half": x.half()}).ok


def test_another_mode_and_random_numbers_are_refused():
    module = Counting()
    program = torchere.export(module, torch.randn(3, 4))
    module.eval()
    with pytest.raises(torchere.Error) as caught:
        program.verify(torch.randn(3, 4))
    assert str(caught.value) == (
        "[verify] the module's training mode is another one than when it was exported: expected "
        "module.eval() or module.train() as before the export"
    )
    program = torchere.export(torch.nn.Dropout(), torch.randn(3, 4))
    with pytest.raises(torchere.Error, match=r"\[verify\] the program draws random numbers"):
        program.verify(torch.randn(3, 4))


def test_half_precision_is_judged_by_float64():
    module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).bfloat16()
    report = torchere.export(module, torch.randn(4, 64, dtype=torch.bfloat16)).verify(
        torch.randn(4, 64, dtype=torch.bfloat16)
    )
    assert report.ok, str(report)
    assert 1e-4 < report.rows[0].eager_error < 0.1


# The verdict on one value: our result, eager PyTorch's, float64's.


def judged(ours, eager, double=None):
    return compare("y", ours, eager, double).verdict


def test_errors_of_eagers_size_are_right_and_larger_ones_are_wrong():
    double = torch.randn(100, dtype=torch.float64)
    eager = (double + 1e-5).float()
    assert judged((double - 5e-5).float(), eager, double) == "ok"
    assert judged((double - 1e-3).float(), eager, double).startswith("wrong: got ")
    exact = double.float()
    assert judged(exact, exact, double) == "ok"
    assert judged(exact * (1 + 1e-5), exact, double).startswith("wrong: got ")


def test_small_elements_beside_a_mask_are_judged_by_their_own_scale():
    double = torch.randn(100, dtype=torch.float64)
    double[:60] = torch.finfo(torch.float32).min
    eager = double.float()
    wrong = eager.clone()
    wrong[70] += 1e-3
    assert judged(eager, eager, double) == "ok"
    assert judged(wrong, eager, double).startswith("wrong: got ")
    wrong = eager.clone()
    wrong[3] *= 0.9
    assert judged(wrong, eager, double).startswith("wrong: got ")


def test_values_that_are_not_finite():
    inf, nan = float("inf"), float("nan")
    eager, double = torch.tensor([1.0, inf, nan]), torch.tensor([1.0, inf, nan], dtype=torch.float64)
    assert judged(eager, eager, double) == "ok"
    for wrong in ([nan, inf, nan], [1.0, -inf, nan], [1.0, 2.0, nan], [1.0, inf, 0.0]):
        assert judged(torch.tensor(wrong), eager, double) == (
            "1 of 3 elements are not finite where they should be, or are"
        )
    # An overflow of eager PyTorch's own dtype.
    half = torch.tensor([1.0, inf], dtype=torch.float16)
    assert judged(half, half, torch.tensor([1.0, 70000.0], dtype=torch.float64)) == "ok"


def test_ints_are_equal_to_eagers_or_to_float64s():
    assert judged(torch.tensor([1, 2]), torch.tensor([1, 3])) == "1 of 2 elements differ"
    assert judged(torch.tensor([1, 2]), torch.tensor([1, 3]), torch.tensor([1, 2])) == "ok"
    assert judged(3, 3) == "ok"
    assert judged(None, None) == "ok"
    assert judged("a", "b") == "another value: got 'a', expected 'b'"


def test_types_are_compared_first():
    ones = torch.ones(2)
    assert judged(ones, ones.double()) == "another dtype: got float32, expected float64"
    assert judged(ones, torch.ones(3)) == "another shape: got (2,), expected (3,)"
    assert judged(ones[:0], ones[:0], ones[:0].double()) == "ok"
    assert judged(ones * 1j, ones * 1j, ones.double() * 1j) == "ok"
    assert judged(ones * 1j, ones * 2j, ones.double() * 2j).startswith("wrong: got 5.0e-01, expected ")


def test_an_eager_result_that_is_far_from_float64_is_no_reference():
    double = torch.ones(4, dtype=torch.float64)
    assert judged(torch.ones(4), torch.ones(4) * 1.1, double) == (
        "eager PyTorch differs from its own float64 by 1.0e-01: nothing to compare with"
    )
