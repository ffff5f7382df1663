"""PyTorch/XLA's names that are not here: what errors say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

_SEVERAL_PROCESSES = "it is for several processes or replicas"
_SPMD = "it is for tensors that are sharded over devices"
_INTERNAL = "it is about PyTorch/XLA's own runtime"

#: module -> name -> why it is not here.
NAMES: dict[str, dict[str, str]] = {
    "": {},
    "amp": {
        "GradScaler": "bfloat16 needs no scaling",
        "syncfree": "torch.optim's optimizers read nothing back",
    },
    "core.xla_model": {
        **dict.fromkeys(
            (
                "all_gather",
                "all_gather_bucketized",
                "all_reduce_bucketized_gradients",
                "all_to_all",
                "collective_broadcast",
                "collective_permute",
                "recv",
                "reduce_scatter",
                "reduce_scatter_bucketized",
                "send",
                "set_replication",
                "xla_replication_devices",
            ),
            _SEVERAL_PROCESSES,
        ),
        "optimization_barrier_": _INTERNAL,
        "check_view_sharing": _INTERNAL,
        "get_memory_info": "PJRT's statistics of devices are not read",
        "parse_xla_device": _INTERNAL,
    },
    "debug.metrics": {},
    "distributed.parallel_loader": {"ParallelLoader": "MpDeviceLoader does the same"},
    "runtime": {
        "get_master_ip": _SEVERAL_PROCESSES,
        "get_num_cached_compilation_graph": _INTERNAL,
        "use_spmd": _SPMD,
    },
}

#: Modules of PyTorch/XLA, and with each those below it.
MODULES: dict[str, str] = {
    "amp": "torch.optim's optimizers read nothing back",
    "core.dynamo_bridge": "there is no backend for torch.compile",
    "core.functions": _SEVERAL_PROCESSES,
    "core.xla_builder": "programs are written in PyTorch, or as StableHLO text",
    "core.xla_env_vars": _INTERNAL,
    "core.xla_op_registry": _INTERNAL,
    "debug.graph_saver": _INTERNAL,
    "debug.metrics_compare_utils": _INTERNAL,
    "debug.metrics_saver": _INTERNAL,
    "debug.model_comparator": "program.verify() compares with eager PyTorch",
    "debug.profiler": "torch.profiler shows the device's work",
    "distributed.fsdp": _SPMD,
    "distributed.spmd": _SPMD,
    "distributed.tensor_parallel": _SPMD,
    "distributed.xla_backend": _SEVERAL_PROCESSES,
    "distributed.xla_multiprocessing": _SEVERAL_PROCESSES,
    "distributed.zero_redundancy_optimizer": _SPMD,
    "experimental.assume_pure": _INTERNAL,
    "experimental.custom_kernel": "torchere.register_lowering() adds a lowering of an op",
    "experimental.distributed_checkpoint": _SEVERAL_PROCESSES,
    "experimental.eager": "the device has no eager mode",
    "experimental.fori_loop": "torch.while_loop is exported as a loop",
    "experimental.pjrt": "torch_xla.runtime has its names",
    "experimental.plugins": "plugins are found as docs/plugins.md says",
    "experimental.scan": "torch.while_loop is exported as a loop",
    "experimental.xla_sharding": _SPMD,
    "test": _INTERNAL,
    "utils.checkpoint": "torch.utils.checkpoint works on the device",
    "utils.serialization": "torch.save works on the device",
    "utils.utils": _INTERNAL,
}


def module_reason(name: str) -> str | None:
    """Why PyTorch/XLA's module of that name ("distributed.fsdp.wrap") is not here; None for other names."""
    while name:
        if name in MODULES:
            return MODULES[name]
        name = name.rpartition(".")[0]
    return None


def lookup(module: str, name: str) -> NoReturn:
    """Raises the error for a name that a module ("core.xla_model") does not have."""
    qualified = f"torch_xla.{module}.{name}" if module else f"torch_xla.{name}"
    reason = NAMES[module].get(name)
    because = f"{reason}; " if reason else ""
    raise AttributeError(
        f"[{qualified}] torchere has no such name of PyTorch/XLA's: {because}docs/torch_xla.md has those "
        "that it has",
        name=name,
    )


def getter(module: str) -> Callable[[str], Any]:
    """The __getattr__ of a module."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):  # Python's own questions
            raise AttributeError(f"module 'torchere.{module}' has no attribute {name!r}", name=name)
        lookup(module, name)

    return __getattr__
