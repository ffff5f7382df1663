"""Packed weights on disk: each program in processes of its own, with the same bits as without."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from warm_process import run_python

SAVE = """
import sys, torch, torchere
torch.manual_seed(0)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 24, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(24)
        self.next = torch.nn.Conv2d(24, 40, 3, padding=1)
        self.linear = torch.nn.Linear(40, 50)
        self.rnn = torch.nn.LSTM(50, 32)
    def forward(self, x):
        y = torch.relu(self.next(torch.relu(self.norm(self.conv(x)))))
        return self.rnn(self.linear(y.mean((2, 3)))[:, None])[0]

model, x = Model().eval(), torch.randn(5, 3, 12, 12)
model.norm.running_mean.normal_()
torchere.export(model, (x,)).save(sys.argv[1])
torch.save((x, model.state_dict()), sys.argv[1] + "/../values.pt")
"""

CALL = """
import hashlib, sys, torch, torchere
x, weights = torch.load(sys.argv[1] + "/../values.pt")
program = torchere.load(sys.argv[1])
def show(result):
    print(hashlib.sha256(result.detach().contiguous().numpy().tobytes()).hexdigest())
for call in range(3):
    show(program(x))
if len(sys.argv) > 2:
    weights[sys.argv[2]].flatten()[17] += 1.0
    program = program.with_weights(weights)
    show(program(x))
"""

OPTIONS = """
import sys, torchere
try:
    torchere.plugins.client("torchere_cpu", {"packed_cache": sys.argv[1]})
except torchere.errors.Error as error:
    print(error)
"""


def run(source, *arguments, **environment):
    """What a process printed, and what it logged."""
    settings = {"PJRT_DEVICE": "torchere_cpu", "TORCHERE_CACHE": "0", "TORCHERE_LOG": "debug", **environment}
    result = run_python("-c", source, *map(str, arguments), env={**os.environ, **settings})
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines(), result.stderr


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program") / "saved"
    run(SAVE, folder)
    return folder


@pytest.fixture(scope="module")
def expected(saved):
    lines, log = run(CALL, saved)
    assert len(set(lines)) == 1
    assert "packed weights in" not in re.sub("computed and packed weights in", "", log)
    return lines


def test_a_second_process_packs_nothing(saved, expected, tmp_path):
    settings = {"TORCHERE_CPU_PACKED_CACHE": str(tmp_path / "packed")}
    lines, log = run(CALL, saved, **settings)
    assert lines == expected
    assert "computed and packed weights in" in log
    assert re.search(r"info \[cache\] \[main\] stored \d+ bytes of packed weights in", log)
    for _ in range(2):
        lines, log = run(CALL, saved, **settings)
        assert lines == expected
        assert re.search(r"info \[cache\] \[main\] mapped \d+ bytes of packed weights in", log)
        assert "computed and packed" not in log and "stored" not in log
    (file,) = (tmp_path / "packed").iterdir()
    assert re.fullmatch(r"[0-9a-f]{64}\.packed", file.name)


def test_a_stored_plan_finds_what_a_compiled_one_has_packed(saved, expected, tmp_path):
    settings = {
        "TORCHERE_CPU_PACKED_CACHE": str(tmp_path / "packed"),
        "TORCHERE_CACHE": "1G",
        "TORCHERE_CACHE_DIR": str(tmp_path / "compiled"),
    }
    _, log = run(CALL, saved, **settings)
    assert "planned in" in log and "stored" in log
    lines, log = run(CALL, saved, **settings)
    assert lines == expected
    assert "bytes of a plan in" in log and "computed and packed" not in log


@pytest.mark.parametrize("weight", ["conv.weight", "norm.running_var", "linear.weight", "rnn.weight_hh_l0"])
def test_changed_weights_are_others(saved, tmp_path, weight):
    right, _ = run(CALL, saved, weight)
    assert right[-1] != right[0]
    for _ in range(2):
        lines, _ = run(CALL, saved, weight, TORCHERE_CPU_PACKED_CACHE=str(tmp_path / "packed"))
        assert lines == right


def test_other_instruction_sets_have_files_of_their_own(saved, tmp_path):
    for isa in ("baseline", "avx2"):
        settings = {"TORCHERE_CPU_ISA": isa}
        right, _ = run(CALL, saved, **settings)
        for _ in range(2):
            assert run(CALL, saved, TORCHERE_CPU_PACKED_CACHE=str(tmp_path), **settings)[0] == right
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "extended", "emptied"])
def test_a_damaged_file_is_packed_again(saved, expected, tmp_path, damage):
    settings = {"TORCHERE_CPU_PACKED_CACHE": str(tmp_path)}
    run(CALL, saved, **settings)
    (file,) = tmp_path.iterdir()
    whole = bytearray(file.read_bytes())
    if damage == "changed":
        whole[len(whole) // 2] ^= 16
    cut = {"cut": whole[:-100], "changed": whole, "extended": whole + bytes(64), "emptied": b""}[damage]
    file.write_bytes(cut)
    lines, log = run(CALL, saved, **settings)
    assert lines == expected
    assert "warning [cache] removed: [" in log and "computed and packed" in log
    lines, log = run(CALL, saved, **settings)
    assert lines == expected and "mapped" in log


def test_a_folder_that_cannot_be_made_stops_nothing(saved, expected, tmp_path):
    (tmp_path / "file").write_text("")
    lines, log = run(CALL, saved, TORCHERE_CPU_PACKED_CACHE=str(tmp_path / "file" / "below"))
    assert lines == expected
    assert "stored" not in log


def test_processes_may_start_at_once(saved, expected, tmp_path):
    environment = {
        **os.environ,
        "PJRT_DEVICE": "torchere_cpu",
        "TORCHERE_CACHE": "0",
        "TORCHERE_CPU_PACKED_CACHE": str(tmp_path),
    }
    command = [sys.executable, "-c", CALL, saved]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(3)]
    assert all(process.communicate()[0].decode().split() == expected for process in processes)
    assert len(list(tmp_path.iterdir())) == 1


def test_poisoned_memory_finds_nothing_that_is_not_written(saved, expected, tmp_path):
    settings = {"TORCHERE_CPU_PACKED_CACHE": str(tmp_path), "TORCHERE_CPU_POISON": "arena"}
    for _ in range(2):
        assert run(CALL, saved, **settings)[0] == expected


def test_the_client_has_an_option(saved, expected, tmp_path):
    folder = tmp_path / "packed"
    for word in ("stored", "mapped"):
        lines, log = run(
            CALL, saved, TORCHERE_PLUGIN="torchere_cpu", TORCHERE_PLUGIN_OPTIONS=f"packed_cache={folder}"
        )
        assert lines == expected and word in log
    (line,), _ = run(OPTIONS, "packed")
    assert '[packed_cache] is no absolute path: got "packed"' in line
