"""The bounds that the project promises, measured by the programs in bench/, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

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
