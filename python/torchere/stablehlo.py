"""PyTorch/XLA's torch_xla.stablehlo under the same names: programs written for it change only the import."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import Any

from torchere.bundle import (
    InputLocation,
    StableHLOFunc,
    StableHLOFunctionMeta,
    StableHLOJSONSerializer,
    StableHLOModelBundle,
    VariableSignature,
    VariableType,
    stablehlo_obj_hook,
)
from torchere.errors import InvalidArgumentError
from torchere.program import StableHLOProgram
from torchere.sources import as_arguments

__all__ = [
    "InputLocation",
    "StableHLOExportOptions",
    "StableHLOFunc",
    "StableHLOFunctionMeta",
    "StableHLOGraphModule",
    "StableHLOJSONSerializer",
    "StableHLOModelBundle",
    "VariableSignature",
    "VariableType",
    "exported_program_to_stablehlo",
    "save_as_stablehlo",
    "save_torch_model_as_stablehlo",
    "stablehlo_obj_hook",
]

StableHLOGraphModule = StableHLOProgram


@dataclasses.dataclass
class StableHLOExportOptions:
    """How a program is exported and saved; PyTorch/XLA's fields.

    `include_human_readable_text`: save functions/NAME.mlir. `override_tracing_arguments` and
    `override_tracing_kwargs`: export again with these example arguments. `save_weights`: write weights to
    disk. `export_weights`: keep weights in the program at all. `inline_all_constant`: numbers and small
    tensor constants become part of the module; otherwise they are arguments, but for the numbers 0 and 1.
    `custom_ops_allowed_in_graph`: namespaces of ops that become stablehlo.custom_call.
    `export_node_metadata`: locations hold each node's metadata as JSON. Additions of ours: `target_version`,
    the oldest StableHLO that must be able to read the program, `shape_assertions`: the module asserts
    what it assumes of dynamic dimensions, for others who run it, and `checks`: torchere.export's, which are
    off here, as the results are those of PyTorch/XLA.
    """

    include_human_readable_text: bool = True
    override_tracing_arguments: tuple[Any, ...] | None = None
    override_tracing_kwargs: dict[str, Any] | None = None
    save_weights: bool = True
    inline_all_constant: bool = True
    export_weights: bool = True
    custom_ops_allowed_in_graph: set[str] = dataclasses.field(default_factory=set)
    export_node_metadata: bool = False
    target_version: str | None = None
    shape_assertions: bool = False
    checks: bool = False


def exported_program_to_stablehlo(
    exported_model: Any, options: StableHLOExportOptions | None = None
) -> StableHLOProgram:
    """A torch.export.ExportedProgram as a StableHLO program, ready to be called and saved."""
    from torchere.exporting import lower

    options = options or StableHLOExportOptions()
    lowering: dict[str, Any] = {
        "custom_op_namespaces": options.custom_ops_allowed_in_graph,
        "node_metadata": options.export_node_metadata,
        "shape_assertions": options.shape_assertions,
        "checks": options.checks,
        "inline_numbers": options.inline_all_constant,
        "quantized_types": "torchere.experimental.quantized" in sys.modules,
    }
    if not options.inline_all_constant:
        lowering["inline_constant_bytes"] = 0
    exported = _retrace(exported_model, options)
    return lower(
        exported,
        "forward",
        {},
        has_weights=options.export_weights,
        target_version=options.target_version,
        **lowering,
    )


def save_as_stablehlo(
    exported_model: Any,
    stablehlo_dir: str | os.PathLike[str],
    options: StableHLOExportOptions | None = None,
) -> None:
    """Exports the program and saves it as a directory."""
    exported_program_to_stablehlo(exported_model, options).save(stablehlo_dir, options)


def save_torch_model_as_stablehlo(
    torchmodel: Any,
    args: tuple[Any, ...],
    path: str | os.PathLike[str],
    options: StableHLOExportOptions | None = None,
) -> None:
    """Captures the module with torch.export, exports it and saves it as a directory."""
    from torchere.exporting import capture_with_torch

    save_as_stablehlo(capture_with_torch(torchmodel, args), path, options)


def _retrace(exported_model: Any, options: StableHLOExportOptions) -> Any:
    """The program exported again with the arguments in the options, or unchanged if there are none."""
    if options.override_tracing_arguments is None and options.override_tracing_kwargs is None:
        return exported_model
    from torchere.exporting import capture_with_torch

    args, kwargs = exported_model.example_inputs or ((), {})
    if options.override_tracing_arguments is not None:
        args = options.override_tracing_arguments
    if options.override_tracing_kwargs is not None:
        kwargs = options.override_tracing_kwargs
    _check_overrides(exported_model, as_arguments(args))
    return capture_with_torch(exported_model.module(), args, kwargs)


def _check_overrides(exported_model: Any, args: Any) -> None:
    """Refuses tensors given by position that have other sizes than those of the capture: guards say less."""
    import torch
    import torch.utils._pytree as pytree

    names = exported_model.graph_signature.user_inputs
    nodes = {node.name: node for node in exported_model.graph.nodes if node.op == "placeholder"}
    for name, leaf in zip(names, pytree.tree_leaves(args), strict=False):
        captured = nodes[name].meta.get("val") if name in nodes else None
        if not isinstance(captured, torch.Tensor) or not isinstance(leaf, torch.Tensor):
            continue
        where = f"[override_tracing_arguments] '{name}' has another"
        if leaf.dim() != captured.dim():
            raise InvalidArgumentError(f"{where} rank: got {leaf.dim()}, expected {captured.dim()}")
        for axis, (size, wanted) in enumerate(zip(leaf.shape, captured.shape, strict=True)):
            if isinstance(wanted, int) and size != wanted:
                raise InvalidArgumentError(
                    f"{where} size of dimension {axis}: got {size}, expected {wanted}",
                    advice="capture it with dynamic_shapes for this dimension, or capture the module",
                )
