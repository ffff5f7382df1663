"""What programs are compared with: eager PyTorch, of the module or of the captured graph, also in float64."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torchere import _core
from torchere.errors import InvalidArgumentError
from torchere.sources import as_module


@dataclasses.dataclass(frozen=True)
class Source:
    """What a program was exported from, and how: references, no copies of weights."""

    exported_program: Any = None
    module: Any = None  #: None where an ExportedProgram was given
    training: tuple[bool, ...] = ()
    walked: Any = None  #: the ExportedProgram that the program's nodes are of: torch may have decomposed it
    decompositions: Mapping[Any, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: of how ops are lowered

    @staticmethod
    def of(target: Any) -> Source:
        """What a program is to be compared with: a module, a function or an ExportedProgram."""
        import torch

        if isinstance(target, torch.export.ExportedProgram):
            return Source(target)
        module = as_module(target)
        return Source(module=module, training=training_modes(module))

    def expands(self, node: Any) -> bool:
        """Whether other ops stand for a captured call."""
        from torchere.expansion import describe_op

        name, schema = describe_op(node.target)
        if node.target in self.decompositions:
            return True
        is_kept = bool(schema) and _core.functional_form(name, schema)[0] == "kept"
        return is_kept and name not in {row for row, _ in _core.operators()}

    def has_branches(self) -> bool:
        """Whether it has control flow as ops, whose graphs only GraphRun computes in float64."""
        import torch

        modules = self.exported_program.graph_module.modules() if self.exported_program else ()
        graphs = [part.graph for part in modules if isinstance(part, torch.fx.GraphModule)]
        return any(
            isinstance(node.target, torch._ops.HigherOrderOperator) for g in graphs for node in g.nodes
        )

    def check_mode(self) -> None:
        if self.module is not None and training_modes(self.module) != self.training:
            raise InvalidArgumentError(
                "[verify] the module's training mode is another one than when it was exported: expected "
                "module.eval() or module.train() as before the export"
            )


def training_modes(module: Any) -> tuple[bool, ...]:
    return tuple(part.training for part in module.modules())


@dataclasses.dataclass
class Outcome:
    """What a call gave, and what it left in tensors that it may write."""

    result: Any
    weights: dict[str, Any]
    arguments: Any  #: (args, kwargs), or their leaves in the order of the program's inputs


class Doubled:
    """A context in which eager ops compute in float64, whatever the dtypes in the code: tensors of fewer bits
    are converted where they are read, and dtypes that are asked for are replaced."""

    def __init__(self) -> None:
        self._mode = _doubling_mode()()

    def __enter__(self) -> None:
        import torch

        self._default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        self._mode.__enter__()

    def __exit__(self, *error: Any) -> None:
        import torch

        self._mode.__exit__(*error)
        torch.set_default_dtype(self._default)


@functools.cache
def _doubling_mode() -> type:
    import torch
    import torch.utils._pytree as pytree
    from torch.utils._python_dispatch import TorchDispatchMode

    aten = torch.ops.aten

    class Doubling(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is aten._assert_tensor_metadata.default:
                return None
            if func is aten.view.dtype:
                raise NotImplementedError("the bits of a float have no counterpart in float64")
            if not func._schema.is_mutable:
                args = pytree.tree_map(double, args)
            return func(*args, **{name: double(value) for name, value in (kwargs or {}).items()})

    return Doubling


def double(value: Any) -> Any:
    """A tensor of floats, or their dtype, with 64 bits each; other values as they are."""
    import torch

    if isinstance(value, torch.Tensor):
        wanted = _double_dtype(value.dtype)
        return value if wanted == value.dtype else value.detach().to(wanted)
    return _double_dtype(value) if isinstance(value, torch.dtype) else value


def _double_dtype(dtype: Any) -> Any:
    import torch

    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else dtype


def copied(value: Any) -> Any:
    """Leaves of their own, also of one memory."""
    import torch
    import torch.utils._pytree as pytree

    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), value)


def weight_names(module: Any) -> set[str]:
    """All names of parameters and buffers, those of tied ones too."""
    named = (module.named_parameters, module.named_buffers)
    return {name for list_ in named for name, _ in list_(remove_duplicate=False)}


def run_module(module: Any, weights: Mapping[str, Any], args: Any, kwargs: Any, doubled: bool) -> Outcome:
    """Calls the module with weights, which take the place of its own for the time of the call, and may be
    written. Tied ones are one tensor under several names. Without gradients."""
    import torch
    import torch.utils._pytree as pytree

    given = {name: weights[name] for name in weight_names(module) if name in weights}
    args, kwargs = copied((args, kwargs))
    if doubled:
        given = _mapped_once(given, double)
        args, kwargs = pytree.tree_map(double, (args, kwargs))
    try:
        result = _call_with(module, given, args, kwargs, doubled)
    except Exception:
        if doubled:  # torch.cond has compiled its branches for this context
            torch._dynamo.reset()
        raise
    return Outcome(result, given, (args, kwargs))


def _call_with(module: Any, given: dict[str, Any], args: Any, kwargs: Any, doubled: bool) -> Any:
    import torch

    with torch.no_grad(), Doubled() if doubled else contextlib.nullcontext():
        return torch.func.functional_call(module, given, args, kwargs, tie_weights=False)


def run_captured(exported: Any, weights: Mapping[str, Any], leaves: list[Any], doubled: bool) -> Outcome:
    """The same of a captured program, whose graph is run node by node."""
    import torch
    import torch.utils._pytree as pytree

    leaves = copied(leaves)
    if doubled:
        weights, leaves = _mapped_once(weights, double), [double(leaf) for leaf in leaves]
    else:
        weights = dict(weights)
    graph = GraphRun(exported, weights, leaves)
    with torch.no_grad(), Doubled() if doubled else contextlib.nullcontext():
        for _ in graph.steps():
            pass
    results = []
    users = [spec for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    positions = {spec.arg.name: position for position, spec in enumerate(users)}
    for spec, value in zip(exported.graph_signature.output_specs, graph.results, strict=True):
        kind = spec.kind.name
        if kind in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
            weights[spec.target] = value
        elif kind == "USER_INPUT_MUTATION":
            leaves[positions[spec.target]] = value
        else:
            results.append(value)
    result = pytree.tree_unflatten(results, exported.call_spec.out_spec)
    return Outcome(result, dict(weights), leaves)


def _mapped_once(weights: Mapping[str, Any], function: Callable[[Any], Any]) -> dict[str, Any]:
    """Values of one tensor stay one."""
    made: dict[int, Any] = {}
    for value in weights.values():
        if id(value) not in made:
            made[id(value)] = function(value)
    return {name: made[id(value)] for name, value in weights.items()}


class GraphRun:
    """A captured graph in eager PyTorch, node by node, with its writes and views as they are."""

    def __init__(self, exported: Any, weights: Mapping[str, Any], leaves: list[Any]):
        self.module = exported.graph_module
        given = iter(leaves)
        self.inputs = [
            next(given) if spec.kind.name == "USER_INPUT" else _held(exported, weights, spec)
            for spec in exported.graph_signature.input_specs
        ]
        self.values: dict[Any, Any] = {}
        self.results: list[Any] = []

    def steps(self) -> Iterator[tuple[Any, Any]]:
        """(node, value), as produced; the value may be replaced in `values` before the next step. Values that
        no later node reads are dropped."""
        yield from _steps(self.module, self.inputs, self.values, self.results)


def _held(exported: Any, weights: Mapping[str, Any], spec: Any) -> Any:
    if spec.target in weights:
        return weights[spec.target]
    held = exported.state_dict.get(spec.target, exported.constants.get(spec.target))
    return copied(held)  # the graph may write to it


def _steps(module: Any, inputs: list[Any], values: dict[Any, Any], results: list[Any]) -> Iterator[Any]:
    from torch.fx.node import map_arg

    last = _last_uses(module.graph)
    given = iter(inputs)
    for node in module.graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "get_attr":
            values[node] = functools.reduce(getattr, str(node.target).split("."), module)
        elif node.op == "output":
            found = map_arg(node.args[0], values.__getitem__)
            results.extend(found if isinstance(found, (tuple, list)) else [found])
            return
        else:
            args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
            values[node] = call(node.target, args, kwargs)
        yield node, values[node]
        for dead in last.get(node, ()):
            values.pop(dead, None)


def _last_uses(graph: Any) -> dict[Any, list[Any]]:
    seen: set[Any] = set()
    last: dict[Any, list[Any]] = {}
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                last.setdefault(node, []).append(used)
    return last


def call(target: Any, args: Any, kwargs: Any) -> Any:
    """One node. Higher-order ops run their graphs here, so that they compute in float64 as all else."""
    import torch

    higher = torch.ops.higher_order
    if target is higher.cond:
        predicate, then, otherwise, operands = args
        return _graph(then if bool(predicate) else otherwise, operands)
    if target is higher.while_loop:
        condition, body, carried, others = args
        carried = tuple(torch.as_tensor(value) for value in carried)
        while bool(_graph(condition, (*carried, *others))[0]):
            carried = tuple(copied(_graph(body, (*carried, *others))))
        return carried
    if target is higher.scan:
        combine, carried, rows, others = args
        return _scan(combine, tuple(carried), rows, others)
    if target is higher.map_impl:
        function, rows, others = args
        return _scan(function, (), rows, others)
    if target is higher.wrap_with_set_grad_enabled:
        return _graph(args[1], args[2:])
    return target(*args, **kwargs)


def _scan(step: Any, carried: Any, rows: Any, others: Any) -> Any:
    """What is carried at the end, and the rows that the steps give."""
    import torch

    made = []
    for place in range(len(rows[0])):
        found = _graph(step, (*carried, *(row[place] for row in rows), *others))
        made.append(found[len(carried) :])
        carried = found[: len(carried)]
    return (*carried, *map(torch.stack, zip(*made, strict=True)))


def _graph(module: Any, operands: Any) -> tuple[Any, ...]:
    results: list[Any] = []
    for _ in _steps(module, list(operands), {}, results):
        pass
    return tuple(results)
