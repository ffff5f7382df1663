"""torchere.export: from a module, function, method or ExportedProgram to a StableHLOProgram."""

from __future__ import annotations

import contextlib
import functools
import gc
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torchere import _core
from torchere.arguments import composite_names
from torchere.capture import capture, merged_inputs
from torchere.capture_errors import capture_error
from torchere.decompositions import decompose
from torchere.dimension_names import Dimensions, dimensions, int_names
from torchere.entry_points import export_entry_points
from torchere.errors import InvalidArgumentError, UnimplementedError
from torchere.expansion import Expander
from torchere.gradient_capture import (
    backward_refused,
    capture_below_autograd,
    check_constants,
    keeps_transforms,
    may_take_gradients,
    transforms_restored,
    unknown_constant,
)
from torchere.program import StableHLOProgram
from torchere.reference import Source, training_modes
from torchere.sources import as_arguments, as_module, beside_weights, separate
from torchere.stack_traces import user_stack_traces
from torchere.torch_script import from_script, is_from_script, numbers_from_tensors
from torchere.zero_tensors import sizes_kept_open

# The options of the core's export_program that change what an op becomes.
_LOWERING_OPTIONS = ("composites", "custom_op_namespaces", "quantized_types")
# Seconds spent in each step, in order.
Timings = dict[str, float]


@functools.cache
def lowered_ops() -> frozenset[str]:
    """The ops that have a lowering: "aten.add.Tensor", ..."""
    return frozenset(name for name, _ in _core.operators()) | _core.own_ops()


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
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    shape_assertions: bool = False,
    checks: bool = True,
    precision: str | None = None,
) -> StableHLOProgram:
    """Exports a program to StableHLO, ready to be called and saved.

    `target` is a torch.nn.Module, a function, a method, or a torch.export.ExportedProgram (which has its
    arguments already); or several of them, {"encode": (module, args), "decode": exported_program, ...}, which
    become the functions of one program: each is (target, args[, kwargs[, dynamic_shapes]]), a dict of this
    function's arguments, or an ExportedProgram, and the other arguments hold for all of them.

    `args` are example arguments: a tuple, a list, or the only one; numpy arrays serve as well.
    `dynamic_shapes` and `strict` are torch.export's. `name` is the entry point's. `target_version` is
    the oldest StableHLO that is to read the saved program ("1.13.0"): what it cannot hold is an error now.
    `composites` are ops that a compiler is to see whole, such as {"sdpa", "layer_norm"}: each becomes a
    stablehlo.composite, with what it is made of as a private function. `decompositions` are functions of your
    own, {torch.ops.aten.gelu.default: fn}, for ops that are to be taken apart: fn gets the op's arguments.
    With `shape_assertions`, the module itself says what it assumes of dynamic dimensions (least and most,
    multiples, equality), in calls of @shape_assertion, for others who refine and run it.
    With `checks`, a call raises what eager mode raises for a matrix without an inverse or a factor, and for
    assertions about data: the function of such a program has one result more, a status.
    `precision` is that of products and convolutions: "default", "high" or "highest" (docs/exporting.md).

    Weights are taken by reference and not copied: train the module further only after the program was saved,
    or export again. Those of a module made under FakeTensorMode, or on the meta device, are types alone: the
    program can be saved, and called after program.with_weights(...).
    """
    composites = composite_names(composites)
    if isinstance(target, Mapping):
        return export_entry_points(**locals())
    import torch

    timings: Timings = {}
    if isinstance(target, torch.export.ExportedProgram):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise InvalidArgumentError(
                "[export] an ExportedProgram has its arguments already: got others, expected none"
            )
        return lower(
            target,
            name,
            timings,
            decompositions=decompositions,
            target_version=target_version,
            composites=composites,
            shape_assertions=shape_assertions,
            checks=checks,
            precision=precision or "",
        )
    with _Stopwatch(timings, "export"):
        target = from_script(target, args, kwargs)
        module = as_module(target)
        exported = capture_with_torch(target, args, kwargs, dynamic_shapes, strict)
        dims = dimensions(module, exported, dynamic_shapes)
    return lower(
        exported,
        name,
        timings,
        module=module,
        dims=dims,
        decompositions=decompositions,
        target_version=target_version,
        composites=composites,
        shape_assertions=shape_assertions,
        checks=checks,
        precision=precision or "",
    )


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Puts off Python's cyclic garbage collection: one that torch.export has made due visits all objects of
    its graph, which takes longer than the walk over it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_without_collections()
