"""The README's example runs as it stands and prints what it promises."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_example_runs(tmp_path):
    (source,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(source.strip().splitlines()) <= 10
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    *text, close, shape = result.stdout.splitlines()
    assert any("stablehlo.dot_general" in line for line in text)
    assert close == "True"
    assert shape == "torch.Size([3, 2])"
    assert (tmp_path / "mlp/functions/forward.mlir").is_file()
