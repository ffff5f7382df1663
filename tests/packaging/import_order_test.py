"""torchere beside torch, JAX and TensorFlow, imported in every order; then each still computes something.

TensorFlow exports LLVM's symbols; torch and jaxlib carry LLVMs of their own: a leak would abort here.
Each order runs in a process of its own; the sweep takes all of them. TensorFlow takes part where it is
installed, as by `make test`.
"""

import importlib.util
import itertools
import os
import subprocess
import sys

import pytest

WORK = {
    "torchere": """
class Affine(torch.nn.Module):
    def forward(self, x):
        return x * 2 + 1
program = torchere.export(Affine(), (torch.arange(3.0),))
assert program(torch.arange(3.0)).tolist() == [1.0, 3.0, 5.0]
""",
    "torch": "assert torch.ones(2, 2).matmul(torch.ones(2, 2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]\n",
    "jax": """
assert jax.jit(lambda x: x * 2)(jax.numpy.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
""",
    "tensorflow": """
f = tensorflow.function(lambda x: x * 2, jit_compile=True)
assert f(tensorflow.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
""",
}
# `import torchere` alone loads neither the core nor torch, and so would prove nothing.
IMPORTS = {"torchere": "import torchere\nimport torchere._core\n"}


def run_in_order(modules):
    """Imports the modules in this order, then lets each work, in this order and again in the other."""
    imports = "".join(IMPORTS.get(module, f"import {module}\n") for module in modules)
    if "torch" not in modules:
        imports += "import torch\n"
    work = [WORK[module] for module in modules]
    source = imports + "".join(work + work[::-1]) + "print('done')\n"
    environment = dict(os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, f"{source}\nexit {result.returncode}\n{result.stderr}"
    assert result.stdout.splitlines()[-1] == "done"


def orders(chosen):
    """All orders of the modules; the sweep alone runs those that are not chosen."""
    assert all(sorted(order) == sorted(chosen[0]) for order in chosen)
    for order in itertools.permutations(chosen[0]):
        marks = [] if order in chosen else [pytest.mark.sweep]
        yield pytest.param(order, id="-".join(order), marks=marks)


# Each module stands once at each place; among the four, also once right behind each other one.
WITHOUT_TENSORFLOW = [
    ("torchere", "torch", "jax"),
    ("torch", "jax", "torchere"),
    ("jax", "torchere", "torch"),
]
WITH_TENSORFLOW = [
    ("torchere", "torch", "tensorflow", "jax"),
    ("torch", "jax", "torchere", "tensorflow"),
    ("jax", "tensorflow", "torch", "torchere"),
    ("tensorflow", "torchere", "jax", "torch"),
]


@pytest.mark.slow
@pytest.mark.parametrize("modules", orders(WITHOUT_TENSORFLOW))
def test_every_order_with_torch_and_jax(modules):
    run_in_order(modules)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="TensorFlow is not here: `make test` and `make test-imports` install it",
)
@pytest.mark.parametrize("modules", orders(WITH_TENSORFLOW))
def test_every_order_with_tensorflow(modules):
    run_in_order(modules)
