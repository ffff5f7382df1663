"""torchere.explain: what an export makes of a program, and what stands in its way, in one report."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torchere import _core
from torchere.capture import capture
from torchere.dimension_names import Dimensions, asked_dimensions
from torchere.errors import Error
from torchere.expansion import NO_CONTEXT, Expander, describe_op, is_mutable
from torchere.exporting import capture_with_torch, decomposed_by_torch, lowered_ops
from torchere.sources import as_module

_FIXED = re.compile(r"You marked (\S+) as dynamic but your code specialized it to be a constant \((\d+)\)")
#: torch's own suggestions, in versions and modes that make them.
_CHECKS = re.compile(r"^\s*\d+\.\s*(torch\._check\w*\(.*\))\s*$", re.MULTILINE)
_SYMBOL = re.compile(r"\b(?:u|zuf)\d+\b")
_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


@dataclasses.dataclass(frozen=True)
class Problem:
    """An error that the export would raise."""

    message: str
    where: str = ""
    advice: str = ""


@dataclasses.dataclass(frozen=True)
class MissingOp:
    """An op without a lowering."""

    op: str
    places: tuple[str, ...]  #: of its uses
    decompositions: tuple[str, ...]  #: what keeps torch's decompositions of it from being used
    advice: str

    @property
    def count(self) -> int:
        return len(self.places)


@dataclasses.dataclass(frozen=True)
class ExpandedOp:
    """An op without a lowering of its own, whose parts have one."""

    op: str
    count: int
    seconds: float


@dataclasses.dataclass(frozen=True)
class DataGuard:
    """A decision of Python's that needs a value that only a call has."""

    expression: str  #: "u0 > 3", in torch's symbols
    place: str
    code: str
    checks: tuple[str, ...]  #: calls of torch._check that decide it, to be chosen from


@dataclasses.dataclass(frozen=True)
class FixedDimension:
    """A dimension that was to be dynamic and is one number in the program."""

    name: str  #: "x.shape[0]", or the int input's name
    size: int
    asked: str  #: as what: "batch", "AUTO", "DYNAMIC"
    reason: str


@dataclasses.dataclass(frozen=True)
class ConstantInput:
    """An input that is no tensor, and is a constant of the program."""

    name: str
    value: Any


