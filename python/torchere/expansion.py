"""Expansion: what one op without a lowering is made of, traced alone on the types of its own arguments."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

from torchere import _core
from torchere.corrections import corrected
from torchere.errors import CaptureError
from torchere.fast_paths import fast_paths
from torchere.flex_attention import attention, is_flex_attention
from torchere.lowerings import lowering_of, text_op
from torchere.wider_results import in_out_dtype, is_out_dtype

#: The torch.autocast regions around an op: types of devices, with the dtype for each.
Autocast = tuple[tuple[str, Any], ...]


class Context(NamedTuple):
    """What holds for a call beside its arguments."""

    autocast: Autocast = ()
    users: frozenset[Any] = frozenset()  #: ops in whose decomposition by the user it stands


NO_CONTEXT = Context()
#: A function that computes what an op does, the regions that it is run in, and the context of its ops.
Candidate = tuple[Callable[..., Any], Autocast, Context]


@dataclasses.dataclass(frozen=True, eq=False)
class Expansion:
    """The graph that stands for a call. Calls of equal types share it."""

    module: Any  #: torch.fx.GraphModule; its placeholders are the call's nodes, each once, in order
    nodes: list[Any]  #: without placeholders and output
    placeholders: list[Any]
    output: Any
    context: Context  #: that of its ops


class Expander:
    """Finds expansions, each once. `rows` are the names of ops that have a lowering; ops of
    `custom_namespaces` need none. `decompositions` are the user's: op -> function; they come before rows."""

    def __init__(
        self,
        rows: Set[str],
        decompositions: Mapping[Any, Callable[..., Any]] | None = None,
        custom_namespaces: Iterable[str] = (),
    ):
        self.rows = rows
        self.decompositions = decompositions or {}
        self.custom_namespaces = frozenset(custom_namespaces)
        self._fake_mode: Any = None
        self.seconds: dict[str, float] = {}  #: by op
        self.gave_up = False  #: whether a call went to the core for which nothing was found
        self._taken: dict[Any, bool] = {}  #: by op, whatever the arguments
        self._known: dict[Any, Expansion | None] = {}
        self._unshared: set[Expansion | None] = set()
        self._active: set[Any] = set()

    def enter(self, exported_program: Any) -> None:
        """Says which program's calls come next: ops that take no tensor are run in its mode."""
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

        values = (node.meta.get("val") for node in exported_program.graph.nodes)
        modes = (value.fake_mode for value in values if isinstance(value, FakeTensor))
        self._fake_mode = next(modes, None) or FakeTensorMode(allow_non_fake_inputs=True)

    def expand(self, node: Any, context: Context) -> Expansion | None:
        """What a call is to be replaced by; None where it goes to the core as it is: it has a row, or
        nothing is known of it."""
        if not self.is_to_be_expanded(node, context):
            return None
        begin = time.perf_counter()
        try:
            return self._find(node, context)
        finally:
            name = describe_op(node.target)[0]
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def is_to_be_expanded(self, node: Any, context: Context) -> bool:
        """Whether the core cannot take the call as it is. Calls that give no tensor need no lowering."""
        import torch

        op = node.target
        if is_flex_attention(op) or is_foreach(op) or _is_functionalized(op) or is_out_dtype(op):
            return True
        if not isinstance(op, torch._ops.OpOverload):
            return False
        if op in self.decompositions and op not in context.users:
            return True
        if "unbacked_bindings" in node.meta or not computes_tensors(node):
            return False
        if context.autocast and _casts(op, context.autocast):
            return True
        return not self.is_taken(node)

    def is_taken(self, node: Any) -> bool:
        """Whether there is a row for a call that gives tensors, or functionalization gives it one."""
        op = node.target
        is_taken = self._taken.get(op)
        if is_taken is None:
            is_taken = self._taken[op] = self._is_op_taken(op)
        return not _is_view_by_einsum(node) if is_taken else _is_removed_in_eval(node)

    def _is_op_taken(self, op: Any) -> bool:
        import torch

        name = describe_op(op)[0]
        if name in self.rows or name in _core.loaded_lowerings():
            return True
        if not isinstance(op, torch._ops.OpOverload):
            return False
        if op.namespace in self.custom_namespaces and not _is_composite(op) and not is_mutable(op):
            return True
        kind, functional = _functional_form(op)
        return kind == "rewritten" or functional in self.rows

    def _find(self, node: Any, context: Context) -> Expansion | None:
        key = (*_key(node), context)
        if key in self._active:  # made of itself
            return None
        for place in (key, (node, key)):
            if place in self._known:
                return self._known[place]
        self._active.add(key)
        try:
            is_users = node.target in self.decompositions and node.target not in context.users
            found = self._by_user(node, context) if is_users else self._by_torch(node, context)
        finally:
            self._active.remove(key)
        is_shared = found is None or self._is_shared(found)
        self._known[key if is_shared else (node, key)] = found
        if not is_shared:
            self._unshared.add(found)
        return found

    def _is_shared(self, expansion: Expansion) -> bool:
        """Whether it may stand for several calls: sizes that depend on data are other ones in each."""
        return not any(
            "unbacked_bindings" in inner.meta
            or self._expansion_of(inner, expansion.context) in self._unshared
            for inner in expansion.nodes
        )

    def _expansion_of(self, node: Any, context: Context) -> Expansion | None:
        is_expanded = node.op == "call_function" and self.is_to_be_expanded(node, context)
        return self._find(node, context) if is_expanded else None

    def _by_user(self, node: Any, context: Context) -> Expansion:
        op = node.target
        within = context._replace(users=context.users | {op})
        try:
            return self._trace(node, self.decompositions[op], context.autocast, within)
        except Exception as error:
            raise CaptureError(f"[{op}] the decomposition given for it failed: {error}") from error

    def _by_torch(self, node: Any, context: Context) -> Expansion | None:
        """The first expansion in which no op without a row is left, after their own expansion."""
        for candidate in self._candidates(node, context):
            try:
                expansion = self._trace(node, *candidate)
            except Exception as error:  # torch raises whatever the decomposition does
                if is_flex_attention(node.target):
                    raise CaptureError(
                        "[flex_attention] score_mod and mask_mod are not run for all places at once: "
                        f"{str(error).strip().splitlines()[0]}"
                    ) from error
                if lowering_of(node.target) is not None:
                    raise CaptureError(f"[{node.target}] its registered lowering failed: {error}") from error
                if _has_xla_kernel(node.target):
                    raise CaptureError(f"[{node.target}] its kernel for key XLA failed: {error}") from error
                continue
            is_named = _is_functionalized(node.target)  # the op in it, where that has no lowering
            if is_named or all(self._is_lowered(inner, expansion.context) for inner in expansion.nodes):
                return expansion
        return None

    def obstacles(self, node: Any, context: Context) -> list[str]:
        """What keeps each of torch's decompositions of a call from being used."""
        texts: dict[str, None] = {}
        for candidate in self._candidates(node, context):
            try:
                expansion = self._trace(node, *candidate)
            except Exception as error:  # torch raises whatever the decomposition does
                texts[f"torch's decomposition fails: {str(error).strip().splitlines()[0]}"] = None
                continue
            inner = [one for one in expansion.nodes if not self._is_lowered(one, expansion.context)]
            names = sorted({describe_op(one.target)[0] for one in inner if one.target is not node.target})
            if names:
                texts[f"torch's decomposition needs {', '.join(names)}"] = None
        return list(texts)

    def _is_lowered(self, node: Any, context: Context) -> bool:
        if node.op != "call_function" or node.target is operator.getitem:
            return True
        if not computes_tensors(node):
            return True
        return self._expansion_of(node, context) is not None or self.is_taken(node)

    def _candidates(self, node: Any, context: Context) -> Iterator[Candidate]:
        """The functions that compute what the op does from other ops, the best first."""
        import torch
        from torch._decomp import decomposition_table

        op, autocast = node.target, context.autocast
        plain = context._replace(autocast=())
        if is_flex_attention(op):
            yield attention(node.meta["val"][0].dtype), (), plain
            return
        if is_out_dtype(op):
            yield in_out_dtype, autocast, context
            return
        if _is_functionalized(op):
            yield op.py_kernels[torch._C.DispatchKey.CompositeExplicitAutograd], autocast, context
            return
        if (lowering := lowering_of(op)) is not None:
            yield lowering, (), plain
            return
        if _has_xla_kernel(op):
            yield _kernel(op, _xla_key()), (), plain
            return
        if autocast:
            if (key := _autocast_key(node, autocast)) is not None:
                yield _kernel(op, key), autocast, plain
                return
            if self.is_taken(node) and self._is_same_without_autocast(node):
                return
        if _is_composite(op):
            yield _composite(op), autocast, context
        # Autocast is above what follows: it does not see it.
        if op in fast_paths():
            yield fast_paths()[op], (), plain
        for table in (_default_table(), decomposition_table):
            if op in table:
                yield corrected(op, table[op]), (), plain
        if functional := _functional_overload(op):
            yield _then_copied(functional), (), plain
        if is_foreach(op):
            yield _kernel(op, torch._C.DispatchKey.CompositeExplicitAutograd), (), plain

    def _is_same_without_autocast(self, node: Any) -> bool:
        """Whether a composite op, taken whole, gives the dtypes that the program has."""
        import torch.utils._pytree as pytree

        module = self._trace(node, node.target, (), Context()).module
        plain = next(reversed(module.graph.find_nodes(op="call_function", target=node.target)))
        leaves = zip(pytree.tree_leaves(plain.meta["val"]), pytree.tree_leaves(node.meta["val"]), strict=True)
        return all(getattr(a, "dtype", None) == getattr(b, "dtype", None) for a, b in leaves)

    def _trace(
        self, node: Any, function: Callable[..., Any], autocast: Autocast, within: Context
    ) -> Expansion:
        """The graph of function(*args, **kwargs) over the nodes among the call's arguments. Composite ops
        stay whole in it: it is taken above autograd and autocast, as torch.export takes the program's."""
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.fx.node import map_arg

        inputs = inputs_of(node)

        def call(*values: Any) -> Any:
            given = dict(zip(inputs, values, strict=True))
            args, kwargs = map_arg(
                (node.args, node.kwargs), lambda argument: graph_of(argument) or given[argument]
            )
            result = function(*args, **kwargs)
            if isinstance(result, str):
                raise _IsText(result)
            return tuple(result) if isinstance(result, tuple) else result  # named ones are calls to torch.fx

        values = [argument.meta["val"] for argument in inputs]
        with contextlib.ExitStack() as context:
            context.enter_context(torch.no_grad())
            context.enter_context(torch._guards.detect_fake_mode(values) or self._fake_mode)
            if is_mutable(node.target):  # the program's own fake tensors keep their sizes
                values = [value.detach() if isinstance(value, torch.Tensor) else value for value in values]
            for device, dtype in autocast:
                context.enter_context(torch.autocast(device, dtype=dtype, cache_enabled=False))
            try:
                module = make_fx(call, pre_dispatch=True, _allow_non_fake_inputs=True)(*values)
            except _IsText as text:
                if is_mutable(node.target):
                    raise TypeError(
                        "text for an op that writes to its arguments: expected torch's functions, which write"
                    ) from None
                return _text_expansion(node, text.args[0], within)
        nodes = list(module.graph.nodes)
        calls = [inner for inner in nodes if inner.op in ("call_function", "get_attr")]
        placeholders = [inner for inner in nodes if inner.op == "placeholder"]
        return Expansion(module, calls, placeholders, nodes[-1].args[0], within)


