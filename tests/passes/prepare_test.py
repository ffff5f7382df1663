"""What a plugin needs is in no saved program: the passes that prepareFor runs do it, and each finds there
what it is for."""

import sys
from pathlib import Path

import numpy
import pytest
import torch

import torchere

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "corpus"), str(TESTS / "interpreter"), str(TESTS / "session")]
pytest.importorskip("jaxlib")
import donation_test  # noqa: E402
import xla  # noqa: E402
from judges import find_tool  # noqa: E402

pytestmark = pytest.mark.skipif(find_tool() is None, reason="torchere-opt is not built")

COUNTERS = "--torchere-prepare-xla-loop-counters"
ARC_TANGENTS = "--torchere-prepare-xla-cpu-arc-tangents"
# What the programs are made of, and the pass that changes them, if one does.
FUNCTIONS = {
    "cumsum": (lambda x: x.cumsum(0), None),
    "cummax": (lambda x: x.cummax(0)[0], COUNTERS),
    "cummin": (lambda x: x.cummin(0)[0], COUNTERS),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), COUNTERS),
    "atan": (torch.atan, ARC_TANGENTS),
    "asin": (torch.asin, ARC_TANGENTS),
    "atan2": (lambda x: torch.atan2(x, torch.ones_like(x)), ARC_TANGENTS),
}


class Function(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.function = FUNCTIONS[name][0]

    def forward(self, x):
        return self.function(x)


def numbers():
    return torch.linspace(-1, 1, 80).reshape(20, 4)


def saved_text(program, directory):
    program.save(directory)
    return (directory / "functions/forward.mlir").read_text()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_saved_program_is_as_for_any_plugin(name, tmp_path):
    x = numbers()
    program = torchere.export(Function(name), (x,))
    text = saved_text(program, tmp_path / "program")
    assert "optimization_barrier" not in text
    assert ("stablehlo.add %iterArg, %iterArg :" in text) == (FUNCTIONS[name][1] == COUNTERS)
    assert ("stablehlo.atan2" in text) == (FUNCTIONS[name][1] == ARC_TANGENTS)
    plain = xla.prepared(text, [])
    assert {option: xla.prepared(text, [option]) != plain for option in (COUNTERS, ARC_TANGENTS)} == {
        option: option == FUNCTIONS[name][1] for option in (COUNTERS, ARC_TANGENTS)
    }
    torch.testing.assert_close(torchere.load(tmp_path / "program")(x), FUNCTIONS[name][0](x))


def test_a_saved_decoder_has_no_barriers(tmp_path):
    _, program = donation_test.export_decoder(24)
    text = saved_text(program, tmp_path / "program")
    assert "optimization_barrier" not in text
    assert "tf.aliasing_output" not in text


def test_jaxlib_needs_loop_counters_that_are_multiplied():
    x = numbers()
    text = torchere.export(Function("cummax"), (x,)).get_stablehlo_text()
    judge = xla.Plugin()
    try:
        ((got,),) = judge.run(xla.prepared(text, [COUNTERS]), [[x.numpy()]])
        numpy.testing.assert_array_equal(got, FUNCTIONS["cummax"][0](x).numpy())
        with pytest.raises(RuntimeError, match="the plugin crashed"):
            judge.run(text, [[x.numpy()]])
            pytest.fail("jaxlib takes a counter that is added to itself: with its version the pass can go")
    finally:
        judge.close()
