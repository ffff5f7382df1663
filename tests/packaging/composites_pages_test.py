"""docs/composites.md and docs/custom_ops.md: their Python runs, as one script a page, in an empty folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["composites.md", "custom_ops.md"])
def test_the_pages_code_runs(page, tmp_path):
    code = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert code
    (tmp_path / "page.py").write_text("\n".join(code))
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    expected = {"composites.md": 'composite "test.sdpa"', "custom_ops.md": "custom_call @my_kernel"}
    assert expected[page] in run.stdout