class _IsText(Exception):
    """A function gave StableHLO as text, not tensors."""


def _text_expansion(node: Any, text: str, context: Context) -> Expansion:
    """The call of a function in StableHLO, which the core parses and compares with the op's types."""
    import torch

    graph = torch.fx.Graph()
    placeholders = {}
    for argument in inputs_of(node):
        placeholders[argument] = placeholder = graph.placeholder(argument.name)
        placeholder.meta["val"] = argument.meta["val"]
    tensors: list[Any] = []
    torch.fx.node.map_arg((node.args, node.kwargs), tensors.append)
    args = [placeholders[tensor] for tensor in tensors if isinstance(tensor.meta["val"], torch.Tensor)]
    value = node.meta["val"]
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    call = graph.call_function(text_op(), (args, str(node.target), text))
    call.meta["val"] = values
    elements = []
    for index, element in enumerate(values):
        elements.append(graph.call_function(operator.getitem, (call, index)))
        elements[-1].meta["val"] = element
    output = elements if isinstance(value, (list, tuple)) else elements[0]
    graph.output(output)
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    nodes = [inner for inner in module.graph.nodes if inner.op == "call_function"]
    inputs = list(module.graph.find_nodes(op="placeholder"))
    return Expansion(module, nodes, inputs, module.graph.output_node().args[0], context)


