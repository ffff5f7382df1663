"""The memory that the engine takes: packed weights, what runs need, and results, each once; and what threads
keep for their kernels."""

from __future__ import annotations

import json
import os

import pytest
from warm_process import run_python

import torchere

# Whole panels of packed weights on every instruction set.
WIDTH, DEPTH, ROWS = 960, 4, 64

PROGRAM = """
import gc, json, os, sys
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # one thread, which needs all scratch memory at once
import torch, torchere

width, depth, rows = map(int, sys.argv[1:4])
torch.manual_seed(0)
layers = [layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
model, x = torch.nn.Sequential(*layers).eval(), torch.randn(rows, width)
client = torchere.plugins.client("torchere_cpu")
told = {"limit": client.memory_statistics()["limit"]}

def in_use():
    gc.collect()
    return client.memory_statistics(client.devices[0].id)["in_use"]

def run():
    before = in_use()
    program = torchere.export(model, (x,))
    planned = program.memory_statistics(x)
    told.update(temporaries=planned["temporaries"], results=planned["results"])
    first = program(x)
    told["first"] = in_use() - before
    second = program(x)
    told["second"] = in_use() - before
    for _ in range(20):
        del second
        second = program(x)
    told["later"] = in_use() - before
    assert torch.allclose(first, model(x), atol=1e-4)

run()
told["kept"] = in_use()
run()
told["kept_again"] = in_use()
print(json.dumps(told))
"""


def test_weights_are_packed_once_and_runs_use_the_same_memory():
    environment = os.environ | {"PJRT_DEVICE": "torchere_cpu", "TORCHERE_CACHE": "0"}
    environment["TORCHERE_CPU_POISON"] = ""  # buffers would have memory of their own
    process = run_python("-c", PROGRAM, WIDTH, DEPTH, ROWS, env=environment)
    assert process.returncode == 0, process.stderr
    told = json.loads(process.stdout)
    packed = 4 * WIDTH * WIDTH * DEPTH
    constants = 4 * WIDTH * DEPTH  # of biases, which lie where the caller has them, or are copied
    assert told["limit"] > 0
    assert told["results"] == 4 * WIDTH * ROWS
    assert 0 < told["temporaries"] <= 2 * 4 * WIDTH * ROWS
    once = packed + told["temporaries"]  # of the second run: the thread has its scratch memory by then
    assert once + told["results"] <= told["first"] <= once + told["results"] + constants
    assert told["second"] == told["later"] == told["first"] + told["results"]
    assert told["kept"] == told["kept_again"] <= 1 << 20


def test_a_device_that_is_not_there_is_named():
    client = torchere.plugins.client("torchere_cpu")
    message = r"^\[torchere_cpu\] no such device: got 77, expected one of 0$"
    with pytest.raises(torchere.errors.NotFoundError, match=message):
        client.memory_statistics(77)
