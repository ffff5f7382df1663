"""The expansions of CHLO's other ops, run by XLA and compared with numpy."""

import numpy as np
import pytest

mpmath = pytest.importorskip("mpmath")
from chlo_execution import (  # noqa: E402
    BF16,
    F16,
    F32,
    F64,
    INF,
    NAMES,
    NAN,
    SPECIAL_POINTS,
    apply,
    legalized,
    needs_tool,
    run,
    spread,
    type_of,
)

pytestmark = needs_tool

I32 = np.dtype(np.int32)


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_infinity_predicates(dtype):
    values = SPECIAL_POINTS.astype(dtype)
    kind = type_of(values)
    text = f"""func.func @main(%x: {kind}) -> (tensor<7xi1>, tensor<7xi1>, tensor<7xi1>) {{
      %a = chlo.is_inf %x : {kind} -> tensor<7xi1>
      %p = chlo.is_pos_inf %x : {kind} -> tensor<7xi1>
      %n = chlo.is_neg_inf %x : {kind} -> tensor<7xi1>
      return %a, %p, %n : tensor<7xi1>, tensor<7xi1>, tensor<7xi1>
    }}"""
    either, positive, negative = run(text, values)
    np.testing.assert_array_equal(positive, SPECIAL_POINTS == INF)
    np.testing.assert_array_equal(negative, SPECIAL_POINTS == -INF)
    np.testing.assert_array_equal(either, np.isinf(SPECIAL_POINTS))


# ---- broadcasting

BROADCASTS = {
    "add": (np.add, F32), "and": (np.bitwise_and, I32), "atan2": (np.arctan2, F32),
    "divide": (np.divide, F32), "maximum": (np.maximum, F32), "minimum": (np.minimum, F32),
    "multiply": (np.multiply, F32), "or": (np.bitwise_or, I32),
    "power": (np.power, F32), "remainder": (np.fmod, F32), "shift_left": (np.left_shift, I32),
    "shift_right_arithmetic": (np.right_shift, I32),
    "shift_right_logical": (np.right_shift, np.dtype(np.uint32)), "subtract": (np.subtract, F32),
    "xor": (np.bitwise_xor, I32),
}  # fmt: skip


def broadcast(op, lhs, rhs, result, attributes=""):
    signature = f"%a: {type_of(lhs)}, %b: {type_of(rhs)}"
    kinds = f"({type_of(lhs)}, {type_of(rhs)}) -> {result}"
    text = (
        f"func.func @main({signature}) -> {result} {{ %r = chlo.broadcast_{op} %a, %b {attributes} : {kinds} "
    )
    return run(text + f"return %r : {result} }}", lhs, rhs)[0]


@pytest.mark.parametrize("op", BROADCASTS)
def test_broadcast(op):
    function, dtype = BROADCASTS[op]
    values = np.arange(1, 7)
    lhs, rhs = values.reshape(2, 1, 3).astype(dtype), values[:4].reshape(4, 1).astype(dtype)
    expected = function(lhs, rhs)
    np.testing.assert_allclose(broadcast(op, lhs, rhs, type_of(expected)), expected, rtol=1e-6)
    row = values[:3].astype(dtype)
    grid = np.arange(1, 13).reshape(3, 4).astype(dtype)
    got = broadcast(op, row, grid, type_of(grid), "{broadcast_dimensions = array<i64: 0>}")
    np.testing.assert_allclose(got, function(row[:, None], grid), rtol=1e-6)


def test_broadcast_of_functions():
    s, q = np.array([[2.0], [3.0]], F32), np.array([1.0, 2.0, 2.5], F32)
    exact = np.array([[float(mpmath.zeta(float(a), float(b))) for b in q] for a in s[:, 0]])
    np.testing.assert_allclose(broadcast("zeta", s, q, "tensor<2x3xf32>"), exact, rtol=1e-6)
    exact = np.array([[float(mpmath.polygamma(int(a), float(b))) for b in q] for a in s[:, 0]])
    np.testing.assert_allclose(broadcast("polygamma", s, q, "tensor<2x3xf32>"), exact, rtol=1e-6)


