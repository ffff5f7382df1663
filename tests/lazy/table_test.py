"""Every generated op of src/lazy/ops.yaml on samples of its row: the CPU's values, nothing computed there."""

import pytest
import torch
from lazy_table import compared_ops, differing_result, problems_of, row_of, samples_of
from sample_choice import first_dtype

from torchere import lazy

BATCH = 30


@pytest.mark.parametrize("start", range(0, len(compared_ops()), BATCH))
def test_values_are_those_of_the_cpu(start):
    chosen = []
    for op in compared_ops()[start : start + BATCH]:
        dtype = first_dtype(row_of(op))
        assert dtype, f"{op} has no sample"
        found = samples_of(op, dtype, 2)
        chosen += [(op, sample) for sample in found]
    problems = zip(chosen, problems_of([sample for _, sample in chosen]), strict=True)
    wrong = [f"{op}: {sample}: {'; '.join(p)}" for (op, sample), p in problems if p]
    assert not [text for text in wrong if not differing_result(text)]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.complex64])
def test_other_dtypes(dtype):
    chosen = [s for op in compared_ops()[::4] for s in samples_of(op, dtype, 1)]
    problems = zip(chosen, problems_of(chosen), strict=True)
    wrong = [f"{sample}: {'; '.join(found)}" for sample, found in problems if found]
    assert not [text for text in wrong if not differing_result(text)]


def test_an_op_is_counted_under_its_name():
    x = torch.randn(3).to("xla")
    for _ in range(2):
        torch.erf(torch.add(x, x, alpha=2))
    counters = lazy.counters()
    assert (counters["xla::erf"], counters["xla::add"]) == (2, 2)


def test_an_op_without_an_entry_is_computed_on_the_cpu_and_counted():
    x = torch.tensor([[3.0], [1.0], [3.0]])
    values, inverse = torch.unique(x.to("xla"), dim=0, return_inverse=True)
    expected = torch.unique(x, dim=0, return_inverse=True)
    assert torch.equal(values.cpu(), expected[0]) and torch.equal(inverse.cpu(), expected[1])
    assert lazy.counters()["aten::unique_dim"] == 1
