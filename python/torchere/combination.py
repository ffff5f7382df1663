"""What bisect looks for when each op is right alone: the first value of the whole program that is wrong, and
the fewest ops before it that are wrong together."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from torchere.bisection import CapturedValues, Culprit, Found, Search, attempt, title_of
from torchere.captured_text import NoScript
from torchere.comparison import Comparison, compare
from torchere.functional_graph import evaluate
from torchere.reference import Doubled, GraphRun, double
from torchere.reproduction import write_lowered
from torchere.verification import weights_of

if TYPE_CHECKING:
    from torchere.program import StableHLOProgram
    from torchere.reference import Source

#: So many values of the whole program are computed in one call.
_TOGETHER = 64
#: How many ops deep the ops before a wrong value are tried together.
_DEPTH = 8


def find_combination(program: StableHLOProgram, source: Source, leaves: list[Any]) -> Found:
    """The first captured value that the whole program computes wrongly, and how to reproduce it."""
    walk = _Walk(program, source, leaves)
    wrong = walk.first_wrong()
    if wrong is None:
        return None, None
    index, row = wrong
    return _Neighbourhood(program, source, leaves, index, row).find()


class _Walk(Search):
    """The reference values once more, and beside them the whole program's."""

    def __init__(self, program: StableHLOProgram, source: Source, leaves: list[Any]):
        super().__init__(program, source, leaves)
        weights = {name: double(value) for name, value in weights_of(program).items()}
        doubled = [double(leaf) for leaf in leaves]
        run = GraphRun(source.walked, weights, doubled)
        self.exact: CapturedValues | None = CapturedValues(run, self.graph.indices)
        self.given: list[int] = []  #: random numbers and the like, which the program takes as inputs

    def first_wrong(self) -> tuple[int, Comparison] | None:
        last, held = self.graph.last_uses(), dict[int, tuple[Any, Any]]()
        for index, node in self.graph.calls():
            settled = self.settle(index, node)
            if settled is not None and settled[1] is not None and node.type_kind == "tensor":
                held[index] = self.values[index], self.exact_value(node.name)
            if len(held) == _TOGETHER and (found := self.compare_whole(held)) is not None:
                return found
            self.drop(index, last, self.given)
        return self.compare_whole(held)

    def take_ours(self, index: int, node: Any) -> None:
        super().take_ours(index, node)
        for place in self.graph.results_of(index):
            self.given.append(place)
            if place != index:  # its node comes later, with the same value
                self.values[place] = self.values[index][self.element_of(place)]
            if self.exact is not None:
                self.exact.replace(self.graph.nodes[place].name, double(self.values[place]))

    def exact_value(self, name: str) -> Any:
        if self.exact is None:
            return None
        try:
            with Doubled():
                captured = self.exact.find(name)
                self.exact.forget(name)
            return captured and captured.value
        except Exception:  # whatever an op does with float64
            self.exact = None
            return None

    def compare_whole(self, held: dict[int, tuple[Any, Any]]) -> tuple[int, Comparison] | None:
        ours = self.parts.run(list(held), self.given, self.values) if held else []
        for (index, (eager, exact)), value in zip(held.items(), ours, strict=True):
            row = compare(self.graph.nodes[index].name, value, eager, exact)
            if not row.ok:
                return index, row
        held.clear()
        return None


class _Neighbourhood(Search):
    """Ops before a wrong value, from a few on, until they are wrong together."""

    def __init__(
        self, program: StableHLOProgram, source: Source, leaves: list[Any], index: int, row: Comparison
    ):
        super().__init__(program, source, leaves)
        self.index, self.row = index, row

    def find(self) -> Found:
        fronts = self.fronts()
        kept = {place for front in fronts for place in front}
        last = self.graph.last_uses()
        for index, node in self.graph.calls():
            if index > self.index:
                break
            self.settle(index, node)
            self.drop(index, last, kept)
        for front in fronts:
            row = self.compare_from(front)
            if not row.ok:
                culprit = self.found(front, row)
                part = (self.graph, [self.index], front, self.values, title_of(culprit), self.source)
                return culprit, attempt(write_lowered, *part)
        return self.found([], self.row), NoScript("the whole program does; call program.verify")

    def fronts(self) -> list[list[int]]:
        """What is read by the last two ops, the last three, and so on."""
        front, fronts = self.graph.tensors_of(self.index), []
        for _ in range(_DEPTH):
            further: dict[int, None] = {}
            for place in front:
                is_call = self.graph.nodes[place].kind == "call"
                further |= dict.fromkeys(self.producers_of(place) if is_call else [place])
            if list(further) == front:
                break
            front = list(further)
            fronts.append(front)
        return fronts

    def producers_of(self, place: int) -> list[int]:
        if not self.graph.is_element(place):
            return self.graph.tensors_of(place)
        return self.graph.tensors_of(self.graph.nodes[place].arguments[0][1].index)

    def compare_from(self, front: list[int]) -> Comparison:
        (ours,) = self.parts.run([self.index], front, self.values)
        eager = self.computed(front, None)
        try:
            with Doubled():
                exact = self.computed(front, double)
        except Exception:  # whatever an op does with float64
            exact = None
        return compare(self.graph.nodes[self.index].name, ours, eager, exact)

    def computed(self, front: list[int], convert: Any) -> Any:
        values = dict(self.values)
        for place in self.graph.between([self.index], front):
            values[place] = evaluate(self.graph.nodes[place], values, convert)
        return values[self.index]

    def found(self, front: list[int], row: Comparison) -> Culprit:
        node = self.graph.nodes[self.index]
        part = self.graph.between([self.index], front) if front else []
        texts = [f"    {self.graph.nodes[place].name}: {self.graph.nodes[place].op}" for place in part]
        detail = (
            "\n".join(["wrong together are", *texts]) if texts else "it is wrong in the whole program alone"
        )
        culprit = self.culprit(self.index, node, node.op, "combination", (row,), detail, ())
        inputs = tuple(self.described(place) for place in front)
        return dataclasses.replace(culprit, inputs=inputs)
