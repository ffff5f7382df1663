"""What the tests of whole models need around them."""

import importlib.util
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, also where its extension does not load beside this torch."""
    path = ROOT / "examples/torchvision_schemas.py"
    spec = importlib.util.spec_from_file_location("torchvision_schemas", path)
    schemas = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(schemas)
    import torchvision

    yield torchvision
    del schemas  # its declarations live as long as it does


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
