"""Trees of arguments and results (torch calls them pytrees) as JSON, so that a saved program needs no torch
to read them: flattening and rebuilding by that JSON, and the JSON of a torch TreeSpec."""

from __future__ import annotations

import collections
import importlib
import json
from typing import Any

from torchere.errors import InvalidArgumentError, UnimplementedError

LEAF: dict[str, Any] = {"kind": "leaf"}


def type_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def children_of(spec: Any) -> list[Any]:
    """The children of a torch.utils._pytree.TreeSpec: a method since 2.10, which warns of the attribute."""
    return spec.children() if hasattr(spec, "children") else spec.children_specs


def describe_spec(spec: Any) -> dict[str, Any]:
    """The JSON form of a torch.utils._pytree.TreeSpec."""
    if spec.is_leaf():
        return dict(LEAF)
    children = [describe_spec(child) for child in children_of(spec)]
    cls, context = spec.type, spec.context
    if cls in (tuple, list):
        return {"kind": cls.__name__, "children": children}
    if cls is dict or cls is collections.OrderedDict:
        described = {"kind": "dict", "keys": check_keys(context), "children": children}
        return described if cls is dict else described | {"type": type_name(cls)}
    if cls is collections.defaultdict:
        return {"kind": "dict", "type": type_name(cls), "keys": check_keys(context[1]), "children": children}
    if isinstance(cls, type) and issubclass(cls, list):
        return {"kind": "list", "children": children}
    if isinstance(cls, type) and issubclass(cls, dict):
        return {"kind": "dict", "keys": check_keys(list(context)), "children": children}
    fields = getattr(context, "_fields", None)  # of a namedtuple the context is the class
    if fields is not None:
        return {"kind": "namedtuple", "type": type_name(context), "keys": list(fields), "children": children}
    described = {"kind": "custom", "type": type_name(cls), "children": children}
    keys = _field_names(context, len(children))
    return described | {"keys": keys} if keys is not None else described


def check_keys(keys: list[Any]) -> list[Any]:
    for key in keys:
        if not isinstance(key, str | int | float | bool | type(None)):
            raise UnimplementedError(
                f"[pytree] unsupported key of a dict: got {key!r}, expected a string, a number, a bool or "
                "None"
            )
    return list(keys)


def _field_names(context: Any, count: int) -> list[str] | None:
    """The names of a custom node's children, where its context says them (dataclasses, ModelOutput)."""
    candidates = context if isinstance(context, list | tuple) else [context]
    for candidate in [context, *candidates]:
        names = list(candidate) if isinstance(candidate, list | tuple) else None
        if names is not None and len(names) == count and all(isinstance(name, str) for name in names):
            return names
    return None


def dump_spec(spec: Any) -> tuple[str, str]:
    """(torch's text, or "" when torch cannot write it; the JSON form)."""
    import torch.utils._pytree as pytree

    try:
        text = pytree.treespec_dumps(spec)
    except (NotImplementedError, TypeError, ValueError):
        text = ""
    return text, json.dumps(describe_spec(spec))


def count_leaves(tree: dict[str, Any]) -> int:
    if tree["kind"] == "leaf":
        return 1
    return sum(count_leaves(child) for child in tree.get("children", []))


def flatten(tree: dict[str, Any], value: Any, path: str = "argument") -> list[Any]:
    """The leaves of `value`, which must have the structure of `tree`; errors name the place, which starts
    with `path`."""
    kind = tree["kind"]
    if kind == "leaf":
        return [value]
    if kind == "none":
        if value is not None:
            raise _mismatch(path, value, "None")
        return []
    leaves = []
    for step, child, part in zip(*_parts(tree, value, path), strict=True):
        leaves += flatten(child, part, path + step)
    return leaves


def _parts(tree: dict[str, Any], value: Any, path: str) -> tuple[list[str], list[Any], list[Any]]:
    """The steps to the children, the children's trees and their values."""
    kind, children = tree["kind"], tree["children"]
    if kind in ("tuple", "list") or (kind == "namedtuple" and isinstance(value, tuple)):
        if not isinstance(value, tuple | list | collections.deque) or (
            kind != "list" and isinstance(value, list)
        ):
            raise _mismatch(path, value, f"a {kind} of {len(children)}")
        if len(value) != len(children):
            raise _mismatch(path, f"{len(value)} items", f"{len(children)}")
        return [f"[{i}]" for i in range(len(children))], children, list(value)
    keys = tree.get("keys")
    if kind == "dict":
        if not isinstance(value, dict) or set(value) != set(keys):
            raise _mismatch(
                path, sorted(map(repr, value)) if isinstance(value, dict) else value, f"the keys {keys}"
            )
        return [f"[{key!r}]" for key in keys], children, [value[key] for key in keys]
    if keys is not None:
        values = [value[key] if isinstance(value, dict) else getattr(value, key, None) for key in keys]
        return [f".{key}" for key in keys], children, values
    return _registered_parts(tree, value, path)


def _registered_parts(tree: dict[str, Any], value: Any, path: str) -> tuple[list[str], list[Any], list[Any]]:
    """A custom node without names: flattened as its class is registered with torch."""
    import torch.utils._pytree as pytree

    node = pytree.SUPPORTED_NODES.get(type(value))
    if node is None:
        raise _mismatch(path, value, f"a {tree['type']}")
    values, _ = node.flatten_fn(value)
    if len(values) != len(tree["children"]):
        raise _mismatch(path, f"{len(values)} parts", f"{len(tree['children'])}")
    return [f"[{i}]" for i in range(len(values))], tree["children"], list(values)


def _mismatch(path: str, got: Any, expected: str) -> InvalidArgumentError:
    shown = got if isinstance(got, str) else (f"{got!r}" if isinstance(got, list) else type(got).__name__)
    return InvalidArgumentError(
        f"[{path}] another structure than the program's: got {shown}, expected {expected}"
    )


def unflatten(tree: dict[str, Any], leaves: list[Any]) -> Any:
    """The value with the structure of `tree` and these leaves. Named tuples and custom classes are rebuilt
    where their class can be imported, else as a plain tuple and a dict (or tuple)."""
    remaining = iter(leaves)
    value = _build(tree, remaining)
    if next(remaining, remaining) is not remaining:
        raise InvalidArgumentError("[pytree] more leaves than the tree has")
    return value


def _build(tree: dict[str, Any], leaves: Any) -> Any:
    kind = tree["kind"]
    if kind == "leaf":
        return next(leaves)
    if kind == "none":
        return None
    children = [_build(child, leaves) for child in tree["children"]]
    if kind in ("tuple", "list"):
        return tuple(children) if kind == "tuple" else children
    keys = tree.get("keys")
    if kind == "dict":
        items = dict(zip(keys, children, strict=True))
        return collections.OrderedDict(items) if tree.get("type") == "collections.OrderedDict" else items
    cls = _find_class(tree["type"])
    if cls is not None and keys is not None:
        return cls(**dict(zip(keys, children, strict=True)))
    if keys is not None and kind == "custom":
        return dict(zip(keys, children, strict=True))
    return tuple(children)


def _find_class(name: str) -> type | None:
    """The class of a dotted name if its module is imported or can be."""
    module, _, qualified = name.rpartition(".")
    try:
        found: Any = importlib.import_module(module)
        for part in qualified.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return found if isinstance(found, type) else None
