"""PyTorch/XLA's torch_xla.experimental, as far as it concerns StableHLO, under the same names."""
