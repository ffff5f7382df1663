"""docs/errors.md: each of its programs fails with the report that the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import torchere

PAGE = (Path(__file__).resolve().parents[2] / "docs/errors.md").read_text()
SECTIONS = re.findall(r"## (.*?)\n+```python\n(.*?)```\n+```text\n(.*?)```", PAGE, re.DOTALL)


def report(source: str) -> str:
    """What the program, as a file model.py of the current folder, fails with."""
    Path("model.py").write_text(source)
    with pytest.raises(torchere.Error) as caught:
        exec(compile(source, str(Path.cwd() / "model.py"), "exec"), {"__name__": "model"})
    return str(caught.value)


def test_the_page_has_ten_failures():
    assert len(SECTIONS) == PAGE.count("```text") == 10


@pytest.mark.parametrize(("source", "expected"), [s[1:] for s in SECTIONS], ids=[s[0] for s in SECTIONS])
def test_a_program_fails_with_the_report_on_the_page(source, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PJRT_DEVICE", "")  # which one of the programs sets
    assert report(source) == expected.rstrip("\n")
