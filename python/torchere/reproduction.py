"""Scripts that reproduce one wrong op: its inputs beside it, one function, program.verify."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchere.captured_text import Definitions, NoScript, call_text, identifier, is_user_op, steps_behind
from torchere.errors import AlreadyExistsError
from torchere.functional_graph import FunctionalGraph, callable_of, references, text_of

if TYPE_CHECKING:
    from torchere.bisection import Captured
    from torchere.reference import GraphRun, Source

_SCRIPT = '''\
"""{title}
Exits with 1 while it does."""

import math
import operator
import pathlib
import sys
import types

import numpy
import torch
from torch import device, inf, nan

import torchere

arrays = numpy.load(pathlib.Path(__file__).with_name("inputs.npz"), allow_pickle=False)


def tensor(name, dtype):
    """Dtypes that numpy does not have are saved as their bits."""
    read = torch.from_numpy(arrays[name])
    return read if read.dtype == dtype else read.view(dtype)
{definitions}

inputs = ({inputs})
program = torchere.export(op, inputs{options})
report = program.verify(*inputs)
print(report)
sys.exit(0 if report.ok else 1)
'''


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """The parts of a script."""

    title: str
    definitions: str  #: of `op`, and of what it needs
    inputs: dict[str, Any]
    dynamic: dict[str, tuple[int, ...]]  #: dimensions that the program leaves open, by input
    options: str = ""  #: further arguments of torchere.export
    tensors: dict[str, Any] = dataclasses.field(default_factory=dict)  #: that the definitions read

    def write(self, folder: str | os.PathLike[str] | None) -> str:
        """Writes repro.py and inputs.npz; returns the script's path. An existing folder must be empty."""
        import numpy

        path = _new_folder() if folder is None else Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise AlreadyExistsError(f"[{path}] the folder for the script is not empty: expected another one")
        arrays, texts = {}, []
        for name, value in self.inputs.items():
            text, array = _saved(name, value)
            texts.append(text)
            if array is not None:
                arrays[name] = array
        arrays |= {name: _saved(name, value)[1] for name, value in self.tensors.items()}
        numpy.savez(path / "inputs.npz", **arrays)
        script = path / "repro.py"
        script.write_text(
            _SCRIPT.format(
                title=self.title,
                definitions=self.definitions,
                inputs="".join(f"{text}, " for text in texts),
                options=self.dynamic_shapes() + self.options,
            )
        )
        return str(script)

    def dynamic_shapes(self) -> str:
        if not any(self.dynamic.values()):
            return ""
        dims = []
        for name in self.inputs:
            axes = "".join(f"{axis}: torch.export.Dim.AUTO, " for axis in self.dynamic.get(name, ()))
            dims.append(f"{{{axes}}}" if axes else "None")
        return f", dynamic_shapes=({''.join(f'{dim}, ' for dim in dims)})"


def _new_folder() -> Path:
    for number in itertools.count(1):
        path = Path("torchere_repro" if number == 1 else f"torchere_repro_{number}")
        if not path.exists():
            return path
    raise AssertionError("unreachable")


def _saved(name: str, value: Any) -> tuple[str, Any]:
    """The text that reads an input, and the array to save."""
    import torch

    if not isinstance(value, torch.Tensor):
        return repr(value), None
    dense = value.detach().resolve_conj().resolve_neg().contiguous()
    try:
        array = dense.numpy()
    except TypeError:
        bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[dense.dtype.itemsize]
        array = dense.view(bits).numpy()
    return f"tensor({name!r}, {value.dtype})", array


def _options(source: Source) -> str:
    composites = source.options.get("composites")
    return f", composites={set(composites)!r}" if composites else ""


def write_lowered(
    graph: FunctionalGraph,
    results: list[int],
    inputs: list[int],
    values: Mapping[int, Any],
    title: str,
    source: Source,
) -> Reproduction:
    """What the functional graph computes between its nodes `inputs` and `results`."""
    part = graph.between(results, inputs)
    for place in part:
        op = graph.nodes[place].op
        if op.startswith("higher_order.") or is_user_op(callable_of(op)):
            raise NoScript(f"{op} is among the ops")
    names = {place: identifier(node.name) for place, node in enumerate(graph.nodes)}
    numbers = {used for place in part for used in _numbers_read(graph, place)}
    read = [*inputs, *sorted(numbers - set(inputs))]
    lines = [f"{names[place]} = {text_of(graph.nodes[place], names)}" for place in part]
    returned = "".join(f"{names[place]}, " for place in results)
    body = textwrap.indent("\n".join([*lines, f"return ({returned})"]), "    ")
    definitions = f"\n\ndef op({', '.join(names[place] for place in read)}):\n{body}\n"
    dynamic = {
        names[place]: tuple(
            axis for axis, size in enumerate(graph.nodes[place].shape) if isinstance(size, str)
        )
        for place in read
    }
    given = {names[place]: values[place] for place in read}
    return Reproduction(title, definitions, given, dynamic, _options(source))


def _numbers_read(graph: FunctionalGraph, place: int) -> list[int]:
    """The int arguments of the program among what a call reads."""
    return [
        used
        for used in references(graph.nodes[place])
        if graph.nodes[used].kind == "placeholder" and graph.nodes[used].type_kind == "number"
    ]