def _is_view_by_einsum(node: Any) -> bool:
    """Of one operand, einsum may be a transpose or a diagonal: the ops that it is made of say which."""
    return node.target is _einsum() and len(node.args[1]) == 1


@functools.cache
def _einsum() -> Any:
    import torch

    return torch.ops.aten.einsum.default


def _is_removed_in_eval(node: Any) -> bool:
    """Whether functionalization leaves out the call, which does nothing with these arguments."""
    import torch

    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    if _functional_form(node.target)[0] != "removed_in_eval":
        return False
    given = _arguments_by_name(node)
    return given.get("train") is False or given.get("p") == 0


@functools.cache
def describe_op(target: Any) -> tuple[str, str]:
    """A callable's name as the program gives it, and its schema; empty where torch has none."""
    import torch
    from torch.fx.node import _get_qualified_name

    if isinstance(target, torch._ops.OpOverload):
        return str(target), str(target._schema)
    return _get_qualified_name(target).removeprefix("torch.ops."), ""


def inputs_of(node: Any) -> list[Any]:
    """The nodes among a call's arguments, each once, without graphs: what an expansion's placeholders stand
    for."""
    return [argument for argument in dict.fromkeys(node.all_input_nodes) if graph_of(argument) is None]


def graph_of(node: Any) -> Any:
    """The graph that a node stands for, for a higher-order op that takes it; None for other nodes."""
    import torch

    if node.op != "get_attr":
        return None
    value = functools.reduce(getattr, str(node.target).split("."), node.graph.owning_module)
    return value if isinstance(value, torch.fx.GraphModule) else None


