"""program.verify: a program's results and what it writes, beside eager PyTorch's and float64's."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torchere.comparison import HEADINGS, Comparison, compare, table
from torchere.errors import Error, InvalidArgumentError
from torchere.functional_graph import held_tensor
from torchere.reference import Outcome, Source, copied, run_captured, run_module, weight_names

if TYPE_CHECKING:
    from torchere.program import StableHLOProgram


class VerificationError(Error):
    """A program that gives other values than eager PyTorch."""

    code = "FAILED_PRECONDITION"


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """What program.verify found: one row for each value. It prints as a table."""

    function: str
    rows: tuple[Comparison, ...]
    note: str = ""  #: why there are no errors against float64

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    def raise_if_wrong(self) -> None:
        if not self.ok:
            wrong = [row for row in self.rows if not row.ok]
            raise VerificationError(
                f"[{self.function}] {len(wrong)} of {len(self.rows)} values differ from eager PyTorch's, "
                f"first {wrong[0].name}: {wrong[0].verdict}",
                advice="program.bisect(...) with the same arguments finds the op",
            )

    def __str__(self) -> str:
        wrong = sum(not row.ok for row in self.rows)
        verdict = f"{wrong} of {len(self.rows)} values are wrong" if wrong else "all values agree"
        lines = [f"{self.function}: {verdict}", table([HEADINGS, *(row.cells() for row in self.rows)], "  ")]
        return "\n".join([*lines, f"  {self.note}"] if self.note else lines)


@dataclasses.dataclass(frozen=True)
class Reference:
    """Eager PyTorch's outcome, and float64's or why there is none."""

    eager: Outcome
    double: Outcome | None
    note: str = ""


def verify(
    program: StableHLOProgram, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], against: Any
) -> VerificationReport:
    source = source_of(program, against)
    twin = twin_of(program)
    args, kwargs = as_tensors((args, kwargs))
    given = leaves_of(program, name, args, kwargs)
    reference = _reference(program, name, source, args, kwargs)
    ours_args, ours_kwargs = copied((args, kwargs))
    result = twin.evaluate(name, ours_args, ours_kwargs)
    ours = Outcome(result, twin.snapshot(), leaves_of(program, name, ours_args, ours_kwargs))
    names = [info.name for info in program.signature(name).inputs]
    return VerificationReport(name, tuple(_rows(ours, reference, names, given)), reference.note)


def leaves_of(program: StableHLOProgram, name: str, args: Any, kwargs: Any) -> list[Any]:
    """The leaves of a call's arguments, in the order of the function's inputs."""
    return program._conventions[name].flatten(args, kwargs, program._core_bundle)


def source_of(program: StableHLOProgram, against: Any = None) -> Source:
    """What to compare with: what is given, or what the program was exported from."""
    if against is not None:
        return Source.of(against)
    source = program._source
    if source is None:
        raise InvalidArgumentError(
            "[verify] the program does not know what it was exported from: it was loaded, or unpickled",
            advice="program.verify(*args, against=module) compares with a module, a function or an "
            "ExportedProgram",
        )
    source.check_mode()
    return source


def twin_of(program: StableHLOProgram) -> StableHLOProgram:
    """The program with a state of its own, which begins with the present one."""
    session = program._ready_session()  # whose executables the twin uses
    if session.draws_random_numbers():
        raise InvalidArgumentError(
            "[verify] the program draws random numbers, which are others in eager PyTorch: expected a "
            "program that draws none",
            advice="export the module in eval mode; program.bisect(...) goes on with the program's numbers",
        )
    return copy.deepcopy(program)


def as_tensors(arguments: Any) -> Any:
    import torch.utils._pytree as pytree

    from torchere.arrays import as_tensor

    return pytree.tree_map(as_tensor, arguments)


def weights_of(program: StableHLOProgram) -> dict[str, Any]:
    """The present weights by name: the memory of the program's own, and copies of what calls write. Tied ones
    are one tensor."""
    states = program._names.states
    known: dict[Any, Any] = {}
    found: dict[str, Any] = {}
    for name, value in program._named(program._weight_names, remove_duplicate=False):
        identity = program._identity(name)
        is_state = name in states or name in program._tied_states
        found[name] = known.setdefault(identity, value.clone() if is_state else value)
    return found


def _reference(program: StableHLOProgram, name: str, source: Source, args: Any, kwargs: Any) -> Reference:
    eager = _run(program, name, source, args, kwargs, False)
    try:
        return Reference(eager, _run(program, name, source, args, kwargs, True))
    except Exception as error:  # whatever the model's code does with float64
        reason = f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"
        return Reference(eager, None, f"no float64 to compare with, where the model fails: {reason[:160]}")


def _run(
    program: StableHLOProgram, name: str, source: Source, args: Any, kwargs: Any, doubled: bool
) -> Outcome:
    weights = weights_of(program)
    if source.module is not None and not (doubled and source.has_branches()):
        with _plain_states(program, source.module, weights) as states:
            outcome = run_module(source.module, weights, args, kwargs, doubled)
            outcome.weights |= copied(states)
        return dataclasses.replace(outcome, arguments=leaves_of(program, name, *outcome.arguments))
    leaves = leaves_of(program, name, args, kwargs)
    return run_captured(source.exported_program, weights, leaves, doubled)


@contextlib.contextmanager
def _plain_states(
    program: StableHLOProgram, module: Any, weights: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """State that is no buffer of the module, but a tensor that its code holds: nothing can take its place, so
    that its memory has the program's value for the time of a call."""
    core = program.program
    names = program._names.states - weight_names(module)
    entries = {**core.constants, **core.state_dict} if core is not None else {}
    held = {name: held_tensor(entries[name]) for name in names if name in entries}
    before = copied(held)
    try:
        for name, tensor in held.items():
            tensor.copy_(weights[name])
        yield held
    finally:
        for name, tensor in held.items():
            tensor.copy_(before[name])


