"""PyTorch/XLA's torch_xla.utils, as far as it concerns StableHLO, under the same names."""
