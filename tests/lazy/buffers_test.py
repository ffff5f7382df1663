"""Exported programs take and give tensors of the lazy device: the same arrays, without copies to the host."""

import copy
import os
import subprocess
import sys

import pytest
import torch

import torchere
from torchere import lazy
from torchere.errors import Error, UnimplementedError


def copies() -> dict[str, int]:
    return {
        name: count for name, count in lazy.counters().items() if name in ("HostToDevice", "DeviceToHost")
    }


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, y):
        return {"sum": (self.linear(x).relu(), x + y)}, 3


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Model()


@pytest.fixture(scope="module")
def program(model):
    return torchere.export(model, (torch.randn(2, 4), torch.randn(2, 4)))


def test_a_program_takes_and_gives_tensors_of_the_device_without_copies(model, program):
    x, y = torch.randn(2, 4), torch.randn(2, 4)
    ours = x.to("xla"), y.to("xla")
    program(*ours)  # puts the weights on the device
    lazy.sync()
    lazy.reset_counters()
    results, three = program(*ours)
    again, _ = program(results["sum"][1] + results["sum"][1], ours[1].t().contiguous().t())
    assert not copies()
    assert three == 3
    expected = model(x, y)[0]["sum"]
    for got, wanted in zip(results["sum"], expected, strict=True):
        assert got.device == torch.device("xla:0") and got.dtype == wanted.dtype
        torch.testing.assert_close(got.cpu(), wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        again["sum"][0].cpu(), model(expected[1] * 2, y)[0]["sum"][0], rtol=1e-5, atol=1e-5
    )


def test_pending_ops_are_computed_for_the_call(program, model):
    x = torch.randn(2, 4)
    pending = x.to("xla").abs()[:, [3, 2, 1, 0]]
    results, _ = program(pending, pending)
    wanted = model(x.abs()[:, [3, 2, 1, 0]], x.abs()[:, [3, 2, 1, 0]])[0]["sum"]
    torch.testing.assert_close(results["sum"][0].cpu(), wanted[0].detach(), rtol=1e-5, atol=1e-5)


def test_results_go_on_in_the_graph():
    program = torchere.export(torch.sin, (torch.ones(3),), name="sine")
    x = torch.randn(3)
    result = program(x.to("xla"))
    result += 1
    view = result[1:]
    view.mul_(2)
    wanted = x.sin() + 1
    wanted[1:] *= 2
    torch.testing.assert_close(result.cpu(), wanted)


def test_what_a_program_writes_to_its_argument_is_written_there():
    def add_one(x):
        x.add_(1)
        return x * 2

    program = torchere.export(add_one, (torch.ones(2),))
    x = torch.zeros(2, 2).to("xla")
    row = x[1]
    lazy.sync()
    lazy.reset_counters()
    result = program(row)
    assert not copies()
    assert result.tolist() == [2.0, 2.0] and x.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_state_of_a_program_stays_with_it():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count += 1
            return x + self.count

    program = torchere.export(Counter(), (torch.ones(2),))
    x = torch.zeros(2).to("xla")
    assert program(x).tolist() == [1.0, 1.0] and program(x).tolist() == [2.0, 2.0]
    assert program(torch.zeros(2)).tolist() == [3.0, 3.0]
    assert program.state_dict()["count"].item() == 3


def test_an_int_that_a_program_computes_is_an_int():
    from torch.export import Dim

    def size(x):
        return x * 2, x.shape[0] + 1

    program = torchere.export(size, (torch.ones(3),), dynamic_shapes=({0: Dim("n", min=2, max=9)},))
    doubled, number = program(torch.ones(5).to("xla"))
    assert doubled.tolist() == [2.0] * 5 and number == 6 and type(number) is int


def test_saved_programs_and_entry_points_take_them_too(tmp_path):
    program = torchere.export(
        {"double": (lambda x: x * 2, (torch.ones(2),)), "half": (lambda x: x / 2, (torch.ones(2),))}
    )
    program.save(tmp_path / "saved")
    loaded = torchere.load(tmp_path / "saved")
    x = torch.ones(2).to("xla")
    assert loaded(x).tolist() == [2.0, 2.0] and loaded["half"](x).tolist() == [0.5, 0.5]
    assert loaded.evaluate("half", (x,)).device.type == "xla"


def test_arrays_on_the_device_and_tensors_are_the_same_memory(program):
    x = torch.ones(2, 4).to("xla")
    lazy.sync()
    lazy.reset_counters()
    array = program.to_device(x)
    (results, _) = program.call_on_device(x, array)
    assert isinstance(array, torchere.DeviceArray) and isinstance(results["sum"][1], torchere.DeviceArray)
    assert "DeviceToHost" not in copies()
    assert results["sum"][1].torch().tolist() == [[2.0] * 4] * 2


