"""Converts an ExportedProgram's FX graph to a program of the core, node by node."""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from torchere import _core
from torchere.arrays import is_type_alone
from torchere.errors import Error, UnimplementedError
from torchere.expansion import Expander
from torchere.graph_walk import Constants, GraphWalk
from torchere.guards import Guard, assumptions, captured_ranges, fixed_int, number_text
from torchere.trees import children_of, dump_spec


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
        classes, constants(torch.dtype), constants(torch.layout), constants(torch.memory_format), number_text
    )


def merged_inputs(exported_program: Any) -> list[tuple[str, str]]:
    """Inputs that the program does not read, each with the one that it reads instead, as `args[0]`. torch
    takes one tensor that its export was given for both for one input: the last of them."""
    import torch
    import torch.utils._pytree as pytree

    if not exported_program.example_inputs:
        return []
    places: dict[int, list[tuple[str, str]]] = {}
    leaves = pytree.tree_flatten_with_path(exported_program.example_inputs)[0]
    specs = exported_program.graph_signature.input_specs
    names = [spec.arg.name for spec in specs if spec.kind.name == "USER_INPUT"]
    for (path, leaf), name in zip(leaves, names, strict=False):
        if isinstance(leaf, torch.Tensor):
            label = ("args", "kwargs")[path[0].idx] + pytree.keystr(path[1:])
            places.setdefault(id(leaf), []).append((label, name))
    read = {node.name for node in exported_program.graph.nodes if node.op == "placeholder" and node.users}
    return [
        (label, last)
        for *others, (last, last_name) in places.values()
        for label, name in others
        if last_name in read and name not in read
    ]


def capture(
    exported_program: Any,
    dimension_names: dict[str, str] | None = None,
    *,
    minimums: Mapping[str, int | None] | None = None,
    expander: Expander | None = None,
    node_metadata: dict[str, str] | None = None,
) -> _core.Program:
    """The ExportedProgram as a program of the core; with an expander, in which ops without a lowering are
    expanded. Weights are not copied: the program keeps their storages; of fake ones it has the types.
    `dimension_names` maps torch's symbols to the user's names of dynamic dimensions. With `minimums`, the
    least values that the user gave symbols, the ranges are those that a call is checked for, with torch's
    guards; otherwise torch's own. `node_metadata` receives what torch says of nodes."""
    found = Constants()
    if expander is not None:
        expander.enter(exported_program)
    while True:
        known = len(found.tensors)
        made = _Capture(exported_program, expander, found)
        made.walk.metadata = node_metadata
        made.add_graphs()
        if len(found.tensors) == known:
            break
    made.add_signature()
    made.add_weights()
    ranges = (
        captured_ranges(exported_program) if minimums is None else assumptions(exported_program, minimums)
    )
    made.add_ranges(ranges)
    made.add_trees(dimension_names or {})
    return made.builder.finish()


