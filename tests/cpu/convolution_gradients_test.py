"""Gradients of convolutions on the CPU engine, as exported programs have them: by the names in the log,
beside eager's results."""

from __future__ import annotations

import random

import pytest
from convolution_fusion_test import kernels_by_case
from engine_test import run
from fusion_log import TORCH, run_jax

BEGINNING = """
def check_gradients(name, inputs, weights, **options):
    torch.manual_seed(0)
    convolve = getattr(F, "conv" + ("_transpose" if options.pop("transposed", False) else "") +
                       f"{len(inputs) - 2}d")
    x, w = torch.randn(inputs), torch.randn(weights)
    forward = lambda x, w: convolve(x, w, **options)
    g = torch.randn_like(forward(x, w))
    backward = lambda x, w, g: torch.func.vjp(forward, x, w)[1](g)
    expected, exact = backward(x, w, g), backward(x.double(), w.double(), g.double())
    print("case", name, file=sys.stderr, flush=True)
    program = torchere.export(Model(backward), (x, w, g))
    for _ in range(2):
        for got, each, right in zip(program(x, w, g), expected, exact):
            scale = right.abs().max()
            error, eager = (got - right).abs().max() / scale, (each - right).abs().max() / scale
            assert got.shape == each.shape and error <= max(5e-6, 3 * eager), (name, error, eager)
"""

#: By name: the sizes of input and weights, options, and kernels on blocks of the gradients of both.
CASES = {
    "3x3": ("(2, 20, 12, 13), (33, 20, 3, 3), padding=1", "direct=1 weight_gradient=1"),
    "an even window with a stride": (
        "(2, 20, 20, 18), (33, 20, 4, 4), padding=1, stride=2",
        "transposed=1 weight_gradient=1",
    ),
    "a dilation": ("(2, 8, 14, 14), (16, 8, 3, 3), padding=2, dilation=2", "direct=1 weight_gradient=1"),
    "few channels": ("(2, 3, 16, 16), (16, 3, 5, 5), padding=2", "direct=1 weight_gradient=1"),
    "small images are convolved": ("(2, 16, 5, 5), (16, 16, 3, 3), padding=1", "direct=1 planar=1"),
    "one pixel": ("(2, 20, 9, 8), (33, 20, 1, 1)", "direct=1"),
    "one pixel with a stride": ("(2, 20, 9, 8), (33, 20, 1, 1), stride=2", "direct=1"),
    "a row": ("(3, 20, 50), (33, 20, 5), padding=4, dilation=2", "direct=1 weight_gradient=1"),
    "a row with a stride and a rest": (
        "(3, 20, 52), (33, 20, 5), stride=2",
        "transposed=1 weight_gradient=1",
    ),
    "groups": ("(2, 32, 9, 9), (24, 8, 3, 3), padding=1, groups=4", "grouped=1 weight_gradient=1"),
    "groups with a stride": (
        "(2, 32, 8, 8), (64, 8, 3, 3), padding=1, stride=2, groups=4",
        "grouped=1 upsample=1 weight_gradient=1",
    ),
    "depthwise": ("(2, 33, 9, 9), (33, 1, 3, 3), padding=1, groups=33", "depthwise=1 weight_gradient=1"),
    "depthwise with a stride": (
        "(2, 33, 10, 8), (33, 1, 5, 5), padding=2, stride=2, groups=33",
        "depthwise=1 upsample=1 weight_gradient=1",
    ),
    "a causal depthwise row": (
        "(2, 33, 20), (33, 1, 4), padding=3, groups=33",
        "depthwise=1 weight_gradient=1",
    ),
    "transposed": (
        "(2, 20, 8, 8), (20, 16, 2, 2), stride=2, transposed=True",
        "direct=1 weight_gradient=1",
    ),
    "transposed by channels": (
        "(2, 24, 8, 8), (24, 1, 4, 4), padding=1, stride=2, groups=24, transposed=True",
        "depthwise=1 weight_gradient=1",
    ),
}


@pytest.fixture(scope="module")
def log():
    """All cases in one process."""
    calls = [f"check_gradients({name!r}, {arguments})" for name, (arguments, _) in CASES.items()]
    source = "\n".join(["import torch", TORCH, BEGINNING, *calls])
    return kernels_by_case(run(source, TORCHERE_LOG="debug")[1])


