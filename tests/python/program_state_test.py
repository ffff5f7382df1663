"""Weights and state of a program: parameters and buffers, snapshot, reset, load_state_dict, saving."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest
import torch
from torch import nn

import torchere
from torchere.errors import InvalidArgumentError


class Counter(nn.Module):
    """With weights of every kind: tied, unread, not persistent, written."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 2.0))
        self.tied = self.weight
        self.unread = nn.Parameter(torch.ones(2))
        self.register_buffer("total", torch.zeros(3, dtype=torch.float64))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("step", torch.tensor(1), persistent=False)

    def forward(self, x):
        self.total += x
        self.calls += self.step
        return (self.total * self.weight).to(torch.float32), self.calls * 1


X = torch.tensor([1.0, 2.0, 3.0])


@pytest.fixture
def program():
    return torchere.export(Counter(), X)


def state_of(program):
    return {name: value.tolist() for name, value in program.snapshot().items()}


INITIAL = {"calls": 0, "total": [0, 0, 0]}
AFTER_ONE = {"calls": 1, "total": [1, 2, 3]}


def test_parameters_and_buffers_are_those_of_the_module(program):
    module = Counter()
    assert set(dict(program.named_parameters())) == set(dict(module.named_parameters()))
    assert set(dict(program.named_buffers())) == set(dict(module.named_buffers()))
    everything = dict(program.named_parameters(remove_duplicate=False))
    assert set(everything) == {"weight", "tied", "unread"}
    assert everything["tied"].data_ptr() == everything["weight"].data_ptr()
    assert len(list(program.parameters())) == 2 and len(list(program.buffers())) == 3
    program(X)
    assert dict(program.named_buffers())["total"].tolist() == [1, 2, 3]


def test_parameters_lie_where_the_modules_do(tmp_path):
    module = Counter()
    program = torchere.export(module, X)
    parameter = dict(program.named_parameters())["weight"]
    assert parameter.data_ptr() == module.weight.data_ptr() and not parameter.requires_grad
    program.save(tmp_path / "counter")
    loaded = torchere.load(tmp_path / "counter")
    assert set(dict(loaded.named_parameters())) == {"weight", "unread"}
    assert sum(p.numel() for p in loaded.parameters()) == 5


def test_reset_and_snapshot(program):
    assert state_of(program) == INITIAL
    program.reset()  # before any call
    program(X)
    kept = program.snapshot()
    assert state_of(program) == AFTER_ONE
    program(X)
    assert {name: value.tolist() for name, value in kept.items()} == AFTER_ONE
    kept["total"].zero_()  # a copy: the program does not see it
    assert state_of(program) == {"calls": 2, "total": [2, 4, 6]}
    program.reset()
    assert state_of(program) == INITIAL
    assert program(X)[1] == 1
    assert program.state_dict()["total"].tolist() == [1, 2, 3]


def test_a_snapshot_is_gone_back_to(program):
    program(X)
    kept = program.snapshot()
    first = program(X)
    keys = program.load_state_dict(kept, strict=False)
    assert sorted(keys.missing_keys) == ["tied", "unread", "weight"] and keys.unexpected_keys == []
    torch.testing.assert_close(program(X), first)


def test_reset_begins_the_random_numbers_anew():
    program = torchere.export(nn.Dropout(0.5), torch.ones(64))
    first, second = program(torch.ones(64)), program(torch.ones(64))
    assert not torch.equal(first, second)
    assert program.snapshot() == {}
    program.reset()
    assert torch.equal(program(torch.ones(64)), first)


