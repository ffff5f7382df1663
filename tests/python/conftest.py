"""Lets tests import what stands beside them (models.py) and the examples' torchvision_schemas."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples")]
