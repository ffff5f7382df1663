"""For all Python tests: programs run on the engine unless a test says otherwise; the user's cache is left be.

Tests marked `sweep` run with --sweeps alone, and then XLA compiles as for users. Else it leaves out LLVM's
optimizations, which take more than half of its time: a test's program runs once.
"""

import os

import pytest

os.environ.setdefault("TORCHERE_CACHE", "0")
# Tests run in as many processes as there are cores, and threads that wait for each other spin.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def run_on(plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA's, "cpu", has to be installed: its name would mean the engine otherwise."""
    from torchere import plugins

    assert plugins.find(plugin).name == plugin, f"[{plugin}] is not installed: torchere plugins install cpu"
    monkeypatch.setenv("PJRT_DEVICE", plugin)


@pytest.fixture
def on_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs run on XLA's plugin."""
    run_on("cpu", monkeypatch)


@pytest.fixture(params=["torchere_cpu", "cpu"])
def on_engine_and_xla(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs twice: programs run on the engine, and on XLA's plugin."""
    run_on(request.param, monkeypatch)


@pytest.fixture(params=["torchere_cpu", "interpreter"])
def on_ours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs twice: programs run on the engine, and on the interpreter."""
    run_on(request.param, monkeypatch)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sweeps", action="store_true", help="run the tests marked `sweep` as well")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--sweeps"):
        os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--sweeps"):
        return
    left_out = [item for item in items if item.get_closest_marker("sweep")]
    items[:] = [item for item in items if not item.get_closest_marker("sweep")]
    config.hook.pytest_deselected(items=left_out)
