"""What torch has captured as Python: calls, and what they need to be defined first: graphs of control flow,
tensors that graphs hold, and ops of the user's own."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torchere.functional_graph import callee_text

#: Namespaces of ops that a process has once it has imported torch and torchere.
_KNOWN_NAMESPACES = {"aten", "prim", "prims", "higher_order", "quantized", "quantized_decomposed", "xla"}
#: The names that a script has for itself.
_TAKEN = {
    *("op", "inputs", "program", "report", "tensor", "arrays", "traced", "decomposition", "leaves"),
    *("torch", "numpy", "torchere", "math", "operator", "types", "sys", "pathlib", "device", "inf", "nan"),
    "library",
}

_USER_OP = """
# {name} gives what it gave in eager PyTorch: its kernel is no part of this script.
library = torch.library.Library("{namespace}", "FRAGMENT")
library.define({schema!r})


def eager_{identifier}(*args, **kwargs):
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    if any(getattr(leaf, "dtype", None) in (torch.float64, torch.complex128) for leaf in leaves):
        return {exact}
    return {eager}


def fake_{identifier}(*args, **kwargs):
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    return {fake}


library.impl({overload!r}, eager_{identifier}, "CompositeExplicitAutograd")
library.impl({overload!r}, fake_{identifier}, "Meta")
"""


class NoScript(Exception):
    """Why a script cannot be written."""


def identifier(name: str) -> str:
    """Not a name that the script has for itself."""
    return f"{name}_" if name in _TAKEN else name


def call_text(node: Any, names: Mapping[Any, str]) -> str:
    """A captured call as Python writes it."""
    from torch.fx import Node

    from torchere.expansion import describe_op

    def text(value: Any) -> str:
        if isinstance(value, Node):
            return names[value]
        if isinstance(value, tuple):
            return f"({''.join(f'{text(element)}, ' for element in value)})"
        return f"[{', '.join(map(text, value))}]" if isinstance(value, list) else repr(value)

    given = [*map(text, node.args), *(f"{name}={text(value)}" for name, value in node.kwargs.items())]
    return f"{callee_text(describe_op(node.target)[0])}({', '.join(given)})"


def is_user_op(target: Any) -> bool:
    """Whether a process that imports torch and torchere alone lacks the op."""
    import torch

    is_op = isinstance(target, torch._ops.OpOverload)
    return is_op and target.namespace not in _KNOWN_NAMESPACES | {"torchere"}


class Definitions:
    """What stands before a script's function."""

    def __init__(self) -> None:
        self.text = ""
        self.tensors: dict[str, Any] = {}  #: saved beside the script, under these names

    def add_held(self, name: str, value: Any) -> str:
        """A graph or a tensor that a graph holds; gives the name by which it is known."""
        import torch

        if isinstance(value, torch.fx.GraphModule):
            return self.add_graph(name, value)
        if not isinstance(value, torch.Tensor):
            raise NoScript(f"it reads {name}, of type {type(value).__name__}")
        self.tensors[name] = value.detach()
        self.text += f"\n{name} = tensor({name!r}, {value.dtype})\n"
        return name

    def add_graph(self, name: str, module: Any) -> str:
        """A graph as a function of its placeholders."""
        names = {}
        for node in module.graph.find_nodes(op="get_attr"):
            held = functools.reduce(getattr, str(node.target).split("."), module)
            names[node] = self.add_held(f"{name}_{str(node.target).replace('.', '_')}", held)
        nodes = [node for node in module.graph.nodes if node not in names]
        inputs = module.graph.find_nodes(op="placeholder")
        self.add_function(name, inputs, nodes[len(inputs) : -1], nodes[-1].args[0], names)
        return name

    def add_function(
        self, name: str, inputs: Iterable[Any], calls: Iterable[Any], result: Any, held: Mapping[Any, str]
    ) -> None:
        """Calls, in order, as a function of `inputs`; `held` are the names of what is defined already."""
        names = {**held, **{node: identifier(node.name) for node in (*inputs, *calls)}}
        for node in calls:
            self.check_known(node)
        lines = [f"{names[node]} = {call_text(node, names)}" for node in calls]
        lines.append(f"return {_result_text(result, names)}")
        given = ", ".join(names[node] for node in inputs)
        body = textwrap.indent("\n".join(lines), "    ")
        self.text += f"\n\ndef {name}({given}):\n{body}\n"

    def check_known(self, node: Any) -> None:
        if is_user_op(node.target):
            raise NoScript(f"it calls {node.target}, which is not known without your code")

    def add_op(self, node: Any, eager: Any, exact: Any) -> None:
        """A user's op, which gives the values that it gave, and types that follow from its arguments'."""
        if node.target._schema.is_mutable:
            raise NoScript(f"{node.target} writes its arguments")
        namespace, _, overload = node.target.name().partition("::")
        name = overload.replace(".", "_")
        self.text += _USER_OP.format(
            name=node.target,
            namespace=namespace,
            schema=str(node.target._schema).partition("::")[2],
            overload=overload,
            identifier=name,
            eager=self.recorded(f"eager_{name}", eager),
            exact=self.recorded(f"exact_{name}", eager if exact is None else exact),
            fake=_fake_text(node.meta["val"], _symbols(node)),
        )

    def recorded(self, name: str, value: Any) -> str:
        """The text of a value that is saved."""
        import torch

        if isinstance(value, torch.Tensor):
            self.tensors[name] = value
            return f"tensor({name!r}, {value.dtype})"
        if isinstance(value, (list, tuple)):
            return _sequence(value, [self.recorded(f"{name}_{i}", one) for i, one in enumerate(value)])
        return repr(value)

    def add_lowering(self, node: Any, text: str, name: str) -> None:
        """`text` defines the function `name`, as which the op's lowering was registered."""
        self.text += f"{text}\ntorchere.register_lowering({str(node.target._schema)!r}, {name})\n"


