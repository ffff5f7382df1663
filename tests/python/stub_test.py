"""The stub of torchere._core says what the extension has: a change of the bindings shows in a diff."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torchere

STUB = Path(torchere.__file__).with_name("_core.pyi")
COMMAND = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "torchere._core", "-o"]


def test_the_stub_is_that_of_the_extension(tmp_path):
    generated = tmp_path / "_core.pyi"
    subprocess.run([*COMMAND, str(generated)], check=True)
    assert STUB.read_text() == generated.read_text(), (
        "the bindings have changed: python -m nanobind.stubgen -m torchere._core -o python/torchere/_core.pyi"
    )
