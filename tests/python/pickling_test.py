"""Programs are pickled and copied: to workers of a DataLoader, to other processes, with their state."""

from __future__ import annotations

import collections
import copy
import multiprocessing
import pickle

import pytest
import torch
from torch import nn

import torchere
from torchere import _core, pickling
from torchere.errors import Error

Answer = collections.namedtuple("Answer", ["value", "calls"])


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16))
        self.tied = self.weight
        self.table = torch.arange(100.0)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, mode="a"):
        self.calls += 1
        return Answer(x * self.weight + self.table.sum(), self.calls * 1)


X = torch.ones(3)


def exported():
    return torchere.export(Counter(), (X, "b"))


def check(program, calls):
    result = program(X)
    assert type(result) is Answer
    torch.testing.assert_close(result.value, torch.tensor([4951.0, 4952.0, 4953.0]))
    assert result.calls == calls


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_pickled_program_goes_on_from_its_state(protocol):
    program = exported()
    check(pickle.loads(pickle.dumps(program, protocol)), 1)
    check(program, 1)
    again = pickle.loads(pickle.dumps(program, protocol))
    check(again, 2)
    check(again, 3)
    check(program, 2)  # they have a state each
    again.reset()
    check(again, 1)
    assert again.get_stablehlo_text() and again.inputs == program.inputs
    assert again.state_dict()["tied"].data_ptr() == again.state_dict()["weight"].data_ptr()
    check(pickle.loads(pickle.dumps(again, protocol)), 2)


def test_weights_are_pickled_out_of_band():
    buffers = []
    program = torchere.export(nn.Linear(64, 64), torch.ones(1, 64))
    data = pickle.dumps(program, 5, buffer_callback=buffers.append)
    assert sum(buffer.raw().nbytes for buffer in buffers) == 64 * 65 * 4
    again = pickle.loads(data, buffers=buffers)
    x = torch.randn(1, 64)
    torch.testing.assert_close(again(x), program(x))


def test_a_loaded_program_is_pickled(tmp_path):
    exported().save(tmp_path / "counter")
    check(pickle.loads(pickle.dumps(torchere.load(tmp_path / "counter", classes=[Answer]))), 1)
    plain = pickle.loads(pickle.dumps(torchere.load(tmp_path / "counter")))
    assert type(plain(X)) is tuple


def test_a_copy_has_a_state_of_its_own():
    program = exported()
    fresh = copy.deepcopy(program)
    check(program, 1)
    called = copy.deepcopy({"program": program})["program"]
    check(called, 2)
    check(program, 2)
    check(fresh, 1)
    weights = [dict(each.named_parameters())["weight"].data_ptr() for each in (program, called)]
    assert weights[0] == weights[1], "weights are shared"
    called.reset()
    check(called, 1)
    check(copy.copy(program), 3)


def test_a_copy_of_a_program_keeps_the_random_numbers():
    program = torchere.export(nn.Dropout(0.5), torch.ones(64))
    program(torch.ones(64))
    twin = pickle.loads(pickle.dumps(copy.deepcopy(program)))
    assert torch.equal(twin(torch.ones(64)), program(torch.ones(64)))


def test_damaged_pickles_are_refused():
    parts = pickling.parts_of(exported())
    dtype, data = next((part[1], part[3]) for part in parts["weights"] if part[0] == "tied")
    signature, bytecode = parts["functions"][0]

    def refusal(**changes):
        with pytest.raises(Error) as error:
            pickling.program_of(torchere.StableHLOProgram, parts | changes)
        return str(error.value)

    assert refusal(weights=[("w", dtype, [4], data)]) == "[w] wrong number of bytes: got 6, expected 8"
    assert refusal(weights=[("w", "float33", [3], data)]) == (
        "[w] unknown dtype: got float33, expected one of torch's"
    )
    assert refusal(weights=[("w", dtype, [3], "v")]) == "[w] tied to a weight that does not precede it"
    assert refusal(weights=[("w", dtype, [-3], data)])
    assert refusal(weights=[("w", dtype, [2**62, 2**62], data)])
    assert "the weight is missing" in refusal(weights=[])
    assert "[signature] is not JSON" in refusal(functions=[(signature[:-20], bytecode)])
    assert refusal(functions=[]) == "[bundle] has no functions, expected at least one"
    with pytest.raises(Error):
        pickling.program_of(torchere.StableHLOProgram, parts | {"functions": [(signature, b"?")]})(X)
    assert _core.Weight("w", dtype, [3], data).parts[2] == [3]


def call(program, calls):
    check(program, calls)
    return program.snapshot()["calls"].item()


class Mapped(torch.utils.data.Dataset):
    def __init__(self, program):
        self.program = program

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.program(torch.full((3,), float(index))).value


@pytest.mark.slow
def test_other_processes_and_the_workers_of_a_loader():
    program = exported()
    check(program, 1)
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1) as pool:
        assert pool.apply(call, (program, 2)) == 2
    loader = torch.utils.data.DataLoader(
        Mapped(program), batch_size=2, num_workers=1, multiprocessing_context="spawn"
    )
    first, second = loader
    weight = torch.tensor([1.0, 2.0, 3.0])
    expected = torch.arange(4.0)[:, None] * weight + 4950
    torch.testing.assert_close(torch.cat([first, second]), expected)
    check(program, 2)
