"""Sample calls of the op table's rows: torch's OpInfo database bound to the overloads, and our own."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy
import torch
import torch.utils._pytree as pytree
from own_samples import OPINFO_NAMES, own_samples
from rows import overload
from torch.testing._internal import common_utils
from torch.testing._internal.common_methods_invocations import op_db


def _seed(seed: int = common_utils.SEED) -> None:
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


# Each draw of samples looks for a unittest's name in all of the stack, and reads the sources of its frames;
# so does torch.manual_seed, once for each kind of device that is not there.
common_utils.extract_test_fn = lambda: None
common_utils.set_rng_seed = _seed

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.complex128,
)

# OpInfo gives some ops hundreds of samples; this many are looked at, of which a test takes an even choice.
_MOST_CONSIDERED = 60
_MOST_ELEMENTS = 20_000


@dataclasses.dataclass(frozen=True)
class Sample:
    """One call of a function that must come down to the row's op."""

    row: str
    dtype: torch.dtype
    function: Callable[..., Any]
    args: tuple
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        shown = [_show(arg) for arg in self.args] + [f"{k}={_show(v)}" for k, v in self.kwargs.items()]
        return f"{self.row}({', '.join(shown)})"

    def expected(self) -> list[torch.Tensor]:
        """The results of eager torch."""
        return tensors_of(self.function(*self.args, **self.kwargs))


def tensors_of(result: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def _show(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        return f"{name}{list(value.shape)}" + (
            "" if value.is_contiguous() else f" strides {list(value.stride())}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_show, value)) + "]"
    return repr(value)


@functools.cache
def _opinfo_index() -> dict[str, list[Any]]:
    index: dict[str, list[Any]] = {}
    for op in op_db:
        short = op.name.rpartition(".")[2]
        for key in {op.name, op.aten_name, short, *(alias.name for alias in op.aliases)}:
            index.setdefault(key, []).append(op)
    return index


def _opinfos(row: str) -> list[Any]:
    """The database's entries of the row's op, by its name or as own_samples.py says."""
    packet = row.split(".")[1]
    names = OPINFO_NAMES.get(row, [packet, packet.lstrip("_")])
    found = {id(op): op for name in names for op in _opinfo_index().get(name, [])}
    return [op for op in found.values() if not op.name.startswith("masked.")]


def samples(row: str, dtype: torch.dtype, most: int) -> list[Sample]:
    """At most `most` of OpInfo's samples, evenly chosen, and our own; only calls that eager torch takes."""
    _seed(0)
    bound = (sample for op in _opinfos(row) for sample in _bound_samples(row, dtype, op))
    drawn = list(itertools.islice(bound, 3 * most))
    return evenly(drawn, most) + list(accepted(_own(row, dtype)))


def evenly(values: list[Sample], most: int) -> list[Sample]:
    return values[:: max(1, -(-len(values) // most))]


def _bound_samples(row: str, dtype: torch.dtype, op: Any) -> Iterator[Sample]:
    if dtype not in op.supported_dtypes("cpu"):
        return
    function = overload(row)
    drawn = itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), _MOST_CONSIDERED)
    fitted = (_fit(function, (sample.input, *sample.args), sample.kwargs) for sample in drawn)
    yield from accepted(Sample(row, dtype, function, *call) for call in fitted if call)


def _own(row: str, dtype: torch.dtype) -> Iterator[Sample]:
    for args, kwargs, function in own_samples(row, dtype):
        yield Sample(row, dtype, function or overload(row), args, kwargs)


def accepted(candidates: Iterable[Sample]) -> Iterator[Sample]:
    """The calls that eager torch takes: others belong to another overload, or are no calls of the op."""
    for candidate in candidates:
        leaves = pytree.tree_leaves((candidate.args, candidate.kwargs))
        given = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if any(t.layout != torch.strided or t.numel() > _MOST_ELEMENTS for t in given):
            continue
        try:
            results = candidate.expected()
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            continue
        if any(result.dtype not in DTYPES for result in results):
            continue
        if results and _equal(results, candidate.expected()):  # no random numbers
            yield candidate


def _equal(results: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """NaN equals NaN."""
    return all(
        torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(), b.nan_to_num())
        for a, b in zip(results, others, strict=True)
    )


def _fit(function: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """The sample's arguments in the overload's terms: numbers where its schema wants numbers, and none of the
    arguments that only the Python function has. None where a tensor stands for an int."""
    formals = function._schema.arguments
    for formal, value in zip(formals, args, strict=False):
        if isinstance(value, torch.Tensor) and str(formal.type) in ("int", "Optional[int]", "List[int]"):
            return None
    names = {formal.name for formal in formals}
    wants_number = {formal.name for formal in formals if str(formal.type) in ("number", "Optional[number]")}

    def number(name: str, value: Any) -> Any:
        if name not in wants_number or not isinstance(value, torch.Tensor) or not value.numel():
            return value
        return value.flatten()[0].item()

    positional = tuple(number(formal.name, value) for formal, value in zip(formals, args, strict=False))
    named = {name: number(name, value) for name, value in kwargs.items() if name in names}
    return positional + args[len(positional) :], named
