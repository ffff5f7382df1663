"""What a plugin needs is in no saved program: the passes that prepareFor runs do it, and each finds there
what it is for."""

import re
import subprocess
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
from plugin_passes import (  # noqa: E402
    ALL,
    ARC_TANGENTS,
    COUNTERS,
    DONATED_WRITES,
    FLOAT32_PRODUCTS,
    assert_is_for_any_plugin,
    marks,
    needed,
)

pytestmark = pytest.mark.skipif(find_tool() is None, reason="torchere-opt is not built")

# What the programs are made of, and the pass that changes them, if one does.
FUNCTIONS = {
    "cumsum": (lambda x: x.cumsum(0), None),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), COUNTERS),
    "atan": (torch.atan, ARC_TANGENTS),
    "asin": (torch.asin, ARC_TANGENTS),
    "atan2": (lambda x: torch.atan2(x, torch.ones_like(x)), ARC_TANGENTS),
}

WRITE = """
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>, %i: tensor<i64>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %i
    : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
"""


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
    expected = [FUNCTIONS[name][1]] if FUNCTIONS[name][1] else []
    assert assert_is_for_any_plugin(text) == expected
    torch.testing.assert_close(torchere.load(tmp_path / "program")(x), FUNCTIONS[name][0](x))


def test_a_saved_decoder_has_no_barriers(tmp_path):
    _, program = donation_test.export_decoder(24)
    text = saved_text(program, tmp_path / "program")
    assert assert_is_for_any_plugin(text) == [FLOAT32_PRODUCTS]


@pytest.mark.parametrize(
    ("name", "plugin_pass"), [(name, each) for name, (_, each) in FUNCTIONS.items() if each]
)
def test_a_pass_leaves_its_mark(name, plugin_pass):
    """Or the tests above would see nothing."""
    text = xla.prepared(
        torchere.export(Function(name), (numbers(),)).get_stablehlo_text(), [plugin_pass.option]
    )
    assert marks(text) == [plugin_pass]
    assert plugin_pass not in needed(text)


def test_every_pass_is_described():
    listing = subprocess.run([find_tool(), "--help"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"--torchere-prepare-[\w-]+", listing)) == {each.option for each in ALL}


def test_a_barrier_behind_a_donated_write_is_a_mark():
    text = xla.prepared(WRITE, [DONATED_WRITES.option])
    assert needed(WRITE) == marks(text) == [DONATED_WRITES]
    with pytest.raises(AssertionError):
        assert_is_for_any_plugin(WRITE)


def test_jaxlib_needs_loop_counters_that_are_multiplied():
    x = numbers()
    text = torchere.export(Function("logcumsumexp"), (x,)).get_stablehlo_text()
    judge = xla.Plugin()
    try:
        ((got,),) = judge.run(xla.prepared(text, [COUNTERS.option]), [[x.numpy()]])
        numpy.testing.assert_allclose(got, FUNCTIONS["logcumsumexp"][0](x).numpy(), rtol=1e-6)
        with pytest.raises(RuntimeError, match="the plugin crashed"):
            judge.run(text, [[x.numpy()]])
            pytest.fail("jaxlib takes a counter that is added to itself: with its version the pass can go")
    finally:
        judge.close()
