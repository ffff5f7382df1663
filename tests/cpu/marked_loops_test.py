"""Linear algebra on the CPU engine: loops that say what they compute run in its kernels, and those that only
say so run as they are."""

from __future__ import annotations

import numpy
import pytest
from engine_modules_test import assert_same, on_engine
from engine_test import BEGINNING, run
from fusion_log import run_jax

from torchere.interpreter import interpret

PROGRAMS = """
import sys

def kernels(name, function, *args):
    rows = check(Model(function), *args, tolerance=2e-4).profile(*args).rows
    found = {row.kernel for row in rows} & {"LU factors", "Cholesky", "QR factors", "reflectors", "loop"}
    print(name, sorted(found))

def regular(*shape, dtype=torch.float32):
    return torch.randn(*shape, dtype=dtype) + 4 * torch.eye(shape[-2], shape[-1], dtype=dtype)

def positive(*shape, dtype=torch.float32):
    root = torch.randn(*shape, dtype=dtype)
    return root @ root.mT.conj() + torch.eye(shape[-1], dtype=dtype)

linalg = torch.linalg
kernels("solve", linalg.solve, regular(7, 5, 5), torch.randn(7, 5, 2))
kernels("solve a vector", linalg.solve, regular(70, 70), torch.randn(70))
kernels("inverse", linalg.inv, regular(2, 3, 4, 4))
c64 = torch.complex64
kernels("complex", linalg.solve, regular(3, 6, 6, dtype=c64), torch.randn(3, 6, 1, dtype=c64))
kernels("factors", lambda a: linalg.lu_factor(a), regular(4, 9, 6, dtype=torch.float64))
kernels("wide", lambda a: linalg.lu(a), regular(4, 6, 9))
batch = ({0: torch.export.Dim("batch")},)
square = torch.export.Dim("rows")
for sizes in (batch, ({1: square, 2: square},)):
    a = regular(3, 5, 5)
    program = torchere.export(Model(linalg.inv), (a,), dynamic_shapes=(sizes,))
    torch.testing.assert_close(program(a), linalg.inv(a), rtol=2e-4, atol=2e-4)
    print("open", sorted({row.kernel for row in program.profile(a).rows} & {"LU factors", "loop"}))
kernels("one", linalg.inv, regular(3, 1, 1))
kernels("determinant", lambda a: (linalg.det(a), *linalg.slogdet(a)), regular(5, 4, 4))
kernels("cholesky", linalg.cholesky, positive(5, 6, 6))
kernels("upper", lambda a: linalg.cholesky(a, upper=True), positive(60, 60, dtype=torch.complex128))
kernels("qr", lambda a: linalg.qr(a), regular(5, 8, 6))
kernels("qr of c64", lambda a: linalg.qr(a, mode="complete"), regular(5, 6, dtype=torch.complex64))
kernels("r", lambda a: linalg.qr(a, mode="r")[1], regular(6, 9))
kernels("ormqr", lambda a, t, x: torch.ormqr(a, t, x, transpose=True), *torch.geqrf(torch.randn(7, 4)),
        torch.randn(7, 3))
"""

FOUND = """
solve ['LU factors']
solve a vector ['LU factors']
inverse ['LU factors']
complex ['LU factors']
factors ['LU factors']
wide ['LU factors']
open ['LU factors']
open ['LU factors']
one ['LU factors']
determinant ['LU factors']
cholesky ['Cholesky']
upper ['Cholesky']
qr ['QR factors', 'reflectors']
qr of c64 ['QR factors', 'reflectors']
r ['QR factors']
ormqr ['reflectors']
"""


def test_programs_run_in_kernels():
    lines, _ = run(BEGINNING + PROGRAMS)
    assert [line for line in lines if line != "right"] == FOUND.strip().splitlines()


