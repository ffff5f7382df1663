"""Collectives among the interpreter's processes against XLA's CPU plugin on as many devices."""

from __future__ import annotations

import numpy
import pytest

pytest.importorskip("jaxlib")
import xla

from torchere.interpreter import interpret

pytestmark = pytest.mark.slow

SUM = """({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  })"""
PAIRS = "replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>"
ALL = "replica_groups = dense<[[2, 0, 3, 1]]> : tensor<1x4xi64>"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
SQUARE = "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>"
FLAT = f"{CHANNEL}, {PAIRS}, use_global_device_ids"
REPLICAS, PARTITIONS, BOTH = (4, 1), (1, 4), (2, 2)

# Of programs with several partitions: XLA is not to divide them, they are what each partition runs.
MANUAL = '{mhlo.sharding = "{manual}"}'

# A program: the grid, the op with its attributes and computation, the sizes of its operand and result.
# (An all_gather over replicas and partitions is left out: XLA joins the partitions of each replica, the
# specification the replicas of each partition.)
PROGRAMS = {
    "all_gather": (
        REPLICAS,
        f'"stablehlo.all_gather"(%x) <{{all_gather_dim = 1 : i64, {PAIRS}}}>',
        "4x4",
        "4x8",
    ),
    "all_gather flat": (
        BOTH,
        f'"stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, {FLAT}}}>',
        "4x4",
        "8x4",
    ),
    "all_reduce": (REPLICAS, f'"stablehlo.all_reduce"(%x) <{{{PAIRS}}}> {SUM}', "4x4", "4x4"),
    "all_reduce both": (BOTH, f'"stablehlo.all_reduce"(%x) <{{{CHANNEL}, {SQUARE}}}> {SUM}', "4x4", "4x4"),
    "all_reduce flat": (BOTH, f'"stablehlo.all_reduce"(%x) <{{{FLAT}}}> {SUM}', "4x4", "4x4"),
    "reduce_scatter": (
        REPLICAS,
        f'"stablehlo.reduce_scatter"(%x) <{{scatter_dimension = 1 : i64, {ALL}}}> {SUM}',
        "4x4",
        "4x1",
    ),
    "reduce_scatter flat": (
        BOTH,
        f'"stablehlo.reduce_scatter"(%x) <{{scatter_dimension = 0 : i64, {FLAT}}}> {SUM}',
        "4x4",
        "2x4",
    ),
    "all_to_all": (
        REPLICAS,
        f'"stablehlo.all_to_all"(%x) <{{split_dimension = 1 : i64, concat_dimension = 0 : i64, '
        f"split_count = 4 : i64, {ALL}}}>",
        "4x4",
        "16x1",
    ),
    "all_to_all partitions": (
        PARTITIONS,
        f'"stablehlo.all_to_all"(%x) <{{split_dimension = 0 : i64, concat_dimension = 0 : i64, '
        f"split_count = 2 : i64, {CHANNEL}, {PAIRS}}}>",
        "4x4",
        "4x4",
    ),
    "collective_permute": (
        REPLICAS,
        '"stablehlo.collective_permute"(%x) '
        "<{source_target_pairs = dense<[[0, 2], [2, 1], [3, 3]]> : tensor<3x2xi64>}>",
        "4x4",
        "4x4",
    ),
    "collective_permute partitions": (
        PARTITIONS,
        f'"stablehlo.collective_permute"(%x) <{{{CHANNEL}, '
        "source_target_pairs = dense<[[0, 2], [2, 1]]> : tensor<2x2xi64>}>",
        "4x4",
        "4x4",
    ),
    "cross-replica-sum": (REPLICAS, f'"stablehlo.cross-replica-sum"(%x) <{{{PAIRS}}}>', "4x4", "4x4"),
}


def program(name: str, op: str, operand: str, result: str, note: str = "") -> str:
    return f"""func.func @{name}(%x: tensor<{operand}xi64> {note}) -> (tensor<{result}xi64> {note}) {{
  %0 = {op} {note} : (tensor<{operand}xi64>) -> tensor<{result}xi64>
  return %0 : tensor<{result}xi64>
}}
"""


def in_parallel(op: str, grid: tuple[int, int], operand: str, result: str) -> str:
    """A main for the interpreter, which takes the operands of all processes and returns their results."""
    count = grid[0] * grid[1]
    rows = ", ".join("[" + ", ".join(["@process"] * grid[1]) + "]" for _ in range(grid[0]))
    kinds = [", ".join([f"tensor<{sizes}xi64>"] * count) for sizes in (operand, result)]
    names = ", ".join(f"%a{index}" for index in range(count))
    arguments = ", ".join(f"%a{index}: tensor<{operand}xi64>" for index in range(count))
    results = ", ".join(f"%r#{index}" for index in range(count))
    return f"""{program("process", op, operand, result)}
func.func @main({arguments}) -> ({kinds[1]}) {{
  %r:{count} = "interpreter.run_parallel"({names}) <{{programs = [{rows}]}}> : ({kinds[0]}) -> ({kinds[1]})
  return {results} : {kinds[1]}
}}
"""


@pytest.fixture(scope="module")
def plugin():
    judge = xla.Plugin(devices=4)
    yield judge
    judge.close()


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_plugin(plugin, name):
    grid, op, operand, result = PROGRAMS[name]
    shape = [int(size) for size in operand.split("x")]
    generator = numpy.random.default_rng(len(name))
    arguments = [generator.integers(-100, 100, shape) for _ in range(grid[0] * grid[1])]
    text = program("main", op, operand, result, MANUAL if grid[1] > 1 else "")
    theirs = plugin.run_parallel(text, grid, arguments)
    ours = interpret(in_parallel(op, grid, operand, result), *arguments)
    for left, right in zip(ours, theirs, strict=True):
        numpy.testing.assert_array_equal(left, right)
