"""TorchScript (modules and functions of torch.jit), which torch.export does not take, as modules."""

from __future__ import annotations

import inspect
import operator
from typing import Any

from torchere.errors import CaptureError
from torchere.sources import as_arguments

# What ops on tensors of one integer do with their numbers.
_OPERATIONS = {
    "scalar_tensor": operator.pos,
    "_to_copy": operator.pos,
    "_local_scalar_dense": operator.pos,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.floordiv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
}
_MARK = "torchere.torch_script"  # in the meta of a module that was converted


def from_script(target: Any, args: Any, kwargs: dict[str, Any] | None) -> Any:
    """The target; where it is TorchScript, a module of the same ops, parameters, buffers and arguments, by
    torch's converter."""
    import torch

    if not isinstance(target, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return target
    args = as_arguments(() if args is None else args)
    try:
        from torch._export.converter import TS2EPConverter

        exported = TS2EPConverter(target, args, kwargs or {}).convert()
        has_guards = "check_guards" in inspect.signature(exported.module).parameters
        module = exported.module(**({"check_guards": False} if has_guards else {}))
    except Exception as error:  # torch raises whatever the conversion does
        raise CaptureError(
            f"[export] torch cannot convert this TorchScript: {str(error).strip().splitlines()[0]}",
            advice="export the module that was scripted or traced, with its weights: "
            "module.load_state_dict(script.state_dict())",
        ) from error
    module.meta[_MARK] = True
    names, code = _argument_names(target), module.graph._codegen
    count = len(code.pytree_info.orig_args)
    if len(names) >= count:
        code.pytree_info = code.pytree_info._replace(orig_args=names[:count])
        module.recompile()
    return module


def is_from_script(module: Any) -> bool:
    return _MARK in getattr(module, "meta", ())


def _argument_names(script: Any) -> list[str]:
    import torch

    if isinstance(script, torch.jit.ScriptFunction):
        return [argument.name for argument in script.schema.arguments]
    return [argument.name for argument in script.forward.schema.arguments[1:]]  # after the module itself


def numbers_from_tensors(exported_program: Any) -> None:
    """Computes as numbers what a trace computes with sizes in tensors of one integer: the sizes of views."""
    import torch
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    graph = exported_program.graph
    numbers: dict[Any, Any] = {}  # by the node of the tensor: an int, or the node of one

    def is_number(argument: Any) -> bool:
        if not isinstance(argument, torch.fx.Node):
            return type(argument) is int
        value = argument.meta.get("val")
        return argument in numbers or (isinstance(value, torch.SymInt) and not free_unbacked_symbols(value))

    for node in list(graph.nodes):
        if node.op != "call_function" or not node.args or not all(map(is_number, node.args)):
            continue
        operation = _operation_on_numbers(node)
        if operation is not None:
            values = [numbers.get(operand, operand) for operand in node.args]
            with graph.inserting_before(node):
                numbers[node] = (
                    values[0] if operation is operator.pos else _computed(graph, operation, values)
                )
    for node, value in reversed(numbers.items()):
        if node.target is torch.ops.aten._local_scalar_dense.default:
            node.replace_all_uses_with(value)
    graph.eliminate_dead_code()
    exported_program.graph_module.recompile()


def _computed(graph: Any, operation: Any, values: list[Any]) -> Any:
    """The number that an operation gives: an int, or a node that computes it."""
    import torch

    known = [value.meta["val"] if isinstance(value, torch.fx.Node) else value for value in values]
    result = operation(*known)
    if type(result) is int:
        return result
    node = graph.call_function(operation, tuple(values))
    node.meta["val"] = result
    return node


def _operation_on_numbers(node: Any) -> Any:
    """What an op on tensors of one integer does with their numbers; operator.pos if it gives the same; None
    for other ops."""
    import torch

    value = node.meta.get("val")
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    if isinstance(value, torch.Tensor) and (value.dim() > 0 or value.dtype not in (torch.int32, torch.int64)):
        return None
    name = str(node.target).removeprefix("aten.").partition(".")[0]
    if name == "div" and not _is_floor(node):
        return None
    if node.kwargs.get("alpha", 1) != 1:
        return None
    return _OPERATIONS.get(name)


def _is_floor(node: Any) -> bool:
    """Whether a quotient is rounded down: by its mode, or towards zero where no operand is a difference, so
    that sizes give none that is negative."""
    mode = node.kwargs.get("rounding_mode")
    differences = [operand for operand in node.all_input_nodes if "sub" in str(operand.target)]
    constants = [operand for operand in node.args if type(operand) is int]
    return mode == "floor" or (mode == "trunc" and not differences and all(one > 0 for one in constants))
