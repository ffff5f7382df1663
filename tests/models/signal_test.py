"""Programs of signals: spectra and back, mel spectrograms, complex rotations, special functions."""

import pytest
import torch
from torch import nn
from torch.export import Dim

import torchere


def assert_same(got, expected):
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5, equal_nan=True)


class Denoiser(nn.Module):
    """A short-time spectrum, damped where it is weak, and its inverse."""

    def __init__(self, size=64, hop=16):
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hann_window(size))

    def forward(self, x):
        spectrum = torch.stft(x, self.size, self.hop, window=self.window, return_complex=True)
        gain = torch.sigmoid(spectrum.abs() - 1)
        damped = torch.polar(spectrum.abs() * gain, spectrum.angle())
        return torch.istft(damped, self.size, self.hop, window=self.window, length=x.shape[-1])


class MelSpectrogram(nn.Module):
    """The logarithm of a spectrum's power in bands."""

    def __init__(self, size=64, hop=24, bands=10):
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hamming_window(size))
        self.register_buffer("bands", torch.rand(bands, size // 2 + 1))

    def forward(self, x):
        spectrum = torch.stft(x, self.size, self.hop, window=self.window, return_complex=True)
        return torch.log(self.bands @ spectrum.abs().square() + 1e-6)


class Rotary(nn.Module):
    """Pairs of a query's numbers, turned by an angle that grows with the position."""

    def __init__(self, width=16, length=32):
        super().__init__()
        speeds = 1.0 / 10000 ** (torch.arange(0, width, 2) / width)
        angles = torch.outer(torch.arange(length).float(), speeds)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns[: x.shape[-2]]).flatten(-2).type_as(x)


class SpectralLayer(nn.Module):
    """A layer of a Fourier neural operator: the lowest frequencies of an image, mixed over channels."""

    def __init__(self, channels=3, modes=4):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(channels, channels, modes, modes, dtype=torch.complex64))

    def forward(self, x):
        spectrum = torch.fft.rfft2(x, norm="ortho")
        low = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, : self.modes, : self.modes], self.weight)
        out = torch.zeros_like(spectrum)
        out[:, :, : self.modes, : self.modes] = low
        return torch.fft.irfft2(out, s=x.shape[-2:], norm="ortho")


def special(x):
    """Functions that torch makes of others."""
    p = torch.sigmoid(x)
    return (
        torch.special.log_ndtr(x),
        torch.special.ndtr(x),
        torch.special.multigammaln(p + 3, 2),
        torch.special.entr(p),
        torch.special.xlog1py(x, p),
        torch.special.gammaln(p),
        torch.logit(p),
        torch.sinc(x),
        torch.xlogy(x, p),
        torch.logaddexp(x, p),
        torch.logaddexp2(x, p),
        torch.float_power(p, x),
        torch.frac(x),
        torch.deg2rad(x),
        torch.nan_to_num(x / (x - x[:1])),
        torch.heaviside(x, p),
        torch.isfinite(x / (x - x[:1])),
    )


def of_complex(z):
    return (
        z.real,
        z.conj().imag,
        z.mH @ z,
        torch.sgn(z),
        torch.vdot(z[0], z[1]),
        torch.isreal(z * 1j),
        torch.isinf(torch.complex(z.real / 0, z.imag)),
        torch.fft.fftshift(torch.fft.fft(z)),
        torch.fft.hfft(z),
        torch.view_as_real(z.conj().resolve_conj()),
        z.std(),
        z.conj().resolve_neg().imag + 1,
    )


LENGTH = Dim("length", min=100, max=4000)


@pytest.mark.parametrize(
    ("model", "shape", "others", "dynamic"),
    [
        (Denoiser(), (2, 300), [(5, 300)], {0: Dim("batch", min=1, max=16)}),
        (MelSpectrogram(), (2, 300), [(3, 500), (2, 130)], {0: Dim("batch", min=1, max=16), 1: LENGTH}),
        (Rotary(), (2, 4, 8, 16), [(3, 4, 12, 16)], {0: Dim("batch"), 2: Dim("length", min=2, max=32)}),
        (SpectralLayer(), (2, 3, 12, 10), [(4, 3, 12, 10)], {0: Dim("batch", min=1, max=16)}),
    ],
    ids=["denoiser", "mel_spectrogram", "rotary", "spectral_layer"],
)
def test_signals_of_any_batch(model, shape, others, dynamic):
    model = model.eval()
    program = torchere.export(model, (torch.randn(shape),), dynamic_shapes=(dynamic,))
    for size in [shape, *others]:
        x = torch.randn(size)
        with torch.no_grad():
            assert_same(program(x), model(x))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "x"),
    [(special, torch.randn(7, 3)), (of_complex, torch.randn(4, 4, dtype=torch.complex64))],
    ids=["special", "complex"],
)
def test_functions_that_torch_makes_of_others(function, x):
    assert_same(torchere.export(Function(function), (x,))(x), function(x))


def test_a_transform_over_a_dynamic_dimension_is_refused():
    message = r"\[aten._fft_r2c.default\] the size of a transformed dimension must be known at export"
    with pytest.raises(torchere.errors.UnimplementedError, match=message):
        torchere.export(
            Function(torch.fft.rfft), (torch.randn(2, 30),), dynamic_shapes=({1: Dim("n", min=4, max=99)},)
        )
