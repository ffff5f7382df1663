"""The walk over FX graphs: hands each node to the core's builder, or in its place what it expands to."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from torchere import _core
from torchere.errors import UnimplementedError
from torchere.expansion import (
    NO_CONTEXT,
    Context,
    Expander,
    Expansion,
    computes_tensors,
    describe_op,
    graph_of,
    inputs_of,
)
from torchere.flex_attention import is_flex_attention
from torchere.guards import fixed_int
from torchere.node_metadata import record_metadata

# Has effects for torch, which is to raise an error; as other assertions it is left out.
_ASSERTION = "aten._linalg_check_errors.default"
# The key of nodes created by torch's own passes.
_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"


class Constants:
    """Tensors that expansions hold. They become inputs of the program, which come before its other nodes:
    a walk that finds new ones is done again."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.tensors: dict[str, Any] = {}
        self.nodes: dict[str, Any] = {}  #: the placeholders of the present walk

    def name(self, tensor: Any) -> str:
        name = self.names.setdefault(id(tensor), f"expanded_tensor_{len(self.names)}")
        self.tensors[name] = tensor
        return name


@dataclasses.dataclass
class _Scope:
    """Where nodes are added, and what holds for all of them."""

    graph: int
    module: Any  #: the GraphModule that they are of
    names: _Names
    later: dict[int, tuple[Any, Context]]  #: graphs that are walked after this one, with their regions
    context: Context = NO_CONTEXT
    is_inlined: bool = False
    place: tuple[int, int] | None = None  #: stack trace and module stack; None for each node's own
    origin: Any = None  #: the call that the nodes have been expanded from
    result: tuple[Any, str] | None = None  #: a node, and the name of the call that it is the result of
    children: dict[str, int] = dataclasses.field(default_factory=dict)  #: graphs that the module holds
    regions: list[Context] = dataclasses.field(default_factory=list)  #: what holds again when one ends


class _Names:
    """Names of one graph's nodes, as torch makes them unique."""

    def __init__(self, graph: Any):
        self.taken = {node.name for node in graph.nodes}
        self.counts: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        base, count = name, self.counts.get(name, 0)
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.counts[base] = count
        self.taken.add(name)
        return name