def is_foreach(op: Any) -> bool:
    """Whether an op does to each tensor of lists what another one does to one. Its kernel calls that."""
    import torch

    return isinstance(op, torch._ops.OpOverload) and op._schema.name.startswith("aten::_foreach_")


@functools.cache
def _is_functionalized(op: Any) -> bool:
    """Whether torch's decompositions have put it in the place of an op that writes, which is its argument."""
    import torch

    ops = torch.ops.higher_order
    return op in [getattr(ops, name, None) for name in ("auto_functionalized", "auto_functionalized_v2")]


def computes_tensors(node: Any) -> bool:
    """Whether a call gives tensors, or writes to some."""
    return holds_tensor(node.meta.get("val")) or is_mutable(node.target)


def is_mutable(op: Any) -> bool:
    schema = getattr(op, "_schema", None)  # higher-order ops have none
    return schema is not None and schema.is_mutable


def holds_tensor(value: Any) -> bool:
    import torch

    if isinstance(value, (list, tuple)):
        return any(holds_tensor(element) for element in value)
    return isinstance(value, torch.Tensor)


def _key(node: Any) -> tuple[Any, ...]:
    """Equal for calls that are traced to the same graph."""
    from torch.fx.node import Node

    inputs = inputs_of(node)
    places = {argument: f"%{index}" for index, argument in enumerate(inputs)}

    def constant(value: Any) -> Any:
        if isinstance(value, Node):
            return places[value] if value in places else ("graph", id(graph_of(value)))
        if isinstance(value, (list, tuple)):
            return (type(value).__name__, *map(constant, value))
        if isinstance(value, (int, str, type(None))) and not isinstance(value, bool):
            return value
        return type(value), repr(value)

    return (
        node.target,
        tuple(map(constant, node.args)),
        tuple((name, constant(value)) for name, value in node.kwargs.items()),
        tuple(_type_key(argument.meta["val"]) for argument in inputs),
    )


