"""A deliberately wrong lowering: programs get another StableHLO module than the core makes. In a process of
its own: python wrong_lowering.py SCRIPT OLD NEW [WHERE] runs a script with it."""

import contextlib
import runpy
import sys
from collections.abc import Iterator

from torchere import _core

make_bundle = _core.make_bundle


@contextlib.contextmanager
def wrong(old: str, new: str, where: str = "") -> Iterator[None]:
    """In it, `old` in a module's text is replaced by `new`, if `where` is in the text as well."""

    def altered(programs, has_weights=True, target_version=None):
        made = make_bundle(programs, has_weights, target_version)
        functions = []
        for name in made.functions:
            text = made.text(name)
            text = text.replace(old, new) if where in text else text
            module = _core.serialize_portable_artifact(_core.Module.parse(text), target_version)
            functions.append(_core.FunctionParts(made.signature(name), module))
        return _core.restore_bundle(functions, made.weight_parts(), made.constant_parts(), made.has_weights)

    _core.make_bundle = altered
    try:
        yield
    finally:
        _core.make_bundle = make_bundle


if __name__ == "__main__":
    script, *replacement = sys.argv[1:]
    with wrong(*replacement):
        runpy.run_path(script, run_name="__main__")
