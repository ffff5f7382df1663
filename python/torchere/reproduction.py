"""Scripts that reproduce one wrong op: its inputs beside it, one function, program.verify."""

from __future__ import annotations

import dataclasses
import itertools
import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchere.errors import AlreadyExistsError
from torchere.functional_graph import FunctionalGraph, references, text_of

if TYPE_CHECKING:
    from torchere.reference import Source

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
    tensors: dict[str, Any] = dataclasses.field(default_factory=dict)  #: that a decomposition holds

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
) -> Reproduction | None:
    """What the functional graph computes between its nodes `inputs` and `results`; None where it has graphs
    of control flow."""
    part = graph.between(results, inputs)
    if any(graph.nodes[place].op.startswith("higher_order.") for place in part):
        return None
    names = {place: _identifier(node.name) for place, node in enumerate(graph.nodes)}
    numbers = {used for place in part for used in _numbers_read(graph, place)}
    read = [*inputs, *sorted(numbers - set(inputs))]
    lines = [f"{names[place]} = {text_of(graph.nodes[place], names)}" for place in part]
    returned = "".join(f"{names[place]}, " for place in results)
    body = textwrap.indent("\n".join([*lines, f"return ({returned})"]), "    ")
    definitions = f"\ndef op({', '.join(names[place] for place in read)}):\n{body}\n\n"
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


def write_captured(
    node: Any, inputs: Mapping[Any, Any], title: str, source: Source
) -> tuple[Reproduction, str]:
    """One op as it was captured, with the decomposition that was given for it as it was traced; also the
    text of what it is expanded to."""
    from torchere.expansion import NO_CONTEXT, Expander
    from torchere.exporting import lowered_ops

    namespaces = source.options.get("custom_op_namespaces", ())
    expander = Expander(lowered_ops(), source.decompositions, namespaces)
    expander.enter(source.walked)
    expansion = expander.expand(node, NO_CONTEXT)
    names = {used: _identifier(used.name) for used in node.all_input_nodes}
    definitions = f"\ndef op({', '.join(names.values())}):\n    return {_call_text(node, names)}\n\n"
    dynamic = {name: _open_sizes(used.meta.get("val")) for used, name in names.items()}
    made = Reproduction(
        title, definitions, {name: inputs[used] for used, name in names.items()}, dynamic, _options(source)
    )
    if expansion is None:
        return made, ""
    calls = expansion.module.code.strip().splitlines()[1:]
    text = "\n".join(f"    {line.partition(';')[0].strip()}" for line in calls if "return" not in line)
    if node.target not in source.decompositions:
        return made, text
    decompositions = f", decompositions={{torch.ops.{node.target}: decomposition}}"
    return dataclasses.replace(
        made,
        definitions=_traced(node, expansion.module) + definitions,
        tensors={name: tensor.detach() for name, tensor in expansion.module.named_buffers()},
        options=made.options + decompositions,
    ), text


def _traced(node: Any, module: Any) -> str:
    """The decomposition's graph as a function of the op's arguments."""
    import torch.utils._pytree as pytree

    leaves = pytree.tree_leaves((node.args, node.kwargs))
    places = "".join(f", leaves[{leaves.index(used)}]" for used in node.all_input_nodes)
    held = "".join(f"{name}=tensor({name!r}, {tensor.dtype}), " for name, tensor in module.named_buffers())
    code = module.code.strip().replace("def forward(self", "def traced(self", 1)
    return (
        f"\n# The decomposition that was given, as it was traced.\n{code}\n\n\n"
        "def decomposition(*args, **kwargs):\n"
        "    leaves = torch.utils._pytree.tree_leaves((args, kwargs))\n"
        f"    return traced(types.SimpleNamespace({held}){places})\n\n"
    )


def _call_text(node: Any, names: Mapping[Any, str]) -> str:
    """A captured call as Python writes it."""
    from torch.fx import Node

    def text(value: Any) -> str:
        if isinstance(value, Node):
            return names[value]
        if isinstance(value, tuple):
            return f"({''.join(f'{text(element)}, ' for element in value)})"
        return f"[{', '.join(map(text, value))}]" if isinstance(value, list) else repr(value)

    given = [*map(text, node.args), *(f"{name}={text(value)}" for name, value in node.kwargs.items())]
    return f"torch.ops.{node.target}({', '.join(given)})"


def _open_sizes(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", ())
    return tuple(axis for axis, size in enumerate(shape) if not isinstance(size, int))


def _identifier(name: str) -> str:
    """Not a name that the script has for itself."""
    taken = {"op", "inputs", "program", "report", "tensor", "arrays", "traced", "decomposition", "leaves"}
    return f"{name}_" if name in taken | _modules() else name


def _modules() -> set[str]:
    return {
        "torch",
        "numpy",
        "torchere",
        "math",
        "operator",
        "types",
        "sys",
        "pathlib",
        "device",
        "inf",
        "nan",
    }
