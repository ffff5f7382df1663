"""A deliberately wrong lowering: programs get another StableHLO module than the core makes; or a wrong
functional form, which loses writes. In a process of its own: python wrong_lowering.py SCRIPT OLD NEW [WHERE],
or SCRIPT OP, runs a script with it."""

import contextlib
import copy
import runpy
import sys
import warnings
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


@contextlib.contextmanager
def losing(op: str) -> Iterator[None]:
    """In it, calls of an op that writes, such as "aten.mul_.Tensor", are left out of programs."""
    from torchere import exporting

    capture = exporting.capture

    def incomplete(exported, *args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # torch's own, of its trees
            exported = copy.deepcopy(exported)
        for node in list(exported.graph.nodes):
            if node.op == "call_function" and str(node.target) == op:
                node.replace_all_uses_with(node.args[0])
                exported.graph.erase_node(node)
        return capture(exported, *args, **kwargs)

    exporting.capture = incomplete
    try:
        yield
    finally:
        exporting.capture = capture


if __name__ == "__main__":
    script, *replacement = sys.argv[1:]
    with wrong(*replacement) if len(replacement) > 1 else losing(*replacement):
        runpy.run_path(script, run_name="__main__")
