"""PyTorch/XLA's torch_xla.debug."""

from torchere.debug import metrics

__all__ = ["metrics"]