class GraphWalk:
    """Adds a program's graphs to a builder; without an expander, as they are."""

    def __init__(self, builder: _core.ProgramBuilder, expander: Expander | None, constants: Constants):
        self.builder = builder
        self.expander = expander
        self.constants = constants
        self.traces: dict[str, int] = {}
        self.module_stacks: dict[tuple, int] = {}
        self.lists: set[Any] = set()  #: nodes that stand for a list of others
        self.metadata: dict[str, str] | None = None  #: what torch says of nodes, where it is asked for

    def run(
        self,
        graph: int,
        module: Any,
        context: Context = NO_CONTEXT,
        same_memory: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Adds the nodes of one graph; graphs that the module holds come right after their parent.
        `same_memory` are placeholders that stand for the memory of another one."""
        scope = _Scope(graph, module, _Names(module.graph), {}, context)
        self.add_children(scope)
        nodes = list(module.graph.nodes)
        inputs = [node for node in nodes if node.op == "placeholder"]
        for node in inputs:
            self.builder.add_placeholder(graph, node, node.name, node.meta.get("val"))
            if graph == 0 and self.expander is not None:
                value = fixed_int(node.meta.get("val"))
                if value is not None:  # no argument of the function, but a constant of the call
                    self.builder.bind(graph, node, value)
        named = {node.name: node for node in inputs}
        for name, other in same_memory.items():
            self.builder.bind(graph, named[name], named[other])
        if graph == 0:
            self.add_constants()
        self.builder.set_outputs(graph, self.walk(scope, nodes[len(inputs) :]))
        for index, child in scope.later.items():
            self.run(index, *child)

    def add_constants(self) -> None:
        import torch

        inputs = torch.fx.Graph()
        for name, tensor in self.constants.tensors.items():
            node = self.constants.nodes[name] = inputs.placeholder(f"c_{name}")
            self.builder.add_placeholder(0, node, node.name, tensor)

    def add_children(self, scope: _Scope) -> None:
        """Adds the graphs that the module holds, except for those that are inlined."""
        import torch

        inlined = set()
        if self.expander is not None:
            for node in scope.module.graph.nodes:
                if node.target in _wrappers():
                    inlined.add(_wrapped(node).target)
                elif is_flex_attention(node.target):
                    inlined |= {one.target for one in node.all_input_nodes if graph_of(one) is not None}
        for name, child in scope.module.named_children():
            if isinstance(child, torch.fx.GraphModule) and name not in inlined:
                scope.children[name] = self.builder.add_subgraph(scope.graph, name)
                scope.later[scope.children[name]] = (child, scope.context)

    def walk(self, scope: _Scope, nodes: Iterable[Any]) -> Any:
        """Adds the nodes, and gives what the output node holds."""
        for node in nodes:
            if node.op == "call_function":
                self.call(scope, node)
            elif node.op == "get_attr":
                self.attribute(scope, node)
            elif node.op == "output":
                return node.args[0]
            else:
                raise UnimplementedError(
                    f"[{node.name}] a node of this kind is not supported: got {node.op} of {node.target!r}, "
                    "expected placeholder, call_function, output or get_attr of a graph"
                )
        return None

    def call(self, scope: _Scope, node: Any) -> None:
        if self.expander is None:
            self.emit(scope, node)
        elif node.target is operator.getitem and node.args[0] in self.lists:
            self.builder.bind_element(scope.graph, node, *node.args)
            if isinstance(node.meta.get("val"), (list, tuple)):  # a list among the results
                self.lists.add(node)
        elif type(node.meta.get("val")) in (int, float, bool) and _is_pythons(node.target):
            self.bind(scope, node, node.meta["val"])  # of a file, where ints that are fixed are no symbols
        elif node.target in _wrappers():
            self.inline(scope, node)
        elif node.target in _marks():
            self.mark(scope, node)
        elif expansion := self.expander.expand(node, scope.context):
            self.splice(scope, node, expansion)
        else:
            self.refuse_effect(scope, node)
            for argument in node.args:  # graphs run where the op does
                if getattr(argument, "op", "") == "get_attr" and argument.target in scope.children:
                    child = scope.children[argument.target]
                    scope.later[child] = (scope.later[child][0], scope.context)
            if computes_tensors(node) and node.target is not operator.getitem:
                self.expander.gave_up |= not self.expander.is_taken(node)
            self.emit(scope, node)

    def emit(self, scope: _Scope, node: Any) -> None:
        op, schema = describe_op(node.target)
        trace, stack = scope.place or self.stacks(node.meta)
        name = self.name(scope, node)
        value = node.meta.get("val")
        self.lists.discard(node)
        if self.metadata is not None:
            record_metadata(self.metadata, name, (scope.origin or node).meta)
        self.builder.add_call(
            scope.graph, node, name, op, schema, node.args, node.kwargs, value, trace, stack
        )

    def name(self, scope: _Scope, node: Any) -> str:
        if not scope.is_inlined:
            return node.name
        if scope.result is not None and node is scope.result[0]:
            return scope.result[1]
        return scope.names.fresh(node.name)

    def splice(self, scope: _Scope, node: Any, expansion: Expansion) -> None:
        """Adds what the call expands to; its nodes have the call's place."""
        for placeholder, argument in zip(expansion.placeholders, inputs_of(node), strict=True):
            self.bind(scope, placeholder, argument)
        inner = dataclasses.replace(
            scope,
            module=expansion.module,
            context=expansion.context,
            is_inlined=True,
            place=scope.place or self.stacks(node.meta),
            origin=scope.origin or node,
            result=(expansion.output, self.name(scope, node)),
            children={},
        )
        self.add_children(inner)
        self.walk(inner, expansion.nodes)
        self.bind(scope, node, expansion.output)

    def inline(self, scope: _Scope, node: Any) -> None:
        """Adds the nodes of a graph that is run with or without gradients, in a region of autocast, or as one
        of torch.compiler.nested_compile_region."""
        import torch

        graph = _wrapped(node)
        module = getattr(scope.module, graph.target)
        inner = dataclasses.replace(
            scope, module=module, is_inlined=True, result=None, children={}, regions=[]
        )
        if node.target is torch.ops.higher_order.wrap_with_autocast:
            inner.context = _entered(scope.context, node.args)
        self.add_children(inner)
        nodes = list(module.graph.nodes)
        inputs = [node for node in nodes if node.op == "placeholder"]
        given = node.args[node.args.index(graph) + 1 :]
        operands = [argument for argument in given if not isinstance(argument, str)]  # some name the graph
        for placeholder, argument in zip(inputs, operands, strict=True):
            self.bind(scope, placeholder, argument)
        self.bind(scope, node, self.walk(inner, nodes[len(inputs) :]))

    def mark(self, scope: _Scope, node: Any) -> None:
        """The begin or end of a region that torch has not made a graph of."""
        import torch

        if node.target is torch.amp.autocast_mode._enter_autocast:
            scope.regions.append(scope.context)
            scope.context = _entered(scope.context, node.args)
        elif node.target is torch.amp.autocast_mode._exit_autocast:
            scope.context = scope.regions.pop()

    def bind(self, scope: _Scope, node: Any, value: Any) -> None:
        """From now on the node stands for the value: a node, a constant, or a list of them."""
        is_list = isinstance(value, (list, tuple)) or value in self.lists
        (self.lists.add if is_list else self.lists.discard)(node)
        self.builder.bind(scope.graph, node, value)

    def attribute(self, scope: _Scope, node: Any) -> None:
        """A graph, for the higher-order op that takes it, or a tensor that an expansion holds."""
        import torch

        value = functools.reduce(getattr, str(node.target).split("."), scope.module)
        if node.target in scope.children:
            trace, stack = scope.place or self.stacks(node.meta)
            name, child = self.name(scope, node), scope.children[node.target]
            self.builder.add_get_attr(scope.graph, node, name, node.target, child, trace, stack)
        elif isinstance(value, torch.Tensor):
            self.tensor(scope, node, value)
        elif not isinstance(value, torch.fx.GraphModule):
            if self.expander is not None:
                self.expander.gave_up = True  # torch.vmap of an index by tensors is recorded so
            raise UnimplementedError(
                f"[{node.name}] an attribute is neither a graph nor a tensor: got {value!r}, expected one of "
                "them"
            )

    def tensor(self, scope: _Scope, node: Any, value: Any) -> None:
        """One element is a number of the program; more are an input of it."""
        import torch

        if value.numel() == 1:
            op, schema = describe_op(torch.ops.aten.full.default)
            args, kwargs = (list(value.shape), value.item()), {"dtype": value.dtype}
            trace, stack = scope.place or self.stacks(node.meta)
            name = self.name(scope, node)
            self.builder.add_call(scope.graph, node, name, op, schema, args, kwargs, value, trace, stack)
        elif scope.graph != 0:
            raise UnimplementedError(
                f"[{node.name}] a branch or loop holds an op that becomes a constant tensor: got one of "
                f"shape {list(value.shape)}, expected numbers"
            )
        else:
            self.bind(scope, node, self.constants.nodes.get(self.constants.name(value)))

    def refuse_effect(self, scope: _Scope, node: Any) -> None:
        """An op that is run for its effect would be left out, as assertions are."""
        import torch

        op = node.target
        if not isinstance(op, torch._ops.OpOverload) or str(op) == _ASSERTION or not _has_effect(op):
            return
        raise UnimplementedError(
            f"[{op}] runs for its effect, which no artifact holds: expected an op that gives a tensor"
        )

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


def _module_path(path: str) -> str:
    """A module's path in the user's model: some tracers produce "L['self'].encoder"."""
    return path.removeprefix("L['self']").removeprefix(".")


@functools.cache
def _wrappers() -> frozenset[Any]:
    """The ops that run a graph as it is."""
    import torch

    ops = torch.ops.higher_order
    names = "wrap_with_set_grad_enabled", "wrap_with_autocast", "invoke_subgraph"
    return frozenset(getattr(ops, name) for name in names if hasattr(ops, name))


def _wrapped(node: Any) -> Any:
    """The get_attr node of the graph that such an op runs; its inputs follow."""
    return next(argument for argument in node.args if getattr(argument, "op", "") == "get_attr")


def _is_pythons(target: Any) -> bool:
    """Whether it is a function of numbers: operator.add, math.floor, torch.sym_max."""
    import torch

    return not isinstance(target, (torch._ops.OpOverload, torch._ops.HigherOrderOperator))


@functools.cache
def _marks() -> frozenset[Any]:
    """Calls that say how those after them are run."""
    import torch

    autocast = torch.amp.autocast_mode
    return frozenset({autocast._enter_autocast, autocast._exit_autocast, torch._C._set_grad_enabled})


def _entered(around: Context, args: tuple[Any, ...]) -> Context:
    """The regions in one more, which is given as to torch.autocast; it may switch one off."""
    import torch

    device, dtype, is_enabled = args[:3]
    others = tuple(region for region in around.autocast if region[0] != device)
    entered = ((device, dtype or torch.get_autocast_dtype(device)),) if is_enabled else ()
    return around._replace(autocast=(*others, *entered))


@functools.cache
def _has_effect(op: Any) -> bool:
    from torch._higher_order_ops.effects import _get_effect

    with contextlib.suppress(Exception):  # torch raises for ops that it knows nothing of
        return _get_effect(op) is not None
    return False
