"""What torch says of the nodes of its graphs, with the keys and in the form of torch.export's own files."""

from __future__ import annotations

import json
from typing import Any

from torchere import _core


def record_metadata(metadata: dict[str, str], name: str, meta: dict[str, Any]) -> None:
    """Adds what the core writes into the locations of a node's ops: by the node's name and stack trace, and
    for nodes that torch has not made, by the stack trace alone."""
    text = json.dumps(_fields(meta))
    trace = meta.get("stack_trace") or ""
    metadata[_core.metadata_key(name, trace)] = text
    if trace:
        metadata[_core.metadata_key("", trace)] = text


def _fields(meta: dict[str, Any]) -> dict[str, str]:
    fields = {}
    if stack := meta.get("nn_module_stack"):
        frames = [f"{key},{path},{_name_of(cls)}" for key, (path, cls) in stack.items()]
        fields["nn_module_stack"] = ";".join(frames)
    torch_fn = meta.get("torch_fn")
    if torch_fn:
        fields["torch_fn"] = ";".join(map(str, torch_fn))
    if sources := meta.get("source_fn_stack"):
        fields["source_fn_stack"] = ";".join(f"{name},{_name_of(target)}" for name, target in sources)
    elif torch_fn:  # a capture without strict=True records the function, and not where it was called
        name, function = torch_fn
        fields["source_fn_stack"] = f"{name},{function}"
    return fields


def _name_of(target: Any) -> str:
    """A class, function or op as torch writes it: "torch.nn.modules.linear.Linear"."""
    if isinstance(target, str):
        return target
    if type(target).__module__ == "torch._ops":
        return f"torch.ops.{target}"
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    return str(target) if name is None else f"{module}.{name}" if module else name