@pytest.mark.parametrize("is_called", [False, True], ids=["before a call", "after a call"])
def test_a_modules_state_dict_is_loaded(is_called):
    module, other = Counter(), Counter()
    program = torchere.export(module, X)
    if is_called:
        program(X)
    with torch.no_grad():
        other.weight.fill_(5)
    other(X)
    preparations = program._ready_session().counts(0)["preparations"] if is_called else 0
    assert repr(program.load_state_dict(other.state_dict())) == "<All keys matched successfully>"
    assert module.weight.tolist() == [2, 2, 2], "the module that was exported keeps its weights"
    assert dict(program.named_parameters())["weight"].tolist() == [5, 5, 5]
    assert program.state_dict()["tied"].tolist() == [5, 5, 5]
    with torch.no_grad():  # the values were copied
        other.weight.fill_(7)
    torch.testing.assert_close(program(X), (X * 2 * 5, torch.tensor(2)))
    assert preparations in (0, 1)
    program.reset()
    torch.testing.assert_close(program(X), (X * 5, torch.tensor(1)))


def test_state_that_is_not_given_stays(program):
    program(X)
    program.load_state_dict({"weight": torch.full((3,), 10.0)}, strict=False)
    torch.testing.assert_close(program(X), (X * 2 * 10, torch.tensor(2)))
    program.load_state_dict({"calls": np.int32(40)}, strict=False)  # converted, as by torch
    torch.testing.assert_close(program(X), (X * 3 * 10, torch.tensor(41)))
    on_device = program.to_device(torch.zeros(3, dtype=torch.float64))
    program.load_state_dict({"total": on_device}, strict=False)
    torch.testing.assert_close(program(X)[0], X * 10)


def test_equal_weights_do_not_make_another_session(program):
    program(X)
    session = program._ready_session()
    program.load_state_dict(program.state_dict() | {"calls": torch.tensor(9)})
    assert program._ready_session() is session
    assert program(X)[1] == 10


def test_keys_and_shapes_are_checked_as_by_torch(program):
    wrong = {"weight": torch.ones(4), "total": 1, "b": X, "c": X, "unread": torch.ones(2)}
    with pytest.raises(InvalidArgumentError) as error:
        program.load_state_dict(wrong)
    assert str(error.value) == (
        "[load_state_dict] Error(s) in loading state_dict for StableHLOProgram:\n"
        '\tUnexpected key(s) in state_dict: "b", "c".\n'
        '\tMissing key(s) in state_dict: "calls", "tied".\n'
        '\tWhile copying the parameter named "total", expected a tensor or an array from checkpoint but '
        "received <class 'int'>.\n"
        "\tsize mismatch for weight: copying a param with shape (4,) from checkpoint, the shape in current "
        "model is (3,)."
    )
    assert isinstance(error.value, RuntimeError)  # as torch raises
    with pytest.raises(InvalidArgumentError, match="size mismatch for weight"):
        program.load_state_dict({"weight": torch.ones(4), "calls": torch.tensor(5)}, strict=False)
    assert state_of(program) == INITIAL, "nothing was loaded"
    keys = program.load_state_dict({"b": X, "calls": torch.tensor(5)}, strict=False)
    assert keys == (["tied", "total", "unread", "weight"], ["b"])
    assert state_of(program)["calls"] == 5
    with pytest.raises(InvalidArgumentError) as error:
        program.load_state_dict([X])
    assert str(error.value) == (
        "[load_state_dict] wrong kind of state dict: got list, expected a mapping of names to tensors"
    )


