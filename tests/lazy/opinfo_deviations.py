"""Where the lazy device may differ from the CPU on OpInfo's and ModuleInfo's samples, and why.

An entry whose ops no longer differ, in the run that shows it, fails the suite. Wrong values are not for this
list.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from rows import words

# Of listed ops this many samples are taken in every run, so that a stale entry is seen.
SAMPLES_OF_LISTED = 3


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Calls of some ops whose problem has a text in it."""

    ops: tuple[str, ...]
    text: str
    reason: str
    forms: tuple[str, ...] = ()  # all, if empty
    dtypes: tuple[str, ...] = ()
    plugin: str = "interpreter"  # on which it is seen
    samples: int = 1  # at least so many show it

    def covers(self, row: dict[str, Any]) -> bool:
        return (
            row["op"] in self.ops
            and self.text in row["problem"]
            and (not self.forms or row["form"] in self.forms)
            and (not self.dtypes or row["dtype"] in self.dtypes)
        )

    def stale(self, rows: list[dict[str, Any]]) -> list[str]:
        """Its ops without such a problem."""
        found = {row["op"] for row in rows if row["problem"] and self.covers(row)}
        return [op for op in self.ops if op not in found]


DEVIATIONS = [
    Deviation(
        tuple(words("kthvalue topk mode sort argsort")),
        "differ",
        "which of equal elements an index names is not determined",
        dtypes=("int64", "bfloat16"),
    ),
    Deviation(
        tuple(words("svd linalg.svd linalg.eigh")), "differ", "vectors are determined but for their sign"
    ),
    Deviation(
        ("special.hermite_polynomial_he",),
        "differ",
        "where terms cancel, the order of operations decides about the last digits",
    ),
    Deviation(
        ("special.chebyshev_polynomial_t",),
        "differ",
        "where terms cancel, the order of operations decides about the last digits",
        samples=12,
    ),
    Deviation(
        ("nn.GroupNorm",),
        "differ",
        "of five numbers in a group: errors are three times the CPU's, which are 5e-6 of the gradients",
        samples=12,
    ),
    Deviation(
        ("nn.MultiheadAttention",),
        "differ",
        "inputs' gradients cancel to a hundredth of the weights', of which their errors are a rounding",
        plugin="torchere_cpu",
        samples=12,
    ),
    Deviation(
        ("logit",), "differ", "eager rounds the odds to bfloat16 before their logarithm", dtypes=("bfloat16",)
    ),
    Deviation(("histc",), "differ", "eager computes the bins in bfloat16", dtypes=("bfloat16",)),
    Deviation(
        ("nn.functional.grid_sample", "grid_sampler_2d"),
        "differ",
        "eager computes the places of the samples in the half dtype, here float32 does",
        dtypes=("bfloat16",),
    ),
    Deviation(
        ("grid_sampler_3d",), "differ", "as grid_sampler_2d's places", dtypes=("bfloat16",), samples=12
    ),
    Deviation(("matrix_exp",), "expected nan", "eager overflows in bfloat16", dtypes=("bfloat16",)),
    Deviation(
        ("native_batch_norm", "_native_batch_norm_legit", "native_layer_norm"),
        "got torch.",
        "saved statistics have the types that torch's Meta kernels give them, which differ from the CPU's",
    ),
    Deviation(
        ("index_reduce.mean", "scatter_reduce.mean"),
        "the mean of integers is not supported",
        "the lowering refuses it, with this error at the sync",
        dtypes=("int64",),
    ),
    Deviation(
        ("addbmm",),
        "doesn't match the broadcast shape",
        "eager lets this op resize self in place, unlike its other in-place ops",
        forms=("in-place",),
    ),
    Deviation(("chalf",), "no such dtype on the device", "complex32 has no counterpart in StableHLO"),
    Deviation(("tensor_split",), "to be on cpu", "torch wants these indices on the CPU, on every device"),
    Deviation(
        ("nn.functional.linear_cross_entropy.chunked", "nn.functional.linear_cross_entropy.chunked_none"),
        "writes to a view that it made",
        "torch's own kernel writes to views",
        forms=("function",),
    ),
    Deviation(
        ("nn.LinearCrossEntropyLoss",),
        "writes to a view that it made",
        "torch's own kernel writes to views",
        samples=12,
    ),
    Deviation(
        tuple(f"nn.LazyConv{kind}{rank}d" for kind in ("", "Transpose") for rank in (1, 2, 3)),
        "weight should have at least three dimensions",
        "Module.to makes ordinary parameters of uninitialized ones where the kind of device changes: such a "
        "module is made on the device, by device='xla'",
    ),
    Deviation(
        tuple(words("aminmax complex multinomial")),
        "raises nothing",
        "torch's Meta kernel lets out= have another dtype, where the CPU wants the result's; operands of two "
        "dtypes are promoted; probabilities are not read",
        forms=("error",),
    ),
    Deviation(
        ("__rdiv__",),
        "raises nothing",
        "the call has no tensor: it divides two Python numbers",
        forms=("error",),
    ),
    Deviation(
        ("bucketize", "masked_scatter", "nn.functional.conv3d"),
        "raises nothing",
        "torch's Meta kernel, whose word the device takes, does not check it",
        forms=("error",),
    ),
    Deviation(
        ("_batch_norm_with_update",),
        "isFunctionalTensor",
        "torch's functionalization stops at this op, which only its own kernels call",
    ),
]

# Calls that copy to the host before a result is read, although no op falls back, as they do on any device.
EARLY_READS = {
    **dict.fromkeys(
        words("argwhere bincount combinations masked_select nonzero unique unique_consecutive"),
        "the size of the result is read, which depends on elements",
    ),
    "linspace.tensor_overload": "torch reads the ends",
    "nn.functional.one_hot": "torch reads the greatest class",
    "nn.functional.gaussian_nll_loss": "torch reads whether a variance is negative",
    "nn.GaussianNLLLoss": "torch reads whether a variance is negative",
    "linalg.cholesky": "torch reads whether it failed",
    "linalg.inv": "torch reads whether it failed",
    "linalg.lu_factor": "torch reads whether it failed",
    "linalg.solve": "torch reads whether it failed",
    "linalg.tensorinv": "torch reads whether it failed",
    "linalg.tensorsolve": "torch reads whether it failed",
    "signal.windows.kaiser": "torch reads the shape parameter",
}

# More of them, where there are more samples.
EARLY_READS_OF_MANY = {
    **dict.fromkeys(
        words("__getitem__ index_put repeat_interleave"),
        "the size of the result is read, which depends on elements",
    ),
    **dict.fromkeys(
        (f"nn.BatchNorm{rank}d" for rank in (1, 2, 3)), "torch reads how many batches there were, for a mean"
    ),
    **dict.fromkeys(words("nn.Transformer nn.TransformerEncoder"), "torch reads whether a mask is causal"),
    "linalg.matrix_power": "torch reads whether an inverse failed",
    "narrow": "torch reads a start that is a tensor",
}


def samples_of(op: str, least: int) -> int:
    is_listed = op in EARLY_READS or any(op in deviation.ops for deviation in DEVIATIONS)
    return max(least, SAMPLES_OF_LISTED) if is_listed else least