def _rows(ours: Outcome, reference: Reference, names: list[str], given: list[Any]) -> list[Comparison]:
    eager, double = reference.eager, reference.double
    rows = _results("output", ours.result, eager.result, double and double.result)
    for name, value in ours.weights.items():
        if name in eager.weights:
            rows.append(compare(name, value, eager.weights[name], double and double.weights[name]))
    return rows + _written(ours, reference, names, given)


def _results(name: str, ours: Any, eager: Any, double: Any) -> list[Comparison]:
    import torch.utils._pytree as pytree

    expected = pytree.tree_flatten_with_path(eager)[0]
    found = pytree.tree_leaves(ours)
    if len(found) != len(expected):
        return [
            Comparison(
                name,
                "",
                (),
                float("inf"),
                float("inf"),
                None,
                f"another structure: got {len(found)} values, expected {len(expected)}",
            )
        ]
    doubles = [None] * len(expected) if double is None else pytree.tree_leaves(double)
    return [
        compare(f"{name}{pytree.keystr(path)}", value, leaf, other)
        for (path, leaf), value, other in zip(expected, found, doubles, strict=True)
    ]


def _written(ours: Outcome, reference: Reference, names: list[str], given: list[Any]) -> list[Comparison]:
    """The arguments that the program, or eager PyTorch, has written."""
    import torch

    double = reference.double.arguments if reference.double else [None] * len(given)
    eager = reference.eager.arguments
    rows = []
    for name, before, mine, other, exact in zip(names, given, ours.arguments, eager, double, strict=True):
        if isinstance(before, torch.Tensor) and not (_is_equal(before, mine) and _is_equal(before, other)):
            rows.append(compare(name, mine, other, exact))
    return rows


def _is_equal(one: Any, other: Any) -> bool:
    import torch

    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())
