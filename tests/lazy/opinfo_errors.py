"""OpInfo's error inputs: calls that the CPU refuses, and whether the device does, at line or sync."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opinfo_calls import moved, title
from samples import tensors_of
from torch.testing._internal.opinfo.core import OpInfo

from torchere import lazy

# More take the interpreter minutes: multinomial has a bound of 2 ** 24 categories, which the device has not.
MOST_ELEMENTS = 2**20


def outcomes(op: OpInfo) -> Iterator[dict[str, Any]]:
    if op.error_inputs_func is None:
        return
    for error in op.error_inputs("cpu"):
        if _size(error.sample_input) > MOST_ELEMENTS or not _raises(op, error.sample_input, "cpu"):
            continue
        lazy.reset_counters()
        raised = _raises(op, error.sample_input, "xla")
        yield {
            "op": title(op),
            "form": "error",
            "dtype": "",
            "call": f"{title(op)}: {error.sample_input.summary()}"[:300],
            "problem": "" if raised else f"raises nothing, the CPU: {error.error_regex}"[:400],
            "fallbacks": sorted(name for name in lazy.counters() if name.startswith("aten::")),
            "reads": 0,
            "random": False,
        }


def _size(sample: Any) -> int:
    return max((tensor.numel() for tensor in tensors_of((sample.input, sample.args))), default=0)


def _raises(op: OpInfo, sample: Any, device: str) -> bool:
    try:
        given = moved(sample, device)
        for result in tensors_of(op(given.input, *given.args, **given.kwargs)):
            result.cpu()
    except Exception:
        return True
    return False
