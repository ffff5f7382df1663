"""Numerical programs of one function that PyTorch and JAX have by one name ("fft.rfft", "linalg.solve")."""

from __future__ import annotations

Tensor = tuple[str, tuple[int, ...], str]  # a maker of numerical_torch.py and numerical_jax.py, shape, dtype


def normal(*shape: int, dtype: str = "float32") -> Tensor:
    return "normal", shape, dtype


def regular(*shape: int, dtype: str = "float32") -> Tensor:
    return "regular", shape, dtype


def positive(*shape: int) -> Tensor:
    return "positive", shape, "float32"


def products(*shape: int, dtype: str = "complex64") -> tuple[Tensor, Tensor]:
    return normal(*shape, dtype=dtype), normal(*shape, dtype=dtype)


# Names, functions and arguments.
FUNCTIONS: list[tuple[str, str, tuple[Tensor, ...]]] = [
    *((f"rfft {size} b128", "fft.rfft", (normal(128, size),)) for size in (256, 400, 480, 1000, 1021, 1024)),
    *(
        (f"fft {size} b{batch}", "fft.fft", (normal(batch, size, dtype="complex64"),))
        for size, batch in ((1024, 1), (65536, 1), (256, 256), (1021, 64), (480, 256))
    ),
    ("fft 1024 b64 f64", "fft.fft", (normal(64, 1024, dtype="complex128"),)),
    ("irfft 1024 b128", "fft.irfft", (normal(128, 513, dtype="complex64"),)),
    ("rfft 16384 b1", "fft.rfft", (normal(1, 16384),)),
    ("fft2 256", "fft.fft2", (normal(256, 256, dtype="complex64"),)),
    ("rfft2 b16 64x64", "fft.rfft2", (normal(16, 64, 64),)),
    ("fftn 32x32x32", "fft.fftn", (normal(32, 32, 32, dtype="complex64"),)),
    ("complex product 256 c64", "matmul", products(256, 256)),
    ("complex product 64 c64", "matmul", products(64, 64)),
    ("complex product 256 c128", "matmul", products(256, 256, dtype="complex128")),
    ("complex product b64 16", "matmul", products(64, 16, 16)),
    *(
        (f"solve b{batch} {size}", "linalg.solve", (regular(batch, size, size), normal(batch, size, columns)))
        for batch, size, columns in (
            *((1000, 3, 1), (1000, 8, 1), (256, 16, 4)),
            *((64, 64, 8), (1, 64, 1), (1, 512, 16)),
        )
    ),
    *(
        (f"inverse b{batch} {size}", "linalg.inv", (regular(batch, size, size),))
        for batch, size in ((1000, 4), (64, 32), (1, 256))
    ),
    (
        "solve b64 32 c64",
        "linalg.solve",
        (regular(64, 32, 32, dtype="complex64"), normal(64, 32, 4, dtype="complex64")),
    ),
    ("determinant b1000 4", "linalg.det", (regular(1000, 4, 4),)),
    *(
        (f"cholesky b{batch} {size}", "linalg.cholesky", (positive(batch, size, size),))
        for batch, size in ((1000, 6), (64, 64), (1, 512))
    ),
    ("qr b64 16", "linalg.qr", (normal(64, 16, 16),)),
    ("qr 256x64", "linalg.qr", (normal(256, 64),)),
    ("svd b100 3", "linalg.svdvals", (normal(100, 3, 3),)),
    ("svd 64", "linalg.svdvals", (normal(64, 64),)),
    ("eigh b100 3", "linalg.eigvalsh", (positive(100, 3, 3),)),
    ("eigh 64", "linalg.eigvalsh", (positive(64, 64),)),
]
