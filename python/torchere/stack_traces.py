"""Stack traces of captured ops that include all of the user's functions. torch keeps only the lines of
functions called `forward`."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

_lock = threading.Lock()
_captures = 0  # that run at this time
_torchs_filter: Any = None
_TOLD_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')


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
    called_by_users = os.path.join(own_folder, "experimental", "")
    names = [frame.filename for frame in frames]
    is_own = [name.startswith(own_folder) and not name.startswith(called_by_users) for name in names]
    last = max((i for i, own in enumerate(is_own) if own), default=-1)
    others = (torch_folder, called_by_users, "<")  # generated code has names such as "<string>"
    return traceback.StackSummary.from_list(
        frame
        for i, frame in enumerate(frames)
        if id(frame) in kept or (i > last and not frame.filename.startswith(others))
    )


def user_place(error: BaseException) -> str:
    """The user's line that an exception passed through last, among those that a capture ran: "model.py:31".
    Empty when there is none."""
    frames = _user_frames(error)
    return f"{os.path.basename(frames[-1].file)}:{frames[-1].line}" if frames else ""


def user_module(error: BaseException, root: Any) -> str:
    """The path in `root` of the module whose code an exception passed through last: "encoder.layer.0"."""
    names = {id(module): name for name, module in root.named_modules()}
    path = ""
    for frame in _user_frames(error):
        if id(frame.owner) in names:
            path = names[id(frame.owner)]
        elif frame.owner is None:
            path = _only_module_at(frame, root, path)
    return path


class _Frame(NamedTuple):
    file: str
    line: int
    owner: Any  # its `self`; None where only torch tells of the frame


def _user_frames(error: BaseException) -> list[_Frame]:
    """The frames of the user's code below torchere's own; of code that torch interpreted (strict) and did not
    run, those that it tells of."""
    import torch

    own_folder, others = _folder(__file__), (_folder(torch.__file__), os.path.dirname(os.__file__), "<")
    run = [
        _Frame(frame.f_code.co_filename, line, frame.f_locals.get("self", ()))
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    while run and run[-1].file.startswith(own_folder):  # what raised it, if torch called that
        run.pop()
    last = max((i for i, frame in enumerate(run) if frame.file.startswith(own_folder)), default=-1)
    told = [_Frame(file, int(line), None) for file, line in _TOLD_FRAME.findall(str(error))]
    interpreted = [_Frame(frame.filename, frame.lineno, None) for frame in getattr(error, "real_stack", ())]
    for frames in (run[last + 1 :], told, interpreted):
        found = [frame for frame in frames if not frame.file.startswith((own_folder, *others))]
        if found:
            return found
    return []


def _only_module_at(frame: _Frame, root: Any, path: str) -> str:
    """The one module in that of `path` whose forward holds the line; `path` where there are several."""
    inside = [
        name
        for name, module in root.named_modules()
        if name.startswith(f"{path}." if path else "") and _holds(type(module).forward, frame)
    ]
    return inside[0] if len(inside) == 1 else path


def _holds(function: Any, frame: _Frame) -> bool:
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename != frame.file:
        return False
    return any(line == frame.line for _, _, line in code.co_lines())


def _folder(file: str) -> str:
    return os.path.dirname(file) + os.sep
