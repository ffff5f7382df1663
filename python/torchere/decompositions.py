"""Decompositions by need: torch takes apart the ops that have no lowering and leaves whole those that have
one, so that linear layers, attention or an LSTM arrive as such."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Set
from typing import Any

# Decomposing can give ops that need decomposing in turn; this many rounds are more than torch's tables need.
_MOST_ROUNDS = 3


def hybrid_table(lowered_ops: Set[str]) -> Any:
    """torch's default decompositions without those of `lowered_ops` ("aten.linear.default", ...)."""
    import torch

    table = torch.export.default_decompositions()
    for op in [op for op in table if str(op) in lowered_ops]:
        table.pop(op)
    return table


def decompose(exported_program: Any, lowered_ops: Set[str]) -> Any:
    """The program, functional (mutations are outputs) and with ops that have a lowering, as far as torch can
    decompose the others. A program that is so already comes back as it is."""
    if exported_program.dialect == "ATEN" and not _missing_ops(exported_program, lowered_ops):
        return exported_program
    table = hybrid_table(lowered_ops)
    decomposed, hopeless = _run(exported_program, table)
    for _ in range(_MOST_ROUNDS):
        missing = [op for op in _missing_ops(decomposed, lowered_ops) if str(op) not in hopeless]
        further = _further_decompositions(missing, table)
        if not further:
            break
        for op, decomposition in further.items():
            table[op] = decomposition
        try:
            decomposed, lost = _run(decomposed, table)
        except Exception:  # torch raises whatever the decomposition does
            break  # the op is reported as it is
        hopeless |= lost
    return _decompose_core_ops(decomposed, lowered_ops, table)


def _decompose_core_ops(decomposed: Any, lowered_ops: Set[str], table: Any) -> Any:
    """Core ops, which torch's tables leave whole, taken apart where all that they become has a lowering: the
    others are reported by the names that the user knows."""
    from torch._decomp import decomposition_table

    missing = _missing_ops(decomposed, lowered_ops)
    core = [op for op in missing if op in decomposition_table and op not in table]
    if not core:
        return decomposed
    for op in core:
        table[op] = decomposition_table[op]
    try:
        attempt = _run_decompositions(decomposed, table)
        hopeless = _origins(attempt, {str(op) for op in _missing_ops(attempt, lowered_ops)})
        if not hopeless & {str(op) for op in core}:
            return attempt
        for op in [op for op in core if str(op) in hopeless]:
            table.pop(op)
        return _run_decompositions(decomposed, table)
    except Exception:  # torch raises whatever the decomposition does
        return decomposed


def _run(exported_program: Any, table: Any) -> tuple[Any, set[str]]:
    """The program decomposed by the table, and the ops that were left whole because they would become prims:
    they are taken out of the table."""
    decomposed = _run_decompositions(exported_program, table)
    lost = _taken_apart_into_prims(decomposed)
    for op in [op for op in table if str(op) in lost]:
        table.pop(op)
    return (_run_decompositions(exported_program, table) if lost else decomposed), lost


def _run_decompositions(exported_program: Any, table: Any) -> Any:
    """torch's own, which copies the specs of arguments and results: that makes one of LeafSpec, a class of
    torch's of whose making torch warns. Callers can do nothing about it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)` is deprecated", FutureWarning)
        return exported_program.run_decompositions(table)


def _taken_apart_into_prims(exported_program: Any) -> set[str]:
    """The ops that became torch's prims, which nobody lowers: the user knows them by their own names."""
    targets = {node.target for node in exported_program.graph.nodes}
    prims = {str(target) for target in targets if getattr(target, "namespace", None) == "prims"}
    return _origins(exported_program, prims)


def _origins(exported_program: Any, ops: Set[str]) -> set[str]:
    """The ops that were taken apart and became these."""
    return {
        str(node.meta.get("original_aten"))  # by name: torch copies the objects
        for node in exported_program.graph.nodes
        if str(node.target) in ops
    }


def _missing_ops(exported_program: Any, lowered_ops: Set[str]) -> list[Any]:
    """The op overloads of the program, subgraphs included, that give tensors and have no lowering: sizes and
    assertions need none."""
    import torch

    missing = {}
    for module in exported_program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if isinstance(node.target, torch._ops.OpOverload) and str(node.target) not in lowered_ops:
                missing[node.target] = None
    return [op for op in missing if any("Tensor" in str(result.type) for result in op._schema.returns)]


def _further_decompositions(ops: Iterable[Any], table: Any) -> dict[Any, Any]:
    """Decompositions that torch has for these ops beside its default table, but for core ops."""
    import torch
    from torch._decomp import decomposition_table

    return {
        op: decomposition_table[op]
        for op in ops
        if op in decomposition_table and op not in table and torch.Tag.core not in op.tags
    }
