"""DeviceArrays: results that stay on the device, as arguments of further calls, and read as tensors."""

from pathlib import Path

import numpy as np
import pytest
import torch

import torchere
from torchere import _core, errors

# Whose executions fail, after they were started.
FAILING_PLUGIN = (
    Path(torchere.__file__).with_name("lib").resolve().parent / "tests/runtime/fake_plugin_failing.so"
)


class Double(torch.nn.Module):
    def forward(self, x):
        return x + x


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count += x
        return self.count * 2


@pytest.fixture(scope="module")
def double():
    return torchere.export(Double(), (torch.ones(2, 3),))


def test_a_chain_of_100_calls(double):
    x = torch.arange(6.0).reshape(2, 3)
    result = double.call_on_device(x)
    for _ in range(99):
        result = double.call_on_device(result)
    assert isinstance(result, torchere.DeviceArray)
    assert torch.equal(result.torch(), x * 2.0**100)
    assert torch.equal(double(result), x * 2.0**101)  # as an argument of a call that is waited for


def test_what_an_array_tells_of_itself(double):
    result = double.call_on_device(torch.ones(2, 3))
    assert (result.dtype, result.shape) == (torch.float32, (2, 3))
    device = torchere.plugins.client().devices[0]
    assert (result.device.id, result.device.kind) == (device.id, device.kind)
    assert result.block_until_ready() is result
    assert result.is_ready()
    assert repr(result) == f"DeviceArray(float32, (2, 3), torchere_cpu:{device.id})"


def test_arrays_are_read_as_numpy_torch_and_dlpack(double):
    result = double.call_on_device(torch.ones(2, 3))
    array = result.numpy()
    assert array.tolist() == [[2, 2, 2]] * 2
    assert not array.flags.writeable  # it is the device's own memory
    assert np.shares_memory(array, result.numpy())
    tensor = result.torch()
    tensor.zero_()
    assert np.asarray(result).tolist() == [[2, 2, 2]] * 2
    assert np.asarray(result, dtype=np.int64).dtype == np.int64
    assert result.__dlpack_device__() == (1, 0)
    shared = torch.from_dlpack(result)
    assert shared.data_ptr() == array.ctypes.data
    del result, tensor, array
    assert shared.tolist() == [[2, 2, 2]] * 2  # it keeps the memory


def test_one_element_is_a_number():
    device = torchere.export(Double(), (torch.ones(1),))

    def array(value):
        return device.to_device(torch.as_tensor(value))

    assert bool(array([[2.0]])) and not array(0) and not array([False])
    assert array(torch.tensor(1.5, dtype=torch.bfloat16))
    assert int(array(3.7)) == 3 and float(array(3)) == 3.0 and [5, 6][array(1)] == 6
    message = r"\[DeviceArray\] no single value: got the shape \(2, 1\), expected one element"
    for convert in (bool, int, float):
        with pytest.raises(ValueError, match=message):
            convert(array([[1.0], [2.0]]))
    with pytest.raises(errors.InvalidArgumentError, match=r"got the shape \(0\), expected one element"):
        bool(array([]))
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        [5, 6][array(1.0)]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.bool, torch.int64, torch.float8_e4m3fn], ids=str)
def test_dtypes(dtype):
    class Flip(torch.nn.Module):
        def forward(self, x):
            return x.flip(0)

    x = torch.tensor([1.0, 0.0]).to(dtype)
    result = torchere.export(Flip(), (x,)).call_on_device(x)
    assert result.dtype == dtype
    assert result.torch().float().tolist() == [0, 1]
    if dtype in (torch.bool, torch.int64):
        assert result.numpy().tolist() == [0, 1]
    else:
        name = str(dtype).removeprefix("torch.")
        with pytest.raises(TypeError, match=rf"\[{name}\] no such type in numpy"):
            result.numpy()


