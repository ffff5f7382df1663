"""The machine that figures were measured on, with what it can do at most, measured too."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "jaxlib", "onnxruntime", "openvino", "torchvision", "transformers")
QUIET = 1.0  # a load average from which on other work disturbs


def describe_machine(threads: int) -> dict[str, Any]:
    """Called before anything else runs, so that the load average is that of others."""
    load = os.getloadavg()[0]
    return {
        "processor": _processor(),
        "threads": threads,
        "load_before": round(load, 2),
        "quiet": load < QUIET,
        **_peak(threads),
        "python": platform.python_version(),
        "torchère": _version("torchere") or _built_version(),
        **{package: _version(package) for package in PACKAGES},
    }


def _processor() -> str:
    found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _built_version() -> str:
    import torchere

    return torchere.__version__


def _peak(threads: int) -> dict[str, float | None]:
    """What bench/machine_peak.cpp measures; nothing where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        return {"gigaflops": None, "gigabytes_per_second": None}
    source = Path(__file__).resolve().parent / "machine_peak.cpp"
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/machine_peak"
        options = ["-std=c++20", "-O3", "-march=native", "-pthread"]
        subprocess.run([compiler, *options, source, "-o", program], check=True)
        result = subprocess.run([program, str(threads)], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)
