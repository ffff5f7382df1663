"""Trees of arguments and results (torch calls them pytrees) as JSON, so that a saved program needs no torch
to read them: flattening and rebuilding by that JSON, and the JSON of a torch TreeSpec.

The JSON comes from a file that is not trusted: no name in it is imported, and only classes that the caller
passes in are called."""

from __future__ import annotations

import collections
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torchere.arguments import cut, shown
from torchere.errors import InvalidArgumentError, UnimplementedError

LEAF: dict[str, Any] = {"kind": "leaf"}

# The classes that may be rebuilt, by the names that trees have for them.
Classes = Mapping[str, type]

# What a defaultdict of a file may make its missing values with, beside the classes that the caller allows.
_FACTORIES: Classes = {
    f"builtins.{cls.__name__}": cls for cls in (bool, dict, float, int, list, set, str, tuple)
}


def type_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def name_classes(classes: Iterable[type]) -> Classes:
    """The classes that a caller allows to be rebuilt, by name."""
    named = {}
    for cls in classes:
        if not isinstance(cls, type):
            raise InvalidArgumentError(f"[classes] wrong kind of element: got {shown(cls)}, expected a class")
        named[type_name(cls)] = cls
    return named


def children_of(spec: Any) -> list[Any]:
    """The children of a torch.utils._pytree.TreeSpec: a method since 2.10, which deprecates the attribute."""
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
        factory, keys = context
        described = {"kind": "dict", "type": type_name(cls), "keys": check_keys(keys), "children": children}
        return described | ({"factory": type_name(factory)} if isinstance(factory, type) else {})
    if cls is collections.namedtuple:  # the context is the class
        keys = list(context._fields)
        return {"kind": "namedtuple", "type": type_name(context), "keys": keys, "children": children}
    described = {
        "kind": "custom",
        "type": type_name(cls),
        **_dump_context(cls, context),
        "children": children,
    }
    if issubclass(cls, list):
        return described | {"kind": "list"}
    keys = _field_names(context, len(children))
    if keys is not None:
        absent = _absent_names(cls, context, keys)
        described |= {"kind": "dict" if issubclass(cls, dict) else "custom", "keys": keys + absent}
        children.extend({"kind": "none"} for _ in absent)
    return described


def _dump_context(cls: type, context: Any) -> dict[str, Any]:
    """The context of the class's registration with torch, as torch writes it."""
    import torch.utils._pytree as pytree

    registered = pytree.SUPPORTED_SERIALIZED_TYPES.get(cls)
    try:
        if registered is not None and registered.to_dumpable_context is not None:
            dumped = registered.to_dumpable_context(context)
            json.dumps(dumped)
            return {"context": dumped}
        return {"context": json.dumps(context)}
    except (NotImplementedError, TypeError, ValueError):
        return {}


def check_keys(keys: list[Any]) -> list[Any]:
    for key in keys:
        if not isinstance(key, str | int | float | bool | type(None)):
            raise UnimplementedError(
                f"[pytree] unsupported key of a dict: got {shown(key)}, expected a string, a number, a bool "
                "or None"
            )
    return list(keys)


def _field_names(context: Any, count: int) -> list[str] | None:
    """The names of a custom node's children, if its context contains them (dataclasses, ModelOutput)."""
    candidates = context if isinstance(context, list | tuple) else [context]
    for candidate in [context, *candidates]:
        names = list(candidate) if isinstance(candidate, list | tuple) else None
        if names is not None and len(names) == count and all(isinstance(name, str) for name in names):
            return names
    return None


def _absent_names(cls: type, context: Any, keys: list[str]) -> list[str]:
    """The fields of a dataclass that were None, which torch leaves out of the children and names after
    those: [names, names of None]."""
    if not dataclasses.is_dataclass(cls) or not isinstance(context, list | tuple) or len(context) != 2:
        return []
    present, absent = context
    is_of_torch = list(present) == keys and isinstance(absent, list | tuple)
    fields = {field.name for field in dataclasses.fields(cls)}
    return [name for name in absent if name in fields] if is_of_torch else []


def dump_spec(spec: Any) -> tuple[str, str]:
    """(torch's text, or "" when torch cannot write it; the JSON form)."""
    import torch.utils._pytree as pytree

    try:
        text = pytree.treespec_dumps(spec)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        text = ""
    return text, json.dumps(describe_spec(spec))


def leaf_count(tree: dict[str, Any]) -> int:
    return 1 if tree["kind"] == "leaf" else sum(map(leaf_count, tree.get("children", ())))


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
        parts = zip(keys, children, strict=True)
        values = _registered_fields(tree, value) or [
            _field(value, key, path, is_none=child["kind"] == "none") for key, child in parts
        ]
        return [f".{key}" for key in keys], children, values
    return _registered_parts(tree, value, path)


def _field(value: Any, key: str, path: str, is_none: bool) -> Any:
    """A field of an object, by a name from a file: only data, never Python's own attributes. One that has
    to be None may be absent."""
    try:
        if isinstance(value, dict):
            return value[key]
        if not key.startswith("__"):
            return getattr(value, key)
    except (AttributeError, KeyError):
        if is_none:
            return None
    raise _mismatch(path, value, f"something with {key!r}")


