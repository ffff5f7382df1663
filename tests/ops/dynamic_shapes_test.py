"""Rows of the op table with the first dimension of each tensor known only at run time, at two sizes."""

import dataclasses
from typing import Any

import pytest
import sympy
import torch
import torch.utils._pytree as pytree
from deviations import STATIC_SIZES, compared_rows, deviation
from sample_choice import dynamic_samples, grows
from sample_programs import differences, exported, inputs_of, is_sized_by_data, on_interpreter
from samples import Sample
from torch.export import Dim

import torchere
from torchere import plugins
from torchere.errors import InvalidArgumentError, UnimplementedError

# torch has no fake kernel of these: torch.export captures them at constant sizes only.
WITHOUT_FAKE_KERNEL = {
    "aten._histogramdd_bin_edges.default",
    "aten._histogramdd_from_bin_cts.default",
    "aten._histogramdd_from_bin_tensors.default",
    "aten.geqrf.default",
    "aten.histogram.bin_ct",
    "aten.histogram.bins_tensor",
}
# Eager torch reads and writes out of bounds where sizes disagree, in place of an error.
UNCHECKED_BY_EAGER = {"aten._segment_reduce_backward.default"}
ROWS = sorted(set(compared_rows()) - WITHOUT_FAKE_KERNEL)
BATCH = 16  # rows a program
XLA_EVERY = 5  # batches that run on XLA


@dataclasses.dataclass
class Outcome:
    grew: bool = False
    problems: tuple[str, ...] = ()
    refused: str = ""  # the text of the core's UnimplementedError


def outcomes(batch: list[Sample]) -> list[Outcome]:
    """What each sample does at its own size and a larger one; those that are refused are found by halving."""
    if not batch:
        return []
    try:
        return run(batch)
    except Exception as error:
        if len(batch) > 1:
            half = len(batch) // 2
            return outcomes(batch[:half]) + outcomes(batch[half:])
        if isinstance(error, UnimplementedError):
            return [Outcome(grew=True, refused=str(error))]
        return [Outcome(grew=True, problems=(f"{type(error).__name__}: {error}",))]


def run(batch: list[Sample]) -> list[Outcome]:
    inputs = inputs_of(batch)
    sizes = tuple({0: Dim.AUTO} if grows(tensor) else None for tensor in inputs)
    traced = exported(batch, dynamic_shapes=(sizes,))
    program = torchere.export(traced)
    if plugins.client().platform_name == "cpu" and any(map(is_sized_by_data, batch)):
        program = on_interpreter(program)
    larger = taken_by_eager(batch, inputs, larger_inputs(traced, inputs))
    if len(batch) == 1 and not keeps_guards(traced, larger):
        with pytest.raises(InvalidArgumentError, match=r"out of range|assumed another relation of sizes"):
            program(*larger)
        larger = inputs
    results = [Outcome() for _ in batch]
    for values in (inputs, larger):
        taken = replaced(batch, values)
        for outcome, sample, got in zip(results, taken, program(*values), strict=True):
            if not deviation(sample):
                outcome.problems += tuple(differences(sample, list(got)))
    for outcome, before, after in zip(results, batch, replaced(batch, larger), strict=True):
        outcome.grew = str(before) != str(after)
    return results


def larger_inputs(traced: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Each dimension that stayed dynamic gets longer by two: its last element comes again, so that a sorted
    tensor stays sorted."""
    nodes = [node for node in traced.graph.nodes if node.op == "placeholder"]
    names = traced.graph_signature.user_inputs
    shapes = {node.name: node.meta["val"].shape for node in nodes}
    ranges = traced.range_constraints
    return tuple(longer(tensor, shapes[name], ranges) for name, tensor in zip(names, inputs, strict=True))


def taken_by_eager(
    batch: list[Sample], inputs: tuple[torch.Tensor, ...], larger: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, ...]:
    """The larger inputs, but for samples that eager torch refuses then, or must not be asked: its capture
    does not tie all sizes that must agree."""
    chosen: list[torch.Tensor] = []
    for sample in batch:
        part = slice(len(chosen), len(chosen) + len(inputs_of([sample])))
        if sample.row in UNCHECKED_BY_EAGER:
            chosen += inputs[part]
            continue
        grown = replaced([sample], larger[part])[0]
        try:
            grown.expected()
            chosen += larger[part]
        except (RuntimeError, IndexError):
            chosen += inputs[part]
    return tuple(chosen)


def keeps_guards(traced: Any, values: tuple[torch.Tensor, ...]) -> bool:
    """Whether torch's own module takes these sizes: a capture may hold for fewer than eager torch takes."""
    try:
        traced.module()(*values)
    except AssertionError:
        return False
    return True


def longer(tensor: torch.Tensor, shape: Any, ranges: dict[Any, Any]) -> torch.Tensor:
    if not grows(tensor) or isinstance(shape[0], int):
        return tensor
    symbol = shape[0].node.expr
    if not isinstance(symbol, sympy.Symbol):  # bound to another input's size
        return tensor
    if symbol in ranges and tensor.shape[0] + 2 > ranges[symbol].upper:
        return tensor
    return torch.cat([tensor, tensor[-1:], tensor[-1:]])


def replaced(batch: list[Sample], values: tuple[torch.Tensor, ...]) -> list[Sample]:
    """The samples on other tensors."""
    remaining = iter(values)
    leaves, spec = pytree.tree_flatten([(s.args, s.kwargs) for s in batch])
    filled = [next(remaining) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    calls = pytree.tree_unflatten(filled, spec)
    return [
        dataclasses.replace(s, args=args, kwargs=kwargs)
        for s, (args, kwargs) in zip(batch, calls, strict=True)
    ]


def expected_refusal_dropped(sample: Sample, outcome: Outcome) -> Outcome:
    reason = STATIC_SIZES.get(sample.row.removeprefix("aten."))
    is_expected = reason is not None and reason in outcome.refused
    return dataclasses.replace(outcome, refused="") if is_expected else outcome


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH))
def test_rows_with_a_dynamic_dimension(start):
    check(start)


@pytest.mark.slow
@pytest.mark.usefixtures("on_xla")
@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH)[1::XLA_EVERY])
def test_rows_on_xla(start):
    """The same of some batches, which are refined to each size."""
    check(start)


def check(start: int) -> None:
    drawn = [s for row in ROWS[start : start + BATCH] for s in dynamic_samples(row)]
    batch = sorted(drawn, key=is_sized_by_data)
    fixed = sum(not is_sized_by_data(s) for s in batch)
    made = outcomes(batch[:fixed]) + outcomes(batch[fixed:])
    found = [expected_refusal_dropped(*pair) for pair in zip(batch, made, strict=True)]
    wrong = [f"{s}: {o.refused or '; '.join(o.problems)}" for s, o in zip(batch, found, strict=True)]
    wrong = [text for text, o in zip(wrong, found, strict=True) if o.refused or o.problems]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
    assert any(outcome.grew for outcome in found)