@dataclasses.dataclass(frozen=True)
class HeldTensor:
    """A tensor of the code that is neither parameter nor buffer."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    byte_size: int


@dataclasses.dataclass(frozen=True)
class Written:
    """What a call writes: "buffer", "parameter" or "input"."""

    name: str
    kind: str


@dataclasses.dataclass
class Explanation:
    """What torchere.explain found. It prints as text; `ok` says whether torchere.export succeeds."""

    name: str
    problems: list[Problem] = dataclasses.field(default_factory=list)
    missing_ops: list[MissingOp] = dataclasses.field(default_factory=list)
    data_guards: list[DataGuard] = dataclasses.field(default_factory=list)
    fixed_dimensions: list[FixedDimension] = dataclasses.field(default_factory=list)
    constant_inputs: list[ConstantInput] = dataclasses.field(default_factory=list)
    expanded_ops: list[ExpandedOp] = dataclasses.field(default_factory=list)
    written: list[Written] = dataclasses.field(default_factory=list)
    constant_tensors: list[HeldTensor] = dataclasses.field(default_factory=list)
    ops: dict[str, int] = dataclasses.field(default_factory=dict)  #: of the program, with counts

    @property
    def ok(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        lines = [f"{self.name}: {'can be exported' if self.ok else 'cannot be exported'}"]
        if self.ops:
            lines[0] += f" ({sum(self.ops.values())} calls of {len(self.ops)} ops)"
        for title, texts in self._sections():
            if texts:
                lines += [f"  {title}", *texts]
        return "\n".join(lines)

    def _sections(self) -> Iterator[tuple[str, list[str]]]:
        yield "problems", [text for problem in self.problems for text in _problem_lines(problem)]
        yield "ops without a lowering", [text for op in self.missing_ops for text in _missing_lines(op)]
        yield "data-dependent guards", [text for guard in self.data_guards for text in _guard_lines(guard)]
        yield (
            "dimensions that became static",
            [
                f"    {dim.name} = {dim.size}, asked for as {dim.asked}: {dim.reason}"
                for dim in self.fixed_dimensions
            ],
        )
        yield (
            "inputs that became constants",
            [f"    {constant.name} = {constant.value!r}" for constant in self.constant_inputs],
        )
        yield (
            "ops that are expanded",
            [f"    {op.op}: {_uses(op.count)}, {op.seconds:.3f} s" for op in self.expanded_ops],
        )
        yield "what calls write", [f"    {one.name} ({one.kind})" for one in self.written]
        yield (
            "constant tensors",
            [
                f"    {one.name}: {one.dtype} {list(one.shape)}, {one.byte_size} bytes"
                for one in self.constant_tensors
            ],
        )


def _uses(count: int) -> str:
    return f"{count} use{'' if count == 1 else 's'}"


def _problem_lines(problem: Problem) -> list[str]:
    at = f"; at {problem.where}" if problem.where else ""
    lines = [f"    {line}" for line in f"{problem.message}{at}".splitlines()]
    return [*lines, f"      to do: {problem.advice}"] if problem.advice else lines


def _missing_lines(op: MissingOp) -> list[str]:
    places = ", ".join(dict.fromkeys(filter(None, op.places))) or "an unknown line"
    return [
        f"    {op.op}: {_uses(op.count)}, at {places}",
        *(f"      {text}" for text in op.decompositions),
        f"      to do: {op.advice}",
    ]


def _guard_lines(guard: DataGuard) -> list[str]:
    lines = [f"    {guard.expression}, at {guard.place or 'an unknown line'}: {guard.code}"]
    return [*lines, f"      to do: {' or '.join(guard.checks)}"] if guard.checks else lines


def explain(
    target: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    *,
    strict: bool = False,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
) -> Explanation:
    """What torchere.export with these arguments would make of the program, without failing: ops without a
    lowering, decisions that depend on data, dimensions and inputs that became constants, ops that are
    expanded, state. Returns a report with fields, which prints as text. Nothing is compiled; where torch
    cannot capture the program it is run once, to find what else stands in the way."""
    import torch

    name = getattr(target, "__qualname__", type(target).__name__)
    report = Explanation(name)
    if isinstance(target, torch.export.ExportedProgram):
        exported, module = target, None
    else:
        module = as_module(target)
        exported = _captured(report, target, args, kwargs, dynamic_shapes, strict)
    if exported is None:
        return report
    _describe_signature(report, exported)
    if module is not None:
        _describe_dimensions(report, module, exported, dynamic_shapes)
    _describe_lowering(report, exported, decompositions)
    return report


def _captured(
    report: Explanation, target: Any, args: Any, kwargs: Any, dynamic_shapes: Any, strict: bool
) -> Any:
    """The ExportedProgram; where torch fails, after noting why, one that comes as near as can be, or None."""
    try:
        with _quiet():
            return capture_with_torch(target, args, kwargs, dynamic_shapes, strict)
    except Error as error:
        text = f"{error.__cause__ or error}"
        fixed = _FIXED.findall(text)
        report.problems.append(_problem(error))
        report.fixed_dimensions += [
            FixedDimension(_own_name(name), int(size), _own_name(name), _MODEL_FIXES) for name, size in fixed
        ]
        checks = tuple(_CHECKS.findall(text))
    if fixed:
        return _with_automatic_sizes(report, target, args, kwargs, dynamic_shapes, strict)
    return _drafted(report, target, args, kwargs, dynamic_shapes, strict, checks)


_MODEL_FIXES = "the model takes it for one number"


def _with_automatic_sizes(
    report: Explanation, target: Any, args: Any, kwargs: Any, dynamic_shapes: Any, strict: bool
) -> Any:
    with contextlib.suppress(Error), _quiet():
        found = capture_with_torch(target, args, kwargs, _automatic(dynamic_shapes), strict)
        report.fixed_dimensions.clear()  # they are described by their inputs instead
        return found
    return None


def _automatic(shapes: Any) -> Any:
    """The same dimensions, but torch decides whether they can be dynamic."""
    import torch

    dim = torch.export.Dim
    if isinstance(shapes, (dim, type(dim.AUTO))):
        return dim.AUTO if shapes != dim.STATIC else shapes
    if isinstance(shapes, Mapping):
        return {key: _automatic(value) for key, value in shapes.items()}
    return type(shapes)(map(_automatic, shapes)) if isinstance(shapes, (list, tuple)) else shapes


def _own_name(name: str) -> str:
    """x.shape[0] for torch's L['x'].size()[0]."""
    found = re.fullmatch(r"L\['(\w+)'\](.*)\.size\(\)(\[\d+\])", name)
    return f"{found[1]}{found[2]}.shape{found[3]}" if found else name


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """torch logs what it raises, with the graph up to there."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(before)


def _drafted(
    report: Explanation, target: Any, args: Any, kwargs: Any, dynamic_shapes: Any, strict: bool, checks: Any
) -> Any:
    """torch's draft of the program, which takes the decisions that this run takes; None if there is none."""
    import torch

    draft = getattr(torch.export, "draft_export", None)
    if draft is None:
        return None
    try:
        with _quiet():
            found = capture_with_torch(target, args, kwargs, dynamic_shapes, strict, export=draft)
    except Exception:  # what torch raises is in the report already
        return None
    failures = getattr(getattr(found, "_report", None), "failures", [])
    files = _file_names(found._report) if failures else {}
    guards = [failure.data for failure in failures if failure.failure_type.name == "DATA_DEPENDENT_ERROR"]
    report.data_guards += [_guard(data, files, checks if len(guards) == 1 else ()) for data in guards]
    return found if len(guards) == len(failures) else None  # torch makes up the results of unknown ops


