"""torch.linalg as programs use it: matrices of many sizes, ill-conditioned and singular ones, batches whose
number is not known."""

import re

import pytest
import torch
from torch import linalg
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx

import torchere

SIZES = [20, pytest.param(64, marks=pytest.mark.slow)]
BOTH_FLOATS = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
ROUNDING = {torch.float32: 1e-5, torch.float64: 1e-12}


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def export(function, *args, **options):
    return torchere.export(Function(function), args, **options)


def run(function, *args):
    return export(function, *args)(*args)


def assert_near(got, expected, tolerance):
    """Relative to the greatest magnitude of what is expected."""
    assert got.shape == expected.shape
    assert (got - expected).abs().max() <= tolerance * expected.abs().max()


def assert_orthonormal(columns, tolerance):
    assert_near(columns.mT @ columns, torch.eye(columns.shape[-1], dtype=columns.dtype), tolerance)


def drawn(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64).to(dtype)


def ill_conditioned(size, condition=1e6):
    """A matrix whose singular values fall evenly from 1 to 1 / condition, and these."""
    left, right = linalg.qr(drawn(size, size)).Q, linalg.qr(drawn(size, size).flip(0)).Q
    values = torch.logspace(0, -torch.tensor(condition).log10().item(), size, dtype=torch.float64)
    return left * values @ right.mT, values


