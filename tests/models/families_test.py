"""Model families, each exported once with sizes that may change, and called with several."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from families import COMMON, TORCHVISION, TRANSFORMERS, Family
from judged_engines import assert_equal_to_scale, assert_plans_all, tensors_of, with_random_weights

import torchere
from torchere.stablehlo import StableHLOExportOptions

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "passes"))
pytest.importorskip("jaxlib")
from plugin_passes import assert_is_for_any_plugin


def parsed_by_jaxlib(text: str) -> Any:
    """The module as upstream's StableHLO reads and verifies it."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        return ir.Module.parse(text)


def assert_equal(got: Any, expected: Any) -> None:
    """To scale, and no output is without numbers."""
    for tensor in tensors_of(expected):
        assert tensor.isfinite().all()
        assert tensor.any()
    assert_equal_to_scale(got, expected)


# Of the common run, those that run on XLA as well.
ON_XLA = {"squeezenet1_0", "bert", "llama"}


def marked(families: list[Family], common: set[str] = COMMON) -> list[Any]:
    """The families as parameters: those of the common run, the others for the sweep."""
    return [
        pytest.param(family, id=str(family), marks=[] if family.name in common else pytest.mark.sweep)
        for family in families
    ]


def test_the_families_of_the_common_run_exist():
    assert {family.name for family in TORCHVISION + TRANSFORMERS} >= COMMON >= ON_XLA


def saved_text(program: Any, directory: Path) -> str:
    program.save(directory, StableHLOExportOptions(save_weights=False))
    return (directory / "functions/forward.mlir").read_text()


def check(family: Family, directory: Path) -> None:
    torch.manual_seed(0)
    model = with_random_weights(family.make())
    program = torchere.export(model, family.inputs(*family.exported_with), dynamic_shapes=(*family.shapes,))
    text = program.get_stablehlo_text()
    for given, dynamic in zip(family.inputs(*family.exported_with), family.shapes, strict=True):
        sizes = "x".join("?" if axis in dynamic else str(size) for axis, size in enumerate(given.shape))
        assert f": tensor<{sizes}x" in text
    assert parsed_by_jaxlib(text).operation.verify()
    assert_is_for_any_plugin(saved_text(program, directory))
    for sizes in family.called_with:
        inputs = family.inputs(*sizes)
        with torch.no_grad():
            expected = model(*inputs)
        assert_equal(program(*inputs), expected)
    assert_plans_all(program, *inputs)


@pytest.mark.slow
@pytest.mark.usefixtures("torchvision")
@pytest.mark.parametrize("family", marked(TORCHVISION))
def test_torchvision(family, tmp_path):
    check(family, tmp_path / "program")


@pytest.mark.slow
@pytest.mark.usefixtures("torchvision")  # which transformers imports
@pytest.mark.parametrize("family", marked(TRANSFORMERS))
def test_transformers(family, monkeypatch, tmp_path):
    """Small configurations with random weights: nothing is downloaded."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("transformers")
    check(family, tmp_path / "program")


@pytest.mark.slow
@pytest.mark.usefixtures("torchvision", "on_xla")
@pytest.mark.parametrize("family", marked(TORCHVISION + TRANSFORMERS, ON_XLA))
def test_on_xla(family, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if family in TRANSFORMERS:
        pytest.importorskip("transformers")
    check(family, tmp_path / "program")
