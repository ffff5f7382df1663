"""program.bisect: a deliberately wrong lowering is found, in a ResNet-50, a BERT and a dynamic model, with
the user's line; its script fails on its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch
from warm_process import run_python
from wrong_lowering import wrong

import torchere

AUTO = torch.export.Dim.AUTO


def line_of(text):
    """The number of the line of this file that ends with the text."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


def run(script, *replacement):
    """The exit code and the output of a script in a process of its own, with the wrong lowering if given."""
    command = [script, *replacement]
    if replacement:
        command = [Path(__file__).with_name("wrong_lowering.py"), *command]
    done = run_python(*command)
    assert done.stderr == ""
    return done.returncode, done.stdout


def exit_code(script):
    """The same in this process, for those that need no process of their own."""
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(script, run_name="__main__")
    return caught.value.code


class Gated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 6)

    def forward(self, x):
        y = torch.cat([x, self.linear(x)])
        y[0].mul_(2)  # write
        rows = y.view(-1, 3)[: 2 * x.shape[0]]
        return torch.nn.functional.silu(rows) + 1  # silu


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Gated()])

    def forward(self, x):
        return self.blocks[0](x).sum(-1)


def dynamic(**options):
    return torchere.export(Net(), torch.randn(3, 6), dynamic_shapes={"x": {0: AUTO}}, **options)


def test_a_right_program_has_no_culprit():
    program = dynamic()
    found = program.bisect(torch.randn(5, 6))
    assert found.ok and not found.skipped and not found.script
    assert str(found) == f"forward: {found.checked} ops compared, none is wrong"
    assert found.checked >= 10
    assert not list(Path.cwd().glob("torchere_repro*"))


def test_a_wrong_row_in_a_dynamic_model(tmp_path):
    replacement = ("stablehlo.logistic", "stablehlo.tanh")
    with wrong(*replacement):
        program, x = dynamic(), torch.randn(5, 6)
        assert not program.verify(x).ok
        found = program.bisect(x, repro=tmp_path / "repro")
    culprit = found.culprit
    assert (culprit.op, culprit.what, culprit.name) == ("aten.silu.default", "lowering", "silu")
    assert (culprit.line, culprit.module_path) == (line_of("silu"), "blocks.0")
    assert culprit.place == f"bisection_test.py:{line_of('silu')} in blocks.0"
    assert culprit.file == __file__
    assert [str(value) for value in culprit.inputs] == ["slice_1: float32[10, 3]"]
    text = str(found).splitlines()
    assert text[1] == f"[aten.silu.default] the op is lowered wrongly: node silu; at {culprit.place}"
    assert text[2] == "  return torch.nn.functional.silu(rows) + 1  # silu"
    assert text[-1] == f"  to reproduce it alone: python {tmp_path}/repro/repro.py"
    assert "Dim.AUTO" in Path(found.script).read_text()
    code, output = run(found.script, *replacement)
    assert code == 1 and "1 of 1 values are wrong" in output
    assert exit_code(found.script) == 0  # where the lowering is right


def quick_gelu(x, approximate="none"):
    return x * torch.sigmoid(1.702 * x) * torch.tensor([1.0, 1.0, 1.0, 1.0])


def test_a_wrong_decomposition_is_found_as_the_captured_op(tmp_path):
    def gelu(x):
        return torch.nn.functional.gelu(x * 2)  # gelu

    program = torchere.export(
        gelu,
        torch.randn(3, 4),
        dynamic_shapes=({0: AUTO},),
        decompositions={torch.ops.aten.gelu.default: quick_gelu},
    )
    found = program.bisect(torch.randn(5, 4), repro=tmp_path / "repro")
    culprit = found.culprit
    assert (culprit.op, culprit.what, culprit.line) == (
        "aten.gelu.default",
        "decomposition",
        line_of("gelu"),
    )
    assert "sigmoid = torch.ops.aten.sigmoid.default(mul)" in culprit.detail
    assert exit_code(found.script) == 1  # the decomposition is in it


def test_a_wrong_decomposition_of_a_write(tmp_path):
    def relu(x):
        y = x + 1
        y.relu_()  # relu
        return y * 2

    clamped = {torch.ops.aten.relu_.default: lambda x: x.clamp_(0, 1)}
    program = torchere.export(relu, torch.randn(30, 4), decompositions=clamped)
    found = program.bisect(torch.randn(30, 4), repro=tmp_path / "repro")
    assert (found.culprit.op, found.culprit.line) == ("aten.relu_.default", line_of("relu"))
    assert exit_code(found.script) == 1


def test_a_wrong_decomposition_of_an_op_of_several_results(tmp_path):
    def best(x):
        values, places = torch.sort(x.tanh())  # sort
        return values + places

    def descending(x, dim=-1, descending=False):
        return torch.ops.aten.sort.default(x, dim, True)

    program = torchere.export(
        best, torch.randn(3, 5), decompositions={torch.ops.aten.sort.default: descending}
    )
    found = program.bisect(torch.randn(3, 5), repro=tmp_path / "repro")
    assert (found.culprit.op, found.culprit.line) == ("aten.sort.default", line_of("sort"))
    assert found.culprit.what == "decomposition"
    assert exit_code(found.script) == 1


