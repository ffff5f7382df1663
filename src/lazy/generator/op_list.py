"""The lists of ops: each row of the op table is in ops.yaml, or in not_on_device.yaml with a reason.

docs/lazy_ops.md is a table of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml
from table import COLUMNS, native_functions
from torchgen.model import NativeFunction

LAZY = Path(__file__).parent.parent
HEADING = """# Ops of the lazy device

Each op of `src/lazy/ops.yaml` and each row of the export's op table, with its column in `ops.yaml`, which
[lazy.md](lazy.md) explains, or the reason that it has none.
`.venv/bin/python tests/lazy/op_list_test.py` writes this page.

An op with neither an entry nor a row is taken apart by torch, or computed on the CPU, counted as
`aten::<op>`, and refused by `torchere.lazy.save`. Of those that the samples of torch's OpInfo call, these
are computed on the CPU: `_ctc_loss`, `aminmax`, `channel_shuffle`, `count_nonzero`, `deg2rad`,
`diag_embed`, `equal`, `frac`, `hash_tensor`, `heaviside`, `isin`, `linalg_cross`, `linalg_ldl_factor_ex`,
`linalg_ldl_solve`, `linalg_lstsq`, `logaddexp`, `logaddexp2`, `logspace`, `multi_margin_loss`,
`multilabel_margin_loss`, `nan_to_num`, `nansum`, `rad2deg`, `renorm`, `sinc`, `soft_margin_loss`,
`special_airy_ai`, `special_entr`, `special_log_ndtr`, `trace`, `tril_indices` and `triu_indices`.
"""


def column_of(listed: Mapping[str, list[str] | None], op: str) -> str:
    """The column of ops.yaml that decides about an op; "none" if there is none."""
    return next((name for name in COLUMNS[:3] if op in (listed.get(name) or [])), "none")


def name_of(row: str) -> str:
    """ "add.Tensor" of "aten.add.Tensor"; "xla::f" of "xla.f.default"."""
    namespace, packet, overload = row.split(".")
    name = packet if overload == "default" else f"{packet}.{overload}"
    return name if namespace == "aten" else f"{namespace}::{name}"


def copy_of_view(function: NativeFunction | None, listed: Mapping[str, list[str] | None]) -> str:
    """The op that functionalization calls instead of a view, if the device has it; empty if it is no view."""
    if function is None or not function.is_view_op:
        return ""
    packet, _, overload = str(function.func.name).partition(".")
    copy = f"{packet}_copy" + (f".{overload}" if overload else "")
    return copy if column_of(listed, copy) != "none" else ""


def lists(rows: Iterable[str]) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """For each op its column and the reason if that is none; and what is wrong with the lists."""
    listed = yaml.safe_load((LAZY / "ops.yaml").read_text())
    absent = yaml.safe_load((LAZY / "not_on_device.yaml").read_text()) or {}
    known = native_functions()
    ops, complaints = {}, []
    for op in map(name_of, sorted(rows)):
        column, reason = column_of(listed, op), absent.get(op)
        if column != "none" and op in absent:
            complaints.append(f"'{op}' is in {column} and in not_on_device.yaml")
        elif column == "none" and not reason:
            if copy := copy_of_view(known.get(op), listed):
                reason = f"a view: functionalization calls `{copy}`"
            else:
                complaints.append(
                    f"'{op}' has a row and is neither in ops.yaml nor, with a reason, in not_on_device.yaml"
                )
        ops[op] = (column, "" if column != "none" else reason or "")
    complaints += [f"not_on_device.yaml: '{op}' has no row in the op table" for op in absent if op not in ops]
    for op in (op for name in COLUMNS[:3] for op in listed.get(name) or []):
        ops.setdefault(op, (column_of(listed, op), ""))
    return ops, complaints


def document(ops: Mapping[str, tuple[str, str]]) -> str:
    counts = {name: sum(column == name for column, _ in ops.values()) for name in (*COLUMNS[:3], "none")}
    lines = [HEADING, "| column | ops |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in counts.items()]
    lines += ["", "| op | column | why none |", "|---|---|---|"]
    lines += [f"| `{op}` | {column} | {reason} |" for op, (column, reason) in sorted(ops.items())]
    return "\n".join(lines) + "\n"
