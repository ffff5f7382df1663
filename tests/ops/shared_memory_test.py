"""What functionalization takes for granted of each row: what its op shares memory with, and what it writes.

Eager runs the samples; their inputs and storages are compared before and after. What is taken for granted is
asked of the core, by the row's own schema: nothing is listed here.
"""

import copy
import functools
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from random_numbers_test import CALLS, X
from rows import overload, schemas
from samples import DTYPES, Sample, samples, tensors_of
from torch.utils._python_dispatch import TorchDispatchMode

from torchere import _core

ROWS = sorted(schemas())
BATCH = 20  # rows a test


# Composites that no sample calls themselves: torch takes them apart before any kernel.
WITHOUT_CALL = {"aten.dropout.default", "aten.embedding_bag.padding_idx", "aten.item.default"}


class Recorder(TorchDispatchMode):
    """Keeps the calls of a row's op, as they reach its kernel."""

    def __init__(self, row: str):
        super().__init__()
        self.row = row
        self.calls: list[Sample] = []

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if op is overload(self.row):
            call = copy.deepcopy((args, kwargs or {}))
            self.calls.append(Sample(self.row, torch.float32, op, *call))
        return op(*args, **(kwargs or {}))


@functools.cache
def chosen(row: str) -> list[Sample]:
    """Calls of the row's own overload: samples of its first dtype or, where the row is random or only other
    functions reach it, what these call."""
    drawn = next((found for dtype in DTYPES if (found := samples(row, dtype, 4))), [])
    found = [sample for sample in drawn if sample.function is overload(row)]
    if found:
        return found
    with Recorder(row) as recorder:
        for sample in drawn:
            sample.function(*sample.args, **sample.kwargs)
        if call := CALLS.get(row.removeprefix("aten.")):
            call(X.clone())
    return recorder.calls


def storage(tensor: torch.Tensor) -> int:
    """Its address. A tensor of zeros that torch knows as such has none."""
    if tensor._is_zerotensor():
        return -id(tensor)
    return tensor.untyped_storage().data_ptr()


def elements(tensor: torch.Tensor) -> set[int]:
    """Their addresses. The columns of a tensor, which nonzero_numpy gives, share a storage and no element."""
    places = torch.as_strided(
        torch.arange(tensor.untyped_storage().nbytes() // tensor.element_size()),
        tensor.shape,
        tensor.stride(),
        tensor.storage_offset(),
    )
    return {storage(tensor) + tensor.element_size() * place for place in places.flatten().tolist()}


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """NaN equals NaN."""
    return tensor.resolve_conj().resolve_neg().flatten().contiguous().view(torch.uint8)


def problems(sample: Sample) -> list[str]:
    schema = schemas()[sample.row]
    kind, _ = _core.functional_form(sample.row, schema)
    viewed = _core.viewed_argument(schema)
    args, kwargs = copy.deepcopy((sample.args, sample.kwargs))
    given = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    before = [tensor.clone() for tensor in given]
    results = [result for result in tensors_of(sample.function(*args, **kwargs)) if result.numel()]
    found = []
    for tensor, value in zip(given, before, strict=True):
        if kind == "kept" and not torch.equal(bits(tensor), bits(value)):
            found.append("writes to an argument")
    shared = {storage(tensor): index for index, tensor in enumerate(given) if tensor.numel()}
    for result in results:
        if kind == "kept" and storage(result) in shared and viewed is None:
            found.append(f"shares the memory of tensor {shared[storage(result)]}")
        if kind == "kept" and viewed is not None and storage(result) != storage(args[viewed]):
            found.append("shares no memory")
    if (
        kind == "kept"
        and viewed is None
        and len(set().union(*map(elements, results))) < sum(len(elements(result)) for result in results)
    ):
        found.append("its results share memory")
    return found


@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH))
def test_rows_share_memory_as_is_known(start):
    rows = ROWS[start : start + BATCH]
    assert {row for row in rows if not chosen(row)} == WITHOUT_CALL.intersection(rows)
    found = {str(sample): text for row in rows for sample in chosen(row) if (text := problems(sample))}
    assert not found


def test_it_sees_a_view_that_is_not_declared():
    """An op that is a view, under the name of one that is none."""
    sample = Sample("aten.add.Tensor", torch.float32, lambda self: self[1:], (torch.ones(3),), {})
    assert problems(sample) == ["shares the memory of tensor 0"]
    sample = Sample("aten.add.Tensor", torch.float32, lambda self: self.add_(1) + 1, (torch.ones(3),), {})
    assert problems(sample) == ["writes to an argument"]
    sample = Sample("aten.t.default", torch.float32, lambda self: self.clone(), (torch.ones(3),), {})
    assert problems(sample) == ["shares no memory"]