def _result_text(value: Any, names: Mapping[Any, str]) -> str:
    if isinstance(value, (list, tuple)):
        return _sequence(value, [_result_text(one, names) for one in value])
    return names.get(value) or repr(value)


def _sequence(value: Any, texts: list[str]) -> str:
    return f"[{', '.join(texts)}]" if isinstance(value, list) else f"({''.join(f'{one}, ' for one in texts)})"


def _symbols(node: Any) -> dict[Any, str]:
    """The symbols that a call's arguments have, as expressions of `leaves`."""
    import torch
    import torch.utils._pytree as pytree

    found: dict[Any, str] = {}
    for place, leaf in enumerate(pytree.tree_leaves((node.args, node.kwargs))):
        value = leaf.meta.get("val") if isinstance(leaf, torch.fx.Node) else None
        sizes = [(value, f"leaves[{place}]")] if isinstance(value, torch.SymInt) else []
        if isinstance(value, torch.Tensor):
            sizes = [(size, f"leaves[{place}].shape[{axis}]") for axis, size in enumerate(value.shape)]
        for size, text in sizes:
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(size.node.expr, text)
    return found


def _fake_text(value: Any, symbols: Mapping[Any, str]) -> str:
    """A result without data, whose sizes follow from `leaves`."""
    import torch

    if isinstance(value, (list, tuple)):
        return _sequence(value, [_fake_text(one, symbols) for one in value])
    if not isinstance(value, torch.Tensor):
        return repr(value)
    sizes = "".join(f"{_size_text(size, symbols)}, " for size in value.shape)
    return f'torch.empty(({sizes}), dtype={value.dtype}, device="meta")'


def _size_text(size: Any, symbols: Mapping[Any, str]) -> str:
    import sympy
    import torch
    from torch.utils._sympy.printers import PythonPrinter

    if not isinstance(size, torch.SymInt):
        return str(size)
    expression = size.node.expr
    if unknown := expression.free_symbols - symbols.keys():
        raise NoScript(f"the size {min(map(str, unknown))} of a result follows from data")
    named = {symbol: sympy.Symbol(text, integer=True) for symbol, text in symbols.items()}
    return PythonPrinter().doprint(expression.xreplace(named))


def steps_behind(run: Any, last: Any) -> tuple[list[Any], list[Any]]:
    """The inputs and the calls of a captured graph on which the value of a call depends, in order. Among the
    calls are those that write to memory that is read; writes are seen, not taken from schemas."""
    memory: dict[Any, set[int]] = {}
    written: dict[Any, set[int]] = {}
    before: list[tuple[Any, Any]] = []
    for node, value in run.steps():
        memory[node] = {_memory(tensor) for tensor in _tensors(value)}
        written[node] = {_memory(now) for now, copy in before if not _same(now, copy)}
        if node is last:
            break
        read = [run.values[used] for used in node.next.all_input_nodes if used in run.values]
        before = [(tensor, tensor.clone()) for tensor in _tensors(read)]
    needed, touched = {last}, set(memory[last])
    for node in reversed(memory):
        if node in needed or written[node] & touched:
            needed |= {node, *node.all_input_nodes}
            touched |= memory[node].union(*(memory.get(used, ()) for used in node.all_input_nodes))
    ordered = [node for node in memory if node in needed]
    inputs = [node for node in ordered if node.op == "placeholder"]
    return inputs, [node for node in ordered if node.op != "placeholder"]


def _tensors(value: Any) -> Iterator[Any]:
    import torch
    import torch.utils._pytree as pytree

    return (leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor))


def _memory(tensor: Any) -> int:
    return tensor.untyped_storage().data_ptr()


def _same(one: Any, other: Any) -> bool:
    import torch

    return torch.equal(one, other)
