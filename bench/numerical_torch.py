"""Numerical programs in PyTorch: spectrograms, Fourier transforms, complex numbers, linear algebra.

Each is a function of tensors and what makes its arguments. The same names in numerical_jax.py are the same
programs in JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import torch
from numerical_functions import FUNCTIONS

Program = tuple[Callable[..., Any], Callable[[], tuple[torch.Tensor, ...]]]
PROGRAMS: dict[str, Program] = {}


def program(name: str, *makers: Callable[[], torch.Tensor]) -> Callable[..., Any]:
    """Registers a function; the makers make its arguments, one each, from the seed 0 on."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def arguments() -> tuple[torch.Tensor, ...]:
            torch.manual_seed(0)
            return tuple(make() for make in makers)

        PROGRAMS[name] = (function, arguments)
        return function

    return register


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Callable[[], torch.Tensor]:
    return lambda: torch.randn(*shape, dtype=dtype)


def regular(*shape: int, dtype: torch.dtype = torch.float32) -> Callable[[], torch.Tensor]:
    """Matrices far from singular ones."""
    return lambda: torch.randn(*shape, dtype=dtype) + 3 * torch.eye(shape[-1], dtype=dtype)


def positive(*shape: int, dtype: torch.dtype = torch.float32) -> Callable[[], torch.Tensor]:
    def make() -> torch.Tensor:
        root = torch.randn(*shape, dtype=dtype)
        return root @ root.mT.conj() / shape[-1] + torch.eye(shape[-1], dtype=dtype)

    return make


C64, C128, F64 = torch.complex64, torch.complex128, torch.float64


# ---- sound


def mel_filters(bands: int, bins: int) -> torch.Tensor:
    """Triangles that overlap by half, further apart the higher they are."""
    edges = torch.linspace(0, 1, bands + 2) ** 2 * (bins - 1)
    places = torch.arange(bins)
    rising = (places[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - places[None]) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0)


@program("whisper mel", normal(480000), lambda: torch.hann_window(400), lambda: mel_filters(80, 201))
def whisper_mel(sound: Any, window: Any, filters: Any) -> Any:
    spectrum = torch.stft(sound, 400, 160, window=window, return_complex=True)
    mel = filters @ spectrum[..., :-1].abs() ** 2
    log = mel.clamp(min=1e-10).log10()
    return (torch.maximum(log, log.max() - 8.0) + 4.0) / 4.0


@program("tts mel", normal(1, 44100), lambda: torch.hann_window(1024), lambda: mel_filters(80, 513))
def tts_mel(sound: Any, window: Any, filters: Any) -> Any:
    sound = torch.nn.functional.pad(sound[:, None], (384, 384), mode="reflect")[:, 0]
    spectrum = torch.stft(sound, 1024, 256, window=window, center=False, return_complex=True)
    size = torch.sqrt(torch.view_as_real(spectrum).pow(2).sum(-1) + 1e-9)
    return torch.log(torch.clamp(filters @ size, min=1e-5))


@program("fbank", normal(48000), lambda: torch.hann_window(400), lambda: mel_filters(80, 257))
def fbank(sound: Any, window: Any, filters: Any) -> Any:
    frames = sound.unfold(0, 400, 160)
    frames = frames - frames.mean(1, keepdim=True)
    before = torch.nn.functional.pad(frames[:, None], (1, 0), mode="replicate")[:, 0, :-1]
    frames = (frames - 0.97 * before) * window
    spectrum = torch.fft.rfft(torch.nn.functional.pad(frames, (0, 112))).abs() ** 2
    return torch.clamp(spectrum @ filters.T, min=1e-7).log()


@program("spectrogram b8", normal(8, 16000), lambda: torch.hann_window(512))
def spectrogram(sound: Any, window: Any) -> Any:
    return torch.stft(sound, 512, 128, window=window, return_complex=True).abs()


@program("frames by indices", normal(4, 16000), lambda: torch.hann_window(512))
def gathered_frames(sound: Any, window: Any) -> Any:
    places = torch.arange(0, 16000 - 511, 128)[:, None] + torch.arange(512)[None]
    spectrum = torch.fft.rfft(sound[:, places] * window)
    return torch.log(spectrum.real**2 + spectrum.imag**2 + 1e-6)


@program("istft", lambda: torch.randn(2, 257, 126, dtype=C64), lambda: torch.hann_window(512))
def istft(spectrum: Any, window: Any) -> Any:
    return torch.istft(spectrum, 512, 128, window=window)


@program("stft and back", normal(2, 16000), lambda: torch.hann_window(400))
def stft_round(sound: Any, window: Any) -> Any:
    spectrum = torch.stft(sound, 400, 100, window=window, return_complex=True)
    gain = torch.sigmoid(spectrum.abs())
    return torch.istft(spectrum * gain, 400, 100, window=window)


@program("long convolution", normal(2, 64, 4096), normal(64, 4096))
def long_convolution(sound: Any, kernel: Any) -> Any:
    return torch.fft.irfft(torch.fft.rfft(sound, n=8192) * torch.fft.rfft(kernel, n=8192), n=8192)[..., :4096]


@program("direct convolution", normal(1, 1, 16000), normal(1, 1, 511))
def direct_convolution(sound: Any, kernel: Any) -> Any:
    return torch.nn.functional.conv1d(sound, kernel, padding=255)


# ---- functions, and what transforms make

