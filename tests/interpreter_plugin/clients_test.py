"""The interpreter's plugin, as JAX and torchere load it by name: each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import torchere

LIBRARY = Path(torchere.__file__).parent / "lib" / "libtorchere_interpreter.so"


def run(source, **environment):
    """Runs Python source; the lines that it printed."""
    result = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=os.environ | environment
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


JAX = """
import numpy
import jax, jax.numpy as jnp

assert jax.default_backend() == "interpreter"
print(jax.devices())

@jax.jit
def layer(x, w):
    return jnp.tanh(x @ w).sum(axis=1)

x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3) / 8
w = numpy.linspace(-1, 1, 12, dtype=numpy.float32).reshape(3, 4)
numpy.testing.assert_allclose(layer(x, w), numpy.tanh(x @ w).sum(axis=1), rtol=1e-6)
gradient = jax.jit(jax.grad(lambda x: layer(x, w).sum()))(x)
numpy.testing.assert_allclose(gradient, (1 - numpy.tanh(x @ w) ** 2) @ w.T, rtol=1e-5)

# Control flow, sorting, a function of CHLO, integers.
@jax.jit
def mixture(x):
    total = jax.lax.fori_loop(0, 5, lambda i, sum: sum + i, jnp.int32(0))
    return total, jnp.sort(x, axis=0)[::-1], jax.scipy.special.erf(x)

total, ordered, erf = mixture(x[0])
assert int(total) == 10
assert ordered.tolist() == x[0][::-1].tolist()
numpy.testing.assert_allclose(erf, [0, 0.140316, 0.276326], atol=1e-6)

compiled = layer.lower(x, w).compile()
print(compiled.memory_analysis().argument_size_in_bytes)
print("done")
"""


def test_jax_runs_jitted_functions():
    lines = run(JAX, JAX_PLATFORMS="interpreter", PJRT_NAMES_AND_LIBRARY_PATHS=f"interpreter:{LIBRARY}")
    assert lines == ["[InterpreterDevice(id=0)]", str((6 + 12) * 4), "done"]


REGISTERED = f"""
import jax, numpy
from jax._src import xla_bridge
xla_bridge.register_plugin("interpreter", library_path={str(LIBRARY)!r}, options={{"device_count": 2}})
jax.config.update("jax_platforms", "interpreter")
jax.config.update("jax_use_shardy_partitioner", False)  # whose dialect is not StableHLO
print(jax.device_count())
first, second = jax.devices()
x = jax.device_put(numpy.array([1, 2], numpy.float32), second)
y = jax.jit(lambda x: x * 3)(x)
print(y.devices() == {{second}}, y.tolist(), jax.device_put(y, first).tolist())
"""


def test_jax_gives_options_to_a_plugin_that_it_registers():
    assert run(REGISTERED) == ["2", "True [3.0, 6.0] [3.0, 6.0]"]


TORCH = """
import torch, torchere

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
    def forward(self, x):
        self.calls.add_(1)
        return torch.nn.functional.gelu(self.linear(x)).softmax(-1), self.calls + 0

torch.manual_seed(0)
model, x = Model(), torch.randn(5, 4)
program = torchere.export(model, (x,))
client = torchere.plugins.client()
print(client.platform_name, client.devices)
for calls in (1, 2):
    expected = torch.nn.functional.gelu(model.linear(x)).softmax(-1)
    result, count = program(x)
    torch.testing.assert_close(result, expected.detach())
    assert count.item() == calls
program.save("saved")
torch.testing.assert_close(torchere.load("saved")(x)[0], result)
"""


def test_pjrt_device_selects_it(tmp_path):
    (line,) = run(f"import os; os.chdir({str(tmp_path)!r})\n" + TORCH, PJRT_DEVICE="interpreter")
    assert line == "interpreter [Device(0, interpreter)]"
