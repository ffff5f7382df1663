"""Stack traces of captured ops that include all of the user's functions. torch keeps only the lines of
functions called `forward`."""

from __future__ import annotations

import contextlib
import os
import threading
import traceback
from collections.abc import Iterator
from typing import Any

_lock = threading.Lock()
_captures = 0  # that run at this time
_torchs_filter: Any = None


@contextlib.contextmanager
def user_stack_traces() -> Iterator[None]:
    """A context in which captures keep the user's frames. If torch has no frame filter, its
    traces are unchanged."""
    from torch.fx.proxy import TracerBase

    global _captures, _torchs_filter
    with _lock:
        _captures += 1
        if _captures == 1:
            _torchs_filter = getattr(TracerBase, "_filter_traceback_frames", None)
            if _torchs_filter is not None:
                TracerBase._filter_traceback_frames = _keep_user_frames
    try:
        yield
    finally:
        with _lock:
            _captures -= 1
            if _captures == 0 and _torchs_filter is not None:
                TracerBase._filter_traceback_frames = _torchs_filter


def _keep_user_frames(tracer: Any, frames: traceback.StackSummary) -> traceback.StackSummary:
    """The frames that torch keeps, and those of other functions below torchere's own."""
    import torch

    kept = {id(frame) for frame in _torchs_filter(tracer, frames)}
    torch_folder, own_folder = _folder(torch.__file__), _folder(__file__)
    last = max((i for i, frame in enumerate(frames) if frame.filename.startswith(own_folder)), default=-1)
    others = (torch_folder, "<")  # generated code has names such as "<string>"
    return traceback.StackSummary.from_list(
        frame
        for i, frame in enumerate(frames)
        if id(frame) in kept or (i > last and not frame.filename.startswith(others))
    )


def user_place(error: BaseException) -> str:
    """The innermost of the user's lines in an exception's traceback, among those that a capture ran:
    "model.py:31". Empty if there is none."""
    import torch

    frames = traceback.extract_tb(error.__traceback__)
    own_folder, others = _folder(__file__), (_folder(torch.__file__), os.path.dirname(os.__file__), "<")
    last = max((i for i, frame in enumerate(frames) if frame.filename.startswith(own_folder)), default=-1)
    places = [
        f"{os.path.basename(frame.filename)}:{frame.lineno}"
        for frame in frames[last + 1 :]
        if not frame.filename.startswith(others)
    ]
    return places[-1] if places else ""


def _folder(file: str) -> str:
    return os.path.dirname(file) + os.sep
