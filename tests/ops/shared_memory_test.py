"""What functionalization takes for granted of each row: what its op shares memory with, and what it writes.

Eager runs the samples; their inputs and storages are compared before and after.
"""

import copy
import functools

import pytest
import torch
import torch.utils._pytree as pytree
from rows import overload, schemas
from samples import DTYPES, Sample, samples, tensors_of

from torchere import _core

ROWS = sorted(schemas())
BATCH = 20  # rows a test


@functools.cache
def chosen(row: str) -> list[Sample]:
    """Samples of the row's first dtype that call the row's own overload."""
    for dtype in DTYPES:
        found = [sample for sample in samples(row, dtype, 4) if sample.function is overload(row)]
        if found:
            return found
    return []


def storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def problems(sample: Sample) -> list[str]:
    schema = str(overload(sample.row)._schema)
    kind, _ = _core.functional_form(sample.row, schema)
    viewed = _core.viewed_argument(schema)
    args, kwargs = copy.deepcopy((sample.args, sample.kwargs))
    given = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    before = [tensor.clone() for tensor in given]
    results = [result for result in tensors_of(sample.function(*args, **kwargs)) if result.numel()]
    found = []
    for tensor, value in zip(given, before, strict=True):
        if kind == "kept" and not torch.equal(tensor.nan_to_num(), value.nan_to_num()):
            found.append("writes to an argument")
    shared = {storage(tensor): index for index, tensor in enumerate(given) if tensor.numel()}
    for result in results:
        if kind == "kept" and storage(result) in shared and viewed is None:
            found.append(f"shares the memory of tensor {shared[storage(result)]}")
        if kind == "kept" and viewed is not None and storage(result) != storage(args[viewed]):
            found.append("shares no memory")
    if kind == "kept" and viewed is None and len({storage(result) for result in results}) < len(results):
        found.append("its results share memory")
    return found


@pytest.mark.parametrize("start", range(0, len(ROWS), BATCH))
def test_rows_share_memory_as_is_known(start):
    found = {
        str(sample): text
        for row in ROWS[start : start + BATCH]
        for sample in chosen(row)
        if (text := problems(sample))
    }
    assert not found


def test_it_sees_a_view_that_is_not_declared():
    """An op that is a view, under the name of one that is none."""
    sample = Sample("aten.add.Tensor", torch.float32, lambda self: self[1:], (torch.ones(3),), {})
    assert problems(sample) == ["shares the memory of tensor 0"]
    sample = Sample("aten.add.Tensor", torch.float32, lambda self: self.add_(1) + 1, (torch.ones(3),), {})
    assert problems(sample) == ["writes to an argument"]
    sample = Sample("aten.t.default", torch.float32, lambda self: self.clone(), (torch.ones(3),), {})
    assert problems(sample) == ["shares no memory"]
