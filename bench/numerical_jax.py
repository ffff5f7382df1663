"""Numerical programs in JAX: the same names in numerical_torch.py are the same programs in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from numerical_functions import FUNCTIONS

jax.config.update("jax_enable_x64", True)

Program = tuple[Callable[..., Any], Callable[[], tuple[np.ndarray, ...]]]
PROGRAMS: dict[str, Program] = {}
Maker = Callable[[np.random.Generator], np.ndarray]
C64, C128, F64 = np.complex64, np.complex128, np.float64


def program(name: str, *makers: Maker) -> Callable[..., Any]:
    """Registers a function; the makers make its arguments, one each, from the seed 0 on."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def arguments() -> tuple[np.ndarray, ...]:
            random = np.random.default_rng(0)
            return tuple(make(random) for make in makers)

        PROGRAMS[name] = (function, arguments)
        return function

    return register


def normal(*shape: int, dtype: Any = np.float32) -> Maker:
    def make(random: np.random.Generator) -> np.ndarray:
        values = random.normal(size=shape)
        if np.issubdtype(dtype, np.complexfloating):
            values = (values + 1j * random.normal(size=shape)) / np.sqrt(2)
        return values.astype(dtype)

    return make


def regular(*shape: int, dtype: Any = np.float32) -> Maker:
    """Matrices far from singular ones."""
    return lambda random: normal(*shape, dtype=dtype)(random) + 3 * np.eye(shape[-1], dtype=dtype)


def positive(*shape: int, dtype: Any = np.float32) -> Maker:
    def make(random: np.random.Generator) -> np.ndarray:
        root = normal(*shape, dtype=dtype)(random)
        return root @ root.swapaxes(-1, -2).conj() / shape[-1] + np.eye(shape[-1], dtype=dtype)

    return make


def triangular(*shape: int) -> Maker:
    scale = np.float32(shape[-1] ** -0.5)
    return lambda random: np.tril(normal(*shape)(random) * scale) + np.eye(shape[-1], dtype=np.float32)


# ---- sound


def window(size: int) -> Maker:
    return lambda _: (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)


def mel_filters(bands: int, bins: int) -> Maker:
    edges = np.linspace(0, 1, bands + 2) ** 2 * (bins - 1)
    rising = (np.arange(bins)[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - np.arange(bins)[None]) / (edges[2:] - edges[1:-1])[:, None]
    return lambda _: np.maximum(np.minimum(rising, falling), 0).astype(np.float32)


def framed(sound: Any, size: int, step: int) -> Any:
    count = (sound.shape[-1] - size) // step + 1
    return sound[..., np.arange(count)[:, None] * step + np.arange(size)[None]]


@program("whisper mel", normal(480000), window(400), mel_filters(80, 201))
def whisper_mel(sound: Any, window: Any, filters: Any) -> Any:
    frames = framed(jnp.pad(sound, 200, mode="reflect"), 400, 160) * window
    spectrum = jnp.abs(jnp.fft.rfft(frames)[:-1]) ** 2
    log = jnp.log10(jnp.maximum(filters @ spectrum.T, 1e-10))
    return (jnp.maximum(log, log.max() - 8.0) + 4.0) / 4.0


@program("spectrogram b8", normal(8, 16000), window(512))
def spectrogram(sound: Any, window: Any) -> Any:
    sound = jnp.pad(sound, ((0, 0), (256, 256)), mode="reflect")
    return jnp.abs(jnp.fft.rfft(framed(sound, 512, 128) * window))


@program("frames by indices", normal(4, 16000), window(512))
def gathered_frames(sound: Any, window: Any) -> Any:
    spectrum = jnp.fft.rfft(framed(sound, 512, 128) * window)
    return jnp.log(spectrum.real**2 + spectrum.imag**2 + 1e-6)


@program("jax stft", normal(2, 16000))
def scipy_stft(sound: Any) -> Any:
    return jnp.abs(jax.scipy.signal.stft(sound, nperseg=256)[2])


@program("long convolution", normal(2, 64, 4096), normal(64, 4096))
def long_convolution(sound: Any, kernel: Any) -> Any:
    return jnp.fft.irfft(jnp.fft.rfft(sound, n=8192) * jnp.fft.rfft(kernel, n=8192), n=8192)[..., :4096]


@program("direct convolution", normal(16000), normal(511))
def direct_convolution(sound: Any, kernel: Any) -> Any:
    return jnp.convolve(sound, kernel, mode="same")


# ---- functions, and what transforms make

MAKERS = {"normal": normal, "regular": regular, "positive": positive}
for name, function, arguments in FUNCTIONS:
    makers = [MAKERS[maker](*shape, dtype=getattr(np, dtype)) for maker, shape, dtype in arguments]
    program(name, *makers)(attrgetter(function)(jnp))


@program(
    "fno 2d", normal(4, 32, 64, 64), normal(32, 32, 12, 12, dtype=C64), normal(32, 32, 12, 12, dtype=C64)
)
def fno(x: Any, above: Any, below: Any) -> Any:
    spectrum = jnp.fft.rfft2(x)
    result = jnp.zeros_like(spectrum)
    result = result.at[:, :, :12, :12].set(jnp.einsum("bixy,ioxy->boxy", spectrum[:, :, :12, :12], above))
    result = result.at[:, :, -12:, :12].set(jnp.einsum("bixy,ioxy->boxy", spectrum[:, :, -12:, :12], below))
    return jax.nn.gelu(jnp.fft.irfft2(result, s=(64, 64)) + x)


program("fnet mixing", normal(4, 128, 256))(lambda x: jnp.fft.fft2(x.astype(C64)).real)

# ---- complex numbers


@program("complex elements", normal(256, 1024, dtype=C64), normal(256, 1024, dtype=C64))
def complex_elements(a: Any, b: Any) -> Any:
    result = jnp.exp(a * np.float32(0.1)) * b.conj() + a / (jnp.abs(b) + 1.0)
    return jnp.stack([result.real, result.imag], -1)


@program("complex elements c128", normal(128, 1024, dtype=C128), normal(128, 1024, dtype=C128))
def complex_elements_c128(a: Any, b: Any) -> Any:
    return jnp.abs(a * b + a.conj())


# ---- linear algebra

program("determinant b1000 6", regular(1000, 6, 6))(jnp.linalg.det)
program("lu factor 256 f64", regular(256, 256, dtype=F64))(jax.scipy.linalg.lu_factor)
for batch, size, columns in ((1, 512, 256), (1000, 6, 1), (64, 64, 16)):
    program(
        f"triangular b{batch} {size}x{columns}", triangular(batch, size, size), normal(batch, size, columns)
    )(lambda a, b: jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True))


