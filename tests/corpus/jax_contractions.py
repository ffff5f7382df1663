"""Modules of jax's products, convolutions, windows, transforms, decompositions and random bits."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from case import Case
from jax import lax
from jax_lowering import argument, dtype, lowered


def cases() -> Iterator[Case]:
    yield from products()
    yield from convolutions()
    yield from convolution_layouts()
    yield from windows()
    yield from transforms()
    yield from decompositions()
    yield from random_bits()


def products() -> Iterator[Case]:
    for name in ("float32", "bfloat16", "float16", "float64", "int32", "int8", "uint8", "complex64", "bool"):
        yield lowered(f"dot/{name}", lax.dot, argument((2, 3), name), argument((3, 4), name))
    yield lowered("dot/vectors", lax.dot, argument((3,)), argument((3,)))
    yield lowered("dot/empty", lax.dot, argument((2, 0)), argument((0, 4)))
    yield lowered("batch_matmul", lax.batch_matmul, argument((5, 2, 3)), argument((5, 3, 4)))
    x, y = argument((2, 3, 4, 5)), argument((5, 2, 6, 4))
    numbers = (((3, 2), (0, 3)), ((0,), (1,)))
    general = lambda x, y: lax.dot_general(x, y, numbers)
    yield lowered("dot_general", general, x, y)
    yield lowered(
        "dot_general/outer", lambda x, y: lax.dot_general(x, y, (((), ()), ((), ()))), x, argument((7,))
    )
    wide = lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32)
    yield lowered("dot/preferred", wide, argument((2, 3), "bfloat16"), argument((3, 4), "bfloat16"))
    wide = lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32)
    yield lowered("dot/preferred_integer", wide, argument((2, 3), "int8"), argument((3, 4), "int8"))
    mixed = [argument((2, 3), "float8_e4m3fn"), argument((3, 4), "float8_e5m2")]
    yield lowered("dot/mixed", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32), *mixed)
    for precision in ("high", "highest", ("default", "high")):
        label = precision if isinstance(precision, str) else "-".join(precision)
        call = lambda x, y, p=precision: lax.dot(x, y, precision=p)
        yield lowered(f"dot/{label}", call, argument((2, 3)), argument((3, 4)))
    for algorithm in ("F16_F16_F16", "BF16_BF16_F32_X3", "TF32_TF32_F32", "F32_F32_F32"):
        call = lambda x, y, a=algorithm: lax.dot(x, y, precision=lax.DotAlgorithmPreset[a])
        kind = "float16" if algorithm.startswith("F16") else "float32"
        operands = argument((2, 3), kind), argument((3, 4), kind)
        yield lowered(f"dot/{algorithm}", call, *operands, platform="cuda")
    sizes = argument((2,), "int32")
    yield lowered("ragged_dot", lax.ragged_dot, argument((6, 3)), argument((2, 3, 4)), sizes)
    yield lowered(
        "numpy.einsum", lambda x, y: jnp.einsum("abc,cbd->da", x, y), argument((2, 3, 4)), argument((4, 3, 5))
    )
    yield lowered("numpy.tensordot", jnp.tensordot, argument((2, 3, 4)), argument((3, 4, 5)))
    yield lowered(
        "dot/gradient", jax.grad(lambda x, y: lax.dot(x, y).sum(), (0, 1)), argument((2, 3)), argument((3, 4))
    )


def convolutions() -> Iterator[Case]:
    x, kernel = argument((2, 4, 9, 8)), argument((6, 4, 3, 3))
    variants = {
        "plain": {"window_strides": (1, 1), "padding": "VALID"},
        "same": {"window_strides": (2, 1), "padding": "SAME"},
        "padded": {"window_strides": (1, 1), "padding": [(1, 2), (0, 3)]},
        "cut": {"window_strides": (1, 1), "padding": [(-1, 0), (2, -2)]},
        "dilated": {
            "window_strides": (1, 1),
            "padding": [(0, 1), (1, 0)],
            "lhs_dilation": (2, 1),
            "rhs_dilation": (1, 2),
        },
        "high": {"window_strides": (1, 1), "padding": "SAME", "precision": "high"},
    }
    for name, options in variants.items():
        yield lowered(f"conv/{name}", lambda x, k, o=options: lax.conv_general_dilated(x, k, **o), x, kernel)
    depthwise = lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=4)
    yield lowered("conv/depthwise", depthwise, x, argument((8, 1, 3, 3)))
    batches = lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", batch_group_count=2)
    yield lowered("conv/batch_groups", batches, x, kernel)
    for name in ("bfloat16", "float64", "int32", "complex64"):
        operands = argument((1, 2, 5, 5), name), argument((3, 2, 2, 2), name)
        yield lowered(f"conv/{name}", lambda x, k: lax.conv(x, k, (1, 1), "VALID"), *operands)
    wide = lambda x, k: lax.conv(x, k, (1, 1), "VALID", preferred_element_type=jnp.int32)
    yield lowered("conv/preferred", wide, argument((1, 2, 5, 5), "int8"), argument((3, 2, 2, 2), "int8"))
    square = lambda x, k: lax.conv(x, k, (1, 1), "SAME").sum()
    yield lowered("conv/gradient", jax.grad(square, (0, 1)), x, kernel)


def convolution_layouts() -> Iterator[Case]:
    for name, spatial, spec in [
        ("0d", (), ("NC", "OI", "NC")),
        ("1d", (7,), ("NWC", "WIO", "NWC")),
        ("2d", (7, 6), ("NHWC", "HWIO", "NHWC")),
        ("3d", (5, 6, 7), ("NDHWC", "DHWIO", "NDHWC")),
        ("mixed", (7, 6), ("HNCW", "IWHO", "CWNH")),
    ]:
        window = tuple(2 for _ in spatial)
        sizes = {"N": 2, "C": 4, "I": 4, "O": 3} | dict(zip("WHD", reversed(spatial), strict=False))
        x = argument(tuple(sizes[letter] for letter in spec[0]))
        kernel = argument(tuple(2 if letter in "WHD" else sizes[letter] for letter in spec[1]))
        convolve = lambda x, k, s=spec, w=window: lax.conv_general_dilated(
            x, k, tuple(1 for _ in w), "VALID", dimension_numbers=s
        )
        yield lowered(f"conv/{name}", convolve, x, kernel)
    operands = argument((1, 5, 5, 3)), argument((3, 3, 3, 4))
    yield lowered("conv_transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), *operands)
    patches = lambda x: lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID")
    yield lowered("conv_general_dilated_patches", patches, argument((1, 3, 5, 5)))


def windows() -> Iterator[Case]:
    x = argument((2, 6, 7))
    pool = {
        "plain": ((1, 2, 3), (1, 2, 2), "VALID"),
        "same": ((1, 3, 3), (1, 1, 2), "SAME"),
        "padded": ((2, 2, 2), (1, 1, 1), [(1, 0), (0, 2), (1, 1)]),
    }
    for name, (size, strides, padding) in pool.items():
        for reducer, start in ((lax.max, -jnp.inf), (lax.add, 0.0), (lax.min, jnp.inf), (lax.mul, 1.0)):
            call = lambda x, r=reducer, i=start, w=(size, strides, padding): lax.reduce_window(
                x, jnp.float32(i), r, *w
            )
            yield lowered(f"reduce_window/{name}/{reducer.__name__}", call, x)
    dilated = lambda x: lax.reduce_window(
        x,
        jnp.float32(0),
        lax.add,
        (1, 2, 2),
        (1, 1, 1),
        "VALID",
        base_dilation=(1, 2, 1),
        window_dilation=(1, 1, 3),
    )
    yield lowered("reduce_window/dilated", dilated, x)
    both = lambda x, y: lax.reduce_window(
        (x, y),
        (jnp.float32(0), jnp.int32(0)),
        lambda a, b: (a[0] + b[0], a[1] | b[1]),
        (1, 2, 2),
        (1, 1, 1),
        "VALID",
    )
    yield lowered("reduce_window/two", both, x, argument((2, 6, 7), "int32"))
    for name in ("int32", "uint8", "bfloat16", "bool"):
        start = np.zeros((), dtype(name))
        largest = lambda x, i=start: lax.reduce_window(x, i, lax.max, (1, 2, 2), (1, 2, 2), "VALID")
        yield lowered(f"reduce_window/{name}", largest, argument((2, 6, 7), name))
    pooled = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "SAME").sum()
    yield lowered("select_and_scatter/gradient", jax.grad(pooled), x)
    averaged = lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 2), (1, 1, 2), "SAME").sum()
    yield lowered("reduce_window/gradient", jax.grad(averaged), x)


def transforms() -> Iterator[Case]:
    x = argument((2, 4, 6), "complex64")
    for kind in ("FFT", "IFFT"):
        for lengths in ((6,), (4, 6), (2, 4, 6)):
            label = f"fft/{kind}/{len(lengths)}"
            yield lowered(label, lambda x, k=kind, n=lengths: lax.fft(x, getattr(lax.FftType, k), n), x)
    double = lambda x: lax.fft(x, lax.FftType.FFT, (6,))
    yield lowered("fft/complex128", double, argument((6,), "complex128"))
    real = lambda x: lax.fft(x, lax.FftType.RFFT, (4, 6))
    yield lowered("fft/RFFT", real, argument((2, 4, 6)))
    back = lambda x: lax.fft(x, lax.FftType.IRFFT, (4, 6))
    yield lowered("fft/IRFFT", back, argument((2, 4, 4), "complex64"))
    odd = lambda x: lax.fft(x, lax.FftType.IRFFT, (7,))
    yield lowered("fft/IRFFT-odd", odd, argument((2, 4), "complex128"))


def decompositions() -> Iterator[Case]:
    linalg = jax.lax.linalg
    for name in ("float32", "complex64", "float64"):
        square = argument((4, 4), name)
        yield lowered(f"cholesky/{name}", linalg.cholesky, square)
        yield lowered(f"eigh/{name}", linalg.eigh, square)
        yield lowered(f"lu/{name}", linalg.lu, square)
        yield lowered(f"qr/{name}", lambda x: linalg.qr(x, full_matrices=False), argument((5, 3), name))
        yield lowered(f"svd/{name}", linalg.svd, argument((3, 5), name))
        solve = lambda a, b: linalg.triangular_solve(a, b, left_side=True, lower=True)
        yield lowered(f"triangular_solve/{name}", solve, square, argument((4, 2), name))
    variants = {
        "right": {"left_side": False, "lower": False},
        "transposed": {"left_side": True, "transpose_a": True},
        "adjoint": {"left_side": True, "lower": True, "transpose_a": True, "conjugate_a": True},
        "unit": {"left_side": True, "lower": True, "unit_diagonal": True},
    }
    for name, options in variants.items():
        solve = lambda a, b, o=options: linalg.triangular_solve(a, b, **o)
        yield lowered(f"triangular_solve/{name}", solve, argument((2, 3, 3)), argument((2, 3, 3)))
    for name in ("eig", "hessenberg", "schur", "tridiagonal"):
        yield lowered(name, getattr(linalg, name), argument((3, 3)))
    yield lowered("householder_product", linalg.householder_product, argument((4, 3)), argument((3,)))
    yield lowered("tridiagonal_solve", linalg.tridiagonal_solve, *[argument((4,))] * 3, argument((4, 2)))
    batched = argument((2, 3, 3))
    for name in ("inv", "det", "slogdet", "pinv", "matrix_rank"):
        yield lowered(f"numpy.linalg.{name}", getattr(jnp.linalg, name), batched)
    yield lowered("numpy.linalg.solve", jnp.linalg.solve, argument((3, 3)), argument((3, 2)))


def random_bits() -> Iterator[Case]:
    state = argument((4,), "uint32")
    algorithms = lax.RandomAlgorithm
    for algorithm in (algorithms.RNG_DEFAULT, algorithms.RNG_PHILOX, algorithms.RNG_THREE_FRY):
        words = argument((2,), "uint64") if algorithm == algorithms.RNG_THREE_FRY else state
        for name in ("uint32", "uint8", "uint16", "uint64"):
            bits = lambda s, a=algorithm, n=name: lax.rng_bit_generator(s, (3, 5), n, algorithm=a)
            key = words if words.dtype == "uint32" else argument((4,), "uint32")
            yield lowered(f"rng_bit_generator/{algorithm.name}/{name}", bits, key)
    yield lowered("rng_uniform", lambda a, b: lax.rng_uniform(a, b, (2, 3)), argument(()), argument(()))
    for name in ("normal", "uniform", "bernoulli", "gumbel", "exponential", "randint", "bits", "permutation"):
        more = {"randint": ((3,), 0, 10), "bernoulli": (0.3, (3,)), "permutation": (8,)}.get(name, ((3,),))
        draw = lambda seed, n=name, m=more: getattr(jax.random, n)(jax.random.key(seed), *m)
        yield lowered(f"random.{name}", draw, argument((), "uint32"))
    for kind in ("rbg", "unsafe_rbg"):
        draw = lambda seed, k=kind: jax.random.uniform(jax.random.key(seed, impl=k), (3,))
        yield lowered(f"random.{kind}", draw, argument((), "uint32"))
