"""Row programs: reductions of rows and what is made of their results in one step. Random programs give on
the engine what they give on the interpreter, from an executable that was stored too; the profile tells which
steps there are."""

from __future__ import annotations

import numpy
import pytest
import torch
from random_reductions import RowWriter, check
from torch.nn import functional

import torchere


def test_random_programs_agree(engine):
    check(engine, range(300), RowWriter)


@pytest.mark.sweep
def test_many_random_programs_agree(engine):
    check(engine, range(1000, 4000), RowWriter)


def test_a_number_of_all_rows_is_no_element_of_a_row(engine):
    """The bound of a clamp, which one element may give for all of them."""
    text = """func.func @main(%x: tensor<20x30xf32>) -> tensor<20x30xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %all = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<20x30xf32>, tensor<f32>) -> tensor<f32>
      %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<20x30xf32>, tensor<f32>) -> tensor<20xf32>
      %high = stablehlo.constant dense<1.0e3> : tensor<f32>
      %bounded = stablehlo.clamp %all, %sums, %high
        : (tensor<f32>, tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
      %rows = stablehlo.broadcast_in_dim %bounded, dims = [0] : (tensor<20xf32>) -> tensor<20x30xf32>
      %result = stablehlo.subtract %x, %rows : tensor<20x30xf32>
      return %result : tensor<20x30xf32>
    }"""
    x = numpy.random.default_rng(1).normal(size=(20, 30)).astype("float32")
    bounded = numpy.clip(x.sum(1), x.sum(), 1000)
    for (result,) in engine.run(text, [[x]]):
        numpy.testing.assert_allclose(result, x - bounded[:, None], rtol=1e-5, atol=1e-5)


def normalized(x, g):
    return x / x.norm(dim=-1, keepdim=True)


def softmax_gradient(x, g):
    return torch.ops.aten._softmax_backward_data(g, x, -1, x.dtype)


def layer_norm_gradient(x, g):
    mean, deviation = x.mean(-1, keepdim=True), 1 / x.std(-1, keepdim=True)
    sizes = [x.shape[-1]]
    return torch.ops.aten.native_layer_norm_backward(g, x, sizes, mean, deviation, g[0], g[0], [True] * 3)


def quantized(x, g):
    scale = x.abs().amax(-1, keepdim=True) / 127
    return torch.round(x / scale).to(torch.int8), scale


def entropy(x, g):
    p = functional.softmax(x, -1)
    return -(p * torch.log(p)).sum(-1)


def of_planes(x, g):
    planes = x.reshape(16, 4, x.shape[0] // 16, -1)
    mean = planes.mean((2, 3), keepdim=True)
    return (planes - mean) / (planes - mean).abs().mean((2, 3), keepdim=True)


#: By name: the function, and the steps.
FORMS = {
    "normalized": (normalized, ["row program"]),
    "a softmax's gradient": (softmax_gradient, ["row program"]),
    "a layer norm's gradient": (layer_norm_gradient, ["row program", "reduced vector program"]),
    "quantized rows": (quantized, ["row program"]),
    "of planes": (of_planes, ["row program"]),
    "of columns": (lambda x, g: x - x.mean(0), ["reduce", "vector program", "vector program"]),
}


def planned(function, *args):
    """The program, and the steps of a call."""

    class Form(torch.nn.Module):
        def forward(self, *args):
            return function(*args)

    program = torchere.export(Form(), args)
    return program, [row.kernel for row in program.profile(*args).rows]


def test_few_long_rows_are_reduced_by_all_threads():
    x = torch.randn(4, 20000)
    program, steps = planned(lambda x: x - x.mean(1, keepdim=True), x)
    assert steps == ["reduce", "vector program", "vector program"]
    torch.testing.assert_close(program(x), x - x.mean(1, keepdim=True))


def test_a_step_is_named_after_its_last_op():
    class Divided(torch.nn.Module):
        def forward(self, x):
            return x / x.sum(-1, keepdim=True)

    x = torch.rand(20, 30)
    (row,) = torchere.export(Divided(), (x,)).profile(x).rows
    assert (row.kernel, row.op) == ("row program", "stablehlo.divide")
    assert "row_programs_test.py" in row.source


@pytest.mark.parametrize("columns", [100, 4000, 40000])
@pytest.mark.parametrize("name", FORMS)
def test_forms(name, columns):
    torch.manual_seed(1)
    function, steps = FORMS[name]
    x, g = torch.randn(64, columns), torch.randn(64, columns)
    program, planned_steps = planned(function, x, g)
    expected = function(x.double(), g.double())
    got = program(x, g)
    if isinstance(got, torch.Tensor):
        got, expected = [got], [expected]
    for mine, value in zip(got, expected, strict=True):
        if mine.dtype == torch.int8:  # of what lies between two integers, either
            assert (mine.double() - value.double()).abs().max() <= 1
            continue
        torch.testing.assert_close(mine.double(), value.double(), rtol=1e-5, atol=1e-5 * value.abs().max())
    assert planned_steps == steps
