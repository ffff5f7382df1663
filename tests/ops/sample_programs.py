"""Programs of many samples: exported, run and compared with eager torch, and taken apart when one fails.

What runs them is the package's CPU engine or the interpreter or, a hundred times as slow, XLA's CPU compiler.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
import torch.utils._pytree as pytree
from factorizations import equations
from rows import words
from samples import Sample, tensors_of

import torchere
from torchere import _core, plugins
from torchere.interpreter import interpret

# Rounding errors of contractions and sums grow with the terms, which may cancel: they are measured against
# the largest magnitude of the result instead of each element's own.
ACCUMULATING = set(
    words(
        """sum mean prod var std mm bmm addmm baddbmm matmul linear convolution conv1d conv2d conv3d
        scaled_dot_product_attention layer_norm native_layer_norm native_group_norm
        _native_batch_norm_legit_no_training
        _native_batch_norm_legit_functional _native_batch_norm_legit rms_norm avg_pool1d avg_pool2d avg_pool3d
        adaptive_avg_pool1d _adaptive_avg_pool2d adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool3d
        nll_loss_forward nll_loss2d_forward cumsum logcumsumexp var_mean std_mean _log_softmax log_softmax
        einsum gelu lstm gru rnn_tanh rnn_relu upsample_linear1d upsample_bilinear2d upsample_trilinear3d
        upsample_bicubic2d conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
        addmv addbmm lerp _grouped_mm grouped_mm_fallback _scaled_mm _weight_int8pack_mm col2im
        grid_sampler_2d grid_sampler_3d _embedding_bag _embedding_bag_forward_only embedding_bag
        _upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa group_norm _trilinear
        bartlett_window hann_window hamming_window blackman_window linalg_inv linalg_solve cholesky
        linalg_cholesky cholesky_solve cholesky_inverse linalg_solve_triangular triangular_solve
        linalg_lu_solve linalg_pinv linalg_matrix_exp linalg_householder_product ormqr linalg_tensorinv
        _fft_c2r unfold_backward mse_loss binary_cross_entropy _softmax_backward_data
        _log_softmax_backward_data"""
    )
)


class _Calls(torch.nn.Module):
    """Calls every sample's function; the tensors among the arguments are the inputs, in order."""

    def __init__(self, samples: list[Sample]):
        super().__init__()
        self.calls = [(s.function, *pytree.tree_flatten((s.args, s.kwargs))) for s in samples]

    def forward(self, *tensors: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], ...]:
        inputs = iter(tensors)
        results = []
        for function, leaves, spec in self.calls:
            filled = [next(inputs) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            args, kwargs = pytree.tree_unflatten(filled, spec)
            results.append(tuple(tensors_of(function(*args, **kwargs))))
        return tuple(results)


def inputs_of(samples: list[Sample]) -> tuple[torch.Tensor, ...]:
    """Each its own tensor: torch merges inputs that are one object."""
    leaves = pytree.tree_leaves([(s.args, s.kwargs) for s in samples])
    return tuple(_separate(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor))


def _separate(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that keeps the strides, also of expanded and strided views. It is no view itself, for which
    torch.export would take twice the time."""
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    if tensor.numel():
        steps = zip(tensor.shape, tensor.stride(), strict=True)
        span = sum((size - 1) * stride for size, stride in steps) + 1
        copy.as_strided((span,), (1,)).copy_(tensor.as_strided((span,), (1,), tensor.storage_offset()))
    return copy


# Calls a program: all results of the samples, one after the other.
Runner = Callable[[torchere.StableHLOProgram, tuple[torch.Tensor, ...]], list[torch.Tensor]]


def interpreted(program: torchere.StableHLOProgram, inputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """By the interpreter: the function takes the constants of the module as arguments, as the bundle says."""
    bundle = program._bundle
    taken = []
    for location in bundle.stablehlo_funcs[0].meta.input_locations:
        is_constant = location.type_.name == "CONSTANT"
        taken.append((bundle.additional_constants if is_constant else inputs)[location.position])
    return [_from_numpy(a) for a in interpret(program.get_stablehlo_text(), *map(_to_numpy, taken))]


def _to_numpy(value: Any) -> np.ndarray:
    tensor = torch.as_tensor(value).resolve_conj().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _from_numpy(array: np.ndarray) -> torch.Tensor:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.tensor(array.view(np.int16)).view(torch.bfloat16)
    return torch.tensor(array)


# What these give has as many elements as their data says, so that XLA refuses it.
_SIZED_BY_DATA = set(
    words(
        """nonzero argwhere nonzero_numpy masked_select _unique2 unique_dim unique_consecutive
        repeat_interleave bincount"""
    )
)


def is_sized_by_data(sample: Sample) -> bool:
    is_masked = sample.row == "aten.index.Tensor" and any(
        isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8)
        for index in sample.args[1]
    )
    return is_masked or sample.row == "aten.where.default" or sample.row.split(".")[1] in _SIZED_BY_DATA


def on_plugin(program: torchere.StableHLOProgram, name: str) -> torchere.StableHLOProgram:
    """The same program, on another plugin."""
    assert plugins.find(name).name == name, f"not installed: {name}"  # "cpu" would mean the engine
    other = copy.copy(program)
    other._session = _core.Session(plugins.client(name), program._core_bundle)
    return other


def on_interpreter(program: torchere.StableHLOProgram) -> torchere.StableHLOProgram:
    return on_plugin(program, "interpreter")


def engine(program: torchere.StableHLOProgram, inputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """By the package's own engine, the default plugin."""
    return tensors_of(on_plugin(program, "torchere_cpu")(*inputs))


def xla(program: torchere.StableHLOProgram, inputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """By XLA's compiler."""
    return tensors_of(on_plugin(program, "cpu")(*inputs))


# For tests: by the interpreter and the engine, on one capture, which takes most of the time; in a sweep by
# XLA as well.
OURS: tuple[Runner, ...] = (interpreted, engine)
RUNNERS = pytest.mark.parametrize(
    "runs", [pytest.param(OURS, id="ours"), pytest.param((xla,), id="xla", marks=pytest.mark.sweep)]
)


def problems_of(samples: list[Sample], runs: tuple[Runner, ...]) -> list[list[str]]:
    """What is wrong with each sample; one that keeps the program from being made is found by halving."""
    if not samples:
        return []
    try:
        results, ops = _run(samples, runs)
    except Exception as error:
        if len(samples) == 1:
            return [[f"{type(error).__name__}: {error}"]]
        half = len(samples) // 2
        return problems_of(samples[:half], runs) + problems_of(samples[half:], runs)
    problems = []
    for sample, got in zip(samples, results, strict=True):
        found = [
            f"{run.__name__}: {text}"
            for run, each in zip(runs, got, strict=True)
            for text in differences(sample, each)
        ]
        if sample.row not in ops:
            found.append(f"the program has not the row's op, but only {sorted(ops)}")
        problems.append(found)
    return problems


def check(samples: list[Sample], runs: tuple[Runner, ...]) -> None:
    """Fails with what is wrong with each sample."""
    sized = [sample for sample in samples if xla in runs and is_sized_by_data(sample)]
    fixed = [sample for sample in samples if not (xla in runs and is_sized_by_data(sample))]
    problems = zip(fixed + sized, problems_of(fixed, runs) + problems_of(sized, (interpreted,)), strict=True)
    if text := "\n".join(f"{sample}: {'; '.join(found)}" for sample, found in problems if found):
        pytest.fail(text, pytrace=False)


def exported(samples: list[Sample], dynamic_shapes: Any = None) -> torch.export.ExportedProgram:
    """torch's program of the samples."""
    calls = _Calls(samples).eval()
    return torch.export.export(calls, inputs_of(samples), dynamic_shapes=dynamic_shapes)


def _run(
    samples: list[Sample], runs: tuple[Runner, ...]
) -> tuple[list[tuple[list[torch.Tensor], ...]], set[str]]:
    """Each sample's results by each runner, and the names of the ops that the program held when it was
    captured, or holds as it is lowered."""
    captured = exported(samples)
    program = torchere.export(captured, checks=False)  # whoever runs the module gets every result
    ops = set(program.program.count_ops()) | {str(node.target) for node in captured.graph.nodes}
    counts = [len(sample.expected()) for sample in samples]
    ends = list(itertools.accumulate(counts))
    by_runner = []
    for run in runs:
        results = run(program, inputs_of(samples))
        if len(results) != ends[-1]:
            raise ValueError(f"{run.__name__}: {len(results)} results, eager has {ends[-1]}")
        by_runner.append([results[end - count : end] for end, count in zip(ends, counts, strict=True)])
    return list(zip(*by_runner, strict=True)), ops


def differences(sample: Sample, got: list[torch.Tensor]) -> list[str]:
    expected = sample.expected()
    if len(got) != len(expected):
        return [f"{len(got)} results, eager has {len(expected)}"]
    found = [type_difference(g, e) for g, e in zip(got, expected, strict=True)]
    if not any(found):
        if (judged := equations(sample, got)) is not None:
            unequal = [(name, difference(g, e, accumulates=True)) for name, g, e in judged]
            return [f"{name}: {text}" for name, text in unequal if text]
        name = sample.row.split(".")[1]
        accumulates = name in ACCUMULATING or name.endswith("_backward")  # gradients are sums
        found = [difference(g, e, accumulates) for g, e in zip(got, expected, strict=True)]
    return [f"result {index}: {text}" for index, text in enumerate(found) if text]


@functools.cache
def tolerances(dtype: torch.dtype) -> tuple[float, float]:
    """Relative and absolute: two units in the last place for half precision, more for the longer types."""
    info = torch.finfo(dtype)
    relative = {torch.float32: 1e-5, torch.float64: 1e-12}.get(dtype, 2 * info.eps)
    return (
        relative,
        4 * info.smallest_normal if dtype != torch.float16 else 4 * info.smallest_normal * info.eps,
    )


def type_difference(got: torch.Tensor, expected: torch.Tensor) -> str:
    """Empty when both have one dtype and shape."""
    if got.dtype == expected.dtype and got.shape == expected.shape:
        return ""
    return f"got {got.dtype} {list(got.shape)}, expected {expected.dtype} {list(expected.shape)}"


def difference(got: torch.Tensor, expected: torch.Tensor, accumulates: bool) -> str:
    """Empty when `got` has the dtype, shape and values of `expected`: integers and bools exactly, NaN as NaN,
    infinities as such, numbers within the dtype's tolerance."""
    if text := type_difference(got, expected):
        return text
    if expected.is_complex():
        got, expected = torch.view_as_real(got.resolve_conj()), torch.view_as_real(expected.resolve_conj())
        accumulates = True
    if not expected.is_floating_point():
        wrong = got != expected
        return _describe(wrong, got, expected) if wrong.any() else ""
    relative, absolute = tolerances(expected.dtype)
    g, e = got.double(), expected.double()
    finite = e.isfinite()
    scale = e.abs()
    if accumulates and finite.any():
        scale = torch.where(finite, scale, 0).max()
    wrong = torch.where(
        finite, (g - e).abs() > relative * scale + absolute, (g != e) & ~(g.isnan() & e.isnan())
    )
    wrong |= finite & ~g.isfinite()
    return _describe(wrong, got, expected) if wrong.any() else ""


def _describe(wrong: torch.Tensor, got: torch.Tensor, expected: torch.Tensor) -> str:
    where = tuple(wrong.nonzero()[0].tolist())
    return (
        f"{int(wrong.sum())} of {wrong.numel()} differ, first at {list(where)}: "
        f"got {got[where].item()!r}, expected {expected[where].item()!r}"
    )
