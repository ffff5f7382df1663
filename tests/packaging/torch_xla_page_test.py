"""docs/torch_xla.md: its programs run one after the other, each in a process of its own, in one folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from warm_process import run_python

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/torch_xla.md").read_text()
# torchvision is only imported with that module where its extension does not load.
RUN = (
    f"import sys; sys.path.append({str(ROOT / 'examples')!r}); import torchvision_schemas; import runpy; "
    "runpy.run_path('program.py', run_name='__main__')"
)
SECTIONS = re.findall(r"## ([^\n]*)\n(?:(?!\n## ).)*?```python\n(.*?)```", PAGE, re.DOTALL)
# What they print; of the first line of the text, its begin.
PRINTED = {
    "Export, run, save and load": ["module @forward", "\nb'ML\\xefR'\nTrue\nTrue\n"],
    "SavedModels": ["False"],
    "Composites": [
        'stablehlo.composite "test.sdpa" %',
        '{composite_attributes = {other_attr = "val", scale = 2.500000e-01 : f32}, '
        "decomposition = @test.sdpa.impl}",
        "func.func private @test.sdpa.impl(",
    ],
    "Options": ["True False\nTrue\n"],
    "The device": ["True\n0\n"],
    "Names in the text": ["module", "MY_ADD", "MY_SUB"],
    "Quantized types": ["True\nTrue\n"],
    "Bundles": ['{"name": "forward", ', "tensor([2., 3.])"],
}


@pytest.mark.slow
def test_the_programs_of_the_page_run(tmp_path):
    assert [title for title, _ in SECTIONS] == list(PRINTED)
    for title, source in SECTIONS:
        (tmp_path / "program.py").write_text(source)
        result = run_python("-c", RUN, cwd=tmp_path)
        assert result.returncode == 0, f"{title}: {result.stderr}"
        for expected in PRINTED[title]:
            assert expected in result.stdout, f"{title}: {result.stdout}"


def test_a_program_runs_without_a_change(tmp_path):
    (tmp_path / "helper.py").write_text("NAME = 'beside it'\n")
    (tmp_path / "program.py").write_text(
        "import sys, torch_xla.utils.stablehlo_test_utils as u, helper\n"
        "assert __name__ == '__main__'\n"
        "print(sys.argv, helper.NAME, u.wrap_func_as_nn_module(abs)(-3))\n"
    )
    command = [sys.executable, "-m", "torchere.torch_xla_compat"]
    result = subprocess.run([*command, "program.py", "-x"], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout == "['program.py', '-x'] beside it 3\n", result.stderr
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == "usage: python -m torchere.torch_xla_compat PROGRAM.py [ARGUMENT ...]\n"
