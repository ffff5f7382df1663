"""What PyTorch/XLA's tests of StableHLO share: functions as modules, and SavedModels against eager."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable
from typing import Any


@functools.lru_cache
def has_tf_package() -> bool:
    """Whether TensorFlow can be imported; nothing is imported."""
    return importlib.util.find_spec("tensorflow") is not None


def wrap_func_as_nn_module(f: Callable[..., Any]) -> Any:
    """The function as a module in evaluation mode, for torch.export."""
    import torch

    class FunctionModule(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return f(*args)

    return FunctionModule().eval()


def load_save_model_and_inference(path: str | os.PathLike[str], args: tuple[Any, ...]) -> Any:
    """What the SavedModel's `f` gives in TensorFlow, of torch tensors or of what TensorFlow takes."""
    import tensorflow as tf
    import torch
    from torch.utils import _pytree as pytree

    loaded = tf.saved_model.load(os.fspath(path))
    given = pytree.tree_map_only(torch.Tensor, lambda tensor: tf.constant(tensor.detach().numpy()), args)
    return loaded.f(*given)


def compare_exported_program_and_saved_model_result(
    ep: Any, saved_model_path: str | os.PathLike[str], args: tuple[Any, ...], atol: float = 1e-7
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Asserts that an ExportedProgram and a SavedModel give the same: as many results, of the same dtypes,
    shapes and values. Returns both, as arrays."""
    import numpy
    import torch

    with torch.no_grad():
        eager = _results(ep.module()(*args))
    served = _results(load_save_model_and_inference(saved_model_path, args))
    assert len(eager) == len(served), f"got {len(served)} results, expected {len(eager)}"
    for index, (ours, theirs) in enumerate(zip(served, eager, strict=True)):
        assert ours.dtype == theirs.dtype, f"result {index}: got {ours.dtype}, expected {theirs.dtype}"
        assert ours.shape == theirs.shape, f"result {index}: got {ours.shape}, expected {theirs.shape}"
        assert numpy.allclose(ours, theirs, atol=atol), f"result {index}: other values"
    return eager, served


def _results(value: Any) -> tuple[Any, ...]:
    values = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(item.numpy() for item in values)