def test_random_numbers_and_control_flow_are_passed_by(tmp_path):
    def noisy(x):
        y = torch.nn.functional.dropout(x, 0.5, True) + torch.rand(4)
        y = torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))
        _, y = torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.exp().log()), (torch.tensor(0), y))
        return y.clone().normal_().tanh() + y, torch.empty(3).fill_(2)

    program = torchere.export(noisy, torch.randn(3, 4))
    found = program.bisect(torch.randn(3, 4))
    assert found.ok and not found.skipped, str(found)
    with wrong("stablehlo.tanh", "stablehlo.sine"):
        found = torchere.export(noisy, torch.randn(3, 4)).bisect(torch.randn(3, 4), repro=tmp_path / "r")
    assert found.culprit.op == "aten.tanh.default"


def test_ops_that_are_wrong_together_alone(tmp_path):
    """As a compiler's fusion can be."""

    def chained(x):
        y = torch.cos(x) + 1
        y = torch.sigmoid(y) * 2
        y = torch.tanh(y) - 1  # together
        return y * torch.rand(4) + x

    with wrong("stablehlo.tanh", "stablehlo.sine", "stablehlo.logistic"):
        program = torchere.export(chained, torch.randn(3, 4), dynamic_shapes=({0: AUTO},))
        found = program.bisect(torch.randn(6, 4), repro=tmp_path / "repro")
        assert exit_code(found.script) == 1
    culprit = found.culprit
    assert (culprit.op, culprit.what) == ("aten.tanh.default", "combination")
    assert culprit.line == line_of("together")
    assert culprit.detail.splitlines() == [
        "wrong together are",
        "    sigmoid: aten.sigmoid.default",
        "    mul: aten.mul.Tensor",
        "    tanh: aten.tanh.default",
    ]
    assert [str(value) for value in culprit.inputs] == ["add: float32[6, 4]"]


def test_a_loaded_program_has_no_graph(tmp_path):
    dynamic().save(tmp_path / "p")
    with pytest.raises(torchere.Error) as caught:
        torchere.load(tmp_path / "p").bisect(torch.randn(5, 6))
    assert str(caught.value) == (
        "[bisect] the program has no graph: it was loaded, or unpickled\n"
        "  to do: export the module again and bisect what torchere.export returns"
    )


def test_a_folder_with_files_is_left_alone(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with wrong("stablehlo.logistic", "stablehlo.tanh"):
        program = dynamic()
        with pytest.raises(torchere.Error, match=r"the folder for the script is not empty: expected another"):
            program.bisect(torch.randn(5, 6), repro=tmp_path)


def test_resnet50(tmp_path):
    import torchvision_schemas  # noqa: F401

    # isort: split
    import torchvision

    model, x = torchvision.models.resnet50().eval(), torch.randn(1, 3, 32, 32)
    greatest = {torch.ops.aten.adaptive_avg_pool2d.default: lambda x, size: x.amax((2, 3), keepdim=True) + 1}
    found = torchere.export(model, x, decompositions=greatest).bisect(x, repro=tmp_path / "average")
    assert (found.culprit.op, found.culprit.module_path) == ("aten.adaptive_avg_pool2d.default", "avgpool")
    assert found.culprit.code.strip() == "x = self.avgpool(x)"
    assert found.culprit.file.endswith("torchvision/models/resnet.py")
    assert found.checked > 150
    assert run(found.script)[0] == 1

    replacement = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.reduce_window")
    with wrong(*replacement):
        found = torchere.export(model, x).bisect(x, repro=tmp_path / "maximum")
        assert exit_code(found.script) == 1
    assert (found.culprit.op, found.culprit.module_path) == ("aten.max_pool2d.default", "maxpool")
    assert found.culprit.what == "lowering" and found.culprit.code.strip() == "x = self.maxpool(x)"


def test_bert(tmp_path):
    import torchvision_schemas  # noqa: F401

    # isort: split
    import transformers

    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=50
    )
    model = transformers.BertModel(config).eval()
    ids, mask = torch.randint(0, 50, (2, 9)), torch.ones(2, 9, dtype=torch.long)
    mask[1, 5:] = 0
    sizes = {"input_ids": {0: AUTO, 1: AUTO}, "attention_mask": {0: AUTO, 1: AUTO}}
    replacement = ("stablehlo.tanh", "stablehlo.sine")
    with wrong(*replacement):
        program = torchere.export(model, (ids, mask), dynamic_shapes=sizes)
        found = program.bisect(ids[:, :7], mask[:, :7], repro=tmp_path / "repro")
    assert (found.culprit.op, found.culprit.module_path) == ("aten.tanh.default", "pooler.activation")
    assert found.culprit.code.strip() == "pooled_output = self.activation(pooled_output)"
    assert found.culprit.file.endswith("modeling_bert.py")
    assert run(found.script, *replacement)[0] == 1