def test_tensors_are_copied_before_the_call_returns(double):
    x = torch.ones(2, 3)
    result = double.call_on_device(x)
    x.zero_()
    assert result.torch().sum() == 12
    uploaded = double.to_device(x)
    x.fill_(1)
    assert uploaded.numpy().sum() == 0
    assert double.to_device(uploaded).numpy().sum() == 0
    with pytest.raises(
        errors.InvalidArgumentError, match=r"\[tensor\] wrong kind of value: got int, expected a tensor"
    ):
        double.to_device(1)


def test_another_program_takes_them(double):
    class Sum(torch.nn.Module):
        def forward(self, parts, scale):
            return {"sum": parts[0] + parts[1], "scaled": parts[0] * scale}, None

    example = ([torch.ones(2, 3), torch.ones(2, 3)], 3)
    program = torchere.export(Sum(), example)
    result = double.call_on_device(torch.ones(2, 3))
    values, nothing = program.evaluate_on_device("forward", ([result, torch.ones(2, 3)], 3))
    assert nothing is None
    assert values["sum"].numpy().tolist() == [[3, 3, 3]] * 2
    assert program([result, result], 3)[0]["scaled"].tolist() == [[6, 6, 6]] * 2


def test_arrays_that_do_not_fit_are_refused(double):
    result = double.call_on_device(torch.ones(2, 3))
    other = torchere.export(Double(), (torch.ones(2, 4),))
    for call in (other, other.call_on_device):
        with pytest.raises(
            errors.InvalidArgumentError, match=r"\[x\] wrong size of dimension 1: got 3, expected 4"
        ):
            call(result)


def test_state_advances_without_waiting():
    program = torchere.export(Counter(), (torch.ones(2),))
    results = [program.call_on_device(torch.ones(2)) for _ in range(3)]
    assert [result.numpy().tolist() for result in results] == [[2, 2], [4, 4], [6, 6]]
    assert program.state_dict()["count"].tolist() == [3, 3]
    assert program(torch.ones(2)).tolist() == [8, 8]


def test_a_mutated_argument_has_its_new_value():
    class Mutate(torch.nn.Module):
        def forward(self, x):
            return x.mul_(2) + 1

    program = torchere.export(Mutate(), (torch.ones(2),))
    array = program.to_device(torch.tensor([1.0, 2.0]))
    before = array.numpy()
    assert program.call_on_device(array).numpy().tolist() == [3, 5]
    assert array.numpy().tolist() == [2, 4]
    assert program(array).tolist() == [5, 9]
    assert array.numpy().tolist() == [4, 8]
    assert before.tolist() == [1, 2]  # what was read stays
    tensor = torch.tensor([1.0, 2.0])
    assert program.call_on_device(tensor).numpy().tolist() == [3, 5]
    assert tensor.tolist() == [2, 4]


def test_an_int_of_the_program_comes_as_an_array():
    class Size(torch.nn.Module):
        def forward(self, x):
            return x + 1, x.shape[0] * 2

    batch = torch.export.Dim("batch", min=2, max=64)
    program = torchere.export(Size(), (torch.ones(3),), dynamic_shapes=({0: batch},))
    assert program(torch.ones(5))[1] == 10
    size = program.call_on_device(torch.ones(5))[1]
    assert (size.shape, size.dtype, int(size.numpy())) == ((), torch.int64, 10)


def test_errors_name_the_function_and_the_call_each_time():
    program = torchere.export(Double(), (torch.ones(2, 3),), name="double")
    program._session = _core.Session(_core.shared_client(str(FAILING_PLUGIN)), program._core_bundle)
    result = program.call_on_device(torch.ones(2, 3))
    place = f"{__file__}:{test_errors_name_the_function_and_the_call_each_time.__code__.co_firstlineno + 3}"
    for read in (result.block_until_ready, result.numpy, result.torch, lambda: program(result)):
        with pytest.raises(errors.Error) as failure:
            read()
        assert str(failure.value) == (
            "[double] executing the program failed: PJRT_LoadedExecutable_Execute went wrong; at " + place
        )
        assert (failure.value.code, failure.value.where) == ("RESOURCE_EXHAUSTED", place)