@BOTH_FLOATS
@pytest.mark.parametrize("size", SIZES)
def test_factors(size, dtype):
    a = drawn(size, size, dtype=dtype)
    tall, positive = a[:, : size // 2], a @ a.mT / size + torch.eye(size, dtype=dtype)
    tolerance = ROUNDING[dtype]

    def factors(a, tall, positive):
        return (
            *linalg.qr(tall),
            *linalg.lu(a),
            linalg.cholesky(positive),
            *linalg.eigh(positive),
            *linalg.svd(tall, full_matrices=False),
        )

    q, r, p, lower, upper, root, values, vectors, u, s, vh = run(factors, a, tall, positive)
    assert_near(q @ r, tall, tolerance)
    assert_orthonormal(q, tolerance)
    assert_near(p @ lower @ upper, a, tolerance)
    assert_near(root, linalg.cholesky(positive), tolerance)
    assert_near(values, linalg.eigvalsh(positive), tolerance)
    assert_near(vectors * values @ vectors.mT, positive, tolerance)
    assert_orthonormal(vectors, tolerance)
    assert_near(s, linalg.svdvals(tall), tolerance)
    assert_near(u * s @ vh, tall, tolerance)
    assert_orthonormal(u, tolerance)
    assert_orthonormal(vh.mT, tolerance)


@BOTH_FLOATS
@pytest.mark.parametrize("size", SIZES)
def test_solutions(size, dtype):
    a, b = drawn(size, size, dtype=dtype), drawn(size, 3, dtype=dtype)
    a = a + 2 * size**0.5 * torch.eye(size, dtype=dtype)  # well-conditioned

    def solutions(a, b):
        return linalg.solve(a, b), linalg.inv(a), *linalg.slogdet(a), linalg.matrix_exp(a / size)

    expected = solutions(a, b)
    for got, value in zip(run(solutions, a, b), expected, strict=True):
        assert_near(got, value, ROUNDING[dtype])


def test_ill_conditioned():
    a, values = ill_conditioned(24)
    b = a @ drawn(24, 2)

    def functions(a, b):
        return (
            linalg.solve(a, b),
            *linalg.svd(a),
            *linalg.eigh(a @ a.mT),
            linalg.cholesky(a @ a.mT + 1e-6 * torch.eye(24, dtype=a.dtype)),
            linalg.pinv(a, rtol=1e-3),
        )

    x, u, s, vh, squares, vectors, root, cut = run(functions, a, b)
    assert (a @ x - b).abs().max() < 1e-14 * x.abs().max()  # small, whatever becomes of x
    assert (s - values).abs().max() < 1e-14
    assert_near(u * s @ vh, a, 1e-13)
    assert_orthonormal(u, 1e-13)
    assert_near(vectors * squares @ vectors.mT, a @ a.mT, 1e-13)
    assert_orthonormal(vectors, 1e-13)
    assert_near(root @ root.mT, a @ a.mT + 1e-6 * torch.eye(24, dtype=a.dtype), 1e-13)
    kept = (values > 1e-3).sum()
    assert_near(cut @ a @ cut, cut, 1e-10)
    assert round(torch.trace(cut @ a).item()) == kept


def test_what_eager_refuses_is_nan():
    """Of a batch only the matrix that has no inverse, or no factor, where the program has no checks."""

    def functions(x):
        ones = torch.ones_like(x)
        return (
            linalg.inv(x),
            linalg.solve(x, ones),
            linalg.inv_ex(x).inverse,
            linalg.solve_ex(x, ones).result,
            linalg.matrix_power(x, -2),
            linalg.cholesky(x),
            linalg.cholesky_ex(x).L,
        )

    batch = drawn(3, 4, 4)
    batch = batch @ batch.mT + torch.eye(4)
    batch[1] = 0
    *solutions, root, root_with_info = export(functions, batch, checks=False)(batch)
    for got, expected in zip((*solutions, root, root_with_info), functions(batch[::2]), strict=True):
        assert_near(got[::2], expected, 1e-10)
    assert all(got[1].isnan().all() for got in solutions)
    for got in (root, root_with_info):
        assert got[1].isnan().tolist() == torch.ones(4, 4, dtype=torch.bool).tril().tolist()


def test_where_it_failed_is_told():
    batch = torch.eye(3).repeat(3, 1, 1)
    batch[1, 1, 1] = 0
    batch[2, 2, 2] = -1

    def infos(x):
        return linalg.inv_ex(x).info, linalg.cholesky_ex(x).info, linalg.lu_factor_ex(x).info

    inverse, cholesky, factors = run(infos, batch)
    assert inverse.tolist() == factors.tolist() == [0, 2, 0]
    assert cholesky.tolist() == [0, 2, 3]
    assert all(info.dtype == torch.int32 for info in (inverse, cholesky, factors))


COMPOSITES = {
    "matrix_power": lambda x: linalg.matrix_power(x, -3),
    "cond": lambda x: torch.stack([linalg.cond(x), linalg.cond(x, 1), linalg.cond(x, "fro")]),
    "norms": lambda x: torch.stack([linalg.norm(x, p) for p in (2, -2, "nuc", "fro", 1, float("inf"))]),
    "matrix_rank": lambda x: linalg.matrix_rank(x).to(x.dtype),
    "tensorinv": lambda x: linalg.tensorinv(x.reshape(2, 2, 4)),
    "tensorsolve": lambda x: linalg.tensorsolve(x.reshape(2, 2, 4), x[0].reshape(2, 2)),
    "det": lambda x: linalg.det(x) + torch.logdet(x @ x.mT),
    "lu": lambda x: torch.lu_solve(x, *torch.linalg.lu_factor(x + 1)),
    "pinv": lambda x: linalg.pinv(x[:, :2]) @ x + torch.pinverse(x)[:2],
    "cholesky_solve": lambda x: torch.cholesky_solve(x, linalg.cholesky(x @ x.mT)),
    "cholesky_inverse": lambda x: torch.cholesky_inverse(linalg.cholesky(x @ x.mT)),
    "triangular": lambda x: linalg.solve_triangular(x, x[:, :1], upper=True),
    "multivariate_normal": lambda x: torch.distributions.MultivariateNormal(
        x[0], x @ x.mT + torch.eye(4, dtype=x.dtype), validate_args=False
    ).log_prob(x),
}


@pytest.mark.parametrize("name", COMPOSITES)
def test_functions_made_of_others(name):
    x = drawn(4, 4) + 3 * torch.eye(4, dtype=torch.float64)
    function = COMPOSITES[name]
    assert_near(run(function, x), function(x), 1e-10)


GRADIENTS = {
    "det": linalg.det,
    "slogdet": lambda x: linalg.slogdet(x).logabsdet,
    "solve": lambda x: linalg.solve(x, x.sin()),
    "solve transposed": lambda x: linalg.solve(x.mT, x.sin()),
    "inv": linalg.inv,
    "cholesky": lambda x: linalg.cholesky(x @ x.mT),
    "qr": lambda x: linalg.qr(x).R,
    "svdvals": linalg.svdvals,
    "eigvalsh": linalg.eigvalsh,
    "matrix_exp": lambda x: linalg.matrix_exp(x / 4),
}


@pytest.mark.slow
def test_gradients():
    """They read the factors that the ops give, as torch's own are stored, and hold checks of errors."""

    def gradients(x):
        return [torch.func.grad(lambda y, f=f: (f(y) ** 2).sum())(x) for f in GRADIENTS.values()]

    x = drawn(5, 5) + 3 * torch.eye(5, dtype=torch.float64)
    graph = make_fx(gradients)(x)
    assert "_linalg_check_errors" in graph.code
    for got, expected in zip(torchere.export(graph, (x,))(x), gradients(x), strict=True):
        assert_near(got, expected, 1e-9)


def test_a_dynamic_batch():
    def functions(x):
        q, r = linalg.qr(x)
        u, s, vh = linalg.svd(x, full_matrices=False)
        square = x.mT @ x
        values, vectors = linalg.eigh(square)
        return (
            q @ r,
            (u * s.unsqueeze(-2)) @ vh,
            (vectors * values.unsqueeze(-2)) @ vectors.mT,
            linalg.solve(square, x.mT),
            linalg.cholesky(square),
            linalg.det(square),
            linalg.matrix_exp(square / 10),
        )

    x = drawn(3, 5, 4)
    program = export(functions, x, dynamic_shapes=(({0: Dim("batch", max=64)},),))
    for batch in (3, 7):
        x = drawn(batch, 5, 4)
        square = x.mT @ x
        solution, root, determinant = linalg.solve(square, x.mT), linalg.cholesky(square), linalg.det(square)
        expected = (x, x, square, solution, root, determinant, linalg.matrix_exp(square / 10))
        for got, value in zip(program(x), expected, strict=True):
            assert_near(got, value, 1e-9)


def test_dynamic_rows():
    """torch itself wants to know whether there are more rows than columns."""

    def functions(x):
        q, r = linalg.qr(x)
        u, s, vh = linalg.svd(x, full_matrices=False)
        return q @ r, (u * s) @ vh, linalg.pinv(x), linalg.svdvals(x)

    program = export(functions, drawn(6, 4), dynamic_shapes=(({0: Dim("rows", min=5, max=64)},),))
    for rows in (6, 5, 9):
        x = drawn(rows, 4)
        for got, value in zip(program(x), (x, x, linalg.pinv(x), linalg.svdvals(x)), strict=True):
            assert_near(got, value, 1e-11)


def test_the_size_of_the_module_does_not_depend_on_the_matrices():
    def functions(x):
        return linalg.svd(x), linalg.eigh(x), linalg.solve(x, x), linalg.qr(x)

    def ops(size):
        return re.findall(r"stablehlo\.\w+", export(functions, drawn(size, size)).get_stablehlo_text())

    assert ops(3) == ops(40)


def test_factors_without_pivoting_are_refused():
    with pytest.raises(
        torchere.errors.UnimplementedError,
        match=r"\[aten\.linalg_lu_factor\.default\] factors without pivoting are not supported: "
        r"got pivot=False, expected True",
    ):
        export(lambda x: linalg.lu_factor(x, pivot=False), drawn(3, 3))
