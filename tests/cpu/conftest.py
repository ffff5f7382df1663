"""The CPU engine in a process of its own, for the tests that compare many modules with the interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import torchere

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interpreter"))


@pytest.fixture(scope="module")
def engine():
    """Runs each module from an executable that was stored and loaded, too: the bits must be the same."""
    pytest.importorskip("jaxlib")
    import xla

    library = Path(torchere.__file__).parent / "lib" / "libtorchere_cpu.so"
    environment = {
        "JAX_PLATFORMS": "torchere_cpu",
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{library}",
        xla.STORED: "1",
    }
    plugin = xla.Plugin(platform="torchere_cpu", environment=environment)
    yield plugin
    plugin.close()