def _file_names(draft: Any) -> dict[Any, str]:
    """torch's numbers of files. A draft names those that it met first, torch's table all of the process."""
    from torch._logging import structured

    table = getattr(structured, "INTERN_TABLE", {})
    return {number: file for file, number in table.items()} | dict(getattr(draft, "str_to_filename", {}))


def _guard(data: Mapping[str, Any], files: Mapping[Any, str], checks: tuple[str, ...]) -> DataGuard:
    frames = [frame for frame in data.get("user_stack", ()) if not _is_torchs(frame, files)]
    frame = frames[-1] if frames else {}
    file = str(_file_of(frame, files)).rpartition("/")[2]
    place = f"{file}:{frame['line']}" if frame else ""
    expression = str(data["expr"])
    local = data.get("frame_locals") or {}
    code = str(frame.get("loc") or local.get("loc") or "").strip()
    return DataGuard(expression, place, code, checks or _checks(expression, local.get("locals", {})))


def _file_of(frame: Mapping[str, Any], files: Mapping[Any, str]) -> str:
    return str(files.get(frame.get("filename"), frame.get("filename", "")))


def _is_torchs(frame: Mapping[str, Any], files: Mapping[Any, str]) -> bool:
    file = _file_of(frame, files)
    return "/torch/" in file or "/torchere/" in file or file.startswith("<")


