"""The ops of src/lazy/ops.yaml, with samples, on the lazy device and on the CPU."""

from __future__ import annotations

import functools
from pathlib import Path

import torch
import torch.utils._pytree as pytree
import yaml
from deviations import deviation
from rows import overload
from sample_programs import differences
from samples import Sample, samples, tensors_of

from torchere import lazy

TABLE = Path(__file__).parent.parent.parent / "src/lazy/ops.yaml"
# By op, the arguments whose numbers are operands of the traced program.
NUMBERS = yaml.safe_load((TABLE.parent / "number_operands.yaml").read_text())


@functools.cache
def full_codegen() -> list[str]:
    return yaml.safe_load(TABLE.read_text())["full_codegen"]


@functools.cache
def compared_ops() -> list[str]:
    """Those whose results the CPU gives too; random_test.py has the others."""
    return [op for op in full_codegen() if torch.Tag.nondeterministic_seeded not in overload_of(op).tags]


@functools.cache
def drawing_ops() -> list[str]:
    """The names of those that draw random numbers."""
    return sorted({op.partition(".")[0] for op in set(full_codegen()) - set(compared_ops())})


def row_of(op: str) -> str:
    """The row of the op table that lowers an op of ops.yaml: "aten.add.Tensor"."""
    packet, _, name = op.partition(".")
    if torch.Tag.view_copy in overload_of(op).tags and op != "narrow_copy":  # narrow is taken apart
        packet = packet.replace("_copy", "", 1)
    return f"aten.{packet}.{name or 'default'}"


def overload_of(op: str) -> torch._ops.OpOverload:
    packet, _, name = op.partition(".")
    return overload(f"aten.{packet}.{name or 'default'}")


def samples_of(op: str, dtype: torch.dtype, most: int) -> list[Sample]:
    return [sample for sample in samples(row_of(op), dtype, most) if not deviation(sample)][:most]


def on_device(sample: Sample) -> list[torch.Tensor]:
    """The results of the sample's function on the device, not yet computed."""
    args, kwargs = pytree.tree_map_only(
        torch.Tensor, lambda tensor: tensor.to("xla"), (sample.args, sample.kwargs)
    )
    if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves((args, kwargs))):
        kwargs = {**kwargs, "device": "xla"}
    results = tensors_of(sample.function(*args, **kwargs))
    if elsewhere := {str(result.device) for result in results} - {"xla:0"}:
        raise RuntimeError(f"results on {elsewhere}, expected xla:0")
    return results


def problems_of(chosen: list[Sample]) -> list[list[str]]:
    """What is wrong with each sample: its results, and ops that were computed on the CPU."""
    traced: list[list[torch.Tensor] | str] = []
    fallbacks = []
    for sample in chosen:
        lazy.reset_counters()
        try:
            traced.append(on_device(sample))
        except Exception as error:
            traced.append(f"{type(error).__name__}: {error}")
        fallbacks.append(sorted(name for name in lazy.counters() if name.startswith("aten::")))
    try:
        lazy.sync()
    except RuntimeError as error:
        if len(chosen) == 1:
            return [[f"RuntimeError: {error}"]]
        half = len(chosen) // 2
        del traced  # what failed stays failed
        return problems_of(chosen[:half]) + problems_of(chosen[half:])
    problems = []
    for sample, results, used in zip(chosen, traced, fallbacks, strict=True):
        found = [f"computed on the CPU: {name}" for name in used]
        if isinstance(results, str):
            found.append(results)
        else:
            found += differences(sample, [result.cpu() for result in results])
        problems.append(found)
    return problems


# By torch's own Meta kernels, whose word the device takes, saved statistics have another shape or dtype than
# on the CPU, which leaves them empty in inference, and keeps them in half precision.
_SAVED_STATISTICS = (
    "aten._native_batch_norm_legit.no_stats",
    "aten._native_batch_norm_legit_no_training.default",
    "aten.native_layer_norm.default",
)


def differing_result(complaint: str) -> bool:
    """Whether a complaint is about saved statistics alone."""
    return any(row in complaint for row in _SAVED_STATISTICS) and "result 0" not in complaint
