"""Convolutions of bf16 and f16 lie in blocks with what is between them, as in f32: the same kernels are
called. Results are within 3 times eager's error."""

from __future__ import annotations

import pytest
from convolution_fusion_test import kernels_by_case
from engine_test import run
from fusion_log import TORCH, fused_by_case

KINDS = ("bfloat16", "float16")

MODELS = """
from torch import nn

torch.manual_seed(0)

def unit(inputs, outputs, activation, **options):
    norm = nn.BatchNorm2d(outputs)
    nn.init.uniform_(norm.running_var, .5, 1.5), nn.init.normal_(norm.running_mean, std=.1)
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False, **options), norm, activation)

class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = unit(16, 16, nn.ReLU()), unit(16, 16, nn.Identity())
    def forward(self, x):
        return F.relu(self.second(self.first(x)) + x)

class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(16, 8, 1), nn.Conv2d(8, 16, 1)
    def forward(self, x):
        return x * self.up(F.relu(self.down(x.mean((2, 3), keepdim=True)))).sigmoid()

class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = unit(16, 16, nn.SiLU()), unit(16, 32, nn.GELU())
    def forward(self, x):
        return torch.cat([self.left(x), self.right(x), F.avg_pool2d(x, 3, 1, 1)], 1)

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.norm = nn.Conv2d(16, 16, 7, padding=3, groups=16), nn.LayerNorm(16)
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)
    def forward(self, x):
        y = self.norm(self.mix(x).permute(0, 2, 3, 1))
        return x + self.down(F.gelu(self.up(y))).permute(0, 3, 1, 2)

class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, 32, 4, 4), nn.Parameter(torch.randn(1, 16, 32))
        self.norm, self.up, self.down = nn.LayerNorm(32), nn.Linear(32, 64), nn.Linear(64, 32)
    def forward(self, x):
        x = self.patches(x).flatten(2).mT + self.places
        for _ in range(2):
            x = x + self.down(F.relu(self.up(self.norm(x))))
        return x

class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = unit(3, 16, nn.ReLU()), unit(16, 16, nn.ReLU())
    def forward(self, x):
        x = self.first(x)
        return self.second(torch.where(x > 1, x * 0.5, F.pad(x[..., 1:], (1, 0), value=0.25)))

class Rounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 16, 3)
    def forward(self, x):
        return self.second(self.first(x).to(KIND).float())

stem = unit(3, 16, nn.Hardswish(), stride=2)
group = nn.Sequential(nn.GroupNorm(4, 16), nn.SiLU(), nn.Conv2d(16, 16, 3, padding=1))
larger = nn.Upsample(scale_factor=2)
up = nn.Sequential(larger, nn.Conv2d(16, 8, 3, padding=1), nn.ConvTranspose2d(8, 8, 2, 2))
head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
image = torch.randn(2, 3, 16, 16)

def check_wide(name, model, x=image):
    model = model.eval()
    exact = model.double()(x.double())
    for kind in (torch.float32, KIND):
        expected, x = model.to(kind)(x.to(kind)), x.to(kind)
        print("case", name if kind == KIND else name + " in f32", file=sys.stderr, flush=True)
        program = torchere.export(model, (x,))
        for _ in range(2):
            result = program(x)
            assert result.dtype == expected.dtype and result.shape == expected.shape
            scale = exact.abs().max()
            error, eager = ((each.double() - exact).abs().max() / scale for each in (result, expected))
            assert error <= max(5e-6, 3 * eager), (name, kind, error, eager)
"""

#: By name: the module.
CASES = {
    "norms, residuals and pooling": "nn.Sequential(stem, nn.MaxPool2d(3, 2, 1), Residual(), "
    "Residual(), head)",
    "gates": "nn.Sequential(stem, Gate(), unit(16, 16, nn.ReLU6()), head)",
    "joined channels": "nn.Sequential(stem, Joined(), unit(64, 16, nn.LeakyReLU(0.1)))",
    "norms of groups": "nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), group)",
    "larger images": "nn.Sequential(stem, up)",
    "choices, padding and slices": "Chosen()",
    "one dimension": "nn.Sequential(nn.Conv1d(3, 16, 3), nn.Tanh(), nn.Conv1d(16, 16, 3, dilation=2)), "
    "torch.randn(2, 3, 40)",
}


@pytest.fixture(scope="module")
def logs():
    """All cases in one process for each type."""
    found = {}
    for kind in KINDS:
        calls = [f"check_wide({name!r}, {arguments})" for name, arguments in CASES.items()]
        source = "\n".join([f"import torch\nKIND = torch.{kind}", TORCH, MODELS, *calls])
        found[kind] = run(source, TORCHERE_LOG="debug")[1]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_the_kernels_are_those_of_f32(logs, kind, name):
    kernels = kernels_by_case(logs[kind])
    assert kernels[name] == kernels[f"{name} in f32"]
    assert "wide_islands=" in fused_by_case(logs[kind])[name]


STEPS = """
def steps(model, x):
    program = torchere.export(model.eval().to(KIND), (x.to(KIND),))
    return [row.kernel for row in program.profile(x.to(KIND)).rows]
"""


@pytest.mark.parametrize("kind", KINDS)
def test_products_read_and_write_narrow_values(kind):
    """Behind a convolution: residuals of products are not widened, only what convolutions take."""
    lines, _ = run(f"""import torch\nKIND = torch.{kind}\n{TORCH}{MODELS}{STEPS}
print(*steps(Patches(), image), sep=", ")
print(steps(nn.Sequential(stem, Mixer(), Mixer()), image).count("norm"))
check_wide("patches", Patches())
check_wide("mixers", nn.Sequential(stem, Mixer(), Mixer()))
""")
    assert lines[0].endswith("norm, matmul, matmul, norm, matmul, matmul")
    assert lines[1] == "2"


@pytest.mark.parametrize("kind", KINDS)
def test_a_rounding_between_convolutions_of_f32_stays(kind):
    run(f"""import torch\nKIND = torch.{kind}\n{TORCH}{MODELS}
model = Rounded().eval()
expected, result = model(image), torchere.export(model, (image,))(image)
# A few elements are rounded the other way.
assert (result - expected).abs().median() <= 1e-6 * expected.abs().max()
""")
