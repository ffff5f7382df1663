"""XLA's CPU plugin as a judge of StableHLO modules, through jaxlib."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo
from jaxlib.mlir.passmanager import PassManager

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "corpus"))
from judges import find_tool
from xla_options import OLD_INSTRUCTIONS, compile_options

# How jaxlib makes a module's shapes known once those of main's arguments are.
REFINEMENT = "builtin.module({},stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism))"


@functools.cache
def context() -> ir.Context:
    stablehlo.register_stablehlo_passes()
    return jax_mlir.make_ir_context()


def programs(text: str) -> list[str]:
    """One module for each function of the text that takes tensors of known sizes. That function is called
    main and returns every such tensor that its ops compute, so that one made for parsing can be run."""
    with context(), ir.Location.unknown():
        if not _is_accepted(text):
            return []
        names = [
            operation.name.value
            for operation in ir.Module.parse(text).body.operations
            if isinstance(operation, func.FuncOp) and not operation.is_external
        ]
        if "main" in names:
            names = ["main"]
        return [module for name in names if (module := _program(ir.Module.parse(text), name))]


def _is_accepted(text: str) -> bool:
    """False for what only our verifier accepts, such as a shape of unknown length."""
    try:
        ir.Module.parse(text)
    except ir.MLIRError:
        return False
    return True


def _program(module: ir.Module, name: str) -> str | None:
    functions = [operation for operation in module.body.operations if isinstance(operation, func.FuncOp)]
    entry = next(function for function in functions if function.name.value == name)
    if not all(_is_static_tensor(value.type) for value in entry.arguments):
        return None
    if name != "main":
        if _is_called(module, name):
            return None  # runs as part of the function that calls it
        _return_everything(entry)
        entry.attributes["sym_name"] = ir.StringAttr.get("main")
    if not entry.type.results or not all(_is_static_tensor(kind) for kind in entry.type.results):
        return None
    for function in functions:
        if _is_called(module, function.name.value):
            function.attributes["sym_visibility"] = ir.StringAttr.get("private")
        elif function is not entry:
            function.operation.erase()
    entry.attributes["sym_visibility"] = ir.StringAttr.get("public")
    module.operation.verify()
    return module.operation.get_asm()


# The variable that tells the plugin's process which platform it is.
PLATFORM = "TORCHERE_JUDGE_PLATFORM"

# The variable that lets the plugin's process store each executable, and run what it loads as well.
STORED = "TORCHERE_JUDGE_STORED"

# What XLA for the CPU needs of a program, as far as its results are concerned.
PREPARATION = ("--torchere-prepare-xla-loop-counters", "--torchere-prepare-xla-cpu-arc-tangents")


def prepared(text: str, options: Sequence[str] = PREPARATION) -> str:
    """A program of ours as XLA's plugin gets it: by these passes of torchere-opt."""
    return subprocess.run(
        [find_tool(), *options], input=text, capture_output=True, text=True, check=True
    ).stdout


def refined(text: str, size: int) -> str:
    """A module with each size that main's arguments leave open set to `size`."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        types = ",".join(str(kind).replace("?", str(size)) for kind in _main(module).type.inputs)
        PassManager.parse(REFINEMENT.format(f"stablehlo-refine-arguments{{types={types}}}")).run(
            module.operation
        )
        return module.operation.get_asm()


def result_ops(text: str) -> list[set[str]]:
    """For each of main's results the names of the ops that it is computed by, those of regions and of called
    functions among them."""
    with context():
        module = ir.Module.parse(text)
        functions = {str(ir.FlatSymbolRefAttr.get(op.name.value)): op for op in module.body.operations}
        *_, end = _main(module).entry_block.operations
        return [_ops_behind(value, functions) for value in end.operands]


def _ops_behind(value: ir.Value, functions: dict[str, func.FuncOp]) -> set[str]:
    names: set[str] = set()
    seen: set[ir.Operation] = set()
    waiting = [value.owner]
    while waiting:
        operation = waiting.pop()
        if isinstance(operation, ir.Block) or operation.operation in seen:
            continue
        seen.add(operation.operation)
        names.add(operation.operation.name)
        waiting += [operand.owner for operand in operation.operation.operands]
        waiting += [inner for region in operation.operation.regions for block in region for inner in block]
        attributes = operation.operation.attributes
        called = [attributes[name] for name in ("callee", "decomposition") if name in attributes]
        waiting += [functions[str(name)] for name in called]
    return names


def _main(module: ir.Module) -> func.FuncOp:
    return next(op for op in module.body.operations if op.operation.attributes["sym_name"].value == "main")


def _is_called(module: ir.Module, name: str) -> bool:
    symbol = str(ir.FlatSymbolRefAttr.get(name))  # in quotes where the name needs them
    return f"call {symbol}(" in str(module) or f"= {symbol}" in str(module)


def _return_everything(entry: func.FuncOp) -> None:
    block = entry.entry_block
    operations = list(block.operations)
    values = [
        result
        for operation in operations[:-1]
        for result in operation.operation.results
        if _is_static_tensor(result.type)
    ]
    operations[-1].operation.erase()
    with ir.InsertionPoint(block):
        func.ReturnOp(values)
    kind = ir.FunctionType.get([value.type for value in entry.arguments], [value.type for value in values])
    entry.attributes["function_type"] = ir.TypeAttr.get(kind)
    if "res_attrs" in entry.attributes:
        del entry.attributes["res_attrs"]


def _is_static_tensor(kind: ir.Type) -> bool:
    return (
        isinstance(kind, ir.RankedTensorType) and kind.has_static_shape and str(kind.element_type) in dtypes()
    )


@functools.cache
def dtypes() -> dict[str, numpy.dtype]:
    """numpy's dtype of each of StableHLO's element types."""
    import ml_dtypes

    from torchere.interpreter import NAMES

    return {theirs: numpy.dtype(getattr(ml_dtypes, ours, None) or ours) for ours, theirs in NAMES.items()}


def argument_types(text: str) -> list[tuple[tuple[int, ...], numpy.dtype]]:
    """The shapes and dtypes of main's arguments."""
    with context():
        module = ir.Module.parse(text)  # held, as its ops do not hold it
        kinds = _main(module).type.inputs
        return [(tuple(kind.shape), dtypes()[str(kind.element_type)]) for kind in kinds]