@pytest.mark.parametrize("name", CASES)
def test_kernels_of_gradients(log, name):
    layouts = {"from_blocked", "to_blocked"}
    kernels = [kernel for kernel in log[name] if kernel.partition("=")[0] not in layouts]
    assert kernels == sorted(CASES[name][1].split())


def test_random_gradients():
    """Windows, strides, dilations, padding and groups."""
    generator = random.Random(0)
    calls = []
    for case in range(40):
        rank = generator.choice([1, 2, 2])
        groups = generator.choice([1, 1, 1, 2, 3, 8])
        inputs, outputs = (groups * generator.choice([1, 1, 2, 5, 16]) for _ in range(2))
        kernel = [generator.choice([1, 2, 3, 5]) for _ in range(rank)]
        sizes = [generator.choice([5, 8, 11, 16, 20]) for _ in range(rank)]
        options = {
            "stride": generator.choice([1, 1, 2, 3]),
            "padding": generator.choice([0, 0, 1, 2]),
            "dilation": generator.choice([1, 1, 1, 2]),
        }
        if any(size + 2 * options["padding"] < options["dilation"] * (taps - 1) + 1
               for size, taps in zip(sizes, kernel, strict=True)):  # fmt: skip
            continue
        shapes = (generator.choice([1, 2, 3]), inputs, *sizes), (outputs, inputs // groups, *kernel)
        calls.append(f"check_gradients({case}, {shapes[0]}, {shapes[1]}, groups={groups}, **{options})")
    assert len(calls) > 30
    run("\n".join(["import torch", TORCH, BEGINNING, *calls]))


TRAINING = """
torch.manual_seed(0)
x, target = torch.randn(2, 3, 16, 16), torch.randn(2, 24, 8, 8)
weights = [torch.randn(24, 3, 3, 3) / 4, torch.randn(24, 1, 3, 3) / 2, torch.randn(24, 24, 1, 1) / 4]

def loss(weights, x, target):
    y = F.relu(F.conv2d(x, weights[0], padding=1))
    y = F.relu(F.conv2d(y, weights[1], padding=1, stride=2, groups=24))
    return (F.conv2d(y, weights[2]) - target).square().mean()

def step(x, target, *weights):
    gradients = torch.func.grad(loss)(list(weights), x, target)
    return tuple(weight - 0.1 * gradient for weight, gradient in zip(weights, gradients))

program = torchere.export(Model(step), (x, target, *weights))
expected = weights
for _ in range(5):
    weights, expected = program(x, target, *weights), step(x, target, *expected)
for got, each in zip(weights, expected):
    assert (got - each).abs().max() <= 1e-5 * each.abs().max()
print(sorted({row.kernel for row in program.profile(x, target, *weights).rows}))
"""


def test_steps_of_training():
    """Values between a convolution and the gradients that read them lie in blocks."""
    lines, _ = run(f"import torch\n{TORCH}{TRAINING}")
    assert "'weight gradient'" in lines[0] and "unfolded" not in lines[0]


JAX = """
import numpy
import jax, jax.numpy as jnp

generator = numpy.random.default_rng(0)
def array(*shape):
    return generator.normal(size=shape).astype(numpy.float32)

for groups, inputs, outputs, stride in ((1, 12, 20, 1), (1, 3, 16, 2), (4, 16, 16, 1), (12, 12, 12, 2)):
    x, w = array(2, 16, 18, inputs), array(3, 3, inputs // groups, outputs)
    def convolved(x, w):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", feature_group_count=groups,
                                            dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest")
    g = array(*jax.eval_shape(convolved, x, w).shape)
    gradients = jax.jit(lambda x, w, g: jax.vjp(convolved, x, w)[1](g))
    with jax.default_device(jax.devices("cpu")[0]):
        expected = gradients(x, w, g)
    for got, each in zip(gradients(x, w, g), expected):
        numpy.testing.assert_allclose(got, each, rtol=0, atol=1e-5 * numpy.abs(each).max())
"""


def test_gradients_of_jax():
    pytest.importorskip("jax")
    kernels = run_jax(f"import sys\nprint('case all', file=sys.stderr)\n{JAX}", TORCHERE_LOG="debug")[1]
    assert kernels.count("weight_gradient=1") >= 4