@program("gaussian process", normal(128, 4), normal(128), normal(32, 4))
def gaussian_process(x: Any, y: Any, asked: Any) -> Any:
    def kernel(a: Any, b: Any) -> Any:
        return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))

    factor = jnp.linalg.cholesky(kernel(x, x) + np.float32(0.1) * jnp.eye(128, dtype=np.float32))
    between = kernel(asked, x)
    mean = between @ jax.scipy.linalg.cho_solve((factor, True), y[:, None])
    rest = jax.scipy.linalg.solve_triangular(factor, between.T, lower=True)
    return mean[:, 0], 1 - (rest**2).sum(0)


program("least squares", normal(256, 16), normal(256, 4))(lambda a, b: jnp.linalg.lstsq(a, b)[0])
program("matrix exponential b64 8", normal(64, 8, 8))(jax.scipy.linalg.expm)
program("conjugate gradients 256", positive(256, 256), normal(256))(
    lambda a, b: jax.scipy.sparse.linalg.cg(a, b, maxiter=20)[0]
)
program("gmres 128", regular(128, 128), normal(128))(
    lambda a, b: jax.scipy.sparse.linalg.gmres(lambda x: a @ x / 10, b, maxiter=2)[0]
)


@program(
    "kalman filter",
    positive(64, 6, 6),
    normal(6, 6),
    normal(3, 6),
    positive(3, 3),
    normal(64, 3),
    normal(64, 6),
)
def kalman(cover: Any, step: Any, seen: Any, noise: Any, value: Any, state: Any) -> Any:
    cover = step @ cover @ step.T
    state = state @ step.T
    across = cover @ seen.T
    total = seen @ across + noise
    gain = jnp.linalg.solve(total, across.swapaxes(-1, -2)).swapaxes(-1, -2)
    state = state + (gain @ (value - state @ seen.T)[..., None])[..., 0]
    return state, cover - gain @ across.swapaxes(-1, -2)


@program("points by 4x4 b64", normal(64, 1000, 3), normal(64, 3, 3), normal(64, 3))
def moved_points(points: Any, turns: Any, places: Any) -> Any:
    return jnp.einsum("bij,bnj->bni", turns, points) + places[:, None]


@program("chain of 3x3, scan", normal(50, 64, 3, 3))
def matrix_chain(matrices: Any) -> Any:
    start = jnp.broadcast_to(jnp.eye(3, dtype=matrices.dtype), (64, 3, 3))
    return jax.lax.scan(lambda whole, part: (whole @ part * 0.5, None), start, matrices)[0]


@program("einsum odd", normal(8, 12, 16, 20), normal(20, 12, 18), normal(16, 18))
def odd_einsum(a: Any, b: Any, c: Any) -> Any:
    return jnp.einsum("abcd,dbe,ce->abe", a, b, c)


@program("kronecker", normal(24, 24), normal(20, 20), normal(480))
def kronecker(a: Any, b: Any, x: Any) -> Any:
    return jnp.kron(a, b) @ x