def test_a_tensor_outlives_the_program_and_its_argument():
    program = torchere.export(torch.sin, (torch.ones(3),), name="sine")
    x = torch.zeros(3).to("xla")
    result = program(x)
    del program, x
    for _ in range(3):
        result = result + 1
        lazy.sync()
    assert result.tolist() == [3.0] * 3


def test_arguments_that_do_not_fit_are_errors_of_the_call(program):
    x = torch.ones(2, 4).to("xla")
    with pytest.raises(Error, match=r"\[x\] wrong size of dimension 1: got 5, expected 4"):
        program(torch.ones(2, 5).to("xla"), x)
    with pytest.raises(Error, match=r"\[x\] wrong dtype: got"):
        program(x.long(), x)


def test_tensors_on_two_devices_are_an_error(program):
    x = torch.ones(2, 4)
    for arguments in ((x.to("xla"), x), (x, x.to("xla"))):
        with pytest.raises(Error, match=r"\[forward\] tensors on two devices: got cpu, expected xla:0"):
            program(*arguments)


def test_an_argument_that_cannot_be_computed_fails_the_call(program):
    x = torch.ones(2, 4).to("xla")
    with pytest.raises(Exception, match="must match the size"):
        program(x + torch.ones(3, 4).to("xla"), x)


DEVICES = """
import copy, torch, torchere
from torchere import lazy
program = torchere.export(torch.sin, (torch.ones(3),), name="sine")
x = torch.ones(3).to("xla:1")
lazy.reset_counters()
y = program(x)
assert y.device == torch.device("xla:1") and "DeviceToHost" not in lazy.counters()
assert torch.allclose(y.cpu(), torch.ones(3).sin())
other = copy.deepcopy(program)
assert other(torch.ones(3).to("xla:0")).device == torch.device("xla:0")
try:
    program(torch.ones(3).to("xla:0"))
except torchere.Error as error:
    print(error)
"""


def test_a_program_runs_on_the_device_of_its_arguments():
    result = subprocess.run(
        [sys.executable, "-c", DEVICES],
        env={**os.environ, "CPU_NUM_DEVICES": "2"},
        capture_output=True,
        text=True,
    )
    assert result.stdout == (
        "[sine] tensors on another device than the program: got xla:0, expected xla:1, where its first call "
        "was; copy.deepcopy(program) gives one for another device\n"
    ), result.stderr


PLUGINS = """
import os, torch, torchere, torchere.lazy
x = torch.ones(3).to("xla")
os.environ["PJRT_DEVICE"] = "interpreter"
program = torchere.export(torch.sin, (torch.ones(3),), name="sine")
try:
    program(x)
except torchere.Error as error:
    print(error)
"""


def test_a_program_on_another_plugin_is_an_error():
    environment = {name: value for name, value in os.environ.items() if name != "PJRT_DEVICE"}
    result = subprocess.run([sys.executable, "-c", PLUGINS], env=environment, capture_output=True, text=True)
    assert "wrong client: got an array of another client (torchere_cpu), expected one of" in result.stdout, (
        result.stderr
    )


def test_deepcopy_of_a_tensor_that_a_program_gave():
    program = torchere.export(torch.sin, (torch.ones(3),), name="sine")
    x = copy.deepcopy(program(torch.zeros(3).to("xla")))
    assert x.device.type == "xla" and x.tolist() == [0.0] * 3


def test_an_array_that_a_program_shares_is_not_overwritten(program):
    x = torch.ones(2, 4).to("xla")
    array = program.to_device(x)
    for _ in range(3):
        x = x + 1  # no tensor shows the array any more: its memory may be taken, but for the program's share
        lazy.sync()
    torch.xla.synchronize()
    assert array.torch().tolist() == [[1.0] * 4] * 2
    assert x.tolist() == [[4.0] * 4] * 2


def test_a_module_on_the_device_is_moved_before_its_export():
    module, x = torch.nn.Linear(3, 2).to("xla"), torch.ones(1, 3, device="xla")
    exported = torch.export.export(module, (x,))
    for export in (lambda: torchere.export(module, (x,)), lambda: torchere.export(exported)):
        with pytest.raises(UnimplementedError) as error:
            export()
        assert str(error.value) == (
            "[weight 'weight'] lies on another device: got xla:0, expected cpu (move the module before it is "
            "exported)"
        )