LOOP = """
module @program {{
  func.func public @main(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>, tensor<i32>) {{
    %info = stablehlo.constant dense<{info}> : tensor<2xi32>
    %first = stablehlo.constant dense<{first}> : tensor<i32>
    %count = stablehlo.constant dense<{count}> : tensor<i32>
    %r:4 = "stablehlo.while"(%first, %count, %a, %info) ({{
    ^bb0(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<2x3x3xf32>, %s: tensor<2xi32>):
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }}, {{
    ^bb0(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<2x3x3xf32>, %s: tensor<2xi32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.add %x, %x : tensor<2x3x3xf32>
      stablehlo.return %j, %n, %y, %s : tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<2xi32>
    }}) {{torchere.computes = "{mark}"}} : (tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<2xi32>)
      -> (tensor<i32>, tensor<i32>, tensor<2x3x3xf32>, tensor<2xi32>)
    return %r#2, %r#3, %r#0 : tensor<2x3x3xf32>, tensor<2xi32>, tensor<i32>
  }}
}}
"""


def test_marks_of_other_loops_do_not_count(tmp_path):
    matrices = numpy.arange(18, dtype=numpy.float32).reshape(2, 3, 3)
    forms = {
        "other counts": {"count": 2},
        "another beginning": {"first": 1},
        "a state that is not zero": {"info": 1},
        "another state": {"mark": "lu"},
        "factors of another type": {"mark": "qr"},
        "an unknown mark": {"mark": "eigen"},
    }
    usual = {"info": 0, "first": 0, "count": 3, "mark": "cholesky"}
    cases = {name: (LOOP.format(**usual | form), [matrices]) for name, form in forms.items()}
    results, logs = on_engine(cases, tmp_path)
    for (name, (text, arguments)), (got, _), log in zip(cases.items(), results, logs, strict=True):
        assert "a loop program of" in log, name
        for one, other in zip(got, interpret(text, *arguments), strict=True):
            assert_same(one, other, name)


DECOMPOSITION = """
module @program {{
  func.func public @main(%a: tensor<{matrices}>) -> (tensor<{values}>, tensor<{matrices}>, tensor<i32>) {{
    %first = stablehlo.constant dense<0> : tensor<i32>
    %count = stablehlo.constant dense<{count}> : tensor<i32>
    %zeros = stablehlo.constant dense<0.0> : tensor<{values}>
    %r:4 = "stablehlo.while"(%first, %count, %zeros, %a) ({{
    ^bb0(%i: tensor<i32>, %n: tensor<i32>, %v: tensor<{values}>, %x: tensor<{matrices}>):
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }}, {{
    ^bb0(%i: tensor<i32>, %n: tensor<i32>, %v: tensor<{values}>, %x: tensor<{matrices}>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %ones = stablehlo.constant dense<1.0> : tensor<{values}>
      %w = stablehlo.add %v, %ones : tensor<{values}>
      stablehlo.return %j, %n, %w, %x : tensor<i32>, tensor<i32>, tensor<{values}>, tensor<{matrices}>
    }}) {{torchere.computes = "{mark}"}} : (tensor<i32>, tensor<i32>, tensor<{values}>, tensor<{matrices}>)
      -> (tensor<i32>, tensor<i32>, tensor<{values}>, tensor<{matrices}>)
    return %r#2, %r#3, %r#0 : tensor<{values}>, tensor<{matrices}>, tensor<i32>
  }}
}}
"""


def test_marks_of_other_decompositions_do_not_count(tmp_path):
    """The body, which adds ones, runs; where all is as the mark says, the kernel does."""
    wide = {"matrices": "2x3x4xf32"}
    forms = {
        "the form": {},
        "that of singular values": {"mark": "singular_values"} | wide,
        "more than once": {"count": 2},
        "never": {"count": 0},
        "more values": {"values": "2x4xf32"},
        "values of another type": {"values": "2x3xf64"},
        "values without a batch": {"values": "3xf32"},
        "no square": wide,
        "integers": {"matrices": "2x3x3xi32"},
        "vectors": {"matrices": "3xf32", "values": "3xf32"},
        "no vectors": {"mark": "eigenvectors"},
        "neither U nor V": {"mark": "singular_vectors"},
        "fewer singular values": {"mark": "singular_values", "values": "2x2xf32"} | wide,
    }
    usual = {"count": 1, "mark": "eigenvalues", "values": "2x3xf32", "matrices": "2x3x3xf32"}
    cases = {}
    for name, form in forms.items():
        *sizes, kind = (usual | form)["matrices"].split("x")
        sizes = [int(size) for size in sizes]
        matrices = numpy.ones(sizes, {"f32": numpy.float32, "i32": numpy.int32}[kind])
        cases[name] = (DECOMPOSITION.format(**usual | form), [matrices])
    results, _ = on_engine(cases, tmp_path)
    for number, ((name, (text, arguments)), (got, _)) in enumerate(zip(cases.items(), results, strict=True)):
        if number > 1:
            for one, other in zip(got, interpret(text, *arguments), strict=True):
                assert_same(one, other, name)
            continue
        expected = [[0, 0, 3], [12**0.5, 0, 0]][number]
        numpy.testing.assert_allclose(got[0], [expected] * 2, atol=1e-6, err_msg=name)
        assert_same(got[1], arguments[0], name)
        assert got[2] == 1


