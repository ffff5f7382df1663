"""Models trained on the lazy device for 20 steps: the CPU's losses, gradients and state; nothing is compiled
after the second step, nor for another learning rate. In processes of their own, one for each plugin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "training.py"
PLUGINS = ["torchere_cpu", pytest.param("cpu", marks=pytest.mark.sweep)]


def check(plugin: str, *arguments: str) -> None:
    command = [sys.executable, PROGRAM, *arguments]
    environment = {**os.environ, "PJRT_DEVICE": plugin}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    print(result.stdout)
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_transformer_with_adam(plugin, dtype):
    check(plugin, "transformer", dtype)


@pytest.mark.sweep
@pytest.mark.parametrize("plugin", ["torchere_cpu", "cpu"])
def test_resnet18_with_sgd(plugin):
    check(plugin, "resnet18", "float64")


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["resnet18", "smooth_resnet18"])
@pytest.mark.parametrize("plugin", ["torchere_cpu", "cpu"])
def test_each_step_of_resnet18_with_sgd(plugin, model):
    check(plugin, model, "float32", "--each")