MAKERS = {"normal": normal, "regular": regular, "positive": positive}
for name, function, arguments in FUNCTIONS:
    makers = [MAKERS[maker](*shape, dtype=getattr(torch, dtype)) for maker, shape, dtype in arguments]
    program(name, *makers)(attrgetter(function)(torch))


@program(
    "fno 2d", normal(4, 32, 64, 64), normal(32, 32, 12, 12, dtype=C64), normal(32, 32, 12, 12, dtype=C64)
)
def fno(x: Any, above: Any, below: Any) -> Any:
    spectrum = torch.fft.rfft2(x)
    result = torch.zeros_like(spectrum)
    result[:, :, :12, :12] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :12, :12], above)
    result[:, :, -12:, :12] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -12:, :12], below)
    return torch.nn.functional.gelu(torch.fft.irfft2(result, s=(64, 64)) + x)


@program("fnet mixing", normal(4, 128, 256))
def fnet(x: Any) -> Any:
    return torch.fft.fft2(x.to(C64)).real


# ---- complex numbers


@program("complex elements", normal(256, 1024, dtype=C64), normal(256, 1024, dtype=C64))
def complex_elements(a: Any, b: Any) -> Any:
    return torch.view_as_real(torch.exp(a * 0.1) * b.conj() + a / (b.abs() + 1.0))


@program("complex elements c128", normal(128, 1024, dtype=C128), normal(128, 1024, dtype=C128))
def complex_elements_c128(a: Any, b: Any) -> Any:
    return (a * b + a.conj()).abs()


@program("rotary by complex numbers", normal(1, 512, 16, 64), normal(512, 32, dtype=C64))
def complex_rotary(x: Any, turns: Any) -> Any:
    pairs = torch.view_as_complex(x.reshape(1, 512, 16, 32, 2))
    return torch.view_as_real(pairs * turns[None, :, None]).flatten(3)


# ---- linear algebra

program("lu factor 256 f64", regular(256, 256, dtype=F64))(torch.linalg.lu_factor)


def triangular(*shape: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.tril(torch.randn(*shape) / math.sqrt(shape[-1])) + torch.eye(shape[-1])


def solve_triangular(a: Any, b: Any) -> Any:
    return torch.linalg.solve_triangular(a, b, upper=False)


for batch, size, columns in ((1, 512, 256), (1000, 6, 1), (64, 64, 16)):
    program(
        f"triangular b{batch} {size}x{columns}", triangular(batch, size, size), normal(batch, size, columns)
    )(solve_triangular)


@program("gaussian process", normal(128, 4), normal(128), normal(32, 4))
def gaussian_process(x: Any, y: Any, asked: Any) -> Any:
    def kernel(a: Any, b: Any) -> Any:
        return torch.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))

    factor = torch.linalg.cholesky(kernel(x, x) + 0.1 * torch.eye(128))
    between = kernel(asked, x)
    mean = between @ torch.cholesky_solve(y[:, None], factor)
    rest = torch.linalg.solve_triangular(factor, between.T, upper=False)
    return mean[:, 0], 1 - (rest**2).sum(0)


program("least squares", normal(256, 16), normal(256, 4))(lambda a, b: torch.linalg.pinv(a) @ b)
program("matrix exponential b64 8", normal(64, 8, 8))(torch.linalg.matrix_exp)


@program("conjugate gradients 256", positive(256, 256), normal(256))
def conjugate_gradients(a: Any, b: Any) -> Any:
    x = torch.zeros_like(b)
    r = b
    p = r
    size = r @ r
    for _ in range(20):
        ap = a @ p
        alpha = size / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        after = r @ r
        p = r + after / size * p
        size = after
    return x


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
    gain = torch.linalg.solve(total, across.mT).mT
    state = state + (gain @ (value - state @ seen.T)[..., None])[..., 0]
    return state, cover - gain @ across.mT


@program("poses b256, 24 joints", normal(256, 24, 3), normal(24, 3))
def poses(angles: Any, places: Any) -> Any:
    size = torch.sqrt((angles**2).sum(-1, keepdim=True) + 1e-8)
    x, y, z = (angles / size).unbind(-1)
    zero = torch.zeros_like(x)
    cross = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(256, 24, 3, 3)
    turn = (
        torch.eye(3) + torch.sin(size)[..., None] * cross + (1 - torch.cos(size)[..., None]) * (cross @ cross)
    )
    moved = torch.cat([turn, places[None, :, :, None].expand(256, 24, 3, 1)], -1)
    last = torch.tensor([0.0, 0.0, 0.0, 1.0]).expand(256, 24, 1, 4)
    matrices = torch.cat([moved, last], -2)
    chain = [matrices[:, 0]]
    for joint in range(1, 24):
        chain.append(chain[(joint - 1) // 2] @ matrices[:, joint])
    return torch.stack(chain, 1)


@program("points by 4x4 b64", normal(64, 1000, 3), normal(64, 3, 3), normal(64, 3))
def moved_points(points: Any, turns: Any, places: Any) -> Any:
    return torch.einsum("bij,bnj->bni", turns, points) + places[:, None]


@program("einsum odd", normal(8, 12, 16, 20), normal(20, 12, 18), normal(16, 18))
def odd_einsum(a: Any, b: Any, c: Any) -> Any:
    return torch.einsum("abcd,dbe,ce->abe", a, b, c)


@program("kronecker", normal(24, 24), normal(20, 20), normal(480))
def kronecker(a: Any, b: Any, x: Any) -> Any:
    return torch.kron(a, b) @ x
