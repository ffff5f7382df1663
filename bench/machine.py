"""The machine that figures were measured on, with what it can do at most, measured too."""

from __future__ import annotations

import functools
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
    found = _measured("machine_peak.cpp", str(threads))
    return found or {"gigaflops": None, "gigabytes_per_second": None}


def measure_round_trip() -> float | None:
    """Nanoseconds of a cache line from one core to another and back, now. None on one core."""
    return _measured("round_trip.cpp")


def _measured(source: str, *arguments: str) -> Any:
    """What a program of bench/ prints; None where there is no compiler."""
    folder = _compiled(source)
    if not folder:
        return None
    command = [f"{folder.name}/{Path(source).stem}", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@functools.cache
def _compiled(source: str) -> tempfile.TemporaryDirectory[str] | None:
    """The folder with the program, as long as this process runs."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        return None
    path = Path(__file__).resolve().parent / source
    folder = tempfile.TemporaryDirectory()
    options = ["-std=c++20", "-O3", "-march=native", "-pthread"]
    subprocess.run([compiler, *options, path, "-o", f"{folder.name}/{path.stem}"], check=True)
    return folder
