"""Converts an ExportedProgram's FX graph to a program of the core, node by node."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Set
from typing import Any

from torchere import _core
from torchere.errors import InvalidArgumentError, UnimplementedError
from torchere.guards import Guard
from torchere.trees import children_of, dump_spec

# The key of nodes created by torch's own passes.
_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
_INFINITIES = {"int_oo", "-int_oo", "oo", "-oo"}


@functools.cache
def _vocabulary() -> _core.TorchVocabulary:
    import torch

    def constants(cls: type) -> dict[Any, str]:
        values = {getattr(torch, name) for name in dir(torch) if isinstance(getattr(torch, name), cls)}
        return {value: str(value).removeprefix("torch.") for value in values}

    classes = {
        "node": torch.fx.Node,
        "tensor": torch.Tensor,
        "sym_int": torch.SymInt,
        "sym_float": torch.SymFloat,
        "sym_bool": torch.SymBool,
        "device": torch.device,
        "op_overload": torch._ops.OpOverload,
        "higher_order_op": torch._ops.HigherOrderOperator,
    }
    return _core.TorchVocabulary(
        classes, constants(torch.dtype), constants(torch.layout), constants(torch.memory_format)
    )


@functools.cache
def _describe_target(target: Any) -> tuple[str, str]:
    """A callable's name as the program gives it, and its schema; empty where torch has none."""
    import torch
    from torch.fx.node import _get_qualified_name

    if isinstance(target, torch._ops.OpOverload):
        return str(target), str(target._schema)
    return _get_qualified_name(target).removeprefix("torch.ops."), ""


def check_not_merged(exported_program: Any) -> None:
    """Rejects a program that was exported with the same tensor for two inputs: torch then reads both from
    the second one, so calls with two different tensors would be silently wrong."""
    import torch
    import torch.utils._pytree as pytree

    if not exported_program.example_inputs:
        return
    seen: dict[int, str] = {}
    for path, leaf in pytree.tree_flatten_with_path(exported_program.example_inputs)[0]:
        if not isinstance(leaf, torch.Tensor):
            continue
        name = ("args", "kwargs")[path[0].idx] + pytree.keystr(path[1:])
        if id(leaf) in seen:
            raise InvalidArgumentError(
                "[export] one tensor was given for two inputs, which torch merged into one: got the same "
                f"tensor at {seen[id(leaf)]} and {name}, expected separate tensors (clone one and export "
                "again, or call torchere.export on the module, which does so)"
            )
        seen[id(leaf)] = name


def capture(
    exported_program: Any,
    dimension_names: dict[str, str] | None = None,
    guards: Iterable[Guard] = (),
    may_be_negative: Set[str] = frozenset(),
) -> _core.Program:
    """The ExportedProgram as a program of the core. Weights are not copied: the program keeps their
    storages. `dimension_names` maps torch's symbols to the user's names of dynamic dimensions; `guards` are
    added to its ranges; a range of a symbol that `may_be_negative` does not begin at 0."""
    check_not_merged(exported_program)
    return _Capture(exported_program, dimension_names or {}, guards, may_be_negative).run()


