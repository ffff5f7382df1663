"""Products of bf16, f16 and bytes through modules, beside eager PyTorch."""

from __future__ import annotations

import re

import pytest
from engine_test import run

HALF = """
import sys
import torch, torchere
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(64)
        self.gate, self.up = nn.Linear(64, 96, bias=False), nn.Linear(64, 96)
        self.down = nn.Linear(96, 64)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

torch.manual_seed(0)
with torch.no_grad():
    for rows in (1, 3, 40):
        model, x = nn.Sequential(Block(), Block()).eval().to(KIND), torch.randn(rows, 64).to(KIND)
        expected = model(x)
        print("begins", file=sys.stderr, flush=True)
        program = torchere.export(model, (x,))
        results = [program(x) for _ in range(3)]
        exact = model.double()(x.double())
        scale = exact.abs().max()
        error, eager = ((each.double() - exact).abs().max() / scale for each in (results[0], expected))
        assert results[0].dtype == KIND and error <= 1.5 * eager, (rows, error, eager)
        assert all(torch.equal(result, results[0]) for result in results)
"""


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_layers_of_16_bits(kind):
    """Biases and residuals join the products, gates their siblings, and no weight is converted to f32."""
    _, log = run(f"import torch\nKIND = torch.{kind}\n{HALF}", TORCHERE_LOG="debug")
    logs = log.split("begins\n")[1:]
    assert len(logs) == 3
    for log in logs:
        matched = re.search(r"fused:(.*)", log)
        assert "sibling_dots=2" in matched[1] and "dot=4" in matched[1], log


BYTES = """
import torch, torchere

class Product(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.register_buffer("weights", weights)

    def forward(self, x):
        return torch._int_mm(x, self.weights)

torch.manual_seed(0)
for rows, depth, columns in ((17, 64, 40), (33, 1024, 72), (130, 520, 8)):
    x, weights = (torch.randint(-128, 128, size).to(torch.int8) for size in ((rows, depth), (depth, columns)))
    x[0], weights[:, 0] = -128, -128
    program = torchere.export(Product(weights), (x,))
    for _ in range(3):
        assert torch.equal(program(x), x.int() @ weights.int())
"""


def test_products_of_bytes_are_exact():
    _, log = run(BYTES, TORCHERE_LOG="debug")
    assert log.count("evaluated: none") == 3
