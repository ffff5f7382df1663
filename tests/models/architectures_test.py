"""`make test-models`: every architecture of the table, as far as it is known to come."""

from __future__ import annotations

import pytest
from architecture import Architecture
from architecture_trial import STEPS, try_architecture
from architectures import ARCHITECTURES, LIMITS, ON_INTERPRETER
from coverage_table import PROPERTY, describe, table

pytest.importorskip("jaxlib")


def test_the_rows_have_names_of_their_own():
    names = [str(row) for row in ARCHITECTURES]
    assert len(names) == len(set(names))
    assert set(LIMITS) | set(ON_INTERPRETER) <= set(names)
    assert not set(LIMITS) & set(ON_INTERPRETER)
    assert {step for step, _ in LIMITS.values()} <= set(STEPS[:-1])


@pytest.mark.sweep
@pytest.mark.usefixtures("torchvision")  # which timm and transformers import
@pytest.mark.parametrize("row", ARCHITECTURES, ids=str)
def test_architecture(row: Architecture, monkeypatch, record_property):
    """Small configurations with random weights: nothing is downloaded."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip(row.library)
    trial = try_architecture(row, str(row) in ON_INTERPRETER)
    step, reason = LIMITS.get(str(row), (STEPS[-1], ON_INTERPRETER.get(str(row), "")))
    record_property(PROPERTY, describe(row, trial.step, reason))
    if trial.step != step:
        raise AssertionError(f"came to '{trial.step}', expected '{step}'") from trial.error


def test_the_table_counts_what_torch_captures():
    def row(name: str, step: str) -> dict[str, str]:
        reason = "`x[mask]`" if name == "d" else ""
        return {"name": name, "library": "timm", "kind": "vision", "step": step, "reason": reason}

    text = table([row("a", "equal"), row("b", "made"), row("c", "lowered"), row("d", "equal")])
    assert "torch.export captures 3" in text
    assert "2 (66.7%)" in text
    assert "| timm | vision | 4 | 3 | 3 | 2 | 2 |" in text
    assert "| c | timm | vision | lowered |  |" in text
    on_interpreter = text[text.index("## On the interpreter") : text.index("## All rows")]
    assert "| d | timm | vision | `x[mask]` |" in on_interpreter and "| a |" not in on_interpreter
    every = text[text.index("## All rows") :]
    assert every.index("| a |") < every.index("| b |") < every.index("| d |")