class _Capture:
    def __init__(
        self,
        exported_program: Any,
        dimension_names: dict[str, str],
        guards: Iterable[Guard],
        may_be_negative: Set[str],
    ):
        self.exported = exported_program
        self.dimension_names = dimension_names
        self.guards = guards
        self.may_be_negative = may_be_negative
        self.builder = _core.ProgramBuilder(_vocabulary())
        self.traces: dict[str, int] = {}
        self.module_stacks: dict[tuple, int] = {}
        self.storages: dict[Any, int] = {}

    def run(self) -> _core.Program:
        self.walk(0, self.exported.graph_module)
        self.add_signature()
        self.add_weights()
        self.add_ranges()
        spec = self.exported.call_spec
        self.builder.set_trees(dump_spec(spec.in_spec), dump_spec(spec.out_spec), self.argument_names())
        self.builder.set_dimension_names(self.dimension_names)
        return self.builder.finish()

    def walk(self, graph: int, module: Any) -> None:
        """Adds the nodes of one graph; graphs that the module holds come right after their parent."""
        import torch

        builder, children = self.builder, {}
        for name, child in module.named_children():
            if isinstance(child, torch.fx.GraphModule):
                children[name] = builder.add_subgraph(graph, name)
        for node in module.graph.nodes:
            meta = node.meta
            if node.op == "call_function":
                op, schema = _describe_target(node.target)
                trace, stack = self.stacks(meta)
                args = (
                    graph,
                    node,
                    node.name,
                    op,
                    schema,
                    node.args,
                    node.kwargs,
                    meta.get("val"),
                    trace,
                    stack,
                )
                builder.add_call(*args)
            elif node.op == "placeholder":
                builder.add_placeholder(graph, node, node.name, meta.get("val"))
            elif node.op == "output":
                builder.set_outputs(graph, node.args[0])
            elif node.op == "get_attr" and node.target in children:
                trace, stack = self.stacks(meta)
                builder.add_get_attr(graph, node, node.name, node.target, children[node.target], trace, stack)
            else:
                raise UnimplementedError(
                    f"[{node.name}] a node of this kind is not supported: got {node.op} of {node.target!r}, "
                    "expected placeholder, call_function, output or get_attr of a graph"
                )
        for name, index in children.items():
            self.walk(index, getattr(module, name))

    def stacks(self, meta: dict[str, Any]) -> tuple[int, int]:
        """The indices of a node's stack trace and module stack; 0 where there is none."""
        text = meta.get("stack_trace") or ""
        trace = self.traces.get(text)
        if trace is None:
            trace = self.traces[text] = self.builder.add_stack_trace(text) if text else 0
        modules = meta.get("nn_module_stack")
        if not modules:
            return trace, 0
        key = tuple(modules.values())
        stack = self.module_stacks.get(key)
        if stack is None:
            stack = self.module_stacks[key] = self.add_module_stack(modules)
        return trace, stack

    def add_module_stack(self, modules: dict[str, tuple[str, Any]]) -> int:
        frames = []
        for path, cls in modules.values():
            if path == _NO_MODULE:
                continue
            name = cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"
            frames.append((_module_path(path), name))
        return self.builder.add_module_stack(frames) if frames else 0

    def add_signature(self) -> None:
        from torch.export.graph_signature import ConstantArgument

        signature, builder = self.exported.graph_signature, self.builder
        for spec in signature.input_specs:
            kind = getattr(_core.InputKind, spec.kind.name)
            builder.add_input(kind, spec.arg.name, spec.target or "", spec.persistent is not False)
            if isinstance(spec.arg, ConstantArgument):
                builder.set_input_constant(spec.arg.value)
        for spec in signature.output_specs:
            builder.add_output(getattr(_core.OutputKind, spec.kind.name), spec.target or "")

    def add_weights(self) -> None:
        import torch

        constants = {
            name: value for name, value in self.exported.constants.items() if isinstance(value, torch.Tensor)
        }
        for is_constant, weights in ((False, self.exported.state_dict), (True, constants)):
            for name, tensor in weights.items():
                self.add_weight(is_constant, name, tensor)

    def add_weight(self, is_constant: bool, name: str, tensor: Any) -> None:
        tensor = plain_tensor(name, tensor)
        storage = tensor.untyped_storage()
        if tensor.device.type != "cpu":
            raise UnimplementedError(
                f"[weight '{name}'] lies on another device: got {tensor.device}, expected cpu (move the "
                "module before it is exported)"
            )
        # Empty storages have no unique address.
        key = storage.data_ptr() or id(tensor)
        index = self.storages.get(key)
        if index is None:
            index = self.builder.add_storage(storage.data_ptr(), storage.nbytes(), storage)
            self.storages[key] = index
        shape, strides = list(tensor.shape), list(tensor.stride())
        self.builder.add_weight(
            is_constant, name, tensor.dtype, shape, strides, tensor.storage_offset(), index
        )

    def add_ranges(self) -> None:
        for symbol, bounds in self.exported.range_constraints.items():
            lower = _bound(bounds.lower)
            if lower == 0 and str(symbol) in self.may_be_negative:
                lower = None
            self.builder.add_range_constraint(str(symbol), lower, _bound(bounds.upper))
        for guard in self.guards:
            # Some are of functions that only torch knows.
            with contextlib.suppress(InvalidArgumentError):
                self.builder.add_range_constraint(*guard)

    def argument_names(self) -> list[str]:
        """The parameters of forward that were given by position."""
        for entry in self.exported.module_call_graph:
            if entry.fqn == "" and entry.signature is not None:
                names = entry.signature.forward_arg_names or []
                positional = children_of(entry.signature.in_spec)[0].num_children
                return list(names)[:positional]
        return []


def _bound(value: Any) -> int | None:
    return None if str(value) in _INFINITIES else int(value)


def _module_path(path: str) -> str:
    """A module's path in the user's model: some tracers produce "L['self'].encoder"."""
    return path.removeprefix("L['self']").removeprefix(".")


def plain_tensor(name: str, tensor: Any) -> Any:
    """The tensor as a strided view of a storage, with lazy conjugation and negation resolved; rejects other
    tensors."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    kind = "a fake tensor" if isinstance(tensor, FakeTensor) else str(tensor.layout)
    if tensor.device.type == "meta":
        kind = "a tensor without data (meta device)"
    elif type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) and kind == "torch.strided":
        kind = f"a {type(tensor).__name__}"
    elif tensor.is_quantized:
        kind = "a quantized tensor"
    if kind != "torch.strided":
        raise UnimplementedError(
            f"[weight '{name}'] has no plain memory: got {kind}, expected a dense tensor",
            advice="load the weights before the export; to_dense() and dequantize() make others dense",
        )
    return tensor.detach().resolve_conj().resolve_neg()
