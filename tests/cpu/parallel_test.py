"""Programs of several replicas and partitions on the CPU engine's devices: against the interpreter, and once
they were stored and loaded."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from engine_test import LIBRARY

pytest.importorskip("jaxlib")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interpreter"))
from collectives_test import PROGRAMS, in_parallel, program

from torchere.interpreter import interpret

pytestmark = pytest.mark.slow

INTERPRETER_TESTS = Path(__file__).resolve().parents[1] / "interpreter"

LINE = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
SOME = "replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>"


def computation(op, kind="f32"):
    return f"""({{
  ^bb0(%a: tensor<{kind}>, %b: tensor<{kind}>):
    %s = stablehlo.{op} %a, %b : tensor<{kind}>
    stablehlo.return %s : tensor<{kind}>
  }})"""


#: By name: the grid and the text of a main with one argument and one result.
TEXTS = {
    "numbers of processes": (
        (2, 2),
        """func.func @main(%x: tensor<2xi64>) -> tensor<2xui32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.partition_id : tensor<ui32>
  %2 = stablehlo.reshape %0 : (tensor<ui32>) -> tensor<1xui32>
  %3 = stablehlo.reshape %1 : (tensor<ui32>) -> tensor<1xui32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
  return %4 : tensor<2xui32>
}""",
    ),
    "in a loop": (
        (4, 1),
        f"""func.func @main(%x: tensor<3xi64>) -> tensor<3xi64> {{
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i64>, tensor<3xi64>
    cond {{
      %n = stablehlo.constant dense<5> : tensor<i64>
      %c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i64>
      %next = stablehlo.add %i, %one : tensor<i64>
      %s = "stablehlo.all_reduce"(%v) <{{{LINE}}}> {computation("maximum", "i64")}
        : (tensor<3xi64>) -> tensor<3xi64>
      %o = stablehlo.subtract %s, %x : tensor<3xi64>
      stablehlo.return %next, %o : tensor<i64>, tensor<3xi64>
    }}
  return %r#1 : tensor<3xi64>
}}""",
    ),
    "broadcast to some": (
        (4, 1),
        f"""func.func @main(%x: tensor<2x2xi64>) -> tensor<2x2xi64> {{
  %0 = "stablehlo.collective_broadcast"(%x) <{{{SOME}}}> : (tensor<2x2xi64>) -> tensor<2x2xi64>
  %1 = stablehlo.add %0, %x : tensor<2x2xi64>
  return %1 : tensor<2x2xi64>
}}""",
    ),
}

ENGINE = f"""
import pickle, sys
import numpy
from jax._src import xla_bridge
library, count = {str(LIBRARY)!r}, 4
xla_bridge.register_plugin("torchere_cpu", library_path=library, options={{"device_count": count}})
import jax
jax.config.update("jax_platforms", "torchere_cpu")
jax.config.update("jax_enable_x64", True)
from jaxlib import xla_client
from jax.sharding import Mesh, NamedSharding, PartitionSpec
sys.path.insert(0, {str(INTERPRETER_TESTS)!r})
from xla import context, ir, jax_mlir
backend = xla_bridge.get_backend("torchere_cpu")

def run(text, grid, arguments):
    devices = backend.devices()[: len(arguments)]
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = grid
    options.device_assignment = xla_client.DeviceAssignment.create(numpy.arange(len(arguments)).reshape(grid))
    with context():
        bytecode = jax_mlir.module_to_bytecode(ir.Module.parse(text))
    executable = backend.compile_and_load(bytecode, xla_client.DeviceList(tuple(devices)), options)
    sharding = NamedSharding(Mesh(numpy.array(devices), ("process",)), PartitionSpec("process"))
    parts = [jax.device_put(part, device) for part, device in zip(arguments, devices)]
    whole = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
    array = jax.make_array_from_single_device_arrays(whole, sharding, parts)
    given = []
    for each in (executable, stored_and_loaded(executable, devices, options)):
        (results,) = each.execute_sharded([array]).disassemble_into_single_device_arrays()
        given.append([numpy.asarray(result) for result in results])
    if any(one.tobytes() != other.tobytes() for one, other in zip(*given)):
        raise ValueError("other bits from the stored executable")
    return given[0]

def stored_and_loaded(executable, devices, options):
    try:
        stored = executable.serialize()
    except jax.errors.JaxRuntimeError:  # jaxlib stores only what it can turn into HLO
        return executable
    return backend.deserialize_executable(stored, xla_client.DeviceList(tuple(devices)), options)

answers = []
for question in pickle.load(sys.stdin.buffer):
    try:
        answers.append(run(*question))
    except Exception as error:
        answers.append(str(error))
pickle.dump(answers, sys.stdout.buffer)
"""


def questions():
    """By name: the text, the grid and the arguments; and what the interpreter says."""
    asked = {}
    for name, (grid, op, operand, result) in PROGRAMS.items():
        shape = [int(size) for size in operand.split("x")]
        asked[name] = (
            program("main", op, operand, result),
            grid,
            shape,
            in_parallel(op, grid, operand, result),
        )
    for name, (grid, text) in TEXTS.items():
        given, made = (part.split("tensor<")[1] for part in text.split("{")[0].split("->"))
        given, made = given.split(">")[0], made.split(">")[0]
        asked[name] = (text, grid, [int(s) for s in given.split("x")[:-1]], around(text, grid, given, made))
    return asked


def around(text, grid, given, made):
    count = grid[0] * grid[1]
    rows = ", ".join("[" + ", ".join(["@process"] * grid[1]) + "]" for _ in range(grid[0]))
    names = ", ".join(f"%a{index}" for index in range(count))
    arguments = ", ".join(f"%a{index}: tensor<{given}>" for index in range(count))
    kinds = [", ".join([f"tensor<{kind}>"] * count) for kind in (given, made)]
    results = ", ".join(f"%r#{index}" for index in range(count))
    return f"""{text.replace("@main", "@process")}
func.func @main({arguments}) -> ({kinds[1]}) {{
  %r:{count} = "interpreter.run_parallel"({names}) <{{programs = [{rows}]}}> : ({kinds[0]}) -> ({kinds[1]})
  return {results} : {kinds[1]}
}}
"""


@pytest.fixture(scope="module")
def answers():
    """Of the engine, by name, with the interpreter's."""
    asked, generator = questions(), numpy.random.default_rng(3)
    given = {
        name: [generator.integers(-100, 100, shape) for _ in range(grid[0] * grid[1])]
        for name, (_, grid, shape, _) in asked.items()
    }
    questioned = pickle.dumps([(asked[name][0], asked[name][1], given[name]) for name in asked])
    environment = {**os.environ, "TORCHERE_LOG": "debug"}
    command = [sys.executable, "-c", ENGINE]
    result = subprocess.run(command, input=questioned, capture_output=True, env=environment)
    assert result.returncode == 0, result.stderr.decode()
    assert b"interpreted as a whole" not in result.stderr
    loaded = result.stderr.count(b" bytes of a plan in ")
    assert loaded >= sum(grid[0] * grid[1] for _, grid, _, _ in asked.values()) // 2, loaded
    found = dict(zip(asked, pickle.loads(result.stdout), strict=True))
    expected = {name: interpret(asked[name][3], *given[name]) for name in asked}
    return found, expected


@pytest.mark.parametrize("name", [*PROGRAMS, *TEXTS])
def test_processes_agree_with_the_interpreters(answers, name):
    found, expected = (each[name] for each in answers)
    assert not isinstance(found, str), found
    for left, right in zip(found, expected, strict=True):
        numpy.testing.assert_array_equal(left, right)
