"""Samples of rows that factor matrices or solve systems: without elements, of every shape, singular ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from sample_values import Call, drawn

_COMPUTED = (torch.float32, torch.float64, torch.complex64, torch.complex128)
_SHAPES = [(5, 5), (6, 3), (3, 6), (2, 3, 4, 4)]
_EDGES = [(1, 1), (4, 1), (1, 4), (0, 0), (0, 3), (3, 0), (0, 3, 3)]


def rectangular(dtype: torch.dtype) -> Iterator[Call]:
    if dtype not in _COMPUTED:
        return
    for shape in _SHAPES:
        yield (drawn(dtype, *shape),), {}, None
    if dtype != torch.float32:  # the edges of shapes are those of every dtype
        return
    for shape in _EDGES:
        yield (drawn(dtype, *shape),), {}, None
    yield (drawn(dtype, 6, 4).T,), {}, None
    yield (drawn(dtype, 6, 8)[::2, ::2],), {}, None


def square(dtype: torch.dtype) -> Iterator[Call]:
    for call in rectangular(dtype):
        shape = call[0][0].shape
        if shape[-1] == shape[-2]:
            yield call


def well_conditioned(dtype: torch.dtype) -> Iterator[Call]:
    """What has an inverse that rounding errors leave alone."""
    for (values,), _, _ in rectangular(dtype):
        yield (values + 20 * torch.eye(*values.shape[-2:], dtype=dtype),), {}, None


def invertible(dtype: torch.dtype) -> Iterator[Call]:
    for call in well_conditioned(dtype):
        shape = call[0][0].shape
        if shape[-1] == shape[-2]:
            yield call


def invertible_tensors(dtype: torch.dtype) -> Iterator[Call]:
    if dtype in _COMPUTED:
        ones = 20 * torch.eye(6, dtype=dtype)
        yield ((drawn(dtype, 6, 6) + ones).reshape(2, 3, 6),), {}, None
        yield ((drawn(dtype, 6, 6) + ones).reshape(6, 3, 2),), {"ind": 1}, None


def rank_one(dtype: torch.dtype, rows: int, columns: int) -> torch.Tensor:
    """Exactly: products of small integers."""
    left = torch.arange(1, rows + 1).to(dtype)
    return left.unsqueeze(1) * torch.arange(1, columns + 1).to(dtype)


def singular(dtype: torch.dtype) -> Iterator[Call]:
    """A zero matrix, and a batch of which the second is one."""
    yield from invertible(dtype)
    if dtype in _COMPUTED:
        yield (torch.zeros(3, 3, dtype=dtype),), {}, None
        batch = drawn(dtype, 3, 4, 4) + 20 * torch.eye(4, dtype=dtype)
        batch[1] = 0
        yield (batch,), {}, None


def hermitian(dtype: torch.dtype) -> Iterator[Call]:
    """Of either triangle, without vectors, with equal eigenvalues, of one size and of another."""
    for (values,), _, _ in square(dtype):
        yield (values,), {}, None
        yield (values, "U"), {}, None
    if dtype in _COMPUTED:
        yield (drawn(dtype, 4, 4), "L", False), {}, None
        yield (torch.zeros(3, 3, dtype=dtype),), {}, None
        yield (torch.ones(5, 5, dtype=dtype),), {}, None
        yield (torch.eye(4, dtype=dtype) * 3,), {}, None
        far = drawn(dtype, 2, 4, 4)
        far[1] *= 1e-25
        yield (far,), {}, None
        yield (drawn(dtype, 4, 4) * 1e25,), {}, None


def svd(dtype: torch.dtype) -> Iterator[Call]:
    """Full and reduced, values alone, with a rank below the size."""
    for (values,), _, _ in rectangular(dtype):
        for full in (False, True):
            yield (values, full), {}, None
        yield (values, False, False), {}, None
    if dtype in _COMPUTED:
        for low in (rank_one(dtype, 5, 4), rank_one(dtype, 3, 5), torch.zeros(4, 3, dtype=dtype)):
            yield (low, True), {}, None
            yield (low, False), {}, None
        yield (torch.eye(4, dtype=dtype),), {}, None
        yield (drawn(dtype, 5, 4) * 1e-25,), {}, None
        yield (drawn(dtype, 5, 4) * 1e25,), {}, None


def qr(dtype: torch.dtype) -> Iterator[Call]:
    for (values,), _, _ in rectangular(dtype):
        for mode in ("reduced", "complete", "r"):
            yield (values, mode), {}, None
    if dtype in _COMPUTED:
        yield (rank_one(dtype, 5, 4),), {}, None
        yield (torch.zeros(4, 3, dtype=dtype), "complete"), {}, None
        yield (drawn(dtype, 5, 4) * 1e-25,), {}, None
        yield (drawn(dtype, 5, 4) * 1e25,), {}, None


def positive(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    values = drawn(dtype, *shape)
    return values @ values.mH + torch.eye(shape[-1], dtype=dtype)


def cholesky(dtype: torch.dtype) -> Iterator[Call]:
    """Of either triangle: the other is not read."""
    if dtype not in _COMPUTED:
        return
    for shape in [(4, 4), (2, 3, 3), (1, 1), (0, 0), (0, 3, 3)]:
        values = positive(dtype, *shape)
        yield (values,), {}, None
        yield (values.triu(),), {"upper": True}, None


def cholesky_with_info(dtype: torch.dtype) -> Iterator[Call]:
    yield from cholesky(dtype)
    if dtype in _COMPUTED:
        batch = positive(dtype, 4, 3, 3)
        batch[1, 1, 1] = -1
        batch[2] = 0
        yield (batch,), {}, None


def systems(dtype: torch.dtype) -> Iterator[Call]:
    """Vectors and matrices, from both sides, one system for many and many for one."""
    if dtype not in _COMPUTED:
        return
    a = drawn(dtype, 4, 4)
    yield (a, drawn(dtype, 4)), {}, None
    yield (a, drawn(dtype, 4, 2)), {}, None
    yield (a, drawn(dtype, 2, 4)), {"left": False}, None
    yield (a, drawn(dtype, 3, 4, 2)), {}, None
    yield (drawn(dtype, 3, 4, 4), drawn(dtype, 4, 2)), {}, None
    yield (drawn(dtype, 3, 4, 4), drawn(dtype, 3, 4)), {}, None
    yield (drawn(dtype, 2, 1, 3, 3), drawn(dtype, 4, 3, 1)), {}, None
    yield (drawn(dtype, 0, 0), drawn(dtype, 0, 2)), {}, None
    yield (drawn(dtype, 3, 3), drawn(dtype, 3, 0)), {}, None


def triangles(dtype: torch.dtype) -> Iterator[Call]:
    """Whole matrices: the other triangle is not read, nor a diagonal of ones."""
    if dtype not in _COMPUTED:
        return
    for upper in (False, True):
        for ones in (False, True):
            options = {"upper": upper, "unitriangular": ones}
            yield (drawn(dtype, 4, 4), drawn(dtype, 4, 2)), options, None
            yield (drawn(dtype, 4, 4), drawn(dtype, 2, 4)), {"left": False, **options}, None
            yield (drawn(dtype, 2, 1, 3, 3), drawn(dtype, 4, 3, 2)), options, None
    yield (drawn(dtype, 0, 0), drawn(dtype, 0, 2)), {"upper": True}, None


def old_triangles(dtype: torch.dtype) -> Iterator[Call]:
    for (matrices, right), options, _ in triangles(dtype):
        if "left" not in options:
            yield (right, matrices), options, None
            yield (right, matrices), {"transpose": True, **options}, None


def factored_systems(dtype: torch.dtype) -> Iterator[Call]:
    for (matrices, right), options, _ in systems(dtype):
        if right.dim() > 1 and right.shape != matrices.shape[:-1]:
            factors = torch.linalg.lu_factor(matrices)
            for adjoint in (False, True):
                yield (*factors, right), {"adjoint": adjoint, **options}, None


def unpacked(dtype: torch.dtype) -> Iterator[Call]:
    for (values,), _, _ in rectangular(dtype):
        yield tuple(torch.linalg.lu_factor(values)), {}, None
    if dtype in _COMPUTED:
        factors = tuple(torch.linalg.lu_factor(drawn(dtype, 4, 3)))
        yield factors, {"unpack_data": False}, None
        yield factors, {"unpack_pivots": False}, None


def reflected(dtype: torch.dtype) -> Iterator[Call]:
    for left in (False, True):
        for transpose in (False, True):
            for (values,), _, _ in rectangular(dtype):
                if values.dim() > 2 or values.numel() == 0:
                    continue
                factors = torch.geqrf(values)
                rows = values.shape[0]
                other = drawn(dtype, rows, 2) if left else drawn(dtype, 2, rows)
                yield (*factors, other, left, transpose), {}, None


def pseudoinverse(dtype: torch.dtype) -> Iterator[Call]:
    yield from well_conditioned(dtype)
    if dtype not in _COMPUTED:
        return
    real = torch.empty(0, dtype=dtype).real.dtype
    values = drawn(dtype, 2, 4, 3)
    yield (rank_one(dtype, 4, 3),), {}, None
    yield (values,), {"atol": torch.tensor([0.5, 0.0], dtype=real)}, None
    yield (values,), {"rtol": torch.tensor(0.3, dtype=real)}, None
    yield (values,), {"atol": torch.tensor(1.0, dtype=real), "rtol": torch.tensor(0.1, dtype=real)}, None
    # Of a condition number of a few: at 130, eager PyTorch's own float32 is off by 1.2e-5, ours by 2e-6.
    definite = positive(dtype, 2, 3, 3) + 100 * torch.eye(3, dtype=dtype)
    yield (definite,), {"hermitian": True}, None
    yield (rank_one(dtype, 3, 3),), {"hermitian": True}, None


def general(dtype: torch.dtype) -> Iterator[Call]:
    """With eigenvalues that are equal, of one magnitude, zero, and far apart within a batch."""
    yield from square(dtype)
    if dtype not in _COMPUTED:
        return
    cycle = torch.eye(6, dtype=dtype).roll(1, 0)
    for values in (cycle, torch.zeros(3, 3, dtype=dtype), drawn(dtype, 5, 5).triu(), rank_one(dtype, 4, 4)):
        yield (values,), {}, None
    batch = drawn(dtype, 3, 7, 7)
    batch[1] *= 1e-6
    batch[2] = torch.eye(7, dtype=dtype)
    yield (batch,), {}, None


def exponents(dtype: torch.dtype) -> Iterator[Call]:
    """Of norms that differ within a batch."""
    for (values,), _, _ in square(dtype):
        yield (values * 0.3,), {}, None
    if dtype in _COMPUTED:
        batch = drawn(dtype, 3, 4, 4) / 9
        batch[1] *= 1e-3
        batch[2] *= 4
        yield (batch,), {}, None
        yield (torch.zeros(3, 3, dtype=dtype),), {}, None


MATRICES: dict[str, Callable[[torch.dtype], Iterator[Call]]] = {
    "linalg_cholesky_ex.default": cholesky_with_info,
    "linalg_cholesky.default": cholesky,
    "cholesky.default": cholesky,
    "linalg_solve_triangular.default": triangles,
    "triangular_solve.default": old_triangles,
    "linalg_lu_factor_ex.default": rectangular,
    "linalg_lu_factor.default": rectangular,
    "linalg_lu.default": rectangular,
    "lu_unpack.default": unpacked,
    "linalg_lu_solve.default": factored_systems,
    "linalg_solve.default": systems,
    "_linalg_solve_ex.default": systems,
    "linalg_inv.default": invertible,
    "linalg_inv_ex.default": singular,
    "linalg_tensorinv.default": invertible_tensors,
    "_linalg_det.default": singular,
    "_linalg_slogdet.default": singular,
    "linalg_qr.default": qr,
    "geqrf.default": rectangular,
    "ormqr.default": reflected,
    "_linalg_eigh.default": hermitian,
    "_linalg_svd.default": svd,
    "linalg_pinv.atol_rtol_tensor": pseudoinverse,
    "linalg_matrix_exp.default": exponents,
    "linalg_eig.default": general,
    "linalg_eigvals.default": general,
    "_linalg_eigvals.default": general,
}
