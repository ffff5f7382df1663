"""docs/model_coverage.md, from the results of architectures_test.py."""

from __future__ import annotations

import collections
from collections.abc import Iterable

from architecture import Architecture
from architecture_trial import STEPS

PROPERTY = "architecture"

HEAD = """# Model coverage

The architectures that `make test-models` exports: small configurations of torchvision, timm, transformers
and diffusers, with random weights. `make test-models` writes this page.

The steps are: *captured* by torch.export, *lowered* to StableHLO, *verified* by jaxlib's StableHLO, and
*equal* to eager PyTorch on XLA's CPU plugin, within 1e-4 of each output's largest magnitude, on other inputs
than those of the export. Where sizes depend on data, XLA refuses the call, and the interpreter runs it.
"""

Row = dict[str, str]


def describe(row: Architecture, step: str, reason: str) -> Row:
    return {"name": row.name, "library": row.library, "kind": row.kind, "step": step, "reason": reason}


def _share(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.1f}%)" if whole else str(count)


def _reached(rows: Iterable[Row], step: str) -> int:
    return sum(STEPS.index(row["step"]) >= STEPS.index(step) for row in rows)


def table(rows: list[Row]) -> str:
    """The page."""
    rows = sorted(rows, key=lambda row: (row["library"], row["kind"], row["name"]))
    captured = _reached(rows, "captured")
    equal = _share(_reached(rows, STEPS[-1]), captured)
    parts = [
        HEAD,
        f"Of {len(rows)} rows, torch.export captures {captured}; of those, {equal} come through all steps.\n",
        _by_kind(rows),
    ]
    short = [row for row in rows if row["step"] != STEPS[-1]]
    if short:
        parts.append(
            "## Those that fall short\n\n| model | library | kind | comes to | why |\n|---|---|---|---|---|"
        )
        parts += [
            f"| {row['name']} | {row['library']} | {row['kind']} | {row['step']} | {row['reason']} |"
            for row in short
        ]
        parts.append("")
    interpreted = [row for row in rows if row["step"] == STEPS[-1] and row["reason"]]
    if interpreted:
        parts.append(
            "## On the interpreter\n\n| model | library | kind | what depends on data |\n|---|---|---|---|"
        )
        parts += [
            f"| {row['name']} | {row['library']} | {row['kind']} | {row['reason']} |" for row in interpreted
        ]
        parts.append("")
    parts.append("## All rows\n\n| model | library | kind | comes to |\n|---|---|---|---|")
    parts += [f"| {row['name']} | {row['library']} | {row['kind']} | {row['step']} |" for row in rows]
    return "\n".join(parts) + "\n"


def _by_kind(rows: list[Row]) -> str:
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["library"], row["kind"]].append(row)
    lines = [
        "| library | kind | rows | captured | lowered | verified | equal |",
        "|---|---|---|---|---|---|---|",
    ]
    for (library, kind), group in groups.items():
        counts = " | ".join(str(_reached(group, step)) for step in STEPS[1:])
        lines.append(f"| {library} | {kind} | {len(group)} | {counts} |")
    return "\n".join(lines) + "\n"
