"""Overwriting a program while others load it, or with a kill: the old or the new one is there, whole."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import torchere

# Saves the programs of the other arguments to the first, over and over, until it is killed.
WRITER = """
import itertools, sys, torchere
target, *sources = sys.argv[1:]
programs = [torchere.load(source) for source in sources]
print("ready", flush=True)
for program in itertools.cycle(programs):
    program.save(target, overwrite=True)
"""

# The same in a child that is killed after as many seconds as each line says.
KILLED_WRITER = """
import itertools, os, signal, sys, time, torchere
target, *sources = sys.argv[1:]
programs = [torchere.load(source) for source in sources]
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        for program in itertools.cycle(programs):
            program.save(target, overwrite=True)
    time.sleep(float(line))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("killed", flush=True)
"""

pytestmark = pytest.mark.slow


class Filled(nn.Module):
    """Many weights of one value, which is in the module's text as well; some that no function reads."""

    def __init__(self, value):
        super().__init__()
        self.value = value
        self.used = nn.ParameterList(torch.full((7,), value) for _ in range(12))
        self.unused = nn.ParameterList(torch.full((7,), value) for _ in range(12))

    def forward(self, x):
        return sum(self.used, x) * self.value


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Two programs, by the number in their weights and text."""
    root = tmp_path_factory.mktemp("sources")
    for value in (3.0, 5.0):
        torchere.export(Filled(value), (torch.ones(7),)).save(root / str(int(value)))
    return [str(root / "3"), str(root / "5")]


def start(script, target, sources, **streams):
    environment = os.environ | {"PYTHONPATH": str(Path(torchere.__file__).parents[1])}
    command = [sys.executable, "-c", script, str(target), *sources]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, **streams)
    assert process.stdout.readline() == "ready\n"
    return process


def values_in(program):
    """The numbers in a program's weights and text: one, if it is whole."""
    weights = program.state_dict()
    assert len(weights) == 24
    values = {float(value) for weight in weights.values() for value in weight}
    text = program.get_stablehlo_text()
    return values | {value for value in (3.0, 5.0) if f"dense<{value:.6e}>" in text}


@pytest.mark.parametrize("name", ["p", "p.torchere"])
@pytest.mark.parametrize("loads", [200, pytest.param(3000, marks=pytest.mark.sweep)])
def test_loads_while_another_process_overwrites(sources, tmp_path, loads, name):
    target = tmp_path / name
    torchere.load(sources[0]).save(target)
    writer = start(WRITER, target, sources)
    try:
        seen = []
        # More where the disk is slow: else not one replacement may have met a load.
        while len(seen) < loads or len(set(map(frozenset, seen))) < 2:
            seen.append(values_in(torchere.load(target)))
            assert writer.poll() is None
    finally:
        writer.kill()
        writer.communicate()
    assert {frozenset(values) for values in seen} == {frozenset({3.0}), frozenset({5.0})}


@pytest.mark.parametrize("name", ["p", "p.torchere"])
@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.sweep)])
def test_a_kill_leaves_a_whole_program_and_the_next_save_nothing_else(sources, tmp_path, kills, name):
    target = tmp_path / name
    program = torchere.load(sources[0])
    program.save(target)
    moments = random.Random(0)
    strays = 0
    with start(KILLED_WRITER, target, sources, stdin=subprocess.PIPE) as writer:
        for _ in range(kills):
            print(moments.uniform(0, 0.05), file=writer.stdin, flush=True)
            assert writer.stdout.readline() == "killed\n"
            strays += len(os.listdir(tmp_path)) - 1
            assert values_in(torchere.load(target)) in ({3.0}, {5.0})
            program.save(target, overwrite=True)
            assert os.listdir(tmp_path) == [name]
        writer.stdin.close()
    assert strays > 0  # else no kill met a save
