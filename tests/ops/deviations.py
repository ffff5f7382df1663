"""Where a row may differ from eager torch, each with its reason. One without a failing sample fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
from rows import schemas, words
from samples import Sample

# Rows whose results are random: random_numbers_test.py compares their stream with Threefry's definition, and
# their distributions with what they shall be. torch's own numbers are others.
RANDOM = frozenset(
    f"aten.{row}"
    for row in words(
        """rand.default rand.generator rand_like.default rand_like.generator randn.default randn.generator
        randn_like.default randn_like.generator randint.default randint.generator randint.low
        randint.low_generator randint_like.default randint_like.generator randint_like.low_dtype
        randint_like.low_generator_dtype randperm.default randperm.generator uniform.default
        normal_functional.default normal.Tensor_float normal.float_Tensor normal.Tensor_Tensor
        normal.float_float log_normal.default exponential.default cauchy.default random.default random.to
        geometric.default bernoulli.default bernoulli.p bernoulli.Tensor dropout.default
        multinomial.default"""
    )
)


def compared_rows() -> list[str]:
    """The rows that samples compare with eager torch."""
    return sorted(set(schemas()) - RANDOM)


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Samples of some rows that are known to differ."""

    rows: tuple[str, ...]  # "add.Tensor", without "aten."
    reason: str
    when: Callable[[Sample], bool] = lambda sample: True

    def takes(self, row: str) -> bool:
        return row.removeprefix("aten.") in self.rows

    def covers(self, sample: Sample) -> bool:
        return self.takes(sample.row) and self.when(sample)

    def __str__(self) -> str:
        return f"{self.rows[0]}: {self.reason}"


def tensors(sample: Sample) -> list[torch.Tensor]:
    return [arg for arg in sample.args if isinstance(arg, torch.Tensor)]


def has_complex(sample: Sample) -> bool:
    return any(tensor.is_complex() for tensor in tensors(sample))


def has_dtype(*dtypes: torch.dtype) -> Callable[[Sample], bool]:
    return lambda sample: any(tensor.dtype in dtypes for tensor in tensors(sample))


def has_below(bound: float) -> Callable[[Sample], bool]:
    return lambda sample: any(bool((tensor < bound).any()) for tensor in tensors(sample))


def has_equals(sample: Sample) -> bool:
    return any(tensor.unique().numel() < tensor.numel() for tensor in tensors(sample))


def has_more_memory(sample: Sample) -> bool:
    return any(t.untyped_storage().nbytes() > t.numel() * t.itemsize for t in tensors(sample))


DEVIATIONS: list[Deviation] = [
    Deviation(
        ("unique_consecutive.default",),
        "torch's meta kernel takes a dimension below 0 for another one, and promises results that its CPU "
        "kernel leaves empty for a row",
        lambda sample: (
            sample.kwargs.get("dim") is not None and (sample.kwargs["dim"] < 0 or sample.args[0].dim() == 1)
        ),
    ),
    Deviation(
        ("as_strided.default", "as_strided_scatter.default"),
        "the memory around a tensor, from which it was cut, is no part of the program",
        has_more_memory,
    ),
    Deviation(
        ("div.Tensor_mode",),
        "XLA keeps the quotient of float16 in float32, so it is not rounded before its fraction is cut",
        has_dtype(torch.float16),
    ),
    Deviation(
        ("gelu.default",),
        "far from zero 1 + erf(x) cancels in eager, by more than the tolerance; and eager gives NaN for -inf",
        has_below(-2.0),
    ),
    Deviation(
        ("_native_batch_norm_legit_functional.default",),
        "torch's meta kernel promises float32 statistics where its CPU kernel gives the half dtype",
        has_dtype(torch.float16, torch.bfloat16),
    ),
    Deviation(
        tuple(f"special_bessel_{name}.default" for name in ("j0", "j1", "y0", "y1")),
        "eager has but eight digits beyond 5",
        has_dtype(torch.float64),
    ),
    Deviation(
        ("polygamma.default",),
        "eager's first derivative has ten digits, and its others are rounded to float16 in between",
        lambda sample: (
            (sample.args[0] == 1 and has_dtype(torch.float64)(sample)) or has_dtype(torch.float16)(sample)
        ),
    ),
    Deviation(
        ("logcumsumexp.default",), "complex operands are refused, with an error that says so", has_complex
    ),
    *(
        Deviation((f"{row}.default",), "equals keep their order, which eager does not care about", has_equals)
        for row in ("sort", "topk", "kthvalue")
    ),
    *(
        Deviation(
            (f"{row}.default",),
            "eager adds up in the half dtype itself, here float32 does",
            has_dtype(torch.float16, torch.bfloat16),
        )
        for row in ("adaptive_avg_pool3d", "_adaptive_avg_pool3d")
    ),
    Deviation(
        ("scatter_reduce.two",),
        "the mean of integers or complex numbers is refused, with an error that says so",
        lambda sample: "mean" in sample.args,
    ),
    Deviation(
        ("_upsample_bilinear2d_aa.default", "_upsample_bilinear2d_aa.vec"),
        "integers are refused, with an error that says so",
        has_dtype(torch.uint8),
    ),
    *(
        Deviation(
            (f"grid_sampler_{rank}d.default",),
            "eager computes the places of the samples in the half dtype, here float32 does",
            has_dtype(torch.float16, torch.bfloat16),
        )
        for rank in (2, 3)
    ),
    Deviation(
        ("linspace.default",),
        "eager rounds every step to the half dtype, here float32 is rounded once",
        lambda sample: sample.dtype in (torch.float16, torch.bfloat16),
    ),
    Deviation(
        ("index_reduce.default",),
        "the mean of integers is refused, with an error that says so",
        lambda sample: "mean" in sample.args and not sample.dtype.is_floating_point,
    ),
    *(
        Deviation((f"where.{form}",), "torch.export itself refuses a uint8 condition", has_dtype(torch.uint8))
        for form in ("self", "ScalarOther", "ScalarSelf", "Scalar")
    ),
    Deviation(
        ("pow.Tensor_Scalar",),
        "eager gives inf for float16's (-inf) ** 0.5, and NaN elsewhere",
        has_dtype(torch.float16),
    ),
]


def deviation(sample: Sample) -> Deviation | None:
    """The entry that covers the sample."""
    return next((entry for entry in DEVIATIONS if entry.covers(sample)), None)


# What rows refuse where a size that counts is known only at run time, by a part of their errors.
STATIC_SIZES: dict[str, str] = dict.fromkeys(
    ("_fft_c2c.default", "_fft_r2c.default", "_fft_c2r.default"), "the size of a transformed dimension"
)
