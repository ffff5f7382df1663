"""Decomposition on demand: torch decomposes only ops without a lowering, so that linear layers, attention or
an LSTM stay whole."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Set
from typing import Any

# Decompositions can produce ops that must be decomposed in turn; torch's tables need fewer rounds than this.
_MOST_ROUNDS = 3


def hybrid_table(lowered_ops: Set[str]) -> Any:
    """torch's default decompositions without those of `lowered_ops` ("aten.linear.default", ...)."""
    import torch

    table = torch.export.default_decompositions()
    for op in [op for op in table if str(op) in lowered_ops]:
        table.pop(op)
    return table


def decompose(exported_program: Any, lowered_ops: Set[str]) -> Any:
    """The functionalized program (mutations are outputs), in which ops without a lowering are decomposed as
    far as torch can. Returns the program itself if nothing has to be done."""
    if exported_program.dialect == "ATEN" and not _missing_ops(exported_program, lowered_ops):
        return exported_program
    exported_program = _with_separate_inputs(_with_declared_views(exported_program))
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


def _with_declared_views(exported_program: Any) -> Any:
    """The program in which every view op is declared as such by its schema. In eager mode some undeclared ops
    also alias their input, but torch's decompositions of them copy: an in-place write to the result would be
    lost in the input. Without writes, or without such ops, it is the program itself."""
    import torch

    writes = any(
        node.target._schema.is_mutable
        for node in _nodes(exported_program)
        if isinstance(node.target, torch._ops.OpOverload)
    )
    if not writes or not any(_declared_view(node) for node in _nodes(exported_program)):
        return exported_program
    declared = _copy(exported_program)
    for module in _graphs(declared.graph_module):
        for node in module.graph.nodes:
            if view := _declared_view(node):
                node.target, node.args, node.kwargs = view
        module.recompile()
    return declared


def _copy(exported_program: Any) -> Any:
    """The program with a graph of its own, as torch's own passes make one."""
    copied = copy.copy(exported_program)
    copied._graph_module = copy.deepcopy(exported_program.graph_module)
    return copied


def _with_separate_inputs(exported_program: Any) -> Any:
    """The program with a copy of each tensor that a loop takes a second time, as another carried value or by
    closure: torch's passes see two names of one tensor and refuse the loop."""
    import torch

    if not any(_repeated_inputs(node) for node in _nodes(exported_program)):
        return exported_program
    separate = _copy(exported_program)
    for module in _graphs(separate.graph_module):
        for node in module.graph.nodes:
            for place, index in _repeated_inputs(node):
                inputs = list(node.args[place])
                with module.graph.inserting_before(node):
                    inputs[index] = module.graph.call_function(torch.ops.aten.clone.default, (inputs[index],))
                inputs[index].meta = dict(inputs[index].args[0].meta)
                node.update_arg(place, tuple(inputs))
        module.recompile()
    return separate


def _repeated_inputs(node: Any) -> list[tuple[int, int]]:
    """Of a loop: which of its carried and further inputs are tensors that it has been given before, as the
    argument that holds them and the place there."""
    import torch

    if node.target is not torch.ops.higher_order.while_loop:
        return []
    seen, repeated = set(), []
    for place in (2, 3):
        for index, value in enumerate(node.args[place]):
            is_tensor = isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.Tensor)
            if is_tensor and value in seen:
                repeated.append((place, index))
            seen.add(value)
    return repeated


def _declared_view(node: Any) -> tuple[Any, tuple, dict] | None:
    """The declared view that replaces a node's undeclared one: op, arguments and keyword arguments."""
    import torch

    aten = torch.ops.aten
    same_arguments = {
        aten.unsafe_chunk.default: aten.chunk.default,
        aten.unsafe_split.Tensor: aten.split.Tensor,
        aten.unsafe_split_with_sizes.default: aten.split_with_sizes.default,
    }
    if node.target in same_arguments:
        return same_arguments[node.target], node.args, node.kwargs
    if node.target is not aten.dropout.default:
        return None
    given = dict(zip(("input", "p", "train"), node.args, strict=False)) | node.kwargs
    if given["train"] and given["p"] != 0:
        return None
    return aten.alias.default, (given["input"],), {}


def _graphs(graph_module: Any) -> list[Any]:
    """The graph module and those in it."""
    import torch

    return [module for module in graph_module.modules() if isinstance(module, torch.fx.GraphModule)]


def _nodes(exported_program: Any) -> Iterator[Any]:
    """The nodes of the program's graphs."""
    for module in _graphs(exported_program.graph_module):
        yield from module.graph.nodes


def _decompose_core_ops(decomposed: Any, lowered_ops: Set[str], table: Any) -> Any:
    """Decomposes core ops, which torch's tables keep, if all resulting ops have a lowering: the
    others are reported under the names that the user knows."""
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
    """The program decomposed by the table, and the ops that were kept because they would become prims:
    they are removed from the table."""
    decomposed = _run_decompositions(exported_program, table)
    lost = _taken_apart_into_prims(decomposed)
    for op in [op for op in table if str(op) in lost]:
        table.pop(op)
    return (_run_decompositions(exported_program, table) if lost else decomposed), lost


def _run_decompositions(exported_program: Any, table: Any) -> Any:
    """torch's run_decompositions without its LeafSpec deprecation warning, which torch triggers itself by
    copying the specs of arguments and results."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)` is deprecated", FutureWarning)
        return exported_program.run_decompositions(table)


def _taken_apart_into_prims(exported_program: Any) -> set[str]:
    """The ops that became torch's prims, which have no lowerings: users know the original names."""
    targets = {node.target for node in _nodes(exported_program)}
    prims = {str(target) for target in targets if getattr(target, "namespace", None) == "prims"}
    return _origins(exported_program, prims)


def _origins(exported_program: Any, ops: Set[str]) -> set[str]:
    """The ops that were decomposed into these."""
    return {
        str(node.meta.get("original_aten"))  # by name: torch copies the objects
        for node in _nodes(exported_program)
        if str(node.target) in ops
    }


def _missing_ops(exported_program: Any, lowered_ops: Set[str]) -> list[Any]:
    """The op overloads of the program, subgraphs included, that return tensors and have no lowering: sizes
    and assertions need none."""
    import torch

    missing = {}
    for node in _nodes(exported_program):
        if isinstance(node.target, torch._ops.OpOverload) and str(node.target) not in lowered_ops:
            missing[node.target] = None
    return [op for op in missing if any("Tensor" in str(result.type) for result in op._schema.returns)]


def _further_decompositions(ops: Iterable[Any], table: Any) -> dict[Any, Any]:
    """torch's decompositions of these ops outside its default table, except for core ops."""
    import torch
    from torch._decomp import decomposition_table

    return {
        op: decomposition_table[op]
        for op in ops
        if op in decomposition_table and op not in table and torch.Tag.core not in op.tags
    }
