"""What the tests of whole models need around them."""

import importlib
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]

# The modules beside the tests import each other by name.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, also where its extension does not load beside this torch."""
    sys.path.insert(0, str(ROOT / "examples"))
    importlib.import_module("torchvision_schemas")  # before torchvision
    import torchvision

    return torchvision


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