def _type_key(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        sizes = (*value.shape, *value.stride(), value.storage_offset())
        return (
            value.dtype,
            value.device,
            value.dim(),
            value.is_conj(),
            value.is_neg(),
            *(size if type(size) is int else _size_key(size) for size in sizes),
        )
    if isinstance(value, (list, tuple)):
        return tuple(map(_type_key, value))
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return type(value), _size_key(value)
    return type(value), str(value)


def _size_key(size: Any) -> Any:
    """The expression of a symbolic number, which to print takes long; its text if there is none."""
    expression = getattr(size.node, "expr", None)
    return str(size) if expression is None else expression


def _arguments_by_name(node: Any) -> dict[str, Any]:
    names = (argument.name for argument in node.target._schema.arguments)
    return dict(zip(names, node.args, strict=False)) | node.kwargs


@functools.cache
def _functional_form(op: Any) -> tuple[str, str]:
    return _core.functional_form(*describe_op(op))


@functools.cache
def _default_table() -> Mapping[Any, Callable[..., Any]]:
    import torch

    return torch.export.default_decompositions()


@functools.cache
def _is_composite(op: Any) -> bool:
    import torch

    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return key in op.py_kernels or torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key)


def _composite(op: Any) -> Callable[..., Any]:
    import torch

    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return op.py_kernels[key] if key in op.py_kernels else _kernel(op, key)


def _kernel(op: Any, key: Any) -> Callable[..., Any]:
    """The op's kernel of that key. Modes that see Python's calls would call the op itself instead."""
    import torch

    def call(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return op._op_dk(key, *args, **kwargs)

    return call


def _xla_key() -> Any:
    import torch

    return torch._C.DispatchKey.XLA


@functools.cache
def _has_xla_kernel(op: Any) -> bool:
    """Whether a library says what the op is to XLA. The lazy device's kernels of torch's own ops say nothing
    of the kind."""
    import torch

    return op.namespace != "aten" and (
        _xla_key() in op.py_kernels or torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), _xla_key())
    )


def _autocast_name(device: str) -> str:
    return "Autocast" + {"xla": "XLA", "privateuseone": "PrivateUse1"}.get(device, device.upper())


@functools.cache
def _casting_ops(device: str) -> frozenset[str]:
    """The ops that autocast runs in another dtype, on a device of that type."""
    import torch

    names = torch._C._dispatch_get_registrations_for_dispatch_key(_autocast_name(device))
    return frozenset(names)


def _casts(op: Any, autocast: Autocast) -> bool:
    """Whether autocast may change what the op does: by a kernel of its own, or in what it is made of."""
    return _is_composite(op) or any(op.name() in _casting_ops(device) for device, _ in autocast)


def _autocast_key(node: Any, autocast: Autocast) -> Any:
    """The dispatch key of the op's kernel in these regions; None where it has none."""
    import torch
    import torch.utils._pytree as pytree

    values = pytree.tree_leaves([argument.meta["val"] for argument in inputs_of(node)])
    devices = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    for device, _ in autocast:
        if device in devices and node.target.name() in _casting_ops(device):
            return torch._C._parse_dispatch_key(_autocast_name(device))
    return None


@functools.cache
def _functional_overload(op: Any) -> Any:
    """The op that computes what an in-place one writes; None for others."""
    import torch

    name = op._schema.name.partition("::")[2]
    if not op._schema.is_mutable or not name.endswith("_") or name.startswith("__"):
        return None
    packet = getattr(getattr(torch.ops, op.namespace), name.removesuffix("_"), None)
    return getattr(packet, op._overloadname, None)


def _then_copied(functional: Any) -> Callable[..., Any]:
    import torch

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.ops.aten.copy_.default(self, functional(self, *args, **kwargs))

    return call
