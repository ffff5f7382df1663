"""docs/verifying.md: its programs print what the page shows, but for the figures."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/verifying.md").read_text()
SECTIONS = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", PAGE, re.DOTALL)


def without_figures(text: str) -> str:
    """Errors and seconds depend on the machine, and so do the columns' widths."""
    return re.sub(r" +", " ", re.sub(r"\d\.\de[+-]\d\d|\d\.\d{3} s|\d+ calls of \d+ ops", "#", text))


def test_the_programs_print_what_the_page_shows(tmp_path, monkeypatch):
    assert len(SECTIONS) == PAGE.count("```python") == 3
    monkeypatch.chdir(tmp_path)
    names, file = {"__name__": "model"}, Path.cwd() / "model.py"
    file.write_text("".join(source for source, _ in SECTIONS))
    lines = 0
    for source, expected in SECTIONS:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile("\n" * lines + source, str(file), "exec"), names)
        lines += source.count("\n")
        assert without_figures(printed.getvalue()) == without_figures(expected)
        if (script := Path("repro/repro.py")).exists():
            with pytest.raises(SystemExit, match="1"):
                runpy.run_path(str(script), run_name="__main__")
