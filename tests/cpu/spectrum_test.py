"""Eigenvalues and singular values on the CPU engine: kernels take the place of the loops that exported
programs have, and give what these give in the interpreter, and eager PyTorch."""

from __future__ import annotations

import pytest
from engine_test import BEGINNING, run

PROGRAMS = """
import numpy
from torchere.interpreter import interpret
from torchere.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo

def interpreted(function, *args):
    exported = torch.export.export(Model(function), args)
    text = exported_program_to_stablehlo(exported).get_stablehlo_text()
    results = interpret(text, *[a.contiguous().numpy() for a in args])
    return [torch.from_numpy(numpy.asarray(x)) for x in results]

def kernels(name, function, *args, tolerance=2e-5, interprets=True):
    program = check(Model(function), *args, tolerance=tolerance)
    found = {row.kernel for row in program.profile(*args).rows} & {"eigenvalues", "singular values", "loop"}
    if interprets:
        got = program(*args)
        got = got if isinstance(got, tuple) else (got,)
        for one, other in zip(got, interpreted(function, *args), strict=True):
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
    print(name, sorted(found))

def hermitian(*shape, dtype=torch.float32):
    half = torch.randn(*shape, dtype=dtype)
    return half + half.mH

def eigen(a, upper=False):
    values, vectors = torch.linalg.eigh(a, UPLO="U" if upper else "L")
    return values, vectors * values.unsqueeze(-2) @ vectors.mH, vectors.mH @ vectors

def singular(a, full=False):
    u, values, vh = torch.linalg.svd(a, full_matrices=full)
    count = values.shape[-1]
    return values, u[..., :count] * values.unsqueeze(-2) @ vh[..., :count, :], u.mH @ u, vh @ vh.mH

linalg, c64, c128, f64 = torch.linalg, torch.complex64, torch.complex128, torch.float64
kernels("eigenvalues", linalg.eigvalsh, hermitian(3, 5, 5))
kernels("eigenvectors", eigen, hermitian(2, 3, 6, 6))
kernels("upper, f64", lambda a: eigen(a, upper=True), torch.randn(7, 7, dtype=f64), tolerance=1e-12)
kernels("Hermitian", eigen, hermitian(2, 5, 5, dtype=c64))
kernels("Hermitian, c128", eigen, hermitian(9, 9, dtype=c128), tolerance=1e-12)
kernels("one by one", eigen, hermitian(3, 1, 1))
kernels("transposed", eigen, torch.randn(4, 4, 3).movedim(-1, 0))
kernels("alike", eigen, torch.eye(6).expand(2, 6, 6))
kernels("large", eigen, hermitian(100, 100), tolerance=2e-4, interprets=False)
kernels("singular values", linalg.svdvals, torch.randn(3, 6, 4))
kernels("U and V", singular, torch.randn(2, 3, 6, 4))
kernels("wide", singular, torch.randn(5, 8))
kernels("full", lambda a: singular(a, full=True), torch.randn(2, 7, 3, dtype=c64))
kernels("wide, full", lambda a: singular(a, full=True), torch.randn(3, 5, dtype=f64), tolerance=1e-12)
kernels("c128", singular, torch.randn(4, 4, dtype=c128), tolerance=1e-12)
kernels("one", singular, torch.randn(2, 1, 1))
kernels("a row", singular, torch.randn(1, 4))
kernels("a column", singular, torch.randn(3, 4, 1))
kernels("strided", singular, torch.randn(6, 10)[::2, 1::3])
kernels("of rank two", singular, torch.randn(6, 2) @ torch.randn(2, 5))
kernels("zeros", singular, torch.zeros(3, 3))
kernels("large numbers", singular, torch.randn(4, 4, dtype=f64) * 1e200, tolerance=1e-12, interprets=False)
kernels("pseudoinverse", linalg.pinv, torch.randn(5, 3))
kernels("rank", linalg.matrix_rank, torch.randn(5, 2) @ torch.randn(2, 5))
kernels("condition", linalg.cond, hermitian(4, 4) + 9 * torch.eye(4))
kernels("no matrices", singular, torch.randn(0, 3, 2), interprets=False)
kernels("no rows", linalg.svdvals, torch.randn(2, 0, 3), interprets=False)
kernels("no eigenvalues", linalg.eigvalsh, torch.randn(2, 0, 0), interprets=False)
"""

EIGEN = [
    "eigenvalues",
    "eigenvectors",
    "upper, f64",
    "Hermitian",
    "Hermitian, c128",
    "one by one",
    "transposed",
]
EIGEN += ["alike", "large"]
SINGULAR = ["singular values", "U and V", "wide", "full", "wide, full", "c128", "one", "a row", "a column"]
SINGULAR += ["strided", "of rank two", "zeros", "large numbers", "pseudoinverse", "rank", "condition"]
EMPTY = ["no matrices", "no rows", "no eigenvalues"]


def test_programs_run_in_kernels():
    lines, _ = run(BEGINNING + PROGRAMS)
    expected = [f"{name} ['eigenvalues']" for name in EIGEN]
    expected += [f"{name} ['singular values']" for name in SINGULAR]
    expected += [f"{name} []" for name in EMPTY]
    assert [line for line in lines if line != "right"] == expected


NOT_FINITE = """
from torchere.errors import LinAlgError

a = torch.randn(4, 5, 5)
a[1, 2, 3] = torch.nan
a[1, 3, 2] = torch.inf
function = {"eigh": torch.linalg.eigh, "svd": torch.linalg.svd, "eigvalsh": torch.linalg.eigvalsh,
            "svdvals": torch.linalg.svdvals}
for name in function:
    class Model(torch.nn.Module):
        def forward(self, a):
            return function[name](a)
    try:
        torchere.export(Model(), (a,))(a)
    except LinAlgError as error:
        print(name, "(Batch element 1)" in str(error))

class Model(torch.nn.Module):
    def forward(self, a):
        return torch.linalg.pinv(a), torch.linalg.pinv(a + a.mT, hermitian=True)
for got, exact in zip(torchere.export(Model(), (a,))(a), Model()(a[[0, 2, 3]])):
    torch.testing.assert_close(got[[0, 2, 3]], exact, rtol=1e-3, atol=1e-3)
    print(got[1].isnan().all().item())
"""


@pytest.mark.parametrize("device", ["torchere_cpu", "interpreter"])
def test_one_matrix_of_a_batch_is_not_finite(device):
    lines, _ = run(BEGINNING + NOT_FINITE, PJRT_DEVICE=device)
    assert lines == ["eigh True", "svd True", "eigvalsh True", "svdvals True", "True", "True"]
