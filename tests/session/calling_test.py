"""Calls of exported programs: tensors in and out of the core, state, errors, threads, forks."""

import gc
import os
import threading
import time
import weakref

import numpy as np
import pytest
import torch

import torchere
from torchere import errors, plugins


def export(function, *args, **kwargs):
    class Module(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    return torchere.export(Module(), args, **kwargs)


def counts(program):
    """(calls, refinements, executables made) of a program's default function."""
    numbers = program._ready_session().counts(0)
    return numbers["calls"], numbers["refinements"], numbers["preparations"]


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count += x
        return self.count * 2


def double(x):
    return x + x


DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32]
DTYPES += [torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_go_in_and_out(dtype):
    x = torch.tensor([1, 2, 3]).to(dtype)
    result = export(double, x)(x)
    assert result.dtype == dtype
    assert torch.equal(result, double(x))


def test_bool_goes_in_and_out():
    x = torch.tensor([True, False])
    result = export(torch.logical_not, x)(x)
    assert result.dtype == torch.bool
    assert result.tolist() == [False, True]


def test_scalars_and_empty_tensors():
    x = torch.tensor(2.5)
    assert export(double, x)(x).item() == 5
    x = torch.zeros(0, 3)
    assert export(double, x)(x).shape == (0, 3)


def test_numpy_arrays_are_taken():
    program = export(double, torch.zeros(2, 3))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = torch.from_numpy(x * 2)
    assert torch.equal(program(x), expected)
    assert torch.equal(program(np.asfortranarray(x)), expected)
    x.flags.writeable = False
    assert torch.equal(program(x), expected)
    with pytest.raises(
        errors.InvalidArgumentError, match=r"\[inputs_0\] wrong dtype: got float64, expected float32"
    ):
        program(x.astype(np.float64))


def test_views_are_taken():
    base = torch.arange(24.0).reshape(4, 6)
    for view in (base.t(), base[::2, 1::2], base[1:, 1:], base[0].expand(3, 6), base.unsqueeze(1)):
        assert torch.equal(export(double, view.clone())(view), double(view))


def test_lazy_conjugates_and_negations_are_resolved():
    x = torch.tensor([1 + 2j, 3 - 4j])
    real = export(double, torch.zeros(2))
    assert torch.equal(real(x.conj().imag), torch.tensor([-4.0, 8.0]))


def test_tensors_that_require_grad_are_read():
    x = torch.ones(2, requires_grad=True)
    result = export(double, torch.ones(2))(x)
    assert result.tolist() == [2, 2]
    assert not result.requires_grad


def test_results_are_not_copied_and_outlive_the_program():
    program = export(lambda x: (x + 1, x + 2), torch.zeros(1000))
    first, second = program(torch.zeros(1000))
    del program
    gc.collect()
    first.add_(1)  # a result is the caller's own
    assert first.sum() == 2000 and second.sum() == 2000


def test_inputs_are_let_go():
    program = export(double, torch.zeros(100))
    gone = []
    for _ in range(3):
        x = torch.zeros(100)
        weakref.finalize(x, gone.append, None)
        program(x)
        del x
    gc.collect()
    assert len(gone) == 3


def test_wrong_inputs_are_named():
    program = export(lambda x, y: x + y, torch.zeros(2, 3), torch.zeros(2, 3))
    x = torch.zeros(2, 3)
    with pytest.raises(
        errors.InvalidArgumentError, match=r"\[inputs_1\] wrong size of dimension 1: got 4, expected 3"
    ):
        program(x, torch.zeros(2, 4))
    with pytest.raises(
        errors.InvalidArgumentError, match=r"\[inputs_0\] wrong device: got meta, expected cpu"
    ):
        program(x.to("meta"), x)
    with pytest.raises(
        errors.InvalidArgumentError, match=r"\[inputs_1\] wrong kind of input: got 1, expected a tensor"
    ):
        program(x, 1)
    message = r"\[inputs_1\] an input that programs cannot take: got object, expected a tensor"
    with pytest.raises(errors.InvalidArgumentError, match=message):
        program(x, object())
    with pytest.raises(
        ValueError, match="wrong dtype"
    ):  # as a caller that knows only Python's errors sees it
        program(x, x.double())


def test_constants_of_a_call():
    def scale(x, factor, mode, flag, nothing):
        return x * factor if flag and mode == "up" and nothing is None else x, factor, None, mode

    program = export(scale, torch.ones(2), 3, "up", True, None)
    result = program(torch.ones(2), 3, "up", True, None)
    assert result[0].tolist() == [3, 3]
    assert result[1:] == (3, None, "up")
    message = r"wrong constant: got 4, expected 3, with which the program was captured"
    with pytest.raises(errors.InvalidArgumentError, match=message):
        program(torch.ones(2), 4, "up", True, None)


def test_scalars_of_numpy_are_numbers_and_tensors_without_dimensions():
    def scale(x, n, factor, flag, parts):
        return x * n * factor + parts[0]

    shapes = {"x": None, "n": torch.export.Dim.DYNAMIC, "factor": None, "flag": None, "parts": [None, None]}
    example = (torch.ones(2), 5, 0.5, True, [torch.tensor(1.0, dtype=torch.float64), 2])
    program = torchere.export(scale, example, dynamic_shapes=shapes)
    given = (np.int32(4), np.float16(0.5), np.bool_(True), [np.float64(3), np.uint8(2)])
    for call in (program, lambda *args: program.call_on_device(*args).torch()):
        assert call(torch.ones(2), *given).tolist() == [5, 5]
        assert call(torch.ones(2), np.int64(4), 0.5, 1, [np.float64(3), 2]).tolist() == [5, 5]
    x = torch.ones(2)
    for changed, message in {
        0: r"\[x\] wrong number of dimensions: got 0, expected 1",
        1: r"\[n\] wrong kind of input: got 4.0, expected an int",
        2: r"\[factor\] wrong constant: got 1.5, expected 0.5",
        3: r"\[flag\] an input that programs cannot take: got numpy.datetime64",
        4: r"\[parts_0\] wrong dtype: got float32, expected float64",
    }.items():
        args = [x, 4, 0.5, True, [np.float64(3), 2]]
        wrong = [np.float32(1), np.float32(4), np.float64(1.5), np.datetime64(0, "s"), [np.float32(3), 2]]
        args[changed] = wrong[changed]
        with pytest.raises(errors.InvalidArgumentError, match=message):
            program(*args)


def test_long_values_are_cut_in_errors():
    program = torchere.export(lambda x, mode: x + 1, (torch.ones(2), "up"))
    for call, subject, text in (
        ([[0.0] * 200000, "up"], "x", f"[{'0.0, ' * 19}0..., expected a tensor"),
        ([torch.ones(2), "ü" * 1000], "mode", f"'{'ü' * 48}..., expected 'up'"),
    ):
        with pytest.raises(errors.InvalidArgumentError) as error:
            program(*call)
        assert str(error.value).startswith(f"[{subject}] wrong ") and f"got {text}" in str(error.value)


def test_state_is_carried_and_the_module_left_alone():
    module = Counter()
    program = torchere.export(module, (torch.ones(2),))
    assert [program(torch.ones(2)).tolist() for _ in range(3)] == [[2, 2], [4, 4], [6, 6]]
    assert module.count.tolist() == [0, 0]
    state = program.state_dict()["count"]
    program(torch.ones(2))
    assert state.tolist() == [3, 3]  # what was read does not change
    session = program._ready_session()
    assert session.state_names() == ["count"]
    session.write_states({"count": torch.tensor([10.0, 20.0])})
    assert program(torch.ones(2)).tolist() == [22, 42]
    with pytest.raises(
        errors.InvalidArgumentError, match=r"\[count\] wrong shape: got \(3\), expected \(2\)"
    ):
        session.write_states({"count": torch.zeros(3)})
    message = r"\[count\] wrong kind of value: got int, expected a tensor"
    with pytest.raises(errors.InvalidArgumentError, match=message):
        session.write_states({"count": 1})


def test_mutated_inputs_are_written():
    program = export(lambda x: x.mul_(2) + 1, torch.ones(2))
    x = torch.tensor([1.0, 2.0])
    assert program(x).tolist() == [3, 5]
    assert x.tolist() == [2, 4]
    array = np.array([1, 2], np.float32)
    assert program(array).tolist() == [3, 5]
    assert array.tolist() == [2, 4]


@pytest.mark.usefixtures("on_engine_and_xla")
def test_a_dynamic_batch_is_refined_once_for_each_size():
    """Where the plugin does not bind sizes itself."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torchere.export(module, (torch.randn(3, 8),), dynamic_shapes=({0: batch},))
    for _ in range(2):
        for size in (2, 3, 5, 17, 64):
            x = torch.randn(size, 8)
            torch.testing.assert_close(program(x), module(x).detach(), atol=1e-5, rtol=1e-5)
    assert counts(program) == (10, 0 if plugins.client().platform_name == "torchere_cpu" else 5, 5)
    message = r"size of dimension 0 \(.*\) out of range: got {}, expected 2 to 64"
    for size in (0, 65):
        with pytest.raises(errors.InvalidArgumentError, match=message.format(size)):
            program(torch.randn(size, 8))


def test_threads_run_at_once_and_agree():
    module = torch.nn.Linear(64, 64)
    program = torchere.export(module, (torch.zeros(4, 64),))
    failures = []

    def work(seed):
        x = torch.randn(4, 64, generator=torch.Generator().manual_seed(seed))
        expected = module(x).detach()
        for _ in range(200):
            if not torch.allclose(program(x), expected, atol=1e-5):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.usefixtures("on_ours")
def test_a_program_is_printed_written_and_called_at_once():
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torchere.export(torch.nn.Linear(4, 2), (torch.randn(3, 4),), dynamic_shapes=({0: batch},))
    text, bytecode = program.get_stablehlo_text(), program.get_stablehlo_bytecode()
    wrong = []

    def write():
        for _ in range(20):
            if program.get_stablehlo_text() != text or program.get_stablehlo_bytecode() != bytecode:
                wrong.append("text")

    def call(first):
        for size in range(first, 64, 16):  # on the interpreter each of them refines the module
            if program(torch.zeros(size, 4)).shape != (size, 2):
                wrong.append(size)

    threads = [threading.Thread(target=write) for _ in range(2)]
    threads += [threading.Thread(target=call, args=(first,)) for first in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_interpreter_runs_while_a_program_does():
    program = export(lambda x: x @ x @ x @ x, torch.zeros(1200, 1200))
    x = torch.randn(1200, 1200)
    program(x)
    start, done, ticks = threading.Event(), threading.Event(), []
    spans = []

    def call():
        start.set()
        begin = time.perf_counter()
        program(x)
        spans.append((begin, time.perf_counter()))
        done.set()

    thread = threading.Thread(target=call)
    thread.start()
    start.wait()
    while not done.is_set():
        ticks.append(time.perf_counter())
    thread.join()
    ((begin, end),) = spans
    quarter = (end - begin) / 4
    assert any(begin + quarter < tick < end - quarter for tick in ticks), "the interpreter's lock was held"


def test_a_forked_process_is_told():
    program = export(double, torch.ones(2))
    program(torch.ones(2))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            program(torch.ones(2))
            message = "it ran"
        except errors.Error as error:
            message = f"{error.code}: {error}"
        os.write(writer, message.encode())
        os._exit(0)
    os.waitpid(child, 0)
    message = os.read(reader, 10000).decode()
    assert message.startswith("FAILED_PRECONDITION: [torchere_cpu] made before fork() and unusable"), message
    assert program(torch.ones(2)).tolist() == [2, 2]


def test_programs_share_compiled_code():
    first, second = export(double, torch.ones(7)), export(double, torch.ones(7))
    first(torch.ones(7))
    before = torchere.plugins.client().compile_counts
    second(torch.ones(7))
    assert torchere.plugins.client().compile_counts == before | {"reused": before["reused"] + 1}
