"""Convolutions and pooling in three dimensions on the CPU engine: what is laid out in blocks, by the names in
the log, beside eager's results; JAX's order of dimensions; executables that were stored."""

from __future__ import annotations

import numpy
import pytest
from convolution_fusion_test import BEGINNING, kernels_by_case
from engine_modules_test import function, on_engine
from engine_test import run
from fusion_log import run_jax

from torchere.interpreter import interpret

VOLUMES = BEGINNING
for module in ("BatchNorm", "Conv", "AvgPool"):
    VOLUMES = VOLUMES.replace(module + "2d", module + "3d")

#: By name: the arguments of check() without it, and what the log says of kernels on blocks.
CASES = {
    "alone": ("conv(20, 12, 3), (2, 20, 5, 8, 9)", "direct=1 from_blocked=1 to_blocked=1"),
    "first layer": (
        "nn.Sequential(conv(3, 20, (3, 7, 7), (1, 2, 2), (1, 3, 3)), norm(20), nn.ReLU()), (2, 3, 5, 20, 22)",
        "from_blocked=1 planar+scale+bias+relu=1",
    ),
    "residual blocks": (
        "nn.Sequential(conv(3, 20, 3, 2, 1), norm(20), nn.ReLU(), nn.MaxPool3d(3, 2, 1), Block(20, 20, 1),"
        " Block(20, 36, 2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(36, 10)), (2, 3, 14, 20, 22)",
        "direct+scale+bias+relu=2 direct+scale+bias+residual+relu=2 direct+scale+bias=1 dot=1"
        " global_average=1 planar+scale+bias+relu=1 pool=1",
    ),
    "steps and padding of each axis": (
        "nn.Sequential(conv(12, 16, (1, 3, 3), (1, 2, 1), (0, 1, 1), bias=True), nn.ReLU(),"
        " conv(16, 20, (3, 1, 1), (2, 1, 1), (1, 0, 0)), nn.SiLU(),"
        " conv(20, 8, (3, 2, 3), (1, 1, 2), (2, 1, 0), (2, 1, 1)), nn.ConstantPad3d((1, 0, 0, 2, 1, 0), 0),"
        " conv(8, 8, 1, (3, 2, 1))), (2, 12, 7, 9, 10)",
        "direct+bias+relu=1 direct+silu=1 direct=2 from_blocked=1 to_blocked=1",
    ),
    "winograd": (
        "nn.Sequential(conv(32, 32, 3, 1, 1), norm(32), nn.ReLU(), conv(32, 40, (3, 3, 3), (2, 1, 1), 1)),"
        " (2, 32, 4, 20, 18)",
        "from_blocked=1 to_blocked=1 winograd+scale+bias+relu=1 winograd=1",
    ),
    "gates": (
        "nn.Sequential(conv(12, 20, 1), nn.ReLU(), conv(20, 20, 3, (2, 1, 1), 1, groups=20), norm(20),"
        " Gate(20, 8, nn.Sigmoid()), nn.SiLU(), conv(20, 8, 1)), (2, 12, 5, 6, 7)",
        "depthwise+scale+bias=1 direct+bias+relu=1 direct+bias+sigmoid=1 direct+relu=1 direct=1"
        " from_blocked=1 global_average=1 silu=1 to_blocked=1",
    ),
    "groups": (
        "nn.Sequential(conv(64, 64, (1, 3, 3), 1, (0, 1, 1), groups=2), nn.ReLU(),"
        " conv(64, 32, 3, 1, 1, groups=4)), (1, 64, 4, 6, 7)",
        "direct+relu=1 from_blocked=1 to_blocked=1",
    ),
    "pooling": (
        "nn.Sequential(conv(12, 20, 3, 1, 1), nn.MaxPool3d((1, 2, 2)), conv(20, 20, 1), nn.AvgPool3d(2, 2),"
        " conv(20, 8, 1)), (2, 12, 6, 8, 9)",
        "direct=3 from_blocked=1 pool=2 to_blocked=1",
    ),
    "dense": (
        "Model(lambda self, x: self.tail(dense(self.stem(x), self.layers)), stem=conv(3, 16, 3, 1, 1),"
        " layers=nn.ModuleList([nn.Sequential(norm(16 + 16 * i), nn.ReLU(), conv(16 + 16 * i, 16, 3, 1, 1))"
        " for i in range(2)]), tail=nn.Sequential(norm(48), nn.ReLU(), conv(48, 16, 1))), (2, 3, 4, 6, 7)",
        "depthwise+bias+relu=3 direct=3 from_blocked=1 planar=1",
    ),
    "u-net": (
        "Model(lambda self, x: (lambda y: self.last(torch.cat([self.up(self.low(y)), y], 1)))(self.first(x)),"
        " first=conv(3, 16, 3, 1, 1), low=nn.Sequential(nn.MaxPool3d(2), conv(16, 32, 3, 1, 1), nn.ReLU()),"
        " up=nn.ConvTranspose3d(32, 16, 2, 2), last=conv(32, 8, 3, 1, 1)), (1, 3, 4, 12, 16)",
        "direct+relu=1 direct=1 from_blocked=4 planar=1 pool=1 to_blocked=1 transposed=2",
    ),
    "transposed": (
        "nn.ConvTranspose3d(20, 12, (4, 3, 2), (2, 1, 2), (1, 1, 0)), (2, 20, 3, 5, 6)",
        "from_blocked=2 to_blocked=1 transposed=2",
    ),
    "transposed, without taps for some images": (
        "nn.ConvTranspose3d(20, 12, (2, 3, 3), (3, 1, 1)), (2, 20, 3, 5, 6)",
        "none",
    ),
}


