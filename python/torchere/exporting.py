"""torchere.export: from a module, function, method or ExportedProgram to a StableHLOProgram."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable
from typing import Any

from torchere import _core
from torchere.capture import capture, check_not_merged
from torchere.capture_errors import capture_error, first_lines
from torchere.decompositions import decompose
from torchere.dimension_names import dimension_names
from torchere.errors import CaptureError, InvalidArgumentError
from torchere.guards import size_guards, unguarded_integers
from torchere.program import StableHLOProgram
from torchere.sources import as_arguments, as_module, separate
from torchere.stack_traces import user_stack_traces

# Seconds spent in each step, in order.
Timings = dict[str, float]


@functools.cache
def lowered_ops() -> frozenset[str]:
    """The ops that have a lowering: "aten.add.Tensor", ..."""
    return frozenset(name for name, _ in _core.operators())


def export(
    target: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    *,
    strict: bool = False,
    name: str = "forward",
    target_version: str | None = None,
    composites: Iterable[str] = (),
) -> StableHLOProgram:
    """Exports a program to StableHLO, ready to be called and saved.

    `target` is a torch.nn.Module, a function, a method, or a torch.export.ExportedProgram (which has its
    arguments already). `args` are example arguments: a tuple, a list, or the only one; numpy arrays serve as
    well. `dynamic_shapes` and `strict` are torch.export's. `name` is the entry point's. `target_version` is
    the oldest StableHLO that is to read the saved program ("1.13.0"): what it cannot hold is an error now.
    `composites` are ops that a compiler is to see whole, such as {"sdpa", "layer_norm"}: each becomes a
    stablehlo.composite, with what it is made of as a private function.
    Weights are taken by reference and not copied: train the module further only after the program was saved,
    or export again.
    """
    import torch

    timings: Timings = {}
    if isinstance(target, torch.export.ExportedProgram):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise InvalidArgumentError(
                "[export] an ExportedProgram has its arguments already: got others, expected none"
            )
        return lower(target, name, timings, target_version=target_version, composites=set(composites))
    with _Stopwatch(timings, "export"):
        module = as_module(target)
        exported = capture_with_torch(target, args, kwargs, dynamic_shapes, strict)
        names = dimension_names(module, exported, dynamic_shapes)
    return lower(
        exported, name, timings, names=names, target_version=target_version, composites=set(composites)
    )


def lower(
    exported_program: Any,
    name: str,
    timings: Timings,
    *,
    names: dict[str, str] | None = None,
    has_weights: bool = True,
    target_version: str | None = None,
    **options: Any,
) -> StableHLOProgram:
    """The steps after torch's ExportedProgram; `timings` records their durations. `names` are those of
    dynamic dimensions, `options` those of the core's export_program."""
    check_not_merged(exported_program)
    with _Stopwatch(timings, "decompose"):
        try:
            decomposed = decompose(exported_program, lowered_ops())
        except Exception as error:
            raise CaptureError(
                f"[export] torch could not decompose the program: {first_lines(error)}"
                f"{_advice(exported_program)}"
            ) from error
    with _Stopwatch(timings, "walk"):
        program = capture(decomposed, names, size_guards(decomposed), unguarded_integers(exported_program))
    exported = _core.export_program(program, name, **options)
    timings.update(exported.timings)
    output_spec = exported_program.call_spec.out_spec
    return StableHLOProgram._from_exported(
        exported, program, timings, has_weights, target_version, output_spec
    )


def capture_with_torch(
    target: Any,
    args: Any,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    strict: bool = False,
) -> Any:
    """torch.export.export of anything that export() takes, with its failures explained."""
    import torch

    module = as_module(target)
    positional, keywords = separate(module, as_arguments(() if args is None else args), kwargs or {})
    try:
        with user_stack_traces():
            return torch.export.export(
                module, positional, keywords, dynamic_shapes=dynamic_shapes, strict=strict
            )
    except Exception as error:
        raise capture_error(error, target, module, (positional, keywords)) from error


def _advice(exported_program: Any) -> str:
    """Advice for a program that holds a weight's memory as a constant as well: torch captures tensors
    held by plain objects of the module (a static key-value cache) that way, and cannot write to them."""
    import torch

    names = {
        spec.target for spec in exported_program.graph_signature.input_specs if spec.kind.name == "BUFFER"
    }
    memory: dict[int, str] = {}
    tensors = {**exported_program.state_dict, **exported_program.constants}
    for name, tensor in sorted(tensors.items(), key=lambda item: item[0] not in names):
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or not tensor.numel():
            continue
        other = memory.setdefault(tensor.untyped_storage().data_ptr(), name)
        if other in names and name not in names and name not in exported_program.state_dict:
            return (
                f"\nThe memory of buffer '{other}' was captured twice, as happens to a static cache: export "
                "with strict=True, which captures it once"
            )
    return ""


class _Stopwatch:
    """Adds the seconds of a `with` block to `timings`."""

    def __init__(self, timings: Timings, step: str):
        self.timings = timings
        self.step = step

    def __enter__(self) -> None:
        self.begin = time.perf_counter()

    def __exit__(self, *_: Any) -> None:
        self.timings[self.step] = self.timings.get(self.step, 0.0) + time.perf_counter() - self.begin
