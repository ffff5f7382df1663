"""verify and bisect of programs with several functions, whose weights may have other names there."""

import pytest
import torch
from wrong_lowering import wrong

import torchere
from torchere.errors import InvalidArgumentError


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 4))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return torch.tanh(x @ self.weight) + self.calls


class Decoder(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 4))
        self.encoder = encoder

    def forward(self, y):
        return torch.sigmoid(y @ self.weight @ self.encoder.weight) * (1 + self.encoder.calls)


def make():
    encoder = Encoder()
    decoder = Decoder(encoder)
    x = torch.randn(2, 4)
    return torchere.export({"encode": (encoder, (x,)), "decode": (decoder, (x,))}), decoder, x


def test_each_function_is_compared_with_its_module():
    program, decoder, x = make()
    program["encode"](x)
    report = program["decode"].verify(x)
    assert (report.function, report.ok) == ("decode", True)
    assert program.verify(x).function == "encode"
    assert program["encode"].verify(x).ok
    assert program["decode"].verify(x, against=decoder).ok
    # The present state is used, and does not advance.
    assert float(program.snapshot()["encode.calls"]) == 1


def test_the_wrong_function_is_found(tmp_path):
    with wrong("stablehlo.logistic", "stablehlo.tanh"):
        program, _, x = make()
        program["encode"](x)
        assert program["encode"].verify(x).ok
        report = program["decode"].verify(x)
        assert not report.ok
        found = program["decode"].bisect(x, repro=tmp_path / "decode")
    assert found.function == "decode"
    assert found.culprit.op == "aten.sigmoid.default"
    assert program["encode"].bisect(x).culprit is None


def test_a_loaded_program_needs_a_module(tmp_path):
    program, _, x = make()
    program.save(tmp_path / "both")
    loaded = torchere.load(tmp_path / "both")
    with pytest.raises(InvalidArgumentError, match="it was loaded, or unpickled"):
        loaded["decode"].verify(x)
