"""What a precision above the default changes on the engine."""

from __future__ import annotations

from engine_test import run

WINOGRAD = """
import torch, torchere
torch.manual_seed(0)
model, x = torch.nn.Conv2d(64, 64, 3, padding=1).eval(), torch.randn(1, 64, 56, 56)
with torch.no_grad():
    exact = model.double()(x.double())
    model.float()
errors = []
for precision in (None, "highest"):
    program = torchere.export(model, (x,), precision=precision)
    errors.append((program(x).double() - exact).abs().max().item())
print(errors[1] < 0.7 * errors[0], errors[0] < 1e-5)
"""


def test_convolutions_sum_directly():
    lines, _ = run(WINOGRAD)
    assert lines == ["True True"]


DENORMALS = """
import torch, torchere
x = torch.full((20, 8), 2.0**-130, dtype=torch.bfloat16)
w = torch.full((16, 8), 2.0**20, dtype=torch.bfloat16)
program = torchere.export(torch.nn.functional.linear, (x, w), precision="highest")
expected = torch.nn.functional.linear(x.float(), w.float()).bfloat16()
print(torch.equal(program(x, w), expected), (expected == 2.0**-107).all().item())
"""


def test_denormals_of_bf16_count():
    lines, _ = run(DENORMALS)
    assert lines == ["True True"]