def write_captured(captured: Captured, value: Any, title: str, source: Source) -> Reproduction:
    """One op as it was captured, with what torchere was told of it, as it was traced: the decomposition that
    was given for it, or the lowering that is registered. `value` is what eager PyTorch computes."""
    node, definitions, names = captured.node, Definitions(), dict[Any, str]()
    for used, held in captured.inputs.items():
        if used.op == "get_attr":
            names[used] = definitions.add_held(identifier(used.name), held)
        else:
            names[used] = identifier(used.name)
    given = {names[used]: held for used, held in captured.tensors()}
    options = _options(source)
    if is_user_op(node.target):
        definitions.add_op(node, value, captured.doubled())
    if (expansion := expansion_of(node, source)) is not None:
        traced = _traced(node, expansion.module, definitions)
        if node.target in source.decompositions:
            definitions.text += traced
            options += f", decompositions={{torch.ops.{node.target}: decomposition}}"
        elif is_user_op(node.target):
            definitions.add_lowering(node, traced, "decomposition")
    elif is_user_op(node.target):
        raise NoScript(f"{node.target} is lowered by a library")
    definitions.text += f"\n\ndef op({', '.join(given)}):\n    return {call_text(node, names)}\n"
    dynamic = {names[used]: _open_sizes(used) for used, _ in captured.tensors()}
    return Reproduction(title, definitions.text, given, dynamic, options, definitions.tensors)


def expansion_of(node: Any, source: Source) -> Any:
    """What a captured call was expanded to."""
    from torchere.expansion import NO_CONTEXT, Expander
    from torchere.exporting import lowered_ops

    namespaces = source.options.get("custom_op_namespaces", ())
    expander = Expander(lowered_ops(), source.decompositions, namespaces)
    expander.enter(source.walked)
    return expander.expand(node, NO_CONTEXT)


def expansion_text(expansion: Any) -> str:
    """For people: the calls, or the function in StableHLO."""
    if (text := _stablehlo_of(expansion.module)) is not None:
        return textwrap.indent(textwrap.dedent(text).strip(), "    ")
    calls = expansion.module.code.strip().splitlines()[1:]
    return "\n".join(f"    {line.partition(';')[0].strip()}" for line in calls if "return" not in line)


def _stablehlo_of(module: Any) -> str | None:
    """The text that a lowering gave."""
    from torchere.lowerings import text_op

    calls = module.graph.find_nodes(op="call_function", target=text_op())
    return calls[0].args[2] if calls else None


def _traced(node: Any, module: Any, definitions: Definitions) -> str:
    """An expansion as a function of the op's arguments, `decomposition`."""
    import torch.utils._pytree as pytree

    header = "\n\ndef decomposition(*args, **kwargs):\n"
    if (text := _stablehlo_of(module)) is not None:
        return f"\n# What the lowering gave.\ntext = {_quoted(text)}{header}    return text\n\n"
    definitions.tensors.update((name, tensor.detach()) for name, tensor in module.named_buffers())
    leaves = pytree.tree_leaves((node.args, node.kwargs))
    places = "".join(f", leaves[{leaves.index(used)}]" for used in node.all_input_nodes)
    held = "".join(f"{name}=tensor({name!r}, {tensor.dtype}), " for name, tensor in module.named_buffers())
    code = module.code.strip().replace("def forward(self", "def traced(self", 1)
    return (
        f"\n# What was given for the op, as it was traced.\n{code}\n{header}"
        "    leaves = torch.utils._pytree.tree_leaves((args, kwargs))\n"
        f"    return traced(types.SimpleNamespace({held}){places})\n\n"
    )


def _quoted(text: str) -> str:
    """A text of several lines as Python writes it."""
    return f'r"""{text}"""\n' if '"""' not in text and not text.endswith(('"', "\\")) else f"{text!r}\n"


def _open_sizes(node: Any) -> tuple[int, ...]:
    shape = getattr(node.meta.get("val"), "shape", ())
    return tuple(axis for axis, size in enumerate(shape) if not isinstance(size, int))


def write_history(run: GraphRun, fresh: GraphRun, name: str, title: str, source: Source) -> Reproduction:
    """The captured calls that a value depends on, with their writes and views, from the program's inputs on:
    for calls that are right one by one. Both runs are of the same program, and have not begun."""
    graph = run.module.graph
    last = next(node for node in graph.nodes if node.name == name)
    inputs, calls = steps_behind(run, last)
    definitions = Definitions()
    held = {
        node: definitions.add_held(
            identifier(node.name), functools.reduce(getattr, node.target.split("."), run.module)
        )
        for node in calls
        if node.op == "get_attr"
    }
    calls = [node for node in calls if node not in held]
    definitions.add_function("op", inputs, calls, last, held)
    placeholders = graph.find_nodes(op="placeholder")
    values = dict(zip(placeholders, fresh.inputs, strict=True))
    given = {identifier(node.name): values[node] for node in inputs}
    dynamic = {identifier(node.name): _open_sizes(node) for node in inputs}
    return Reproduction(title, definitions.text, given, dynamic, _options(source), definitions.tensors)