def _registered_fields(tree: dict[str, Any], value: Any) -> list[Any] | None:
    """The children of an object of the tree's own class, as it is registered with torch: not every name of a
    registration is that of an attribute. None if the class is not registered or gives other names."""
    node = _registered("SUPPORTED_NODES", type(value))
    if node is None or tree.get("type") != type_name(type(value)):
        return None
    values, context = node.flatten_fn(value)
    values = list(values)
    return values if _field_names(context, len(values)) == tree["keys"] else None


def _registered_parts(tree: dict[str, Any], value: Any, path: str) -> tuple[list[str], list[Any], list[Any]]:
    """A custom node without names: flattened as registered with torch for its class."""
    node = _registered("SUPPORTED_NODES", type(value))
    if node is None:
        raise _mismatch(path, value, f"a {tree['type']}")
    values, _ = node.flatten_fn(value)
    if len(values) != len(tree["children"]):
        raise _mismatch(path, f"{len(values)} parts", f"{len(tree['children'])}")
    return [f"[{i}]" for i in range(len(values))], tree["children"], list(values)


def _mismatch(path: str, got: Any, expected: str) -> InvalidArgumentError:
    text = got if isinstance(got, str) else repr(got) if isinstance(got, list) else type(got).__name__
    return InvalidArgumentError(
        f"[{path}] another structure than the program's: got {cut(text)}, expected {expected}"
    )


def _registered(table: str, cls: type) -> Any:
    """A class's entry in a table of torch's pytrees; None if there is none or torch was not imported."""
    pytree = sys.modules.get("torch.utils._pytree")
    return None if pytree is None else getattr(pytree, table).get(cls)


def unflatten(tree: dict[str, Any], leaves: list[Any], classes: Classes | None = None) -> Any:
    """The value with the structure of `tree` and these leaves. Named tuples and custom classes are rebuilt
    if `classes` contains them, else they become a plain tuple and a dict (or tuple)."""
    remaining = iter(leaves)
    value = _build(tree, remaining, classes or {}, "result")
    if next(remaining, remaining) is not remaining:
        raise InvalidArgumentError("[pytree] more leaves than the tree has")
    return value


def _build(tree: dict[str, Any], leaves: Iterator[Any], classes: Classes, path: str) -> Any:
    kind = tree["kind"]
    if kind == "leaf":
        return next(leaves)
    if kind == "none":
        return None
    keys = tree.get("keys")
    steps = range(len(tree["children"])) if keys is None else keys
    parts = zip(tree["children"], steps, strict=True)
    children = [_build(child, leaves, classes, f"{path}[{step!r}]") for child, step in parts]
    if tree.get("type") in _STANDARD_CONTAINERS:
        return _standard_container(tree, children, classes)
    if (cls := classes.get(tree.get("type", ""))) is not None:
        return _rebuild(tree, cls, children, path)
    if kind == "list":
        return children
    if keys is None or kind in ("tuple", "namedtuple"):
        return tuple(children)
    return dict(zip(keys, children, strict=True))


_STANDARD_CONTAINERS = {type_name(cls) for cls in (collections.OrderedDict, collections.defaultdict)} | {
    type_name(collections.deque)
}


def _standard_container(tree: dict[str, Any], children: list[Any], classes: Classes) -> Any:
    """Those of Python's own library are rebuilt without leave: making one runs nobody's code."""
    keys = tree.get("keys")
    if keys is None:
        context = tree.get("context")
        has_bound = isinstance(context, str) and context.isdecimal() and len(context) < 10
        return collections.deque(children, int(context) if has_bound else None)
    items = dict(zip(keys, children, strict=True))
    if tree["type"] == "collections.OrderedDict":
        return collections.OrderedDict(items)
    name = tree.get("factory", "")
    return collections.defaultdict(classes.get(name, _FACTORIES.get(name)), items)


def _rebuild(tree: dict[str, Any], cls: type, children: list[Any], path: str) -> Any:
    """An object of a class that the caller allows: built as registered with torch, otherwise by keyword."""
    name, keys = tree["type"], tree.get("keys")
    node = _registered("SUPPORTED_NODES", cls)
    try:
        if node is not None and "context" in tree:
            serialized = _registered("SUPPORTED_SERIALIZED_TYPES", cls)
            # Not by torch.utils._pytree.treespec_loads, which imports the modules of enums that a file names.
            read = getattr(serialized, "from_dumpable_context", None) or json.loads
            kinds = [child["kind"] for child in tree["children"]]
            given = [child for child, kind in zip(children, kinds, strict=True) if kind != "none"]
            return node.unflatten_fn(given, read(tree["context"]))
        if keys is not None and all(isinstance(key, str) for key in keys):
            return cls(**dict(zip(keys, children, strict=True)))
        if keys is not None:
            return cls(dict(zip(keys, children, strict=True)))
        if tree["kind"] in ("namedtuple", "list"):
            return cls(*children) if tree["kind"] == "namedtuple" else cls(children)
    except Exception as error:  # whatever the class raises
        raise InvalidArgumentError(
            f"[{path}] {name} cannot be rebuilt: got {type(error).__name__}: {error}"
        ) from error
    raise InvalidArgumentError(
        f"[{path}] {name} cannot be rebuilt: got no names of fields, expected them or a class that is "
        "registered with torch.utils._pytree"
    )