def lower(
    exported_program: Any,
    name: str,
    timings: Timings,
    *,
    module: Any = None,
    dims: Dimensions | None = None,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    has_weights: bool = True,
    target_version: str | None = None,
    node_metadata: bool = False,
    **options: Any,
) -> StableHLOProgram:
    """The steps after torch.export; `timings` records their durations. `module` is what it has captured,
    `dims` are what the user said of dynamic dimensions, `options` those of the core's export_program."""
    check_constants(exported_program)
    for unread, read in merged_inputs(exported_program):
        warnings.warn(
            f"[export] torch.export got one tensor for {unread} and {read} and took them for one input: the "
            f"program reads {read} alone (for two, call torchere.export on the module, or clone the tensor)",
            stacklevel=2,
        )
    walked = exported_program
    expander = Expander(lowered_ops(), decompositions, options.get("custom_op_namespaces", ()))
    if node_metadata:
        options["node_metadata"] = {}
    try:
        program = _functional(exported_program, dims, timings, expander, options.get("node_metadata"))
        exported = _core.export_program(program, name, **options)
    except UnimplementedError:
        decomposed = decomposed_by_torch(exported_program, timings, expander)
        if decomposed is None:
            raise
        walked = decomposed
        program = _functional(decomposed, dims, timings, expander, options.get("node_metadata"))
        exported = _core.export_program(program, name, **options)
    timings.update(exported.timings)
    for text in exported.left_out:
        warnings.warn(f"[export] {text}", stacklevel=2)
    output_spec = exported_program.call_spec.out_spec
    made = StableHLOProgram._from_exported(
        exported, program, timings, has_weights, target_version, output_spec
    )
    made.expanded = expander.seconds
    made._tensors = {**exported_program.constants, **exported_program.state_dict}
    made._source = Source(
        exported_program,
        module,
        () if module is None else training_modes(module),
        walked,
        dict(decompositions or {}),
        {name: value for name, value in options.items() if name in _LOWERING_OPTIONS},
    )
    return made


def _functional(
    exported_program: Any,
    dims: Dimensions | None,
    timings: Timings,
    expander: Expander,
    node_metadata: dict[str, str] | None,
) -> _core.Program:
    """The program of the core, in which nothing writes and ops without a lowering are expanded.
    `node_metadata` receives what torch says of its nodes."""
    dims = dims or Dimensions()
    names = int_names(exported_program) | dims.names
    before = sum(expander.seconds.values())
    with _Stopwatch(timings, "walk"):
        program = capture(
            exported_program, names, minimums=dims.minimums, expander=expander, node_metadata=node_metadata
        )
    expanding = sum(expander.seconds.values()) - before
    timings["walk"] -= expanding
    timings["expand"] = timings.get("expand", 0.0) + expanding
    with _Stopwatch(timings, "functionalize"):
        _core.functionalize(program)
    return program


def decomposed_by_torch(exported_program: Any, timings: Timings, expander: Expander) -> Any:
    """The last resort where calls could not be expanded: the whole program decomposed by torch. None where
    torch fails, or where ops without a lowering stay: the first error names them as the user does."""
    if not expander.gave_up:
        return None
    expander.gave_up = False
    with _Stopwatch(timings, "run_decompositions"):
        try:
            with transforms_restored():
                decomposed = decompose(exported_program, expander.rows)
            capture(decomposed, expander=expander)
        except Exception:  # torch raises whatever the decomposition does
            return None
    return None if expander.gave_up else decomposed


def capture_with_torch(
    target: Any,
    args: Any,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    strict: bool = False,
    export: Callable[..., Any] | None = None,
) -> Any:
    """torch.export.export, or another function of its arguments, of anything that export() accepts, with its
    failures explained. Programs that take gradients are captured below autograd, unless by `strict` or by
    another function."""
    import torch

    target = from_script(target, args, kwargs)
    module = as_module(target)
    positional, keywords = separate(module, as_arguments(() if args is None else args), kwargs or {})
    positional, keywords = beside_weights(module, (positional, keywords))
    takes_others = export is None and not strict
    with user_stack_traces(), backward_refused(), sizes_kept_open():
        try:
            exported = (export or torch.export.export)(
                module, positional, keywords, dynamic_shapes=dynamic_shapes, strict=strict
            )
            if takes_others and unknown_constant(exported):
                exported = capture_below_autograd(module, positional, keywords, dynamic_shapes)
            elif takes_others and keeps_transforms(exported):
                with contextlib.suppress(Exception):  # what cannot be lowered is named then
                    exported = capture_below_autograd(module, positional, keywords, dynamic_shapes)
        except Exception as error:
            if not takes_others or not may_take_gradients(error):
                raise capture_error(error, target, module, (positional, keywords)) from error
            try:
                exported = capture_below_autograd(module, positional, keywords, dynamic_shapes)
            except Exception as second:
                # An assertion of torch's own says less than what it said of the program as it is.
                told = error if isinstance(second, AssertionError) else second
                raise capture_error(told, target, module, (positional, keywords)) from told
    if is_from_script(module):
        numbers_from_tensors(exported)
    return exported


class _Stopwatch:
    """Adds the seconds of a `with` block to `timings`."""

    def __init__(self, timings: Timings, step: str):
        self.timings = timings
        self.step = step

    def __enter__(self) -> None:
        self.begin = time.perf_counter()

    def __exit__(self, *_: Any) -> None:
        self.timings[self.step] = self.timings.get(self.step, 0.0) + time.perf_counter() - self.begin
