"""Calls of torch's OpInfo database on the lazy device and on the CPU.

Functions, in-place and out= variants, and writes through the views that functions give.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from exact_values import differences, widened
from lazy_table import drawing_ops
from sample_programs import difference, type_difference
from samples import evenly, tensors_of
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo, SampleInput, UnaryUfuncInfo

from torchere import lazy

DTYPES = (torch.float32, torch.bfloat16, torch.int64)
FORMS = ("function", "in-place", "out=", "view")
_MOST_CONSIDERED = 60
_MOST_ELEMENTS = 20_000


def title(op: OpInfo) -> str:
    """As the lists name it: "linalg.norm", "div.floor_rounding"."""
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


@functools.cache
def ops() -> dict[str, OpInfo]:
    return {title(op): op for op in op_db}


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """One form of an op on one sample."""

    op: OpInfo
    form: str
    dtype: torch.dtype
    sample: SampleInput

    def __str__(self) -> str:
        name = str(self.dtype).removeprefix("torch.")
        return f"{title(self.op)} {name} {self.form}: {self.sample.summary()}"

    def results(self, device: str, likes: list[torch.Tensor] | None = None) -> list[torch.Tensor]:
        """What the call gives on a device. `likes` are the types of the results, for out=."""
        sample = moved(self.sample, device)
        given, args, kwargs = sample.input, sample.args, sample.kwargs
        if self.form == "in-place":
            self.op.inplace_variant(given, *args, **kwargs)
            return tensors_of(given)
        if self.form == "out=":
            made = [torch.empty_like(like, device=device) for like in likes or []]
            returned = self.op(given, *args, out=made[0] if len(made) == 1 else tuple(made), **kwargs)
            return [*tensors_of(returned), *made]
        results = tensors_of(self.op(given, *args, **kwargs))
        if self.form == "function":
            return results
        for result in results:
            _change(result)
        return [*tensors_of(given), *results]


def moved(sample: SampleInput, device: str) -> SampleInput:
    """A copy of the sample, whose tensors are on the device; arguments that name a device name this one."""

    def move(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().clone() if device == "cpu" else value.detach().to(device)
        if isinstance(value, torch.device) or value == "cpu":
            return device
        return value

    given, args, kwargs = pytree.tree_map(move, (sample.input, sample.args, sample.kwargs))
    if device != "cpu" and not tensors_of((sample.input, sample.args, sample.kwargs)):
        kwargs["device"] = device
    return SampleInput(given, args=args, kwargs=kwargs)


def _change(tensor: torch.Tensor) -> None:
    """Writes to every element, so that another base differs."""
    if tensor.dtype == torch.bool:
        tensor.logical_not_()
    else:
        tensor.mul_(2).add_(1)


# A call, the CPU's results, tensors of the types that the function gives, whether the results are random.
Prepared = tuple[Call, list[torch.Tensor], list[torch.Tensor], bool]


@dataclasses.dataclass
class Outcome:
    """What became of a call on the device."""

    call: Call
    expected: list[torch.Tensor]
    likes: list[torch.Tensor]  # of the types that the function gives
    is_random: bool
    results: list[torch.Tensor] = dataclasses.field(default_factory=list)
    problem: str = ""
    fallbacks: tuple[str, ...] = ()  # the ops that were computed on the CPU
    early_reads: int = 0  # copies to the host before the results were read


def calls(op: OpInfo, dtype: torch.dtype, form: str, most: int) -> Iterator[Prepared]:
    """At most `most` calls of a form that the CPU takes, evenly chosen."""
    if dtype not in op.supported_dtypes("cpu") or not _has_form(op, form) or op.name.startswith("jiterator"):
        return  # jiterator: code in CUDA
    torch.manual_seed(0)
    drawn = itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), _MOST_CONSIDERED)
    fitting = [Call(op, form, dtype, sample) for sample in drawn if _is_small(sample)]
    taken = 0
    for call in evenly(fitting, most):
        if (expected := _accepted(call)) is not None:
            yield call, *expected
            taken += 1
    if not taken:  # the chosen were refused in this form: the first that is not
        for call in fitting:
            if (expected := _accepted(call)) is not None:
                yield call, *expected
                return


def _has_form(op: OpInfo, form: str) -> bool:
    return form in ("function", "view") or bool(op.inplace_variant if form == "in-place" else op.supports_out)


def _is_small(sample: SampleInput) -> bool:
    given = tensors_of((sample.input, sample.args, sample.kwargs))
    return all(t.layout == torch.strided and t.numel() <= _MOST_ELEMENTS for t in given)


def _accepted(call: Call) -> tuple[list[torch.Tensor], list[torch.Tensor], bool] | None:
    """What Prepared has beside the call; None where the form is no call of the op."""
    refusals = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError)
    try:
        likes = Call(call.op, "function", call.dtype, call.sample).results("cpu")
        if call.form == "view" and not _gives_view(call):
            return None
        expected, again = call.results("cpu", likes), call.results("cpu", likes)
    except refusals:
        return None
    if not likes or any(t.layout != torch.strided or t.is_quantized for t in expected):
        return None
    same = all(a.shape == b.shape and _equal(a, b) for a, b in zip(expected, again, strict=True))
    return expected, likes, not same


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return not difference(a, b, accumulates=False)


def _gives_view(call: Call) -> bool:
    """Whether all results are views, none with two elements in one place: a write to such a view has no
    defined result."""
    sample = moved(call.sample, "cpu")
    given = [t.untyped_storage()._cdata for t in tensors_of((sample.input, sample.args))]
    results = tensors_of(call.op(sample.input, *sample.args, **sample.kwargs))
    return all(result.untyped_storage()._cdata in given and not _overlaps(result) for result in results)


def _overlaps(tensor: torch.Tensor) -> bool:
    if not tensor.numel():
        return False
    steps = list(zip(tensor.shape, tensor.stride(), strict=True))
    places = torch.arange(sum((size - 1) * stride for size, stride in steps) + 1)
    return places.as_strided(tensor.shape, tensor.stride()).unique().numel() < tensor.numel()


def outcomes(chosen: list[Prepared]) -> list[Outcome]:
    """All calls in one graph; if it fails, each half by itself."""
    traced = [_traced(Outcome(*each)) for each in chosen]
    try:
        lazy.sync()
    except RuntimeError as error:
        if len(chosen) == 1:
            traced[0].problem = f"fails to compute: {error}"
            return traced
        half = len(chosen) // 2
        traced.clear()  # what failed stays failed
        return outcomes(chosen[:half]) + outcomes(chosen[half:])
    for outcome in traced:
        if not outcome.problem:
            try:
                outcome.problem = _compared(outcome)
            except RuntimeError as error:
                outcome.problem = f"fails to compute: {error}"
        outcome.results = []
    return traced


def _traced(outcome: Outcome) -> Outcome:
    lazy.reset_counters()
    try:
        outcome.results = outcome.call.results("xla", outcome.likes)
    except Exception as error:
        outcome.problem = f"raises {type(error).__name__}: {error}"
    counters = lazy.counters()
    outcome.fallbacks = tuple(sorted(name for name in counters if name.startswith("aten::")))
    outcome.early_reads = counters.get("DeviceToHost", 0)
    # The device has a stream of its own; random_test.py has its numbers.
    outcome.is_random |= any(f"xla::{name}" in counters for name in drawing_ops())
    return outcome


# Memory that nothing has written.
_UNWRITTEN_OUT = ("fft.ihfft2", "fft.ihfftn")  # the CPU does not write all of it
_UNINITIALIZED = ("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted")


def _compared(outcome: Outcome) -> str:
    got, expected, op = outcome.results, outcome.expected, outcome.call.op
    if len(got) != len(expected):
        return f"{len(got)} results, the CPU has {len(expected)}"
    if elsewhere := {str(result.device) for result in got if result.device.type != "xla"}:
        return f"results on {', '.join(sorted(elsewhere))}, expected xla"
    host = [result.cpu() for result in got]
    is_unwritten = outcome.call.form == "out=" and op.name in _UNWRITTEN_OUT
    has_values = not (outcome.is_random or op.name in _UNINITIALIZED or is_unwritten)
    if not has_values:
        found = enumerate(map(type_difference, host, expected))
        return "; ".join(f"result {i}: {text}" for i, text in found if text)
    # Ops on each element are judged by element, others against the result's largest magnitude.
    accumulates = not isinstance(op, UnaryUfuncInfo | BinaryUfuncInfo)
    return differences(host, expected, accumulates, lambda: _exact(outcome.call))


def _exact(call: Call) -> list[torch.Tensor] | None:
    """What the function, or the op in place, gives in float64, if it does."""
    if call.form == "view":
        return None
    given = call.sample
    is_by_element = isinstance(call.op, UnaryUfuncInfo | BinaryUfuncInfo)
    given, args, kwargs = widened((given.input, given.args, given.kwargs), of_integers=is_by_element)
    form = "function" if call.form == "out=" else call.form
    wide = Call(call.op, form, torch.float64, SampleInput(given, args=args, kwargs=kwargs))
    try:
        results = wide.results("cpu")
    except (RuntimeError, TypeError, ValueError):
        return None
    return results * 2 if call.form == "out=" else results  # what is returned, and what was written
