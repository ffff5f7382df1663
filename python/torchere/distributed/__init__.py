"""PyTorch/XLA's torch_xla.distributed: what serves one process."""

from torchere.distributed import parallel_loader

__all__ = ["parallel_loader"]
