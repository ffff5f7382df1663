"""The corpus's modules by source, generated once a process and the same each time.

- lit: what the lit tests of the ops accept, one module for each part of a file;
- published: forms of published artifacts that upstream's verifier lets pass;
- jax_...: what jax lowers its functions to, by family;
- torch_...: what our exporter makes of small models and of the rows of the op table.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from case import Case

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "lit",
    "published",
    "jax_elementwise",
    "jax_arrays",
    "jax_contractions",
    "jax_control",
    "torch_models",
    "torch_rows",
)
# These need neither jax's tracing nor exports.
QUICK = ("lit", "published")
LIT = [path for each in ("stablehlo", "chlo") for path in sorted((ROOT / "tests/lit" / each).rglob("*.mlir"))]
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)


@functools.cache
def corpus(source: str) -> tuple[Case, ...]:
    """The modules of a source, or of all the families of "jax" or "torch", each text once."""
    families = [each for each in SOURCES if each.startswith(f"{source}_")]
    found = (case for family in families for case in corpus(family)) if families else _cases(source)
    cases: dict[str, Case] = {}
    for case in found:
        cases.setdefault(case.text, case)
    return tuple(cases.values())


def _cases(source: str) -> Iterator[Case]:
    if source == "lit":
        # A part that shows where upstream's printer loses something cannot agree with it.
        yield from (case for case in lit_parts(valid=True) if "// Upstream prints" not in case.text)
    elif source == "published":
        import published

        yield from published.cases()
    elif source.startswith("jax_"):
        from jax_lowering import lowering

        with lowering():
            yield from importlib.import_module(source).cases()
    else:
        import torch_modules

        yield from getattr(torch_modules, source.removeprefix("torch_"))()


def lit_parts(*, valid: bool) -> Iterator[Case]:
    """The parts of the ops' lit tests that expect no error, or those that do, without what they expect."""
    for path in LIT:
        for number, part in enumerate(SPLIT.split(path.read_text())):
            if ("expected-error" not in part) == valid:
                text = part if valid else COMMENT.sub("", part)
                yield Case("lit", f"{path.parent.name}.{path.stem}/{number}", text)
