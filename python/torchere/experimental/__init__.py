"""PyTorch/XLA's experimental modules that concern StableHLO, under their names."""
