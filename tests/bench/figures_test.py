"""The bounds that the project promises, measured by the programs in bench/, each in a process of its own."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

NAN = float("nan")
BENCH = Path(__file__).resolve().parents[2] / "bench"

pytestmark = pytest.mark.slow


def evaluate(module, expression):
    """The value that `expression` over a program of bench/ has, as a float."""
    source = f"import sys; sys.path.insert(0, {str(BENCH)!r}); import {module}; print({expression})"
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return float(result.stdout.splitlines()[-1])


def test_lowering_resnet50_takes_under_0_3_seconds():
    best = evaluate("export_bench", "min(run['ours'] for run in export_bench.measure())")
    assert 0 < best < 0.3


def test_exporting_two_gigabytes_takes_under_a_tenth_of_them():
    ratio = evaluate("memory_bench", "memory_bench.measure().ratio")
    assert ratio < 0.1


def test_the_builder_bench_times_every_step():
    figures = "program_builder_bench.measure(1)"
    assert evaluate("program_builder_bench", f"len({figures})") == 2
    whole = evaluate(
        "program_builder_bench",
        "min(min(s['all']['best'] - s[step]['best'] for step in ('build', 'hash', 'drop')) "
        f"for s in {figures}.values())",
    )
    assert whole > 0


def test_the_start_bench_holds_a_second_process_against_a_first_and_a_bare_loop(on_xla):
    """XLA compiles for long, so a first call with a compiled program is the shorter one on any machine."""
    source = f"import sys, json; sys.path.insert(0, {str(BENCH)!r}); import start_bench; "
    source += "print(json.dumps(start_bench.measure('squeezenet1_1', 2)))"
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout.splitlines()[-1])
    assert set(figures) == {"cold", "warm", "bare"}
    assert figures["warm"]["first call"] < figures["cold"]["first call"]
    assert 0 < figures["bare"]["executable"] < figures["bare"]["first call"]
    assert all(run["beyond the plugin"] > 0 and run["median"] > 0 for run in figures.values())


def test_the_models_bench_writes_its_figures(tmp_path):
    """On a small model: that ours agrees with eager there, and what is made of the figures."""
    command = [sys.executable, BENCH / "models_bench.py", "--quick", "--output", tmp_path]
    command += ["--engines", "Torchère", "eager", "--exports", "Torchère"]
    command += ["--models", "mlp b32"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    figures = json.loads((tmp_path / "models.json").read_text())
    rows = [row for row in figures["models"] if "absent" not in row]
    assert rows
    for row in rows:
        ours = row["engines"]["Torchère"]
        assert ours["error"] <= 1e-4
        assert len(ours["rounds_ms"]) == figures["rounds"]
        assert row["flops"] > 0
        assert row["exports"]["Torchère"]["seconds"] > 0
        assert len(row["round_trip_ns"]) == 2  # None on one core
        assert all(trip is None or trip > 0 for trip in row["round_trip_ns"])
    table = (tmp_path / "models.md").read_text()
    assert all(f"\n| {row['model']} | " in table for row in rows)
    assert (tmp_path / "models.svg").read_text().count("<rect") >= 2 * len(rows)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        ([1.0, 2.001], [1.0, 2.0], r"differs from eager by 5\.0e-04"),
        ([NAN, 2.0], [1.0, 2.0], "differs from eager by nan"),
        ([0.0, 0.0], [0.0, 0.0], "no measure: its largest magnitude is 0"),
        ([1.0, 2.0], [1.0, NAN], "no measure: its largest magnitude is nan"),
    ],
)
def test_the_models_bench_times_nothing_that_is_wrong(monkeypatch, got, expected, message):
    monkeypatch.syspath_prepend(BENCH)
    models_bench = importlib.import_module("models_bench")
    with pytest.raises(ValueError, match=message):
        models_bench.distance(np.array(got), np.array(expected))
