"""docs/lazy.md: the programs of its sections run, those of one section after each other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/lazy.md").read_text()
# What they print; tensors and times aside.
PRINTED = {
    "Guide": ["stablehlo.abs", "stablehlo.add", "'xla::abs': 1", "'UncachedCompile': 1"],
    "Plugins and devices": [
        "[2.0, 2.0]\n[aten.add.Tensor] tensors on two devices: got xla:1, expected xla:0\n"
    ],
}


@pytest.mark.parametrize("title", PRINTED)
def test_the_programs_of_a_section_run(title, tmp_path):
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    source = "\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    result = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for expected in PRINTED[title]:
        assert expected in result.stdout


def test_the_demo_shows_the_op_from_its_kernel_to_its_counters():
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples/lazy_abs.py")], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    for expected in (
        "at::Tensor abs(const at::Tensor & self) {",
        "on xla:0 is traced",
        "stablehlo.abs %arg0 : tensor<4xf32>",
        "tensor([2.0000, 0.5000, 0.0000, 3.0000])",
        "xla::abs: 1\n",
        "UncachedCompile: 1\n",
        "computed on the CPU instead: nothing\n",
    ):
        assert expected in result.stdout
