"""What the tests of whole models need around them."""

import importlib
import sys
from pathlib import Path
from typing import Any

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--model-table", metavar="FILE", help="write what architectures_test.py found to FILE")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--model-table", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Table(Path(config.getoption("--model-table"))))


class _Table:
    """Collects the results of architectures_test.py, from all workers, and writes their page."""

    def __init__(self, path: Path):
        self.path = path
        self.found: list[tuple[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.found += report.user_properties

    def pytest_sessionfinish(self) -> None:
        from architectures import ARCHITECTURES
        from coverage_table import PROPERTY, table

        rows = [value for name, value in self.found if name == PROPERTY]
        if len(rows) == len(ARCHITECTURES):  # a choice of them is no table
            self.path.write_text(table(rows))