class _Capture:
    def __init__(self, exported_program: Any, expander: Expander | None, found: Constants):
        self.exported = exported_program
        self.builder = _core.ProgramBuilder(_vocabulary())
        self.found = found
        self.walk = GraphWalk(self.builder, expander, found)
        self.storages: dict[Any, int] = {}

    def add_graphs(self) -> None:
        self.walk.run(0, self.exported.graph_module, same_memory=self.same_memory())

    def same_memory(self) -> dict[str, str]:
        """Constants that are a buffer's memory, with that buffer: a tensor that a plain object of the module
        holds (a static key-value cache) is captured a second time as a constant."""
        import torch

        def memory(tensor: Any) -> Any:
            if is_type_alone(tensor):
                place = tensor.untyped_storage()._cdata, tensor.storage_offset()
            elif tensor.device.type == "cpu" and _kind(tensor) == "torch.strided" and tensor.numel():
                place = tensor.data_ptr()
            else:
                return id(tensor)
            return place, tensor.dtype, tensor.shape, tensor.stride()

        specs = self.exported.graph_signature.input_specs
        if not any(spec.kind.name == "CONSTANT_TENSOR" for spec in specs):
            return {}
        tensors = {**self.exported.constants, **self.exported.state_dict}
        found = [(spec, tensors.get(spec.target)) for spec in specs]
        found = [(spec, tensor) for spec, tensor in found if isinstance(tensor, torch.Tensor)]
        buffers = {memory(tensor): spec.arg.name for spec, tensor in found if spec.kind.name == "BUFFER"}
        constants = [(spec, tensor) for spec, tensor in found if spec.kind.name == "CONSTANT_TENSOR"]
        return {
            spec.arg.name: buffers[memory(tensor)] for spec, tensor in constants if memory(tensor) in buffers
        }

    def add_trees(self, dimension_names: dict[str, str]) -> None:
        spec = self.exported.call_spec
        self.builder.set_trees(dump_spec(spec.in_spec), dump_spec(spec.out_spec), self.argument_names())
        self.builder.set_dimension_names(dimension_names)

    def add_signature(self) -> None:
        from torch.export.graph_signature import ConstantArgument, CustomObjArgument, SymIntArgument

        signature, builder = self.exported.graph_signature, self.builder
        nodes = self.exported.graph.find_nodes(op="placeholder")
        values = {node.name: node.meta.get("val") for node in nodes}
        for spec in signature.input_specs:
            kind = getattr(_core.InputKind, spec.kind.name)
            builder.add_input(kind, spec.arg.name, spec.target or "", spec.persistent is not False)
            if isinstance(spec.arg, ConstantArgument):
                builder.set_input_constant(spec.arg.value)
            elif isinstance(spec.arg, CustomObjArgument) and kind == _core.InputKind.USER_INPUT:
                builder.set_input_constant(_enum_member(spec.arg))
            elif isinstance(spec.arg, SymIntArgument):
                value = fixed_int(values.get(spec.arg.name))
                if value is not None:  # calls are to be checked for it
                    builder.set_input_constant(value)
        for name, node in self.found.nodes.items():
            builder.add_input(_core.InputKind.CONSTANT_TENSOR, node.name, name, True)
        for spec in signature.output_specs:
            builder.add_output(getattr(_core.OutputKind, spec.kind.name), spec.target or "")

    def add_weights(self) -> None:
        import torch

        constants = {
            name: value for name, value in self.exported.constants.items() if isinstance(value, torch.Tensor)
        }
        constants |= self.found.tensors
        for is_constant, weights in ((False, self.exported.state_dict), (True, constants)):
            for name, tensor in weights.items():
                self.add_weight(is_constant, name, tensor)

    def add_weight(self, is_constant: bool, name: str, tensor: Any) -> None:
        if not is_type_alone(tensor):
            tensor = plain_tensor(name, tensor)
        if tensor.device.type not in ("cpu", "meta"):
            raise UnimplementedError(
                f"[weight '{name}'] lies on another device: got {tensor.device}, expected cpu (move the "
                "module before it is exported)"
            )
        index = self.storage(tensor)
        shape, strides = list(tensor.shape), list(tensor.stride())
        self.builder.add_weight(
            is_constant, name, tensor.dtype, shape, strides, tensor.storage_offset(), index
        )

    def storage(self, tensor: Any) -> int:
        """The index of the memory that the tensor is a view of. That of a type alone has a size only."""
        storage = tensor.untyped_storage()
        if is_type_alone(tensor):
            address, owner, key = 0, storage, ("without data", storage._cdata)
        else:
            address, owner = storage.data_ptr(), storage
            key = address or id(tensor)  # empty storages have no unique address
        if key not in self.storages:
            self.storages[key] = self.builder.add_storage(address, storage.nbytes(), owner, storage._cdata)
        return self.storages[key]

    def add_ranges(self, ranges: Iterable[Guard]) -> None:
        for guard in ranges:
            # Some are of functions that only torch knows.
            with contextlib.suppress(Error):
                self.builder.add_range_constraint(*guard)

    def argument_names(self) -> list[str]:
        """The parameters of forward that were passed by position."""
        for entry in self.exported.module_call_graph:
            if entry.fqn == "" and entry.signature is not None:
                names = entry.signature.forward_arg_names or []
                positional = children_of(entry.signature.in_spec)[0].num_children
                return list(names)[:positional]
        return []


def _enum_member(argument: Any) -> enum.Enum:
    """The value of an argument that torch.export takes for an object of a class."""
    value = getattr(argument, "fake_val", None)
    if not isinstance(value, enum.Enum):
        raise UnimplementedError(
            f"[export] input {argument.name!r} cannot be an argument: got an object of {argument.class_fqn}, "
            "expected tensors, numbers, strings, None and members of an Enum",
            advice="make it an attribute of the module, or pass what the program reads of it",
        )
    return value


def _kind(tensor: Any) -> str:
    """What a tensor is, for errors; "torch.strided" if it is a strided view of a storage."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if tensor.device.type == "meta":
        return "a tensor without data (meta device)"
    if isinstance(tensor, FakeTensor):
        return "a fake tensor"
    plain = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
    if type(tensor) not in plain and tensor.layout == torch.strided:
        return f"a {type(tensor).__name__}"
    return "a quantized tensor" if tensor.is_quantized else str(tensor.layout)


def plain_tensor(name: str, tensor: Any) -> Any:
    """The tensor as a strided view of a storage, with lazy conjugation and negation resolved; rejects other
    tensors."""
    if (kind := _kind(tensor)) != "torch.strided":
        raise UnimplementedError(
            f"[weight '{name}'] has no plain memory: got {kind}, expected a dense tensor",
            advice="load the weights before the export; to_dense() and dequantize() make others dense",
        )
    is_lazy = tensor.is_conj() or tensor.is_neg()
    return tensor.detach().resolve_conj().resolve_neg() if is_lazy else tensor
