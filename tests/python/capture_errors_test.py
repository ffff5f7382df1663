"""What torch.export refuses, by kind: what is said, and what to do about it. docs/errors.md shows more."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import torchere
from torchere.errors import CaptureError, UnimplementedError


@torch.library.custom_op("torchere_capture_errors::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


library = torch.library.Library("torchere_capture_errors", "FRAGMENT")
library.define("tripled(Tensor x) -> Tensor")
library.impl("tripled", lambda x: x * 3, "CPU")


class Options:
    pass


def refusal(function, *args, **options):
    with pytest.raises(CaptureError) as error:
        torchere.export(function, args, **options)
    return error.value


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", ["doubled", "tripled"])
def test_an_op_without_a_fake_kernel(name, strict):
    op = getattr(torch.ops.torchere_capture_errors, name)
    error = refusal(lambda x: op(x), torch.ones(3), strict=strict)
    assert f"torchere_capture_errors::{name} has no fake kernel: expected a function" in str(error)
    assert f'@torch.library.register_fake("torchere_capture_errors::{name}")' in error.advice
    assert error.where.startswith("capture_errors_test.py:")


@pytest.mark.parametrize("strict", [False, True])
def test_a_branch_on_elements(strict):
    error = refusal(lambda x: x if x.sum() > 0 else -x, torch.ones(3), strict=strict)
    assert "Python needs a value that only a call has: got" in str(error)
    assert "torch.cond" in error.advice


@pytest.mark.parametrize("strict", [False, True])
def test_a_branch_on_a_size_that_is_computed(strict):
    error = refusal(lambda x: x if x.nonzero().shape[0] > 2 else -x, torch.ones(3), strict=strict)
    assert "Python needs a value that only a call has: got u0 > 2, expected" in str(error)


@pytest.mark.parametrize("strict", [False, True])
def test_a_dimension_that_the_model_fixes(strict):
    dims = ({0: torch.export.Dim("batch")},)
    error = refusal(lambda x: x.reshape(4, 3), torch.ones(4, 3), dynamic_shapes=dims, strict=strict)
    assert (
        "dimension 'batch' is dynamic in dynamic_shapes, but the model takes it for one number: got 4"
        in str(error)
    )
    assert "leave 'batch' out of dynamic_shapes" in error.advice
    assert error.where.startswith("capture_errors_test.py:") == strict


@pytest.mark.parametrize("strict", [False, True])
def test_an_argument_of_an_unknown_class(strict):
    error = refusal(lambda x, y: x, torch.ones(3), [1, Options()], strict=strict)
    assert "Options at args[1][1], expected tensors" in str(error)
    assert "register_dataclass" in error.advice


def test_a_result_of_an_unknown_class():
    error = refusal(lambda x: [Options(), x], torch.ones(3))
    assert (
        "a result of a class that torch.export does not know: got capture_errors_test.Options, expe"
        in str(error)
    )
    assert "torch.export.register_dataclass registers a dataclass of your own" in error.advice


def test_numpy_in_the_model():
    error = refusal(lambda x: torch.from_numpy(np.sin(x.numpy())), torch.ones(3))
    assert "the model leaves torch for numpy: got Tensor.numpy(), expected ops of torch" in str(error)
    assert "strict=True" in error.advice


def test_an_unknown_failure_is_told_without_torchs_hints():
    error = refusal(lambda x: x @ torch.ones(5, 2), torch.ones(3, 3))
    assert "RuntimeError: a and b must have same reduction dim, but got [3, 3] X [5, 2]." in str(error)
    assert error.advice == ""
    assert "draft_export" not in str(error)


@pytest.mark.parametrize(
    ("weight", "kind"),
    [
        (torch.ones(3, device="meta"), r"a tensor without data \(meta device\)"),
        (torch.eye(3).to_sparse(), "torch.sparse_coo"),
    ],
)
def test_a_weight_without_plain_memory(weight, kind):
    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", weight)
            self.register_buffer("other", torch.ones(3))

        def forward(self, x):
            x = x + self.other
            return self.weight.to_dense() + x if self.weight.is_sparse else self.weight + x

    with pytest.raises(
        UnimplementedError, match=rf"\[weight 'weight'\] .*got {kind}, expected a dense"
    ) as error:
        torchere.export(Holder(), torch.ones(3))
    assert "to_dense()" in error.value.advice


def test_a_dtype_that_no_program_has():
    with pytest.raises(
        UnimplementedError, match=r"argument 'dtype' cannot be captured: got torch.qint8"
    ) as error:
        torchere.export(
            lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(), torch.ones(3)
        )
    assert error.value.where.startswith("capture_errors_test.py:")
