"""Seeing what the device does: programs of tensors, source lines, metrics, profiler, recompilations."""

import inspect
import itertools
import os
import re
import subprocess
import sys
import threading

import pytest
import torch

import torchere
from torchere import lazy


@pytest.fixture(autouse=True)
def _metrics_from_zero():
    lazy.reset_metrics()


_sizes = itertools.count(20)


def fresh(rows: int = 2) -> torch.Tensor:
    """A tensor of a size that no other test has, so that no program of theirs is used again."""
    return torch.ones(rows, next(_sizes)).to("xla")


def here(offset: int = 0) -> str:
    """The place of the line that calls this, or of one `offset` lines below."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno + offset} in {frame.f_code.co_name}"


def test_stablehlo_of_chosen_tensors():
    x = torch.ones(3).to("xla")
    y, other = torch.sin(x), torch.cos(x)
    text = lazy.get_stablehlo([y])
    assert "stablehlo.sine" in text and "stablehlo.cosine" not in text
    both = lazy.get_stablehlo([other, y])
    assert re.search(r"return %\w+, %\w+ : tensor<3xf32>, tensor<3xf32>", both)
    assert "stablehlo.sine" in lazy.get_stablehlo() and "stablehlo.cosine" in lazy.get_stablehlo()
    torch.testing.assert_close(y.cpu(), torch.sin(torch.ones(3)))


def test_stablehlo_of_a_computed_tensor_returns_it():
    x = torch.ones(3).to("xla")
    assert re.search(r"@main\((%\w+): tensor<3xf32>.*\n *return \1 : tensor<3xf32>", lazy.get_stablehlo([x]))


def test_bytecode_is_a_portable_artifact():
    y = torch.sin(torch.ones(3).to("xla"))
    artifact = lazy.get_stablehlo_bytecode([y])
    assert isinstance(artifact, bytes) and artifact.startswith(b"ML\xefR")
    module = torchere._core.deserialize_portable_artifact(artifact)
    assert "stablehlo.sine" in module.text()


def test_tensors_of_another_device_are_refused():
    with pytest.raises(RuntimeError, match=r"\[lazy\] not a tensor of the device: got one on cpu, expected"):
        lazy.get_stablehlo([torch.ones(2)])


def test_ir_is_printed_as_torch_prints_programs():
    x = torch.ones(2, 3).to("xla")
    text = lazy.dump_ir([torch.add(x, x.t().t(), alpha=3).sum(1)])
    assert "torch.ops.aten.sum.dim_IntList(" in text and ': "f32[2]"' in text
    assert "No stacktrace found" in text


def test_source_lines_are_those_of_the_user():
    x = torch.ones(2, 3)
    with lazy.source_lines():
        device = x.to("xla")
        model = torch.nn.Linear(3, 4).to("xla")
        y, line = model(device), here()
        loss = torch.sin(y).sum()
        loss.backward()
        text = lazy.dump_ir([loss, model.weight.grad])
        stablehlo = lazy.get_stablehlo([loss])
    file, number = line.split(" in ")[0].rsplit(":", 1)
    assert f"# File: {line}, code: y, line = model(device), here()" in text
    assert f"# File: {file}:{int(number) + 1} in test_source_lines_are_those_of_the_user" in text
    assert re.search(rf"{re.escape(file)}:{number} in \w+ \(its gradient\)", text), text
    assert f'loc("{file}":{number}:0)' in stablehlo
    assert "loc(" not in lazy.get_stablehlo([torch.cos(device)])


def test_source_lines_of_several_threads():
    x, found = torch.ones(2).to("xla"), []

    def trace():
        for _ in range(50):
            y = torch.sin(x) + 1
            found.append("in trace, code: y = torch.sin(x) + 1" in lazy.dump_ir([y]))

    with lazy.source_lines():
        threads = [threading.Thread(target=trace) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 200 and all(found)


def test_a_changed_shape_is_explained_once_with_both_lines():
    def step(rows):
        x = torch.ones(rows, 3).to("xla")
        y = torch.sin(x)
        return (y * 2).sum().item()

    with lazy.source_lines():
        step(4), step(4)
        assert lazy.explain_recompilations() == ""
        step(5)
    text = lazy.explain_recompilations()
    assert "Graph 2 (3 nodes) was compiled, although graph 1 (3 nodes) is like it:" in text
    assert "1. argument 'self': f32[5, 3], before f32[4, 3]" in text and "2." not in text
    assert text.count(f"{__file__}:{step.__code__.co_firstlineno + 2} in step: y = torch.sin(x)") == 2
    assert text in lazy.metrics_report()


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        (
            lambda x: x.sin().exp().sum(),
            lambda x: x.cos().exp().sum(),
            "the op: aten.cos.default, before aten.sin",
        ),
        (lambda x: x.sin().sum(0), lambda x: x.sin().sum(1), "argument 'dim': [1], before [0]"),
        (lambda x: x.sin() * 3, lambda x: x.sin() * 1, "argument 'other': 1, before an array of f32[]"),
        (lambda x: x.sin().exp(), lambda x: x.sin().exp().abs(), "another op: aten.abs.default"),
        (lambda x: x.sin().exp().abs(), lambda x: x.sin().abs(), "an op is missing: aten.exp.default"),
        (
            lambda x: x.sin() * x.cos(),
            lambda x: (y := x.sin()) * x.cos() + y,
            "1. the number of users of its result: 2, before 1",
        ),
        (lambda x: x.exp().sum(), lambda x: x.exp().double().sum(), "another op: aten._to_copy.default"),
    ],
)
def test_what_differs_is_named(first, second, difference):
    x = fresh()
    for function in (first, second):
        function(x).cpu()
    text = lazy.explain_recompilations()
    assert difference in text, text


def test_a_result_that_is_kept_is_a_difference():
    x = fresh()
    y = x.sin()
    y.exp().cpu()
    x.sin().exp().cpu()
    del y
    assert "no tensor shows its result, before one did" in lazy.explain_recompilations()


def test_operands_that_are_shared_in_another_way_are_a_difference():
    a = fresh()
    b = a.cpu().to("xla")
    (a * b).exp().cpu()
    (a * a).exp().cpu()
    assert "which is shared in another way" in lazy.explain_recompilations()


def test_graphs_that_are_not_alike_are_not_explained():
    x = fresh()
    x.sin().cpu()
    x.exp().abs().cos().cpu()
    assert lazy.explain_recompilations() == ""


def test_without_lines_the_explanation_says_how_to_get_them():
    for _ in range(2):
        fresh().sin().cpu()
    assert "TORCHERE_LAZY_SOURCE_LINES=1" in lazy.explain_recompilations()


def test_compiled_graphs_are_written_to_a_folder(tmp_path):
    lazy.dump_graphs(tmp_path / "graphs")
    try:
        with lazy.source_lines():
            torch.sin(torch.ones(7).to("xla")).cpu()
    finally:
        lazy.dump_graphs(None)
    torch.cos(torch.ones(7).to("xla")).cpu()
    names = sorted(path.name for path in (tmp_path / "graphs").iterdir())
    assert names == [f"graph_{os.getpid()}_0001.mlir", f"graph_{os.getpid()}_0001.txt"]
    module, program = ((tmp_path / "graphs" / name).read_text() for name in names)
    assert "stablehlo.sine" in module and f'loc("{__file__}":' in module
    assert "torch.ops.aten.sin.default" in program and f"# File: {__file__}:" in program


def test_variables_set_the_folder_and_the_lines(tmp_path):
    code = "import torch, torchere.lazy\ntorch.sin(torch.ones(2).to('xla')).cpu()"
    script = tmp_path / "step.py"
    script.write_text(code)
    variables = {"TORCHERE_LAZY_DUMP": str(tmp_path / "out"), "TORCHERE_LAZY_SOURCE_LINES": "1"}
    subprocess.run([sys.executable, script], env={**os.environ, **variables}, check=True)
    (text,) = (tmp_path / "out").glob("*.txt")
    assert f"# File: {script}:2 in <module>, code: torch.sin" in text.read_text()


def test_metrics_report_has_times_percentiles_and_counters():
    torch.unique(torch.sin(fresh()), dim=0)
    report = lazy.metrics_report()
    for metric in ("CompileTime", "LowerTime", "SyncTime", "TransferToDeviceTime", "TransferFromDeviceTime"):
        section = report.split(f"Metric: {metric}\n")[1].split("Metric: ")[0]
        assert re.search(r"TotalSamples: \d+\n +Accumulator: .*s\n", section)
        assert "Percentiles: 1%=" in section and "99%=" in section
    assert re.search(r"Counter: xla::sin\n +Value: 1\n", report)
    assert re.search(r"Counter: aten::unique_dim\n +Value: 1\n", report)
    assert lazy.executed_fallback_ops() == ["aten::unique_dim"]


def test_short_report_has_what_is_asked_for_and_the_fallbacks():
    torch.unique(torch.sin(fresh()), dim=0)
    report = lazy.short_metrics_report()
    assert "Metric: CompileTime" in report and "Counter: aten::unique_dim" in report
    assert "Counter: xla::sin" not in report and "SyncTime" not in report
    chosen = lazy.short_metrics_report(counter_names=["xla::sin"], metric_names=["SyncTime"])
    assert "Counter: xla::sin" in chosen and "Metric: SyncTime" in chosen and "CompileTime" not in chosen


def test_data_of_a_metric():
    torch.ones(256).to("xla").cpu()
    count, total, samples = lazy.metric_data("OutboundData")
    assert (count, total) == (1, 1024.0) and samples[0][1] == 1024.0
    assert "OutboundData" in lazy.metric_names() and lazy.metric_data("no such") is None
    lazy.reset_metrics()
    assert not lazy.metric_data("OutboundData") or lazy.metric_data("OutboundData")[0] == 0


def test_steps_are_ranges_of_the_profiler():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(2):
            torch.sin(torch.full((1, 11), 0.5).to("xla")).cpu()
    counts = {event.key: event.count for event in profile.key_averages()}
    assert counts["lazy::sync"] == 2 and counts["lazy::lower"] == counts["lazy::compile"] == 1
    assert counts["lazy::transfer_from_device"] == 2 and counts["lazy::transfer_to_device"] >= 2
    assert counts["lazy::execute"] >= 1