def test_a_parameter_that_the_program_writes_is_state():
    class Trained(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))
            self.tied = self.weight

        def forward(self, x):
            with torch.no_grad():
                self.weight += x
            return self.weight * 1

    program = torchere.export(Trained(), torch.ones(2))
    program(torch.ones(2))
    assert [value.tolist() for value in program.state_dict().values()] == [[2, 2], [2, 2]]
    assert [value.tolist() for value in program.parameters()] == [[2, 2]]
    other = Trained()
    other(torch.full((2,), 9.0))
    program.load_state_dict(other.state_dict())
    assert program(torch.ones(2)).tolist() == [11, 11]
    program.reset()
    assert program(torch.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize("is_called", [False, True], ids=["before a call", "after a call"])
def test_saving_with_the_present_state(is_called, tmp_path):
    class Draws(Counter):
        def forward(self, x):
            return *super().forward(x), torch.rand(8)

    program = torchere.export(Draws(), X)
    if is_called:
        program(X)
    program.save(tmp_path / "initial")
    program.save(tmp_path / "present", state="present")
    assert state_of(torchere.load(tmp_path / "initial")) == INITIAL
    present = torchere.load(tmp_path / "present")
    assert state_of(present) == (AFTER_ONE if is_called else INITIAL)
    torch.testing.assert_close(present(X), program(X))
    present.reset()  # to what it was loaded with
    assert state_of(present) == (AFTER_ONE if is_called else INITIAL)
    with pytest.raises(InvalidArgumentError) as error:
        program.save(tmp_path / "other", state="now")
    assert str(error.value) == "[state] unknown: got 'now', expected 'initial' or 'present'"
    assert not (tmp_path / "other").exists()


def test_a_program_without_its_weights(tmp_path):
    options = torchere.stablehlo.StableHLOExportOptions(save_weights=False)
    torchere.export(Counter(), X).save(tmp_path / "bare", options)
    bare = torchere.load(tmp_path / "bare")
    assert bare.state_dict() == {} == bare.snapshot()
    assert [value.name for value in bare.inputs] == ["x"]


def test_weights_change_between_calls(program):
    """Calls of several threads see all of a load or nothing of it, and no update of the state is lost."""
    program(X)
    program.reset()
    failures, count, threads = [], 60, 3
    stop = threading.Event()

    def call():
        try:
            for _ in range(count):
                result, calls = program(torch.ones(3))
                scale = {float(value) for value in result / float(calls)}
                assert scale <= {2.0, 4.0} and len(scale) == 1, scale
        except BaseException as error:
            failures.append(error)

    def load():
        weights = [torch.full((3,), 2.0), torch.full((3,), 4.0)]
        while not stop.is_set():
            weights.reverse()
            program.load_state_dict({"weight": weights[0]}, strict=False)

    workers = [threading.Thread(target=call) for _ in range(threads)]
    loader = threading.Thread(target=load)
    for thread in (*workers, loader):
        thread.start()
    for thread in workers:
        thread.join()
    stop.set()
    loader.join()
    assert not failures, failures[0]
    assert state_of(program) == {"calls": count * threads, "total": [count * threads] * 3}


def test_an_embedding_bounds_its_rows():
    module = torch.nn.Embedding(6, 4, max_norm=0.5)
    program = torchere.export(copy.deepcopy(module), (torch.tensor([1, 3]),))
    for rows in (torch.tensor([1, 3]), torch.tensor([0, 3])):
        torch.testing.assert_close(program(rows), module(rows))
        torch.testing.assert_close(program.state_dict()["weight"], module.weight.detach())


class Viewed(nn.Module):
    """With a buffer that is a view of all of another one, in other sizes."""

    def __init__(self, written):
        super().__init__()
        self.register_buffer("whole", torch.arange(4.0))
        self.register_buffer("square", self.whole.view(2, 2))
        self.register_buffer("column", self.square.view(4, 1))
        self.written = written

    def forward(self, x):
        before = self.square * x
        getattr(self, self.written)[1:].add_(1)
        return before, self.whole * x, self.square[0] + x, self.column.sum()


@pytest.mark.parametrize("written", ["whole", "square", "column"])
def test_buffers_that_are_views_of_all_of_one_change_together(written, tmp_path):
    program, module, x = torchere.export(Viewed(written), (torch.ones(1),)), Viewed(written), torch.ones(1)
    program.save(tmp_path / "saved")
    loaded, again = torchere.load(tmp_path / "saved"), Viewed(written)
    for _ in range(3):
        torch.testing.assert_close(program(x), module(x))
        torch.testing.assert_close(loaded(x), again(x))
    torch.testing.assert_close(program.state_dict(), dict(module.state_dict()))
    program.load_state_dict({name: value * 2 for name, value in module.state_dict().items()})
    module.whole.mul_(2)
    torch.testing.assert_close(program(x), module(x))
    program.reset()
    torch.testing.assert_close(program(x), Viewed(written)(x))
