"""Programs of quantized_decomposed with StableHLO's quantized types: text, results, and where they give way
to arithmetic."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn
from warm_process import run_python

import torchere
import torchere.experimental.quantized
from torchere.stablehlo import exported_program_to_stablehlo

ops = torch.ops.quantized_decomposed
X = torch.linspace(-41.3, 59.9, 2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


class Function(nn.Module):
    def __init__(self, function, **buffers):
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, x):
        return self.function(self, x)


def exported(function, x=X, **buffers):
    module = Function(function, **buffers)
    return module, exported_program_to_stablehlo(torch.export.export(module, (x,)))


def there_and_back(module, x):
    x = ops.quantize_per_tensor(x, 0.4, 2, -128, 127, torch.int8)
    return ops.dequantize_per_tensor(x, 0.4, 2, -128, 127, torch.int8)


def test_one_scale():
    module, program = exported(there_and_back)
    text = program.get_stablehlo_text()
    assert text.count("tensor<2x3x4x5x!quant.uniform<i8:f32, 4.000000e-01:2>>") == 2
    assert text.count("stablehlo.uniform_quantize") == text.count("stablehlo.uniform_dequantize") == 1
    assert "bitcast_convert" not in text
    torch.testing.assert_close(program(X), module(X))


def test_a_scale_for_each_channel(tmp_path):
    scales = torch.tensor([3.2, 5.3, 0.1, 10.0])
    points = torch.tensor([1, 2, -1, -2])

    def there_and_back(module, x):
        x = ops.quantize_per_channel(x, module.scales, module.points, 2, -128, 127, torch.int8)
        return ops.dequantize_per_channel(x, module.scales, module.points, 2, -128, 127, torch.int8)

    module, program = exported(there_and_back, scales=scales, points=points)
    text = program.get_stablehlo_text()
    kind = "!quant.uniform<i8:f32:2, {3.200000e+00:1,5.300000e+00:2,1.000000e-01:-1,1.000000e+01:-2}>"
    assert text.count(f"tensor<2x3x4x5x{kind}>") == 2
    torch.testing.assert_close(program(X), module(X))
    program.save(tmp_path / "channels")
    torch.testing.assert_close(torchere.load(tmp_path / "channels")(X), module(X))


@pytest.mark.parametrize(
    ("dtype", "least", "most", "kind"),
    [
        (torch.uint8, 0, 255, "u8"),
        (torch.int8, -127, 127, "i8<-127:127>"),
        (torch.int16, -32768, 32767, "i16"),
        (torch.int32, -(2**31), 2**31 - 1, "i32"),
    ],
    ids=str,
)
def test_integers_are_what_eager_gives(dtype, least, most, kind):
    def quantized(module, x):
        return ops.quantize_per_tensor(x, 0.25, 3, least, most, dtype)

    module, program = exported(quantized)
    assert f"!quant.uniform<{kind}:f32, 2.500000e-01:3>" in program.get_stablehlo_text()
    assert torch.equal(program(X), module(X))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_quantized_as_float32(dtype):
    module, program = exported(there_and_back, X.to(dtype))
    assert "stablehlo.uniform_quantize" in program.get_stablehlo_text()
    torch.testing.assert_close(program(X.to(dtype)), module(X.to(dtype)))


def by_tensors(module, x):
    return ops.quantize_per_tensor(x, x.abs().max() / 127, torch.tensor(0), -128, 127, torch.int8)


@pytest.mark.parametrize(
    "function",
    [
        by_tensors,  # the scale is computed
        lambda module, x: ops.quantize_per_tensor(x, 1e-45, 0, -128, 127, torch.int8),
        lambda module, x: ops.quantize_per_tensor(x, 0.5, 100, -8, 7, torch.int8),
    ],
    ids=["computed", "subnormal", "point"],
)
def test_what_the_types_do_not_express_is_arithmetic(function):
    module, program = exported(function)
    text = program.get_stablehlo_text()
    assert "uniform_quantize" not in text and "quant.uniform" not in text
    assert torch.equal(program(X), module(X))


def test_a_scale_that_is_a_constant_tensor():
    def quantized(module, x):
        return ops.quantize_per_tensor(x, torch.tensor(0.5), torch.tensor(2), -128, 127, torch.int8)

    module, program = exported(quantized)
    assert "!quant.uniform<i8:f32, 5.000000e-01:2>" in program.get_stablehlo_text()
    assert torch.equal(program(X), module(X))


def test_the_interpreter_runs_it_as_it_is():
    module, program = exported(there_and_back)
    text = program.get_stablehlo_text()
    (result,) = torchere.interpreter.interpret(text, X.numpy())
    torch.testing.assert_close(torch.tensor(result), module(X))


def test_jaxlib_verifies_it():
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jaxlib.mlir.dialects import stablehlo

    _, program = exported(there_and_back)
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = stablehlo.deserialize_portable_artifact(context, program.get_stablehlo_bytecode())
        assert module.operation.verify()


def test_without_the_import_it_is_arithmetic():
    source = """
import torch, torchere
import torch.ao.quantization.fx._decomposed
from torchere.stablehlo import exported_program_to_stablehlo
class M(torch.nn.Module):
    def forward(self, x):
        return torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.5, 2, -128, 127, torch.int8)
text = exported_program_to_stablehlo(torch.export.export(M(), (torch.ones(3),))).get_stablehlo_text()
print("uniform" in text)
"""
    result = run_python("-c", source)
    assert result.stdout.strip() == "False", result.stderr


def test_a_quantized_convolution_as_torchs_quantizers_make_it():
    """Weights quantized by channel, activations by tensor, each restored before the op that reads it."""

    class Quantized(nn.Module):
        def __init__(self):
            super().__init__()
            weight = torch.randn(40, 3, 3, 3, generator=torch.Generator().manual_seed(0))
            scales = weight.abs().amax((1, 2, 3)) / 127
            points = torch.zeros(40, dtype=torch.int64)
            self.register_buffer("scales", scales)
            self.register_buffer("points", points)
            values = ops.quantize_per_channel(weight, scales, points, 0, -127, 127, torch.int8)
            self.register_buffer("weight", values)

        def forward(self, x):
            x = ops.quantize_per_tensor(x, 0.5, 0, -128, 127, torch.int8)
            x = ops.dequantize_per_tensor(x, 0.5, 0, -128, 127, torch.int8)
            weight = ops.dequantize_per_channel(
                self.weight, self.scales, self.points, 0, -127, 127, torch.int8
            )
            return nn.functional.conv2d(x, weight)

    module, x = Quantized(), X[:, :, :, :4]
    program = exported_program_to_stablehlo(torch.export.export(module, (x,)))
    text = program.get_stablehlo_text()
    assert re.search(r"tensor<40x3x3x3x!quant.uniform<i8<-127:127>:f32:0, \{", text)
    assert text.count("stablehlo.uniform_dequantize") == 2
    torch.testing.assert_close(program(x), module(x), rtol=1e-5, atol=1e-4)