@pytest.fixture(scope="module")
def log():
    """All cases in one process."""
    calls = [f"check({name!r}, {arguments})" for name, (arguments, _) in CASES.items()]
    return kernels_by_case(run("\n".join([VOLUMES, *calls]), TORCHERE_LOG="debug")[1])


@pytest.mark.parametrize("name", CASES)
def test_what_is_fused(log, name):
    assert log[name] == sorted(CASES[name][1].split())


JAX = """
import sys
import numpy
import jax, jax.numpy as jnp

generator = numpy.random.default_rng(0)
x = generator.normal(size=(2, 5, 8, 9, 20)).astype(numpy.float32)
w = generator.normal(size=(3, 3, 3, 20, 24)).astype(numpy.float32)
b = generator.normal(size=(24,)).astype(numpy.float32)

def main(x, w, b):
    y = jax.lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
    return jax.nn.relu6(y + b)

padded = numpy.pad(x.astype(numpy.float64), ((0, 0), (1, 1), (1, 1), (1, 1), (0, 0)))
taps = [(k, i, j) for k in range(3) for i in range(3) for j in range(3)]
expected = sum(padded[:, k:k + 5, i:i + 8, j:j + 9] @ w[k, i, j] for k, i, j in taps)
print("case", "channels last", file=sys.stderr, flush=True)
for _ in range(3):
    result = jax.jit(main)(x, w, b)
    numpy.testing.assert_allclose(result, numpy.clip(expected + b, 0, 6), rtol=0, atol=1e-4)
"""


def test_jax_order():
    found = kernels_by_case(run_jax(JAX, TORCHERE_LOG="debug")[1])
    assert found == {"channels last": ["direct+bias+relu6=1", "from_blocked=1", "to_blocked=1"]}


@pytest.mark.parametrize(
    ("depths", "taps", "padding", "outputs"), [(5, 4, (2, 2), 10), (3, 5, (2, 3), 6), (4, 3, (2, 2), 9)]
)
def test_phases_of_the_depth_with_reversed_windows(tmp_path, depths, taps, padding, outputs):
    """The last one has as many outputs as no step divides, and stays one convolution."""
    x, w, y = f"2x{depths}x4x4x20xf32", f"{taps}x3x3x20x12xf32", f"2x{outputs}x8x8x12xf32"
    text = function(
        y,
        f"""  %r0 = "stablehlo.convolution"(%0, %1) <{{
    dimension_numbers = #stablehlo.conv<[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]>,
    lhs_dilation = array<i64: 2, 2, 2>, window_reversal = array<i1: true, true, true>,
    padding = dense<[[{padding[0]}, {padding[1]}], [1, 2], [1, 2]]> : tensor<3x2xi64>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64}}> :
    (tensor<{x}>, tensor<{w}>) -> tensor<{y}>""",
        x,
        w,
    )
    generator = numpy.random.default_rng(0)
    arguments = [
        generator.normal(size=size).astype(numpy.float32)
        for size in ((2, depths, 4, 4, 20), (taps, 3, 3, 20, 12))
    ]
    ((got, _),), (log,) = on_engine({"reversed": (text, arguments)}, tmp_path)
    (expected,) = interpret(text, *arguments)
    numpy.testing.assert_allclose(got[0], expected, rtol=0, atol=3e-6 * abs(expected).max())
    assert ("dilated_depth=1" in log) == (outputs % 2 == 0)


STORED = """
model = nn.Sequential(conv(3, 20, 3, (1, 2, 2), 1), norm(20), nn.ReLU(), conv(20, 24, 3, (2, 1, 1), 1),
                      nn.MaxPool3d(2), nn.AdaptiveAvgPool3d(1)).eval()
x = torch.randn(2, 3, 6, 10, 12)
with torch.no_grad():
    expected = model(x)
result = torchere.export(model, (x,))(x)
assert (result - expected).abs().max() <= 1e-5 * expected.abs().max()
print(result.flatten().tolist())
"""


def test_a_stored_executable_gives_the_same(tmp_path):
    settings = {"TORCHERE_LOG": "debug", "TORCHERE_CACHE": "1", "TORCHERE_CACHE_DIR": str(tmp_path)}
    first, planned = run(VOLUMES + STORED, **settings)
    second, loaded = run(VOLUMES + STORED, **settings)
    assert "planned in" in planned
    assert "bytes of a plan" in loaded and "planned in" not in loaded
    assert first == second
