"""torch's own decomposition of whole programs: the last resort for those with calls that cannot be expanded
alone, such as the parts of a vmap."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Set
from typing import Any


def decompose(exported_program: Any, lowered_ops: Set[str]) -> Any:
    """The program taken apart by torch's default decompositions, but for the ops that have a lowering. It is
    functional: mutations are outputs."""
    with warnings.catch_warnings():
        # torch triggers it itself, by copying the specs of arguments and results.
        warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)` is deprecated", FutureWarning)
        return _with_declared_views(exported_program).run_decompositions(hybrid_table(lowered_ops))


def hybrid_table(lowered_ops: Set[str]) -> Any:
    """torch's default decompositions without those of `lowered_ops` ("aten.linear.default", ...)."""
    import torch

    table = torch.export.default_decompositions()
    for op in [op for op in table if str(op) in lowered_ops]:
        table.pop(op)
    return table


def _with_declared_views(exported_program: Any) -> Any:
    """The program in which dropout that does nothing is an alias of its input, as in eager mode: torch's
    decomposition copies, and an in-place write to the result would be lost in the input. Without writes it is
    the program itself."""
    import torch

    graphs = [
        module
        for module in exported_program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
    ]
    nodes = [node for module in graphs for node in module.graph.nodes if node.op == "call_function"]
    ops = (node.target for node in nodes if isinstance(node.target, torch._ops.OpOverload))
    if not any(op._schema.is_mutable for op in ops) or not any(map(_is_idle_dropout, nodes)):
        return exported_program
    declared = copy.copy(exported_program)
    declared._graph_module = copy.deepcopy(exported_program.graph_module)
    for module in declared.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in filter(_is_idle_dropout, module.graph.nodes):
                node.target, node.args, node.kwargs = torch.ops.aten.alias.default, node.args[:1], {}
            module.recompile()
    return declared


def _is_idle_dropout(node: Any) -> bool:
    import torch

    if node.target is not torch.ops.aten.dropout.default:
        return False
    given = dict(zip(("input", "p", "train"), node.args, strict=False)) | node.kwargs
    return not given["train"] or given["p"] == 0