def _checks(expression: str, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """torch._check of a comparison and of its negation, in the names of the user's variables."""
    found = re.fullmatch(r"(?:(Eq|Ne)\((.+), (.+)\)|(.+?) (<=|>=|==|!=|<|>) (.+))", expression)
    if found is None:
        return ()
    operator = {"Eq": "==", "Ne": "!="}.get(found[1], found[5])
    left, right = (_in_variables(side, variables) for side in (found[2] or found[4], found[3] or found[6]))
    if left is None or right is None:
        return ()
    return tuple(f"torch._check({left} {one} {right})" for one in (operator, _NEGATED[operator]))


def _in_variables(text: str, variables: Mapping[str, Any]) -> str | None:
    """The expression with variables for torch's symbols; None where a symbol is in none."""
    known: dict[str, str] = {}
    for name, values in variables.items():
        for value in values if isinstance(values, (list, tuple)) else (values,):
            if _SYMBOL.fullmatch(str(value)):
                known.setdefault(str(value), name)
            elif shape := re.search(r"shape: torch\.Size\(\[(.*?)\]\)", str(value)):
                for axis, size in enumerate(shape[1].split(", ")):
                    known.setdefault(size, f"{name}.shape[{axis}]")
    symbols = set(_SYMBOL.findall(text))
    return None if symbols - set(known) else _SYMBOL.sub(lambda symbol: known[symbol[0]], text)


def _problem(error: Error) -> Problem:
    message = str(error)
    if error.advice:
        message = message.removesuffix(f"\n  to do: {error.advice}")
    if error.where:
        message = message.removesuffix(f"; at {error.where}")
    return Problem(message, error.where, error.advice)


def _describe_signature(report: Explanation, exported: Any) -> None:
    from torch.export.graph_signature import ConstantArgument

    for spec in exported.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT" and isinstance(spec.arg, ConstantArgument):
            if spec.arg.value is not None:
                report.constant_inputs.append(ConstantInput(spec.arg.name, spec.arg.value))
        elif spec.kind.name == "CONSTANT_TENSOR":
            value = exported.constants.get(spec.target)
            if value is not None:
                dtype, size = str(value.dtype).removeprefix("torch."), value.numel() * value.itemsize
                report.constant_tensors.append(HeldTensor(spec.target, dtype, tuple(value.shape), size))


def _describe_dimensions(report: Explanation, module: Any, exported: Any, dynamic_shapes: Any) -> None:
    import torch

    for name, axis, dim, size in asked_dimensions(module, exported, dynamic_shapes):
        if isinstance(size, torch.SymInt) and not size.node.expr.is_number:
            continue
        asked = getattr(dim, "__name__", None) or str(getattr(dim, "type", dim)).rpartition(".")[2]
        reason = "torch takes sizes of 0 and 1 for constants: give an example of 2 or more"
        place = name if axis is None else f"{name}.shape[{axis}]"
        report.fixed_dimensions.append(
            FixedDimension(place, int(size), asked, reason if size < 2 else _MODEL_FIXES)
        )


def _describe_lowering(report: Explanation, exported: Any, decompositions: Any) -> None:
    expander = Expander(lowered_ops(), decompositions)
    try:
        program = _functional(exported, expander)
        missing = _core.missing_ops(program)
        if missing and (decomposed := decomposed_by_torch(exported, {}, expander)) is not None:
            program, missing = _functional(decomposed, expander), []
    except Error as error:
        report.problems.append(_problem(error))
        return
    report.ops = {op: count for op, count in program.count_ops().items() if op != "_operator.getitem"}
    report.written += [Written(name, _WRITTEN_KINDS[kind.name]) for kind, name in program.mutations]
    nodes = _calls_by_op(exported)
    for op, places in missing:
        reasons = _reasons(expander, exported, nodes.get(op, ()))
        writes = any(is_mutable(node.target) for node in nodes.get(op, ()))
        report.missing_ops.append(MissingOp(op, tuple(places), reasons, _advice(op, writes)))
    report.expanded_ops += _expanded(expander, exported, nodes)
    try:
        _core.export_program(program)
    except Error as error:
        report.problems.append(_problem(error))


_WRITTEN_KINDS = {
    "BUFFER_MUTATION": "buffer",
    "PARAMETER_MUTATION": "parameter",
    "USER_INPUT_MUTATION": "input",
}


def _functional(exported: Any, expander: Expander) -> _core.Program:
    program = capture(exported, minimums=Dimensions().minimums, expander=expander)
    _core.functionalize(program)
    return program


def _calls_by_op(exported: Any) -> dict[str, list[Any]]:
    import torch

    found: dict[str, list[Any]] = {}
    for module in exported.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function":
                found.setdefault(describe_op(node.target)[0], []).append(node)
    return found


def _expanded(expander: Expander, exported: Any, nodes: Mapping[str, list[Any]]) -> Iterator[ExpandedOp]:
    expander.enter(exported)
    for op, seconds in list(expander.seconds.items()):
        count = sum(expander.expand(node, NO_CONTEXT) is not None for node in nodes.get(op, ()))
        if count:
            yield ExpandedOp(op, count, seconds)


def _reasons(expander: Expander, exported: Any, nodes: Iterable[Any]) -> tuple[str, ...]:
    import torch

    node = next(iter(nodes), None)
    if node is None or not isinstance(node.target, torch._ops.OpOverload):
        return ()
    expander.enter(exported)
    return tuple(expander.obstacles(node, NO_CONTEXT)) or ("torch has no decomposition of it",)


def _advice(op: str, writes: bool) -> str:
    namespace = op.partition(".")[0]
    advice = "write it with ops that `torchere ops` lists, or decompose it: "
    advice += f"torchere.export(..., decompositions={{torch.ops.{op}: function}})"
    if namespace not in ("aten", "prims", "higher_order") and not writes:
        advice += (
            "; or keep it as a custom call: torchere.stablehlo.StableHLOExportOptions("
            f'custom_ops_allowed_in_graph={{"{namespace}"}})'
        )
    return advice
