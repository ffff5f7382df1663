"""PyTorch/XLA's torch_xla.core."""

from torchere.core import xla_model

__all__ = ["xla_model"]
