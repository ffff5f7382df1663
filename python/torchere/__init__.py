"""Torchère: PyTorch programs as portable StableHLO, run by any PJRT plugin."""

from __future__ import annotations

__version__ = "0.1.0"
