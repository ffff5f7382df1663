"""The time that an export adds to torch.export's own.

Seconds are of the process's CPU time: what is measured runs in one thread, and other programs do not count.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "models"))
import torchvision_schemas  # noqa: F401  before torchvision, which transformers imports

# isort: split
import torchere

#: The steps of program.timings that are not torch.export's.
OURS = ("walk", "expand", "functionalize", "run_decompositions", "lower", "verify")


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    result = call()
    return result, time.process_time() - begin


def ours(exported: torch.export.ExportedProgram) -> tuple[torchere.StableHLOProgram, float]:
    """The program, and the seconds of all that we do."""
    return timed(lambda: torchere.export(exported))
