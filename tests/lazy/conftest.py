"""Tests of the lazy device, which `python -m torchere.lazy build` builds; without it they fail at import."""

import sys
from pathlib import Path

import pytest

# The samples of the op table serve here too; the modules beside the tests import each other by name.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "ops")]


@pytest.fixture(autouse=True)
def _counters_from_zero():
    from torchere import lazy

    lazy.reset_counters()
