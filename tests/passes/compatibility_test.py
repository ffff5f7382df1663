"""What stablehlo-compatibility-expander writes for an old StableHLO computes the same, by the interpreter."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "corpus"))
pytest.importorskip("jaxlib")
from judges import find_tool  # noqa: E402

from torchere.interpreter import interpret  # noqa: E402

TOOL = find_tool()
pytestmark = pytest.mark.skipif(TOOL is None, reason="torchere-opt is not built")
LIT = (TESTS / "lit/passes/compatibility_expander.mlir").read_text()
FUNCTIONS = re.findall(r"^func\.func @(\w+)\(((?:.|\n)*?)^}$", LIT, re.MULTILINE)
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8, "complex<f32>": np.complex64}


def drawn(kind, generator):
    """Numbers for an argument of type tensor<...>; indices reach beyond the tensors that they are for."""
    sizes, element = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", kind).groups()
    shape = [int(size) for size in sizes.split("x")[:-1]]
    if element.startswith("i"):
        return generator.integers(-2, 6, shape).astype(DTYPES[element])
    values = generator.normal(0, 2, shape)
    return (values + 1j * values[::-1] if "complex" in element else values).astype(DTYPES[element])


def arguments(signature):
    return re.findall(r"%\w+: (tensor<[^:]*>)(?=[,)])", signature.split("->")[0])


@pytest.mark.parametrize("name, body", [pair for pair in FUNCTIONS if "?" not in pair[1]])
def test_expansion_computes_the_same(name, body):
    text = f"func.func @main({body}}}\n"
    expander = "--stablehlo-compatibility-expander=target=1.0.0"
    done = subprocess.run([TOOL, expander], input=text, capture_output=True, text=True, check=True)
    assert ("batching_dims" in text) != ("batching_dims" in done.stdout) or "tan" in name
    for seed in range(3):
        generator = np.random.default_rng(seed)
        inputs = [drawn(kind, generator) for kind in arguments(body)]
        for expected, got in zip(interpret(text, *inputs), interpret(done.stdout, *inputs), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_the_functions_are_those_of_every_op_that_is_expanded():
    static = "".join(body for _, body in FUNCTIONS if "?" not in body)
    assert all(op in static for op in ("stablehlo.tan", "stablehlo.gather", "stablehlo.scatter"))
