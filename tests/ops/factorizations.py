"""Rows whose results are not unique, as factors of a matrix and places of a mode are: what must hold of them,
where other rows' results equal eager torch's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from samples import Sample

# What is to be equal: a name, ours, and what is expected, up to rounding relative to the greatest element.
Equation = tuple[str, torch.Tensor, torch.Tensor]


def equations(sample: Sample, got: list[torch.Tensor]) -> list[Equation] | None:
    """What must hold of the results of a row that is listed here."""
    rule = RULES.get(sample.row.removeprefix("aten."))
    return None if rule is None else list(rule(sample, got))


def argument(sample: Sample, name: str) -> Any:
    """What the sample gives for an argument of the op, or its default."""
    formals = sample.function._schema.arguments
    given = dict(zip((formal.name for formal in formals), sample.args, strict=False)) | sample.kwargs
    defaults = {formal.name: formal.default_value for formal in formals if formal.has_default_value()}
    return (defaults | given)[name]


def is_orthonormal(name: str, columns: torch.Tensor) -> Equation:
    """The columns are of length one, and orthogonal to each other."""
    ones = torch.eye(columns.shape[-1], dtype=columns.dtype).expand(*columns.shape[:-2], -1, -1)
    return f"{name}^H {name}", columns.mH @ columns, ones


def is_zero(name: str, values: torch.Tensor) -> Equation:
    return name, values, torch.zeros_like(values)


def where_solved(info: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The values of matrices that have a solution: those of others are NaN here, and anything in torch."""
    solved = (info == 0).reshape(*info.shape, *[1] * (values.dim() - info.dim()))
    return torch.where(solved, values, 0)


def qr(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    a, (q, r) = sample.args[0], got
    yield is_zero("R below its diagonal", r.tril(-1))
    if argument(sample, "mode") == "r":
        yield "R^H R", r.mH @ r, a.mH @ a
        return
    yield "Q R", q @ r, a
    yield is_orthonormal("Q", q)


def geqrf(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    """LAPACK's own product of the reflectors is Q."""
    a, (packed, tau) = sample.args[0], got
    columns = min(a.shape[-2:])
    q = torch.linalg.householder_product(packed[..., :columns], tau)
    yield "Q R", q @ packed.triu()[..., :columns, :], a
    yield is_orthonormal("Q", q)


def lu_product(a: torch.Tensor, factors: tuple[torch.Tensor, ...]) -> Iterator[Equation]:
    p, lower, upper = factors
    yield "P L U", p @ lower @ upper, a
    yield is_zero("L above its diagonal", lower.triu(1))
    yield is_zero("U below its diagonal", upper.tril(-1))
    # No pivot is smaller than what it divides; LAPACK compares complex numbers by the sum of their parts.
    bound = 2**0.5 if a.is_complex() else 1
    yield is_zero("elements of L that are too large", (lower.abs() - bound - 1e-5).clamp(min=0))


def lu(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    yield from lu_product(sample.args[0], tuple(got))


def lu_factor(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    yield from lu_product(sample.args[0], torch.lu_unpack(*got[:2]))
    if len(got) > 2:
        yield "info", got[2], sample.expected()[2]


def system_factors(a: torch.Tensor, packed: torch.Tensor, pivots: torch.Tensor) -> Iterator[Equation]:
    """Of a system torch factors the transpose, if it is real."""
    yield from lu_product(a if a.is_complex() else a.mT, torch.lu_unpack(packed, pivots))


def solve(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    expected = sample.expected()
    info = got[3]
    yield "info", info, expected[3]
    yield from system_factors(sample.args[0], *got[1:3])
    batch = info.expand(expected[0].shape[: info.dim()]) if info.dim() else info
    yield "X", where_solved(batch, got[0]), where_solved(batch, expected[0])


def determinant(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    yield "the determinant", got[0], sample.expected()[0]
    yield from system_factors(sample.args[0], *got[1:])


def log_determinant(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    expected = sample.expected()
    yield "the sign", got[0], expected[0]
    yield "the logarithm", got[1], expected[1]
    yield from system_factors(sample.args[0], *got[2:])


def with_info(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    expected = sample.expected()
    yield "info", got[1], expected[1]
    yield "the result", where_solved(got[1], got[0]), where_solved(got[1], expected[0])


def eigh(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    values, vectors = got
    yield "the eigenvalues", values, sample.expected()[0]
    if not argument(sample, "compute_v"):
        return
    lower = sample.args[0] if argument(sample, "UPLO") in "lL" else sample.args[0].mH
    a = lower.tril(-1) + lower.tril(-1).mH + torch.diag_embed(lower.diagonal(dim1=-2, dim2=-1).real)
    yield "V D V^H", vectors * values.unsqueeze(-2) @ vectors.mH, a.to(vectors.dtype)
    yield is_orthonormal("V", vectors)


def svd(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    u, s, vh = got
    yield "the singular values", s, sample.expected()[1]
    if not argument(sample, "compute_uv"):
        return
    count = s.shape[-1]
    yield "U S V^H", u[..., :count] * s.unsqueeze(-2) @ vh[..., :count, :], sample.args[0]
    yield is_orthonormal("U", u)
    yield is_orthonormal("V", vh.mH)


def nearest(values: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The values in the order that they are expected in: each is the nearest one that is left."""
    if expected.numel() == 0:
        return values
    count, rows = expected.shape[-1], []
    for mine, theirs in zip(values.reshape(-1, count), expected.reshape(-1, count), strict=True):
        left = mine.clone()
        for value in theirs:
            place = (left - value).abs().nan_to_num(torch.inf, torch.inf).argmin()
            rows.append(left[place].clone())
            left[place] = torch.nan
    return torch.stack(rows).reshape(expected.shape)


def eigenvalues(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    yield "the eigenvalues", nearest(got[0], sample.expected()[0]), sample.expected()[0]


def eig(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    yield from eigenvalues(sample, got)
    values, vectors = got
    yield "A V", sample.args[0].to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2)
    yield "the lengths of V", torch.linalg.vector_norm(vectors, dim=-2), torch.ones_like(values.real)


def mode(sample: Sample, got: list[torch.Tensor]) -> Iterator[Equation]:
    """Of several places where the value stands any may be given."""
    a, (values, indices) = sample.args[0], got
    dim = argument(sample, "dim")
    yield "the values", values, sample.expected()[0]
    if a.dim() == 0:
        yield is_zero("the index", indices)
        return
    keeps = argument(sample, "keepdim")
    found = a.gather(dim, indices if keeps else indices.unsqueeze(dim))
    yield "the values at the indices", found if keeps else found.squeeze(dim), values


RULES: dict[str, Callable[[Sample, list[torch.Tensor]], Iterator[Equation]]] = {
    "linalg_qr.default": qr,
    "geqrf.default": geqrf,
    "linalg_lu.default": lu,
    "linalg_lu_factor.default": lu_factor,
    "linalg_lu_factor_ex.default": lu_factor,
    "_linalg_solve_ex.default": solve,
    "_linalg_det.default": determinant,
    "_linalg_slogdet.default": log_determinant,
    "linalg_inv_ex.default": with_info,
    "linalg_cholesky_ex.default": with_info,
    "_linalg_eigh.default": eigh,
    "_linalg_svd.default": svd,
    "linalg_eig.default": eig,
    "linalg_eigvals.default": eigenvalues,
    "_linalg_eigvals.default": eigenvalues,
    "mode.default": mode,
}
