"""Products with one of several matrices that are weights, as mixtures of experts have them: all are packed
once, none is copied, and the result is eager PyTorch's."""

from __future__ import annotations

import importlib

import pytest
import torch

import torchere

importlib.import_module("transformers.integrations.moe")  # which defines the op


class Experts(torch.nn.Module):
    def __init__(self, dtype: torch.dtype, transposed: bool) -> None:
        super().__init__()
        sizes = (5, 40, 24) if transposed else (5, 24, 40)
        self.weight = torch.nn.Parameter(torch.randn(sizes).to(dtype))
        self.transposed = transposed

    def forward(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        weight = self.weight.transpose(1, 2) if self.transposed else self.weight
        return torch.ops.transformers.grouped_mm_fallback(x, weight, ends)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_experts(dtype, transposed, tmp_path):
    torch.manual_seed(0)
    model = Experts(dtype, transposed)
    x, ends = torch.randn(150, 24).to(dtype), torch.tensor([3, 3, 90, 120, 150], dtype=torch.int32)
    exported = torchere.export(model, (x, ends))
    exported.save(tmp_path / "saved")
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 1.6e-2}[dtype]
    for program in (exported, torchere.load(tmp_path / "saved")):
        for each in (ends, torch.tensor([150, 150, 150, 150, 150], dtype=torch.int32)):
            for _ in range(2):
                torch.testing.assert_close(program(x, each), model(x, each), rtol=tolerance, atol=tolerance)
    rows = [(row.kernel, row.op) for row in exported.profile(x, ends).rows]
    assert ("matmul", "torchere_cpu.chosen_dot") in rows
    # Of an end, of rows, and of the result: none is a matrix.
    assert rows.count(("slice", "stablehlo.dynamic_slice")) == 3


def test_other_weights_are_packed_anew():
    torch.manual_seed(0)
    model, other = Experts(torch.float32, False), Experts(torch.float32, False)
    x, ends = torch.randn(20, 24), torch.tensor([1, 3, 9, 12, 20], dtype=torch.int32)
    program = torchere.export(model, (x, ends))
    torch.testing.assert_close(program(x, ends), model(x, ends), rtol=1e-5, atol=1e-5)
    program.load_state_dict(other.state_dict())
    for _ in range(3):
        torch.testing.assert_close(program(x, ends), other(x, ends), rtol=1e-5, atol=1e-5)
