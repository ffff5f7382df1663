"""Other readers of StableHLO take our portable artifacts: IREE compiles them, TensorFlow runs them.

IREE takes part where `iree-compile` is on PATH (`pip install iree-base-compiler==3.13.*`, in an environment
of its own), TensorFlow where it is installed, as by `make test`.
"""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim
from torch_modules import Attention, Classifier, Residual, mlp

import torchere
from torchere import _core

pytestmark = pytest.mark.slow
BATCH = Dim("batch", min=2, max=64)
DYNAMIC = ({0: BATCH},)
# name: (the module, an input, dynamic shapes)
MODELS: dict[str, tuple[Callable[[], torch.nn.Module], torch.Tensor, tuple | None]] = {
    "mlp": (mlp, torch.linspace(-1, 1, 24).reshape(3, 8), None),
    "mlp of any batch": (mlp, torch.linspace(-1, 1, 24).reshape(3, 8), DYNAMIC),
    "mlp of bfloat16": (lambda: mlp().bfloat16(), torch.linspace(-1, 1, 24).reshape(3, 8).bfloat16(), None),
    "attention": (Attention, torch.linspace(-2, 2, 672).reshape(3, 7, 32), None),
    "residual": (Residual, torch.linspace(-1, 3, 972).reshape(3, 4, 9, 9), None),
    "embedding": (Classifier, torch.arange(6).reshape(2, 3), None),
}
# TensorFlow's own, of XlaCallModule: the newest that refines a dynamic module without being told to by an
# attribute of jax's.
CALL_VERSION = 7
VERSIONS = ("0.9.0", "1.0.0", _core.TARGET_VERSION)


@functools.cache
def prepared(name: str) -> tuple[torch.nn.Module, torchere.StableHLOProgram]:
    torch.manual_seed(0)
    make, example, dynamic = MODELS[name]
    model = make()
    return model, torchere.export(model, (example,), dynamic_shapes=dynamic)


def arguments(program: torchere.StableHLOProgram, given: torch.Tensor) -> list:
    """What the function takes: weights and constants by PyTorch/XLA's description, and the input."""
    bundle = program._bundle
    taken = []
    for location in bundle.stablehlo_funcs[0].meta.input_locations:
        if location.type_.name == "INPUT_ARG":
            taken.append(given)
        elif location.type_.name == "CONSTANT":
            taken.append(torch.as_tensor(bundle.additional_constants[location.position]))
        else:
            taken.append(program.state_dict()[location.name])
    return taken


@pytest.mark.skipif(shutil.which("iree-compile") is None, reason="iree-compile is not on PATH")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", [name for name, (_, _, dynamic) in MODELS.items() if not dynamic])
def test_iree_compiles(name, version, tmp_path):
    """Static models: IREE reads the dynamic one, and then has no code for its broadcasts of unknown size."""
    artifact = tmp_path / "module.bc"
    artifact.write_bytes(prepared(name)[1].get_stablehlo_bytecode(target_version=version))
    compiled = tmp_path / "module.vmfb"
    options = ["--iree-input-type=stablehlo", "--iree-hal-target-device=local"]
    options += ["--iree-hal-local-target-device-backends=llvm-cpu", "-o", str(compiled)]
    done = subprocess.run(["iree-compile", *options, str(artifact)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert compiled.stat().st_size > 1000


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", MODELS)
def test_tensorflow_runs(name, version):
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python import xla

    model, program = prepared(name)
    given = MODELS[name][1]
    if name == "mlp of any batch":
        given = torch.cat([given, given])  # not the size of the export
    expected = model(given)
    artifact = program.get_stablehlo_bytecode(target_version=version)

    @functools.partial(tf.function, jit_compile=True, autograph=False)
    def call(*taken):
        return xla.call_module(
            taken,
            version=CALL_VERSION,
            module=artifact,
            Tout=[tf.as_dtype(str(expected.dtype).removeprefix("torch."))],
            Sout=[tuple(expected.shape)],
            platforms=["CPU"],
        )

    (output,) = call(*(as_tensorflow(value) for value in arguments(program, given)))
    got = torch.as_tensor(tf.cast(output, tf.float32).numpy())
    torch.testing.assert_close(got, expected.float(), rtol=2e-2 if "bfloat16" in name else 1e-5, atol=1e-5)


def as_tensorflow(value: torch.Tensor):
    import tensorflow as tf

    value = torch.as_tensor(value).detach()
    if value.dtype == torch.bfloat16:
        return tf.cast(value.float().numpy(), tf.bfloat16)
    return tf.constant(value.numpy())