def test_broadcast_compare_and_select():
    column, row = np.array([[1.0], [2.0]], F32), np.array([1.0, 2.0, NAN], F32)
    less = (
        "{comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type FLOAT>}"
    )
    np.testing.assert_array_equal(broadcast("compare", column, row, "tensor<2x3xi1>", less), column < row)
    text = """func.func @main(%p: tensor<2x1xi1>, %a: tensor<3xf32>, %b: tensor<f32>) -> tensor<2x3xf32> {
      %r = chlo.broadcast_select %p, %a, %b : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""
    chosen = run(text, np.array([[True], [False]]), row, np.array(7, F32))[0]
    np.testing.assert_array_equal(chosen, np.stack([row, np.full(3, 7, F32)]))


# ---- other ops


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64, I32, np.dtype(np.uint8)], ids=str)
def test_top_k(dtype):
    rows = np.array([[3, 1, 2, 3, 0], [5, 5, 5, 5, 5], [0, 9, 1, 8, 2]], dtype)
    kind = type_of(rows)
    results = f"tensor<3x3x{NAMES[dtype]}>, tensor<3x3xi32>"
    text = f"""func.func @main(%x: {kind}) -> ({results}) {{
      %v, %i = chlo.top_k(%x, k = 3) : {kind} -> ({results})
      return %v, %i : {results}
    }}"""
    values, indices = run(text, rows)
    np.testing.assert_array_equal(indices, [[0, 3, 2], [0, 1, 2], [1, 3, 4]])
    np.testing.assert_array_equal(values, np.take_along_axis(rows, indices, 1))


def test_top_k_takes_nan_for_the_greatest():
    text = """func.func @main(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
      %v, %i = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
      return %v, %i : tensor<2xf32>, tensor<2xi32>
    }"""
    values, indices = run(text, np.array([1, INF, NAN, -INF], F32))
    np.testing.assert_array_equal(values, [NAN, INF])
    np.testing.assert_array_equal(indices, [2, 1])


def ragged(lhs, rhs, sizes, result, numbers):
    arguments = dict(zip("abg", (lhs, rhs, sizes), strict=True))
    signature = ", ".join(f"%{name}: {type_of(value)}" for name, value in arguments.items())
    kinds = ", ".join(type_of(value) for value in arguments.values())
    fields = ", ".join(f"{name} = {dims}" for name, dims in numbers.items())
    text = f"""func.func @main({signature}) -> {result} {{
      %r = "chlo.ragged_dot"(%a, %b, %g) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{fields}>,
        precision_config = [#chlo<precision HIGHEST>, #chlo<precision HIGHEST>]}}> : ({kinds}) -> {result}
      return %r : {result}
    }}"""
    return run(text, lhs, rhs, sizes)[0]


def test_ragged_dot_with_a_matrix_for_each_group():
    random = np.random.default_rng(0)
    lhs, rhs = random.normal(size=(11, 5)).astype(F32), random.normal(size=(3, 5, 7)).astype(F32)
    rhs[1, 0, 0] = INF  # must not reach the rows of other groups
    numbers = {
        "lhs_contracting_dimensions": [1],
        "rhs_contracting_dimensions": [1],
        "lhs_ragged_dimensions": [0],
        "rhs_group_dimensions": [0],
    }
    got = ragged(lhs, rhs, np.array([4, 2, 3], np.int32), "tensor<11x7xf32>", numbers)
    expected = np.concatenate([lhs[:4] @ rhs[0], lhs[4:6] @ rhs[1], lhs[6:9] @ rhs[2], np.zeros((2, 7), F32)])
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_ragged_dot_in_batches_with_sizes_of_their_own():
    random = np.random.default_rng(0)
    lhs = random.normal(size=(2, 6, 5)).astype(F32)
    rhs = random.normal(size=(3, 2, 5, 4)).astype(F32)
    sizes = np.array([[1, 2, 3], [6, 0, 0]], np.int64)
    numbers = {
        "lhs_batching_dimensions": [0],
        "rhs_batching_dimensions": [1],
        "lhs_contracting_dimensions": [2],
        "rhs_contracting_dimensions": [2],
        "lhs_ragged_dimensions": [1],
        "rhs_group_dimensions": [0],
    }
    got = ragged(lhs, rhs, sizes, "tensor<2x6x4xf32>", numbers)
    first = np.concatenate([lhs[0, :1] @ rhs[0, 0], lhs[0, 1:3] @ rhs[1, 0], lhs[0, 3:] @ rhs[2, 0]])
    np.testing.assert_allclose(got, np.stack([first, lhs[1] @ rhs[0, 1]]), rtol=1e-5, atol=1e-5)


def test_ragged_dot_with_a_sum_for_each_group():
    random = np.random.default_rng(0)
    lhs, rhs = random.normal(size=(4, 9)).astype(F32), random.normal(size=(9, 5)).astype(F32)
    lhs[0, 0] = NAN
    numbers = {
        "lhs_contracting_dimensions": [1],
        "rhs_contracting_dimensions": [0],
        "lhs_ragged_dimensions": [1],
    }
    got = ragged(lhs, rhs, np.array([2, 4, 1], np.int32), "tensor<3x4x5xf32>", numbers)
    expected = np.stack([lhs[:, a:b] @ rhs[a:b] for a, b in ((0, 2), (2, 6), (6, 7))])
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_ragged_dot_of_batches():
    random = np.random.default_rng(0)
    lhs, rhs = random.normal(size=(3, 4, 5)).astype(F32), random.normal(size=(3, 5, 2)).astype(F32)
    numbers = {
        "lhs_batching_dimensions": [0],
        "rhs_batching_dimensions": [0],
        "lhs_contracting_dimensions": [2],
        "rhs_contracting_dimensions": [1],
        "lhs_ragged_dimensions": [0],
    }
    got = ragged(lhs, rhs, np.array([1, 2], np.int32), "tensor<3x4x2xf32>", numbers)
    np.testing.assert_allclose(got, lhs @ rhs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse):
    """Running sums along the second dimension, and what is carried out at the end."""
    values = np.arange(12, dtype=F32).reshape(3, 4)
    text = f"""func.func @main(%x: tensor<3x4xf32>, %c: tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>) {{
      %r:2 = chlo.scan(%x) inits(%c) dimension=1 attributes {{is_reverse = {str(reverse).lower()}}} {{
      ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
        %sum = stablehlo.add %input, %carry : tensor<3xf32>
        %square = chlo.square %sum : tensor<3xf32> -> tensor<3xf32>
        stablehlo.return %square, %sum : tensor<3xf32>, tensor<3xf32>
      }} : (tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
      return %r#0, %r#1 : tensor<3x4xf32>, tensor<3xf32>
    }}"""
    squares, carry = run(text, values, np.ones(3, F32))
    order = values[:, ::-1] if reverse else values
    sums = 1 + np.cumsum(order, 1)
    np.testing.assert_array_equal(squares, (sums[:, ::-1] if reverse else sums) ** 2)
    np.testing.assert_array_equal(carry, sums[:, -1])


def test_scan_without_inputs():
    text = """func.func @main(%c: tensor<i32>) -> (tensor<5xi32>, tensor<i32>) {
      %r:2 = chlo.scan() inits(%c) dimension=0 attributes {scan_dim_size = 5 : i64} {
      ^bb0(%carry: tensor<i32>):
        %next = stablehlo.add %carry, %carry : tensor<i32>
        stablehlo.return %carry, %next : tensor<i32>, tensor<i32>
      } : (tensor<i32>) -> (tensor<5xi32>, tensor<i32>)
      return %r#0, %r#1 : tensor<5xi32>, tensor<i32>
    }"""
    powers, last = run(text, np.array(3, np.int32))
    np.testing.assert_array_equal(powers, [3, 6, 12, 24, 48])
    assert last == 96


def test_constants():
    text = """func.func @main(%x: tensor<2xi32>) -> (tensor<3xf32>, tensor<2xbf16>) {
      %c = chlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
      %l = "chlo.constant_like"(%x) {value = 2.5 : bf16} : (tensor<2xi32>) -> tensor<2xbf16>
      return %c, %l : tensor<3xf32>, tensor<2xbf16>
    }"""
    constant, like = run(text, np.zeros(2, np.int32))
    np.testing.assert_array_equal(constant, [1, 2, 3])
    np.testing.assert_array_equal(like.astype(F32), [2.5, 2.5])


# ---- unknown dimensions: the expansion, refined to the shapes at hand, gives what the static one gives


def refined(text, *arguments):
    types = ",".join(type_of(argument) for argument in arguments)
    text = legalized(text, f"--stablehlo-refine-arguments=types={types}", "--stablehlo-refine-shapes")
    return run(text, *arguments)


def test_function_of_unknown_shape():
    values = spread(-3, 3, 12).reshape(3, 4).astype(F32)
    text = """func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %r = chlo.erf %x : tensor<?x?xf32> -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    np.testing.assert_array_equal(refined(text, values)[0], apply("erf", values))


@pytest.mark.parametrize("shapes", [((2, 1), (3,)), ((2, 4), (4,)), ((1, 3), (1,)), ((5, 1), (0,))], ids=str)
def test_broadcast_of_unknown_shape(shapes):
    lhs, rhs = (np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(F32) for shape in shapes)
    text = """func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
      %r = chlo.broadcast_add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    np.testing.assert_array_equal(refined(text, lhs, rhs)[0], lhs + rhs)


def test_top_k_of_unknown_shape():
    rows = np.array([[3, 1, 2, 3], [4, 5, 6, 7]], F32)
    text = """func.func @main(%x: tensor<?x?xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
      %v, %i = chlo.top_k(%x, k = 2) : tensor<?x?xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>)
      return %v, %i : tensor<?x2xf32>, tensor<?x2xi32>
    }"""
    values, indices = refined(text, rows)
    np.testing.assert_array_equal(values, [[3, 3], [7, 6]])
    np.testing.assert_array_equal(indices, [[0, 3], [3, 2]])
