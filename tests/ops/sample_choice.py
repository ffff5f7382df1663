"""Which samples of a row the tests take."""

from __future__ import annotations

import functools

import torch
import torch.utils._pytree as pytree
from deviations import deviation
from samples import DTYPES, Sample, evenly, samples

# How many of OpInfo's samples: a row's first dtype (float32 where it has it) stands for the shapes.
SAMPLES_OF_FIRST_DTYPE = 8
SAMPLES_OF_OTHERS = 3
DYNAMIC_SAMPLES = 2


@functools.cache
def first_dtype(row: str) -> torch.dtype | None:
    return next((dtype for dtype in DTYPES if samples(row, dtype, 1)), None)


@functools.cache
def all_samples(row: str) -> list[Sample]:
    """In every dtype that eager torch takes."""
    most = {first_dtype(row): SAMPLES_OF_FIRST_DTYPE}
    return [sample for dtype in DTYPES for sample in samples(row, dtype, most.get(dtype, SAMPLES_OF_OTHERS))]


def grows(tensor: torch.Tensor) -> bool:
    """Torch takes sizes 0 and 1 as constants."""
    return tensor.dim() > 0 and tensor.shape[0] > 1


@functools.cache
def dynamic_samples(row: str) -> list[Sample]:
    """A few samples in the row's first dtype with a tensor that can grow."""
    dtype = first_dtype(row)
    found = [s for s in samples(row, dtype, 6) if not deviation(s)] if dtype else []
    return evenly([s for s in found if any(map(grows, given_tensors(s)))], DYNAMIC_SAMPLES)


def given_tensors(sample: Sample) -> list[torch.Tensor]:
    leaves = pytree.tree_leaves((sample.args, sample.kwargs))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
