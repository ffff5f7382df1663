"""Programs that take gradients (torch.func, torch.autograd), which torch.export does not record as it is: it
traces above autograd. They are captured below it, where a gradient is ops like others."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Iterator
from typing import Any

from torchere.errors import CaptureError

# What torch.export says where a tensor of a gradient reached it that it does not know.
_FAILURES = re.compile(
    r"functorch|Cannot access data pointer|has no attribute 'constant'"
    r"|fake tensor in the exported program constant's list"
    r"|does not require grad and does not have a grad_fn|requires_grad_\(\)"
)

_lock = threading.Lock()
_captures = 0  # that run at this time
_capturing = threading.local()
_torchs_backward: Any = None


@contextlib.contextmanager
def backward_refused() -> Iterator[None]:
    """A context in which backward() fails in this thread. It stores gradients in `.grad`, where no capture
    follows them: a program would leave out what is done with them, such as an optimizer's step."""
    import torch

    global _captures, _torchs_backward
    with _lock:
        _captures += 1
        if _captures == 1:
            _torchs_backward = torch.autograd.backward
            torch.autograd.backward = _backward
    _capturing.depth = getattr(_capturing, "depth", 0) + 1
    try:
        yield
    finally:
        _capturing.depth -= 1
        with _lock:
            _captures -= 1
            if _captures == 0:
                torch.autograd.backward = _torchs_backward


def _backward(*args: Any, **kwargs: Any) -> None:
    if getattr(_capturing, "depth", 0):
        raise RuntimeError("backward() stores gradients in .grad")
    _torchs_backward(*args, **kwargs)


def may_take_gradients(error: Exception) -> bool:
    """Whether torch.export's failure is one of programs that take gradients."""
    return _FAILURES.search(f"{type(error).__name__}: {error}") is not None


def unknown_constant(exported_program: Any) -> str:
    """The name of a constant that is a tensor of a torch.func transform, without a value; "" if none is."""
    import torch

    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    constants = exported_program.constants.items()
    return next(
        (name for name, value in constants if isinstance(value, torch.Tensor) and is_wrapped(value)), ""
    )


def check_constants(exported_program: Any) -> None:
    """Refuses a program that torch.export captured with such constants: its results would not depend on what
    they were computed from."""
    name = unknown_constant(exported_program)
    if name:
        raise CaptureError(
            f"[{name}] torch.export took a tensor of a torch.func transform (grad, vjp, jacrev) for a "
            "constant: got no value, expected what the program computes",
            advice="torchere.export on the module, without strict=True, captures such programs",
        )


def capture_below_autograd(module: Any, args: Any, kwargs: Any, dynamic_shapes: Any) -> Any:
    """What torch.export.export returns, of the ops that run below autograd, those of gradients among them.
    Results need no gradient."""
    from torch.export import _trace

    with _detached_results(module):
        return _trace._export(
            module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False, pre_dispatch=False
        )


@contextlib.contextmanager
def _detached_results(module: Any) -> Iterator[None]:
    """A context in which the module runs with gradients, as in eager mode, and returns results without."""
    import torch
    import torch.utils._pytree as pytree

    original = module.forward

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        with torch.enable_grad():
            results = original(*args, **kwargs)
        return pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, results)

    own = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if own is None:
            del module.forward
        else:
            module.forward = own