class Plugin:
    """XLA's plugin in a process of its own: some programs crash it. Or another plugin, which JAX knows by
    the platform's name and the variables of the environment."""

    def __init__(self, devices: int = 1, platform: str = "cpu", environment: Mapping[str, str] = {}) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._devices = devices
        self._environment = {PLATFORM: platform, **environment}

    def run(
        self, text: str, calls: Sequence[Sequence[numpy.ndarray]], quick: bool = False
    ) -> list[list[numpy.ndarray]]:
        """What main returns for the arguments of each call. RuntimeError when the plugin refuses the program,
        or crashes."""
        return self._ask(_execute, text, [list(arguments) for arguments in calls], quick)

    def run_parallel(
        self, text: str, grid: tuple[int, int], arguments: Sequence[numpy.ndarray]
    ) -> list[numpy.ndarray]:
        """The result of each process of a grid of replicas and partitions; main takes one argument."""
        return self._ask(_execute_parallel, text, grid, list(arguments))

    def _ask(self, execute: Callable[..., list[Any]], *question: Any) -> list[Any]:
        if self._process is None:
            # None of the environment's.
            flags = f"--xla_force_host_platform_device_count={self._devices} {OLD_INSTRUCTIONS}"
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "XLA_FLAGS": flags, **self._environment},
            )
        try:
            pickle.dump((execute.__name__, *question), self._process.stdin)
            self._process.stdin.flush()
            answer = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError):
            self.close()
            raise RuntimeError("the plugin crashed") from None
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(BrokenPipeError):  # of a question that a crashed process did not take
            process.stdin.close()
        process.stdout.close()
        process.wait()


def _execute(text: str, calls: Sequence[Sequence[numpy.ndarray]], quick: bool) -> list[list[numpy.ndarray]]:
    import jax
    from jax._src import xla_bridge
    from jaxlib import xla_client

    backend = xla_bridge.get_backend(os.environ[PLATFORM])
    device = backend.devices()[0]
    with context():
        bytecode = jax_mlir.module_to_bytecode(ir.Module.parse(text))
    with jax.enable_x64(True):
        devices, options = xla_client.DeviceList((device,)), compile_options(quick)
        executable = backend.compile_and_load(bytecode, devices, options)
        results = _run(executable, device, calls)
        if os.environ.get(STORED) and "stablehlo.rng " not in text:
            try:
                stored = executable.serialize()
            except jax.errors.JaxRuntimeError:  # jaxlib stores only what it can turn into HLO
                return results
            loaded = backend.deserialize_executable(stored, devices, options)
            _check_bits(results, _run(loaded, device, calls))
        return results


def _check_bits(given: list[list[numpy.ndarray]], loaded: list[list[numpy.ndarray]]) -> None:
    for one, other in zip(given, loaded, strict=True):
        if [value.tobytes() for value in one] != [value.tobytes() for value in other]:
            raise RuntimeError("the executable that was stored and loaded gives other bits")


def _run(executable: Any, device: Any, calls: Sequence[Sequence[numpy.ndarray]]) -> list[list[numpy.ndarray]]:
    import jax

    results = [
        executable.execute_sharded([jax.device_put(value, device) for value in arguments])
        for arguments in calls
    ]
    return [
        [numpy.asarray(value[0]) for value in each.disassemble_into_single_device_arrays()]
        for each in results
    ]


def _execute_parallel(
    text: str, grid: tuple[int, int], arguments: Sequence[numpy.ndarray]
) -> list[numpy.ndarray]:
    import jax
    from jax._src import xla_bridge
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    from jaxlib import xla_client

    backend = xla_bridge.get_backend("cpu")
    devices = backend.devices()[: len(arguments)]
    options = compile_options()
    options.num_replicas, options.num_partitions = grid
    options.executable_build_options.use_spmd_partitioning = grid[1] > 1
    options.executable_build_options.num_replicas, options.executable_build_options.num_partitions = grid
    options.device_assignment = xla_client.DeviceAssignment.create(numpy.arange(len(arguments)).reshape(grid))
    with context():
        bytecode = jax_mlir.module_to_bytecode(ir.Module.parse(text))
    with jax.enable_x64(True):
        executable = backend.compile_and_load(bytecode, xla_client.DeviceList(tuple(devices)), options)
        # Each device has its process's argument; to jax they are parts of one array.
        sharding = NamedSharding(Mesh(numpy.array(devices), ("process",)), PartitionSpec("process"))
        parts = [jax.device_put(part, device) for part, device in zip(arguments, devices, strict=True)]
        whole = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
        array = jax.make_array_from_single_device_arrays(whole, sharding, parts)
        (results,) = executable.execute_sharded([array]).disassemble_into_single_device_arrays()
        return [numpy.asarray(result) for result in results]


def _serve() -> None:
    """Answers requests on stdin until it is closed: a list of arrays, or the text of an error."""
    while True:
        try:
            name, *question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Any
        try:
            answer = globals()[name](*question)
        except Exception as error:  # whatever the plugin raises
            answer = f"{type(error).__name__}: {error}"
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
