"""program.bisect: finds the first op of a program that computes other values than eager PyTorch.

The functional graph is run in eager mode, node by node. What torch has captured runs beside it, with its own
writes and views: where it has a node of the same name, its value is the one that counts. Each node is then
compared alone, as this program lowers it, on these inputs: errors do not add up.
"""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torchere.captured_text import NoScript, is_user_op
from torchere.comparison import HEADINGS, Comparison, compare, table
from torchere.errors import Error, InvalidArgumentError
from torchere.functional_graph import (
    FunctionalGraph,
    Parts,
    callable_of,
    evaluate,
    held_tensor,
    references,
)
from torchere.reference import Doubled, GraphRun, call, copied, double
from torchere.reproduction import (
    Reproduction,
    expansion_of,
    expansion_text,
    write_captured,
    write_history,
    write_lowered,
)
from torchere.verification import as_tensors, leaves_of, source_of, verify, weights_of

if TYPE_CHECKING:
    from torchere.program import StableHLOProgram
    from torchere.reference import Source

#: A culprit, and its script or why there is none.
Found = tuple["Culprit | None", Reproduction | NoScript | None]
#: Their elements are whatever the memory held; ours are zeros.
_UNINITIALIZED = ("aten.empty", "aten.new_empty")


# The bounds of a composite, whose values pass through.
_MARK = "xla.mark_tensor.default"


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor that an op reads."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclasses.dataclass(frozen=True)
class Culprit:
    """The first op that computes other values."""

    op: str  #: "aten.gelu.default", as it was captured
    name: str  #: of the node in print(program.program)
    what: str  #: the step that went wrong: "lowering", "decomposition", "functionalization", "combination"
    file: str
    line: int
    code: str
    place: str  #: "model.py:31 in encoder.layer.0"
    module_path: str
    inputs: tuple[Value, ...]
    rows: tuple[Comparison, ...]
    detail: str = ""

    def __str__(self) -> str:
        texts = {
            "lowering": "the op is lowered wrongly",
            "decomposition": "what the op was expanded to computes something else",
            "functionalization": "the functional form of the graph computes something else here",
            "combination": "the ops are right alone, and wrong together",
        }
        lines = [f"[{self.op}] {texts[self.what]}: node {self.name}; at {self.place or 'an unknown line'}"]
        if self.code:
            lines.append(f"  {self.code.strip()}")
        lines += [f"  input {value}" for value in self.inputs]
        if self.detail:
            lines.append(f"  {self.detail}")
        return "\n".join([*lines, table([HEADINGS, *(row.cells() for row in self.rows)], "  ")])


@dataclasses.dataclass(frozen=True)
class Bisection:
    """What program.bisect found. It prints as text."""

    function: str
    checked: int  #: calls that were compared
    culprit: Culprit | None
    skipped: tuple[str, ...] = ()  #: nodes that could not be compared, with reasons
    script: str = ""  #: the path of the script that reproduces the culprit alone
    script_omitted: str = ""  #: why there is none

    @property
    def ok(self) -> bool:
        return self.culprit is None

    def __str__(self) -> str:
        lines = [f"{self.function}: {self.checked} ops compared, none is wrong"]
        if self.culprit is not None:
            lines = [f"{self.function}: {self.checked} ops compared, the last is wrong", str(self.culprit)]
        if self.skipped:
            lines += [f"  not compared: {text}" for text in self.skipped]
        if self.script:
            lines.append(f"  to reproduce it alone: python {self.script}")
        if self.script_omitted:
            lines.append(f"  no script reproduces it alone: {self.script_omitted}")
        return "\n".join(lines)


def bisect(
    program: StableHLOProgram,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    repro: str | os.PathLike[str] | None,
) -> Bisection:
    import torch

    from torchere.combination import find_combination

    if program.program is None:
        raise InvalidArgumentError(
            "[bisect] the program has no graph: it was loaded, or unpickled",
            advice="export the module again and bisect what torchere.export returns",
        )
    source = source_of(program)
    args, kwargs = as_tensors((args, kwargs))
    leaves = copied(leaves_of(program, program._default, args, kwargs))
    with torch.no_grad():
        search = Search(program, source, leaves)
        culprit, reproduction = search.run()
        if culprit is None and not _is_right(program, args, kwargs):
            culprit, reproduction = find_combination(program, source, leaves)
    found = Bisection(program._default, search.checked, culprit, tuple(search.skipped))
    if isinstance(reproduction, NoScript):
        return dataclasses.replace(found, script_omitted=str(reproduction))
    return dataclasses.replace(found, script=reproduction.write(repro)) if reproduction else found


def _is_right(program: StableHLOProgram, args: Any, kwargs: Any) -> bool:
    """Whether the whole program is: then values inside that rounding decides do not matter. Of one that draws
    random numbers that is not known."""
    if program._ready_session().draws_random_numbers():
        return False
    return verify(program, program._default, args, kwargs, None).ok


