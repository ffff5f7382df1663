"""What a failure of torch.export means, where in the user's model it happened, and what to do about it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from torchere.arrays import is_type_alone
from torchere.capture import plain_tensor
from torchere.errors import CaptureError, UnimplementedError
from torchere.stack_traces import user_module, user_place

# Lines of torch's that say nothing about the program.
_NOISE = re.compile(
    r"\s*(For (more|extended|C\+\+)|If you suspect|The error above occurred when|"
    r"The following call raised|Caused by: \(|File \"|User Stack|from user code|\(snipped)",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True)
class _Refusal:
    """A failure known by torch's text; the groups of `pattern` fill `meaning` and `advice`."""

    pattern: re.Pattern[str]
    meaning: str
    advice: str


_REFUSALS = (
    _Refusal(
        re.compile(
            r"(?:fake impl registered for <CustomOpDef\(|UnsupportedOperatorException: "
            r"|unsupported operator: )(?P<library>\w+)(?:::|\.)(?P<op>\w+)"
        ),
        "{library}::{op} has no fake kernel: expected a function that gives its results' shapes and dtypes",
        '@torch.library.register_fake("{library}::{op}") above a function of these arguments registers one',
    ),
    _Refusal(
        re.compile(r"guard on data-dependent expression (?P<got>.*?)(?: \(unhinted|\.  \(|$)", re.MULTILINE),
        "Python needs a value that only a call has: got {got}, expected a number or a size that is known",
        "choose with torch.where, or with torch.cond in place of `if`; keep a number as a tensor, without "
        "int(), float(), bool() or .item(); torch._check states what is known of a size",
    ),
    _Refusal(
        re.compile("Data-dependent branching"),
        "Python needs a value that only a call has: got a branch on a tensor, expected a number or a size "
        "that is known",
        "choose with torch.where, or with torch.cond in place of `if`",
    ),
    _Refusal(
        re.compile(
            r"You marked (?P<name>\S+) as dynamic but your code "
            r"specialized it to be a constant \((?P<n>\d+)\)"
        ),
        "dimension '{name}' is dynamic in dynamic_shapes, but the model takes it for one number: got {n}, "
        "expected any size",
        "write the model without that number (x.shape[0], or -1 in reshape), or leave '{name}' out of "
        "dynamic_shapes (strict=True names the line)",
    ),
    _Refusal(
        re.compile(r"inputs? (with )?type `?<class '(?P<type>[^']+)'>"),
        "an argument of a class that torch.export does not know: got {type}{argument}, expected tensors, "
        "numbers, strings, and tuples, lists and dicts of them",
        "torch.export.register_dataclass registers a dataclass of your own",
    ),
    _Refusal(
        re.compile(r"Found <class '(?P<result>[^']+)'> in output, which is not a known type"),
        "a result of a class that torch.export does not know: got {result}, expected tensors, numbers, "
        "strings, and tuples, lists and dicts of them",
        "torch.export.register_dataclass registers a dataclass of your own, "
        "torch.utils._pytree.register_pytree_node another class",
    ),
    _Refusal(
        re.compile(r"backward\(\) stores gradients in \.grad"),
        "a program cannot store gradients in .grad: got backward(), expected gradients as values",
        "torch.autograd.grad(loss, tensors) gives them; what an optimizer keeps belongs in buffers, which "
        "the program updates with ops",
    ),
    _Refusal(
        re.compile(r"Guard failed: (?P<relation>.*)"),
        "a captured program got arguments that it was not captured for: got others, expected {relation}",
        "capture it with dynamic_shapes, or capture the module with these arguments",
    ),
    _Refusal(
        re.compile(r"\.numpy\(\) is not supported"),
        "the model leaves torch for numpy: got Tensor.numpy(), expected ops of torch",
        "write it with torch's functions; with strict=True torch.export translates many of numpy's",
    ),
)


def capture_error(error: Exception, target: Any, module: Any, arguments: Any) -> Exception:
    """The exception to raise for `error`, which torch.export raised on `module`."""
    weight = _unreadable_weight(error, module)
    if weight is not None:
        return weight
    name = getattr(target, "__qualname__", type(target).__name__)
    place, path = user_place(error), user_module(error, module)
    where = f"{place} in {path}" if place and path else place or path
    meaning, advice = _explain(error, arguments)
    return CaptureError(
        f"[export] torch.export could not capture {name}: {meaning}", where=where, advice=advice
    )


def first_lines(error: BaseException, most: int = 12) -> str:
    """An exception's class and the first lines of its text that are about the program."""
    lines = [line for line in str(error).strip().splitlines() if line.strip() and not _NOISE.match(line)]
    text = "\n".join(lines[:most]) or "no message"
    return f"{type(error).__name__}: {text}"


def _explain(error: Exception, arguments: Any) -> tuple[str, str]:
    text = f"{type(error).__name__}: {error}"
    for refusal in _REFUSALS:
        found = refusal.pattern.search(text)
        if found:
            groups = found.groupdict()
            if "type" in groups:
                groups["argument"] = _argument_of(groups["type"], arguments)
            return refusal.meaning.format(**groups), refusal.advice.format(**groups)
    return first_lines(error), ""


def _argument_of(class_name: str, arguments: Any) -> str:
    """Which of (args, kwargs) is of the class: " at args[1]"."""
    import torch.utils._pytree as pytree

    for path, leaf in pytree.tree_flatten_with_path(arguments)[0]:
        if f"{type(leaf).__module__}.{type(leaf).__qualname__}" == class_name:
            return f" at {('args', 'kwargs')[path[0].idx]}{pytree.keystr(path[1:])}"
    return ""


def _unreadable_weight(error: Exception, module: Any) -> Exception | None:
    """The error of a weight that has no elements to read, where torch failed for its kind."""
    if not re.search("FakeTensorDeviceMismatch|UnsupportedFakeTensor", f"{type(error).__name__}: {error}"):
        return None
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if is_type_alone(tensor) and tensor.device.type != "meta":
            continue
        try:
            plain_tensor(name, tensor)
        except UnimplementedError as reason:
            return reason
    return None
