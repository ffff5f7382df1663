"""The compile cache as another process sees it: what it finds there, and that nothing can harm it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from warm_process import run_python

import torchere

CALL = """
import json, sys
import torch, torchere
program = torchere.load(sys.argv[1])
inputs = [torch.arange(float(size * 3)).reshape(size, 3) for size in map(int, sys.argv[2:])]
answer = {"results": [program(x).tolist() for x in inputs]}
answer["refinements"] = program._ready_session().counts(0)["refinements"]
print(json.dumps(answer | torchere.plugins.client().compile_counts))
"""

MANY = """
import sys
import torch, torchere
program = torchere.load(sys.argv[1])
for size in range(2, 1000):
    program(torch.zeros(size, 3))
"""


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 2)
        )

    def forward(self, x):
        return self.layers(x).tanh()


def save(module, directory):
    batch = torch.export.Dim("batch", min=2, max=1000)
    torchere.export(module, (torch.zeros(4, 3),), dynamic_shapes=({0: batch},)).save(directory)
    return directory


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    torch.manual_seed(0)
    return save(
        Model(), tmp_path_factory.mktemp("saved") / "model"
    )  # in training: batch norm's state is donated


def environment(cache, **more):
    """The interpreter's plugin has an executable for each size, and makes it in no time."""
    own = {"TORCHERE_CACHE_DIR": str(cache), "TORCHERE_CACHE": "1", "PJRT_DEVICE": "interpreter"}
    return os.environ | own | more


def call(directory, cache, *sizes, **more):
    done = run_python("-c", CALL, directory, *sizes, env=environment(cache, **more))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return answer.pop("results"), answer, done.stderr


def counts(compiled, loaded, refinements):
    return {"compiled": compiled, "reused": 0, "loaded": loaded, "refinements": refinements}


@pytest.mark.parametrize("plugin", ["interpreter", "cpu"])
def test_a_second_process_neither_refines_nor_compiles(saved, cache, tmp_path, plugin):
    expected, first, _ = call(saved, cache, 4, 5, PJRT_DEVICE=plugin)
    assert first == counts(compiled=2, loaded=0, refinements=2)
    _, second, _ = call(saved, cache, 5, 4, 6, PJRT_DEVICE=plugin)
    assert second == counts(compiled=1, loaded=2, refinements=1)
    torch.manual_seed(1)
    other = save(Model(), tmp_path / "other")  # other weights are no other program
    others, third, _ = call(other, cache, 4, 5, PJRT_DEVICE=plugin)
    assert third == counts(compiled=0, loaded=2, refinements=0)
    assert others != expected


def test_the_engine_keeps_one_executable_for_all_sizes(saved, cache):
    for process in ("first", "second"):
        _, answer, _ = call(saved, cache, 4, 5, 6, PJRT_DEVICE="torchere_cpu")
        compiled = int(process == "first")
        assert answer == counts(compiled=compiled, loaded=1 - compiled, refinements=0) | {"reused": 2}
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("plugin", ["torchere_cpu", "interpreter", "cpu"])
def test_results_from_the_cache_are_those_of_eager(saved, cache, plugin):
    torch.manual_seed(0)
    module = Model()
    expected = [module(torch.arange(float(size * 3)).reshape(size, 3)).tolist() for size in (4, 4, 7)]
    for _ in range(2):  # compiled, then loaded
        results, _, _ = call(saved, cache, 4, 4, 7, PJRT_DEVICE=plugin)
        for result, value in zip(results, expected, strict=True):
            torch.testing.assert_close(torch.tensor(result), torch.tensor(value), rtol=1e-5, atol=1e-5)


def test_the_cache_can_be_turned_off(saved, cache):
    call(saved, cache, 4, TORCHERE_CACHE="0")
    assert not cache.exists()


@pytest.mark.slow
def test_a_damaged_entry_is_compiled_again(saved, cache):
    expected, _, _ = call(saved, cache, 4)
    (entry,) = cache.glob("*.executable")
    contents = bytearray(entry.read_bytes())
    contents[len(contents) // 2] ^= 1
    entry.write_bytes(contents)
    results, second, log = call(saved, cache, 4)
    assert results == expected
    assert second == counts(compiled=1, loaded=0, refinements=1)
    assert f"torchere warning [cache] removed: [{entry}] damaged: its digest does not fit" in log
    assert call(saved, cache, 4)[1] == counts(compiled=0, loaded=1, refinements=0)


def test_a_folder_that_cannot_be_made_does_not_stop_a_program(saved, cache):
    cache.write_text("a file")
    _, answer, log = call(saved, cache, 4)
    assert answer == counts(compiled=1, loaded=0, refinements=1)
    assert f"[{cache}] is no directory: the compile cache is not used" in log


@pytest.mark.slow
def test_two_processes_at_once(saved, cache):
    command = [sys.executable, "-c", CALL, str(saved), "2", "3", "4", "5"]
    processes = [subprocess.Popen(command, env=environment(cache), stdout=subprocess.PIPE) for _ in range(2)]
    answers = [json.loads(process.communicate()[0]) for process in processes]
    assert answers[0]["results"] == answers[1]["results"]
    assert [process.returncode for process in processes] == [0, 0]
    assert len(list(cache.iterdir())) == 4  # entries, and nothing half written
    assert call(saved, cache, 2, 3, 4, 5)[1] == counts(compiled=0, loaded=4, refinements=0)


@pytest.mark.slow
def test_a_process_is_killed_while_it_compiles(saved, cache):
    process = subprocess.Popen([sys.executable, "-c", MANY, str(saved)], env=environment(cache))
    deadline = time.monotonic() + 120
    while len(list(cache.glob("*.executable"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    _, answer, log = call(saved, cache, 2, 3, 4)
    assert answer == counts(compiled=0, loaded=3, refinements=0)
    assert log == ""


@pytest.mark.slow
def test_the_bound_is_kept(saved, cache):
    call(saved, cache, 2)
    (entry,) = cache.glob("*.executable")
    size = entry.stat().st_size
    call(saved, cache, 2, 3, 4, 5, TORCHERE_CACHE=str(size * 5 // 2))
    assert sum(file.stat().st_size for file in cache.iterdir()) <= size * 5 // 2
    assert call(saved, cache, 5)[1] == counts(compiled=0, loaded=1, refinements=0)  # the last one