def attempt(write: Callable[..., Reproduction], *args: Any) -> Reproduction | NoScript:
    """A script, or why there is none."""
    try:
        return write(*args)
    except NoScript as reason:
        return reason


class Search:
    def __init__(self, program: StableHLOProgram, source: Source, leaves: list[Any]):
        self.source = source
        self.graph = FunctionalGraph(program.program)
        self.parts = Parts(self.graph, source.options)
        self.values = dict(enumerate(_input_values(program, weights_of(program), copied(leaves))))
        self.begin = lambda: GraphRun(source.walked, weights_of(program), copied(leaves))
        self.captured = CapturedValues(self.begin(), self.graph.indices)
        self.checked = 0
        self.skipped: list[str] = []

    def run(self) -> Found:
        last = self.graph.last_uses()
        for index, node in self.graph.calls():
            found = self.step(index, node)
            if found is not None:
                return found
            self.drop(index, last)
        return None, None

    def drop(self, index: int, last: Mapping[int, list[int]], kept: Container[int] = ()) -> None:
        """Forgets what no later node reads. Placeholders stay: sizes follow from them."""
        self.captured.forget(self.graph.nodes[index].name)
        for used in last.get(index, ()):
            if self.graph.nodes[used].kind == "call" and used not in kept:
                self.values.pop(used, None)

    def step(self, index: int, node: Any) -> Found | None:
        """Sets the node's value, and compares it."""
        settled = self.settle(index, node)
        if settled is None:
            return None
        self.checked += 1
        value, captured = settled
        if self.graph.is_element(index):
            return self.check_form(index, node, value, captured)
        return self.check_lowering(index, node, value) or self.check_form(index, node, value, captured)

    def settle(self, index: int, node: Any) -> tuple[Any, Captured | None] | None:
        """Sets the node's value. Gives eager PyTorch's, and what was captured, if they are to be compared; an
        element of a list is compared with the list, unless it stands for an op."""
        captured = self.captured.find(node.name)
        try:
            value = self.eager_value(index, node, captured)
        except Exception as error:  # whatever an op raises in eager mode
            return self.skip(index, node, captured, f"eager PyTorch cannot run it: {error}")
        self.values[index] = value if captured is None else captured.value
        if self.graph.is_element(index):
            return (value, captured) if captured is not None and captured.op != node.op else None
        if not self.graph.results_of(index) or node.op == _MARK:
            return None
        if self.is_arbitrary(node):
            return self.take_ours(index, node)
        return value, captured

    def skip(self, index: int, node: Any, captured: Any, reason: str) -> None:
        """Goes on with what was captured, or with ours."""
        self.skipped.append(f"{node.name} ({node.op}): {reason.splitlines()[0]}")
        if captured is not None:
            self.values[index] = captured.value
            return
        places, found = self.graph.results_of(index), self.lowered(index)
        if places != [index]:
            elements = [None] * (1 + max(map(self.element_of, places), default=-1))
            for place, value in zip(places, found, strict=True):
                elements[self.element_of(place)] = value
            found = [tuple(elements)]
        self.values[index] = found[0]

    def eager_value(self, index: int, node: Any, captured: Any) -> Any:
        """Of the functional node. Higher-order ops are taken from the captured graph, which holds their
        graphs."""
        if captured is not None and (
            self.is_unchanged(node, captured) or node.op.startswith("higher_order.")
        ):
            return captured.value
        return evaluate(node, self.values)

    def is_unchanged(self, node: Any, captured: Any) -> bool:
        """Whether the functional node is the captured one: the same op of values that were captured."""
        read = [self.graph.nodes[used].name for used in references(node)]
        return captured.op == node.op and read == [used.name for used in captured.node.all_input_nodes]

    def is_arbitrary(self, node: Any) -> bool:
        """Whether its elements are random numbers, or whatever the memory holds."""
        import torch

        if node.op.startswith(_UNINITIALIZED):
            return True
        target = callable_of(node.op)
        if torch.Tag.nondeterministic_seeded not in getattr(target, "tags", ()):
            return False
        first, second = evaluate(node, self.values), evaluate(node, self.values)
        return not _are_equal(first, second)

    def take_ours(self, index: int, node: Any) -> None:
        """What both go on with."""
        results = self.graph.results_of(index)
        for place, value in zip(results, self.lowered(index), strict=True):
            self.captured.replace(self.graph.nodes[place].name, value)
            if place == index:
                self.values[index] = value
            else:
                elements = list(self.values[index])
                elements[self.element_of(place)] = value
                self.values[index] = tuple(elements)

    def element_of(self, place: int) -> int:
        return self.graph.nodes[place].arguments[1][1]

    def lowered(self, index: int) -> list[Any]:
        return self.parts.run(self.graph.results_of(index), self.graph.tensors_of(index), self.values)

    def results(self, index: int, value: Any) -> list[Any]:
        """The tensors of a call's value, as results_of() lists them."""
        if self.graph.nodes[index].type_kind == "tensor":
            return [value]
        return [value[self.element_of(place)] for place in self.graph.results_of(index)]

    def check_lowering(self, index: int, node: Any, value: Any) -> Found | None:
        try:
            ours = self.lowered(index)
        except Error as error:
            self.skipped.append(f"{node.name} ({node.op}): {str(error).splitlines()[0]}")
            return None
        rows = self.compared(index, ours, value, self.doubled(node))
        if all(row.ok for row in rows):
            return None
        captured = self.captured.find(node.name)
        is_same = captured is not None and captured.op == node.op
        if is_same and self.is_right_here(index, node, ours):
            rows = self.compared(index, ours, value, captured.doubled())
            return self.lost_write(index, node, captured, rows)
        detail = (
            "" if is_same else "it is part of what an op of this line was expanded to, or made functional"
        )
        culprit = self.culprit(index, node, node.op, "lowering", rows, detail)
        if is_same and (node.op.startswith("higher_order.") or is_user_op(captured.node.target)):
            given = (captured, value, title_of(culprit), self.source)
            return culprit, attempt(write_captured, *given)
        results, read = self.graph.results_of(index), self.graph.tensors_of(index)
        part = (self.graph, results, read, self.values, title_of(culprit), self.source)
        return culprit, attempt(write_lowered, *part)

    def is_right_here(self, index: int, node: Any, ours: list[Any]) -> bool:
        """Whether ours is right for what the functional node reads, which then is not what was captured."""
        try:
            value = evaluate(node, self.values)
        except Exception:  # higher-order ops, and what eager PyTorch raises
            return False
        return all(row.ok for row in self.compared(index, ours, value, self.doubled(node)))

    def lost_write(self, index: int, node: Any, captured: Captured, rows: tuple[Comparison, ...]) -> Found:
        """The functional form is wrong, which only what led to it shows."""
        culprit = self.culprit(index, node, captured.op, "functionalization", rows, "")
        given = (self.begin(), self.begin(), captured.node.name, title_of(culprit), self.source)
        return culprit, attempt(write_history, *given)

    def check_form(self, index: int, node: Any, value: Any, captured: Any) -> Found | None:
        """Compares the functional node with what was captured under its name, both in eager PyTorch."""
        if captured is None or value is captured.value:
            return None
        rows = self.compared(index, self.results(index, value), captured.value, captured.doubled())
        if all(row.ok for row in rows):
            return None
        expanded = self.captured.expansion_behind(captured, self.graph, self.source)
        blamed = node if expanded is captured else self.made_before(node)
        if expanded is None:
            return self.lost_write(index, blamed, captured, rows)
        read = tuple(describe(used.name, value) for used, value in expanded.tensors())
        culprit = self.culprit(index, blamed, expanded.op, "decomposition", rows, "", read)
        made = attempt(write_captured, expanded, expanded.value, title_of(culprit), self.source)
        expansion = expansion_of(expanded.node, self.source)
        detail = f"it was expanded to\n{expansion_text(expansion)}" if expansion else ""
        return dataclasses.replace(culprit, detail=detail), made

    def described(self, place: int) -> Value:
        return describe(self.graph.nodes[place].name, self.values[place])

    def made_before(self, node: Any) -> Any:
        """The node among those that it reads that was not captured, which has the place of the op that it
        stands for; the node itself where there is none."""
        read = [self.graph.nodes[used] for used in references(node)]
        return next((one for one in read if one.kind == "call" and one.name not in self.captured.all), node)

    def doubled(self, node: Any) -> Any:
        try:
            if node.op.startswith("higher_order."):
                return self.captured.find(node.name).doubled()
            with Doubled():
                return evaluate(node, self.values, double)
        except Exception:  # whatever the op does with float64
            return None

    def compared(self, index: int, ours: list[Any], value: Any, exact: Any) -> tuple[Comparison, ...]:
        expected = self.results(index, value)
        exacts = [None] * len(ours) if exact is None else self.results(index, exact)
        places = self.graph.results_of(index)
        return tuple(
            compare(self.graph.nodes[place].name, mine, other, double_value)
            for place, mine, other, double_value in zip(places, ours, expected, exacts, strict=True)
        )

    def culprit(
        self,
        index: int,
        node: Any,
        op: str,
        what: str,
        rows: tuple[Comparison, ...],
        detail: str,
        inputs: tuple[Value, ...] | None = None,
    ) -> Culprit:
        if inputs is None:
            read = self.graph.tensors_of(index)
            inputs = tuple(map(self.described, read))
        called = self.graph.nodes[node.arguments[0][1].index] if self.graph.is_element(index) else node
        return Culprit(
            op,
            node.name,
            what,
            called.file,
            int(called.line or 0),
            called.code,
            called.place,
            called.module_path,
            inputs,
            rows,
            detail,
        )


