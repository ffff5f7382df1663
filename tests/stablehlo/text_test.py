"""Our text against upstream's: jaxlib reads what we print, and each prints the other's text unchanged.

The corpus is what the lit tests of the ops accept, so that it covers every op.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

jax_mlir = pytest.importorskip("jax._src.interpreters.mlir")
from jaxlib.mlir import ir  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPS = sorted((ROOT / "tests/lit/stablehlo").glob("*.mlir"))


def find_tool():
    named = os.environ.get("TORCHERE_OPT") or shutil.which("torchere-opt")
    built = sorted(ROOT.glob("build/*/bin/torchere-opt"), key=lambda path: path.stat().st_mtime)
    return named or (str(built[-1]) if built else None)


TOOL = find_tool()
pytestmark = pytest.mark.skipif(TOOL is None, reason="torchere-opt is not built")


def ours(text, *options):
    result = subprocess.run([TOOL, *options], input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def theirs(text, generic=False):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        return module.operation.get_asm(print_generic_op_form=generic).strip()


def accepted(path):
    """The modules of a lit test that expect no error, one for each part of the file."""
    parts = path.read_text().split("// -----")
    return [part for part in parts if "expected-error" not in part and "// Upstream prints" not in part]


def test_scalar_dynamic_slice_is_readable_upstream():
    slice_op = "stablehlo.dynamic_slice %a, sizes = [] : (tensor<f32>) -> tensor<f32>"
    text = ours(
        f"func.func @main(%a: tensor<f32>) -> tensor<f32> {{ %0 = {slice_op} return %0 : tensor<f32> }}"
    )
    assert "stablehlo.dynamic_slice" in theirs(text)


@pytest.mark.parametrize("path", OPS, ids=lambda path: path.stem)
def test_text_is_upstreams(path):
    for source in accepted(path):
        text = ours(source)
        assert theirs(text) == text
        assert ours(theirs(source)) == text


@pytest.mark.parametrize("path", OPS, ids=lambda path: path.stem)
def test_generic_form_is_upstreams(path):
    for source in accepted(path):
        generic = ours(source, "--mlir-print-op-generic")
        assert theirs(source, generic=True) == generic
        assert ours(generic) == ours(source)


def test_corpus_covers_every_op():
    declared = set()
    for definitions in (ROOT / "src/stablehlo").glob("*.td"):
        for line in definitions.read_text().replace("\n    :", " :").splitlines():
            if line.startswith("def StableHLO_") and "Op :" in line and '<"' in line:
                declared.add(line.split('<"')[1].split('"')[0])
    assert len(declared) > 60
    assert declared == {path.stem for path in OPS}
