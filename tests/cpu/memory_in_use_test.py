"""The memory that the engine takes: packed weights, what runs need, and results, each once."""

from __future__ import annotations

import json
import os

import pytest
from warm_process import run_python

import torchere

WIDTH, DEPTH, ROWS = 1024, 4, 64

PROGRAM = """
import gc, json, sys
import torch, torchere

width, depth, rows = map(int, sys.argv[1:4])
torch.manual_seed(0)
layers = [layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
model, x = torch.nn.Sequential(*layers).eval(), torch.randn(rows, width)
client = torchere.plugins.client("torchere_cpu")
told = {"limit": client.memory_statistics()["limit"]}
before = client.memory_statistics()["in_use"]
program = torchere.export(model, (x,))
planned = program.memory_statistics(x)

def in_use():
    gc.collect()
    return client.memory_statistics(client.devices[0].id)["in_use"] - before

told |= {"temporaries": planned["temporaries"], "results": planned["results"]}
first = program(x)
told["first"] = in_use()
second = program(x)
told["second"] = in_use()
for _ in range(20):
    del second
    second = program(x)
told["later"] = in_use()
assert torch.allclose(first, model(x), atol=1e-4)
del program, first, second
told["after"] = in_use()
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
    once = packed + told["temporaries"]
    assert once + told["results"] <= told["first"] <= once + told["results"] + constants
    assert told["second"] == told["later"] == told["first"] + told["results"]
    assert told["after"] == 0


def test_a_device_that_is_not_there_is_named():
    client = torchere.plugins.client("torchere_cpu")
    message = r"^\[torchere_cpu\] no such device: got 77, expected one of 0$"
    with pytest.raises(torchere.errors.NotFoundError, match=message):
        client.memory_statistics(77)
