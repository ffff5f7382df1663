"""torchere.lazy.save: steps as artifacts, which run without the device and without torch."""

import json
import os
import re
import subprocess
import sys

import numpy
import pytest
import torch

import torchere
from torchere import lazy
from torchere.errors import InvalidArgumentError, UnimplementedError


def elsewhere(code: str, **variables: str) -> str:
    """What a new process prints, which never loads the device."""
    guard = "\nimport sys\nassert 'torchere.lazy' not in sys.modules\n"
    environment = {**os.environ, **variables, "TORCHERE_LAZY_FOLDER": "/nonexistent"}
    process = subprocess.run(
        [sys.executable, "-c", code + guard], env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def run(folder, *arguments: str) -> str:
    """What `torchere run` says."""
    process = subprocess.run(
        [sys.executable, "-m", "torchere", "run", str(folder), *arguments], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_saved_step_runs_from_the_command_line_and_in_python(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)).to("xla")
    scale = torch.tensor([2.0, 3.0]).to("xla")

    def step(x, shift):
        y = model(x) * scale + shift
        return {"y": y, "total": (y.sum(), 7)}

    x, shift = torch.randn(5, 3), torch.randn(2)
    lazy.save(step, (x.to("xla"), shift.to("xla")), tmp_path / "step")
    expected = step(x.to("xla"), shift.to("xla"))["y"].detach().cpu().numpy()

    program = torchere.load(tmp_path / "step")
    results = program(x, shift)
    numpy.testing.assert_allclose(results["y"], expected, rtol=1e-5, atol=1e-6)
    assert results["total"][1] == 7
    assert set(program.state_dict()) == {
        "model.0.weight",
        "model.0.bias",
        "model.2.weight",
        "model.2.bias",
        "scale",
    }
    assert [value.name for value in program.inputs] == ["x", "shift"]

    numpy.save(tmp_path / "x.npy", x.numpy())
    numpy.save(tmp_path / "shift.npy", shift.numpy())
    code = f"""
import numpy, torchere
program = torchere.load({str(tmp_path / "step")!r})
results = program(numpy.load({str(tmp_path / "x.npy")!r}), numpy.load({str(tmp_path / "shift.npy")!r}))
print(numpy.asarray(results["y"]).tolist())
"""
    numpy.testing.assert_allclose(json.loads(elsewhere(code)), expected, rtol=1e-5, atol=1e-6)
    run(tmp_path / "step", "--input", f"x={tmp_path}/x.npy", "--input", f"shift={tmp_path}/shift.npy",
        "--output", str(tmp_path / "y.npy"))  # fmt: skip
    numpy.testing.assert_allclose(numpy.load(tmp_path / "y.npy"), expected, rtol=1e-5, atol=1e-6)


def test_a_training_step_is_saved_with_its_state(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    device_model = torch.nn.Linear(3, 2).to("xla")
    device_model.load_state_dict(model.state_dict())
    x, target = torch.randn(4, 3), torch.randn(4, 2)

    def stepper(model):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x, target):
            optimizer.zero_grad()
            loss = ((model(x) - target) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return step

    expected, traced = stepper(model), stepper(device_model)
    arguments = x.to("xla"), target.to("xla")
    assert traced(*arguments).item() == pytest.approx(expected(x, target).item(), rel=1e-5)
    before = {name: tensor.cpu() for name, tensor in device_model.state_dict().items()}
    lazy.save(traced, arguments, tmp_path / "step")
    for name, tensor in device_model.state_dict().items():
        assert torch.equal(tensor.cpu(), before[name]), f"{name} was changed by saving"

    program = torchere.load(tmp_path / "step")
    for _ in range(5):
        assert float(program(x, target)) == pytest.approx(expected(x, target).item(), rel=1e-5)
    state = program.state_dict()
    numpy.testing.assert_allclose(state["model.weight"], model.weight.detach(), rtol=1e-5, atol=1e-6)
    assert "optimizer.state.0.momentum_buffer" in state
    for _ in range(2):  # the model goes on where it was
        traced(*arguments)
    assert device_model.weight.grad is not None


def test_buffers_are_state(tmp_path):
    model = torch.nn.BatchNorm1d(3).to("xla")
    x = torch.randn(8, 3)
    lazy.save(model, (x.to("xla"),), tmp_path / "norm")
    reference, program = torch.nn.BatchNorm1d(3), torchere.load(tmp_path / "norm")
    for _ in range(3):
        numpy.testing.assert_allclose(program(x), reference(x).detach(), rtol=1e-4, atol=1e-5)
    state = program.state_dict()
    for name, tensor in reference.state_dict().items():
        numpy.testing.assert_allclose(state[name], tensor, rtol=1e-5, atol=1e-6)
    assert model.num_batches_tracked.item() == 0


def test_an_argument_that_is_written_is_written_by_the_program(tmp_path):
    def step(x, y):
        x.add_(y)
        return x * 2

    lazy.save(step, (torch.ones(3).to("xla"), torch.ones(3).to("xla")), tmp_path / "step")
    x, y = torch.ones(3), torch.full((3,), 4.0)
    result = torchere.load(tmp_path / "step")(x, y)
    assert x.tolist() == [5.0] * 3 and torch.as_tensor(result).tolist() == [10.0] * 3


def test_equal_arguments_are_two_inputs(tmp_path):
    x = torch.ones(2).to("xla")
    lazy.save(lambda a, b: a - b, (x, x), tmp_path / "step")
    assert torchere.load(tmp_path / "step")(torch.ones(2) * 5, torch.ones(2)).tolist() == [4.0, 4.0]


def test_keywords_constants_and_an_unused_argument(tmp_path):
    def step(x, factor, unused, *, flag=True):
        return (x * factor if flag else x), None, 3

    arguments = (torch.ones(2).to("xla"), 2.5, torch.ones(4).to("xla"))
    lazy.save(step, arguments, tmp_path / "step", kwargs={"flag": True})
    program = torchere.load(tmp_path / "step")
    result, none, three = program(torch.ones(2) * 2, 2.5, torch.ones(4), flag=True)
    assert torch.as_tensor(result).tolist() == [5.0, 5.0] and none is None and three == 3


def test_a_step_of_kernels_that_are_written_by_hand_is_saved(tmp_path):
    def step(x, y):
        scaled = torch.nn.functional.interpolate(x[None, None], (3, 3), mode="bilinear")
        return torch.nn.functional.huber_loss(x, y) + torch.dot(x[0], y[0]) + scaled.sum()

    x, y = torch.arange(4.0).reshape(2, 2), torch.ones(2, 2)
    lazy.save(step, (x.to("xla"), y.to("xla")), tmp_path / "step")
    got = torchere.load(tmp_path / "step")(x, y)
    torch.testing.assert_close(torch.as_tensor(got), step(x, y))


def counted_step():
    model = torch.nn.Linear(2, 2).to("xla")
    optimizer = torch.optim.Adam(model.parameters())

    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    step(torch.ones(1, 2).to("xla"))
    return step


class Keeper:
    kept = None

    def step(self, x):
        Keeper.kept = x * 3
        return x + 1


def fresh_gradients():
    model = torch.nn.Linear(2, 2).to("xla")

    def step(x):
        loss = model(x).sum()
        loss.backward()
        return loss

    return step


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lambda x: x * 2 if x.sum().item() > 0 else x, "the step reads a value on the host"),
        (lambda: lambda x: torch.unique(x, dim=0), r"an op on the CPU: got aten::unique_dim, expected"),
        (counted_step, r"writes 'optimizer.state.0.step', which is not on the device: got a tensor on cpu"),
        (fresh_gradients, r"makes 'model.bias.grad', which was not there before: run it once before"),
        (
            lambda: Keeper().step,
            r"keeps a tensor that it does not return: got a result of aten.mul.Tensor, made at "
            r".*saving_test.py:\d+ in step",
        ),
        (lambda: lambda x: torch.ones(2), r"a result is not on the device: got a tensor on cpu"),
        (lambda: lambda x: 3, r"returns no tensor and writes none"),
    ],
)
def test_what_cannot_be_saved_is_refused_by_name(tmp_path, make, message):
    with pytest.raises((UnimplementedError, RuntimeError), match=message):
        lazy.save(make(), (torch.ones(1, 2).to("xla"),), tmp_path / "step")
    assert not (tmp_path / "step").exists()
    Keeper.kept = None


def test_a_refused_step_leaves_no_gradients(tmp_path):
    step = fresh_gradients()
    with pytest.raises(UnimplementedError):
        lazy.save(step, (torch.ones(1, 2).to("xla"),), tmp_path / "step")
    model = step.__closure__[0].cell_contents
    assert model.weight.grad is None


def test_arguments_are_a_tuple(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"\[lazy.save\] args: got a Tensor, expected a tuple"):
        lazy.save(torch.sin, torch.ones(2).to("xla"), tmp_path / "step")


def test_a_program_that_is_there_is_not_replaced(tmp_path):
    x = torch.ones(2).to("xla")
    lazy.save(torch.sin, (x,), tmp_path / "step")
    with pytest.raises(RuntimeError, match=re.escape(str(tmp_path / "step"))):
        lazy.save(torch.cos, (x,), tmp_path / "step")
    lazy.save(torch.cos, (x,), tmp_path / "step", overwrite=True)
    assert "stablehlo.cosine" in (tmp_path / "step/functions/forward.mlir").read_text()
