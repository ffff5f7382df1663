"""Programs that take gradients (torch.func, torch.autograd), which torch.export does not record as it is: it
traces above autograd. They are captured below it, where a gradient is ops like others."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
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
    r"|sources must not be empty for symbol"  # of jvp, of an argument that is a view
)

# Steps of jvp that torch.export records as calls, and no decomposition resolves.
_FORWARD_GRADIENTS = {
    "_make_dual",
    "_unpack_dual",
    "_unwrap_for_grad",
    "_jvp_increment_nesting",
    "_enter_dual_level",
}

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


def keeps_transforms(exported_program: Any) -> bool:
    """Whether torch.export captured steps of forward gradients (jvp) in place of what they compute."""
    return any(
        getattr(node.target, "__module__", "") == "torch._functorch.predispatch"
        and getattr(node.target, "__name__", "") in _FORWARD_GRADIENTS
        for graph in exported_program.graph_module.modules()
        if hasattr(graph, "graph")
        for node in graph.graph.nodes
    )


def capture_below_autograd(module: Any, args: Any, kwargs: Any, dynamic_shapes: Any) -> Any:
    """What torch.export.export returns, of the ops that run below autograd, those of gradients among them.
    Results need no gradient."""
    from torch.export import _trace
    from torch.export._remove_effect_tokens_pass import _remove_effect_tokens

    args, kwargs = _without_views((args, kwargs))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_modules_apart(module))
        tied = _tied_weights(module)
        stack.enter_context(_untied(tied))
        stack.enter_context(_detached_results(module, tied))
        program = _trace._export(
            module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False, pre_dispatch=False
        )
    for first, others in tied:
        if first.path in program.state_dict:
            program.state_dict.update({other.path: program.state_dict[first.path] for other in others})
    return _remove_effect_tokens(program)  # which ops that may fail have, such as a Cholesky's check


def _without_views(arguments: Any) -> Any:
    """The arguments, with copies of views: torch knows no sizes of what a view was made of."""
    import torch
    import torch.utils._pytree as pytree

    def copied(tensor: Any) -> Any:
        if not tensor._is_view():
            return tensor
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)

    return pytree.tree_map_only(torch.Tensor, copied, arguments)


@contextlib.contextmanager
def transforms_restored() -> Iterator[None]:
    """A context behind which torch.func's transforms are those from before it, also where torch failed in one
    that it had begun: it leaves it there, and what follows would run in it."""
    import torch
    from torch._C._functorch import maybe_current_level, pop_dynamic_layer_stack
    from torch.autograd import forward_ad

    level = maybe_current_level() or 0
    try:
        yield
    finally:
        while (maybe_current_level() or 0) > level:
            pop_dynamic_layer_stack()
        # One more level of forward gradients is there only where torch failed in it: they do not nest.
        with contextlib.suppress(RuntimeError):
            torch._C._exit_dual_level(level=forward_ad._current_level + 1)


@contextlib.contextmanager
def _modules_apart(module: Any) -> Iterator[None]:
    """A context in which a module that has several places is another object at each of them but the first:
    its weights are then tied ones."""
    replaced: list[tuple[dict[str, Any], str, Any]] = []
    seen: set[int] = set()

    def visit(part: Any) -> None:
        seen.add(id(part))
        for name, child in part._modules.items():
            if child is not None and id(child) in seen:
                replaced.append((part._modules, name, child))
                child = part._modules[name] = copy.copy(child)
                for kept in ("_parameters", "_buffers", "_modules"):
                    child.__dict__[kept] = dict(child.__dict__[kept])
            if child is not None:
                visit(child)

    visit(module)
    try:
        yield
    finally:
        for holder, name, child in reversed(replaced):
            holder[name] = child


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a module holds a weight: its name, and the dict of one of its parts."""

    path: str
    holder: dict[str, Any]
    name: str


def _tied_weights(module: Any) -> list[tuple[_Place, list[_Place]]]:
    """The first place of each weight that has several, with the others."""
    places: dict[int, list[_Place]] = {}
    for path, part in module.named_modules():
        for holder in (part._parameters, part._buffers):
            for name, tensor in holder.items():
                if tensor is not None:
                    full = f"{path}.{name}" if path else name
                    places.setdefault(id(tensor), []).append(_Place(full, holder, name))
    return [(first, others) for first, *others in places.values() if others]


@contextlib.contextmanager
def _untied(tied: list[tuple[_Place, list[_Place]]]) -> Iterator[None]:
    """A context in which the other places hold tensors of their own, of the same type: torch takes no weight
    of two names that is written. forward() ties them again."""
    import torch

    for first, others in tied:
        tensor = first.holder[first.name]
        for other in others:
            stand_in: Any = torch.empty_like(tensor, requires_grad=tensor.requires_grad)
            if isinstance(tensor, torch.nn.Parameter):
                stand_in = torch.nn.Parameter(stand_in.detach(), requires_grad=tensor.requires_grad)
            other.holder[other.name] = stand_in
    try:
        yield
    finally:
        _tie(tied)


def _tie(tied: list[tuple[_Place, list[_Place]]]) -> None:
    for first, others in tied:
        for other in others:
            other.holder[other.name] = first.holder[first.name]


@contextlib.contextmanager
def _detached_results(module: Any, tied: list[tuple[_Place, list[_Place]]]) -> Iterator[None]:
    """A context in which the module runs with gradients, as in eager mode, and returns results without.
    Weights are tied, which torch traces with a tensor for each name."""
    import torch
    import torch.utils._pytree as pytree

    original = module.forward

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        _tie(tied)
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