SINGULAR = """
a = torch.tensor([[[1., 2], [2, 4]], [[0., 0], [0, 3]], [[2., 1], [1, 2]], [[torch.nan, 1], [1, 2]]])
class Model(torch.nn.Module):
    def forward(self, a):
        return (torch.linalg.inv_ex(a), torch.linalg.cholesky_ex(a), torch.linalg.det(a),
                torch.linalg.lu_factor_ex(a), torch.linalg.qr(a))
program = torchere.export(Model(), (a,))
(inverse, info), (lower, wrong), det, (lu, pivots, zero), (q, r) = program(a)
print(info.tolist(), wrong.tolist(), zero.tolist())
print(inverse[2].mul(3).round().tolist(), inverse[0].isnan().all().item(), inverse[3].isnan().any().item())
print(lower[0].isnan().any().item(), lower[2].isnan().any().item(), lower.triu(1).count_nonzero().item())
print(det[:3].abs().tolist(), det[3].isnan().item(), r[3].isnan().any().item())
"""


def test_matrices_without_an_inverse():
    lines, _ = run(BEGINNING + SINGULAR)
    assert lines == [
        "[2, 1, 0, 0] [2, 1, 0, 1] [2, 1, 0, 0]",
        "[[2.0, -1.0], [-1.0, 2.0]] True True",
        "True False 0",
        "[0.0, 0.0, 3.0] True True",
    ]


IN_JAX = """
import jax, jax.numpy as jnp, numpy
from jax.scipy import linalg
jax.config.update("jax_enable_x64", True)
random = numpy.random.default_rng(0)

def check(name, function, *shapes, dtype=numpy.float32):
    given = [random.normal(size=shape) for shape in shapes]
    if numpy.issubdtype(dtype, numpy.complexfloating):
        given = [array + 1j * random.normal(size=array.shape) for array in given]
    given = [array.astype(dtype) for array in given]
    got = jax.tree.leaves(jax.jit(function)(*given))
    with jax.default_device(jax.devices("cpu")[0]):
        expected = jax.tree.leaves(jax.jit(function)(*given))
    assert got[0].devices() != expected[0].devices()
    for one, other in zip(got, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, name
        numpy.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3 * abs(other).max(), err_msg=name)
    text = jax.jit(function).lower(*given).as_text()
    print(name, "LuDecomposition" in text, "stablehlo.while" in text)

check("solve", jnp.linalg.solve, (7, 5, 5), (7, 5, 2))
check("factors", linalg.lu_factor, (9, 6), dtype=numpy.float64)
check("permuted", linalg.lu, (4, 6))
check("determinant", jnp.linalg.det, (20, 6, 6))
check("complex", jnp.linalg.solve, (5, 5), (5, 1), dtype=numpy.complex64)
check("gradient", jax.grad(lambda a: jnp.linalg.slogdet(a)[1].sum()), (4, 5, 5))
check("mapped", jax.vmap(jnp.linalg.inv), (4, 5, 5))
"""


def test_factors_of_jax():
    pytest.importorskip("jax")
    lines, _ = run_jax(IN_JAX)
    assert [line for line in lines if not line.endswith("True False")] == []
    assert len(lines) == 7