def title_of(culprit: Culprit) -> str:
    at = f" ({culprit.place})" if culprit.place else ""
    return f"{culprit.op}{at} computes other values than eager PyTorch."


def describe(name: str, value: Any) -> Value:
    dtype = getattr(value, "dtype", type(value).__name__)
    return Value(name, str(dtype).removeprefix("torch."), tuple(getattr(value, "shape", ())))


def _are_equal(one: Any, other: Any) -> bool:
    import torch
    import torch.utils._pytree as pytree

    pairs = zip(pytree.tree_leaves(one), pytree.tree_leaves(other), strict=True)
    return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in pairs)


def _input_values(program: StableHLOProgram, weights: Mapping[str, Any], leaves: list[Any]) -> Iterator[Any]:
    """The value of each placeholder: a present weight, a constant of the program, or an argument."""
    core, given = program.program, iter(leaves)
    held = {**core.constants, **core.state_dict}
    for _, target in core.inputs:
        if not target:
            yield next(given)
        elif target in weights:
            yield weights[target]
        else:
            yield held_tensor(held[target]) if target in held else None


@dataclasses.dataclass
class Captured:
    """A captured node's value, as produced, and what it read."""

    node: Any
    value: Any
    inputs: dict[Any, Any]

    def tensors(self) -> Iterator[tuple[Any, Any]]:
        """What it read, without the graphs of control flow."""
        return ((used, value) for used, value in self.inputs.items() if used.op != "get_attr")

    @property
    def op(self) -> str:
        from torchere.expansion import describe_op

        return describe_op(self.node.target)[0]

    def doubled(self) -> Any:
        import torch.utils._pytree as pytree
        from torch.fx.node import map_arg

        arguments = map_arg((self.node.args, self.node.kwargs), self.inputs.__getitem__)
        try:
            with Doubled():
                return call(self.node.target, *pytree.tree_map(double, arguments))
        except Exception:  # whatever the op does with float64
            return None


