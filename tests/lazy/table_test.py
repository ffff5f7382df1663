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


F = torch.nn.functional
WRITTEN_BY_HAND = {
    "dot": (torch.dot, [(5,), (5,)]),
    "vdot": (torch.vdot, [(5,), (5,)]),
    "xlogy": (torch.xlogy, [(2, 3), (3,)]),
    "xlog1py": (torch.special.xlog1py, [(2, 3), (3,)]),
    "smooth_l1_loss": (lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), [(9,), (9,)]),
    "huber_loss": (lambda x, y: F.huber_loss(x, y, "none", 0.7), [(9,), (9,)]),
    "logsigmoid": (F.logsigmoid, [(9,)]),
    "hardshrink": (F.hardshrink, [(9,)]),
    "softshrink": (F.softshrink, [(9,)]),
    "threshold": (lambda x: F.threshold(x, 0.1, 20.0), [(9,)]),
    "hardsigmoid": (lambda x: F.hardsigmoid(x * 4), [(9,)]),
    "hardswish": (lambda x: F.hardswish(x * 4), [(9,)]),
    "elu": (lambda x: F.elu(x, 0.7), [(9,)]),
    "elu in place": (lambda x: F.elu_(x * 1, 0.7), [(9,)]),
    "selu": (F.selu, [(9,)]),
    "softplus": (lambda x: F.softplus(x * 4, 2, 3), [(9,)]),
    "mish": (F.mish, [(9,)]),
    "prelu": (F.prelu, [(2, 3), (3,)]),
    "logit": (lambda x: torch.logit(x.sigmoid()), [(9,)]),
    "logit of bounds": (lambda x: torch.logit(x, 0.2), [(9,)]),
    "glu": (lambda x: F.glu(x, 0), [(4, 3)]),
    "bilinear": (lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), [(1, 2, 3, 4)]),
    "bicubic": (lambda x: F.interpolate(x, (5, 3), mode="bicubic"), [(1, 2, 3, 4)]),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", WRITTEN_BY_HAND)
def test_kernels_that_are_written_by_hand(name, dtype):
    call, shapes = WRITTEN_BY_HAND[name]

    def program(device):
        torch.manual_seed(0)
        first, *rest = (torch.randn(shape) for shape in shapes)
        given = [x.to(dtype).to(device).requires_grad_() for x in (first, *map(torch.abs, rest))]
        result = call(*given)
        result.square().sum().backward()
        return [result.detach().cpu(), *(x.grad.cpu() for x in given)]

    expected = program("cpu")
    for got, value in zip(program("xla"), expected, strict=True):
        # Gradients add numbers that cancel, of which each is rounded.
        tolerance = {"rtol": 0.02, "atol": 0.02} if dtype == torch.bfloat16 else {}
        torch.testing.assert_close(got, value, **tolerance)
    assert not lazy.executed_fallback_ops()


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
