"""Programs as plain data for pickle: what the files of a saved program hold, and the present state.
Unpickling checks them as loading does. The classes of the program's results are pickled by name, as pickle
does with all classes."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from torchere import _core
from torchere.arrays import as_array, has_torch, weight_tensor
from torchere.trees import children_of

if TYPE_CHECKING:
    from torchere.program import StableHLOProgram


def parts_of(program: StableHLOProgram) -> dict[str, Any]:
    target = program._target_version
    bundle, present, names = program._with_changes()
    return {
        "functions": [(bundle.signature(name), bundle.bytecode(name, target)) for name in bundle.functions],
        "weights": bundle.weight_parts(),
        "constants": bundle.constant_parts(),
        "has_weights": bundle.has_weights,
        "state": [present.weight(name).parts for name in names],
        "classes": _classes_of(program),
        "target_version": target,
        "timings": program.timings,
    }


def program_of(cls: type[StableHLOProgram], parts: dict[str, Any]) -> StableHLOProgram:
    functions = [_core.FunctionParts(*part) for part in parts["functions"]]
    bundle = _core.restore_bundle(functions, parts["weights"], parts["constants"], parts["has_weights"])
    program = cls(
        bundle,
        timings=parts["timings"],
        target_version=parts["target_version"],
        classes=parts["classes"],
    )
    read = weight_tensor if has_torch() else as_array
    program._waiting = {name: read(_core.Weight(name, *part)) for name, *part in parts["state"]}
    return program


def _classes_of(program: StableHLOProgram) -> list[type]:
    """The classes of the program's results that are not Python's own."""
    found: dict[type, None] = {}
    for convention in program._conventions.values():
        found |= dict.fromkeys((convention.classes or {}).values())
        if convention.output_spec is not None:
            _add_classes(convention.output_spec, found)
    return list(found)


def _add_classes(spec: Any, found: dict[type, None]) -> None:
    if spec.is_leaf():
        return
    cls, context = spec.type, spec.context
    if cls is collections.namedtuple:  # the context is the class
        cls = context
    elif cls is collections.defaultdict:  # the context begins with the factory
        cls = context[0]
    if isinstance(cls, type) and cls.__module__ not in ("builtins", "collections"):
        found[cls] = None
    for child in children_of(spec):
        _add_classes(child, found)