class CapturedValues:
    """The captured graph, which runs as far as its nodes are asked for. Of nodes that the functional graph
    does not have, the last few are kept: ops of several results that were expanded."""

    _KEPT = 4

    def __init__(self, run: GraphRun, wanted: Iterable[str]):
        self.run = run
        self.steps = run.steps()
        self.following = iter(run.module.graph.nodes)
        self.all = {node.name for node in run.module.graph.nodes if node.op == "call_function"}
        self.names = self.all & set(wanted)
        self.found: dict[str, Captured] = {}
        self.others: list[Captured] = []

    def find(self, name: str) -> Captured | None:
        while name in self.names and name not in self.found:
            node = next(self.following)
            read = {used: self.run.values[used] for used in node.all_input_nodes}
            if _writes(node.target):
                read = {used: _as_produced(value) for used, value in read.items()}
            _, value = next(self.steps)
            if node.op != "call_function":
                continue
            made = Captured(node, _as_produced(value), read)
            if node.name in self.names:
                self.found[node.name] = made
            else:
                self.others = [*self.others[1 - self._KEPT :], made]
        return self.found.get(name)

    def forget(self, name: str) -> None:
        self.found.pop(name, None)
        self.names.discard(name)

    def replace(self, name: str, value: Any) -> None:
        """Gives a node's tensor other elements, from here on."""
        captured = self.find(name)
        if captured is None:
            self.names = set()  # its writes can no longer be followed
        elif captured.node in self.run.values:
            self.run.values[captured.node].copy_(value)
            captured.value = value

    def expansion_behind(self, captured: Captured, graph: FunctionalGraph, source: Source) -> Captured | None:
        """The captured op that others stand for: this one, or one that it reads, whose elements have no names
        in the functional graph."""
        if graph.nodes[graph.indices[captured.node.name]].op != captured.op:
            return captured if source.expands(captured.node) else None
        read = [_producer(used) for used in captured.node.all_input_nodes]
        kept = [other for other in self.others if other.node in read and source.expands(other.node)]
        return kept[0] if kept else None


def _writes(target: Any) -> bool:
    return getattr(getattr(target, "_schema", None), "is_mutable", False)


def _producer(node: Any) -> Any:
    """The op of which it is a result."""
    return node.args[0] if node.target is operator.getitem else node


def _as_produced(value: Any) -> Any:
    import torch
    import torch.utils._pytree as pytree

    return pytree.tree_map_only(torch.Tensor, torch.Tensor.clone, value)
