"""What the system does not give is an error of the interpreter, not the end of its process."""

import resource
import subprocess
from pathlib import Path

import pytest
from judges import find_tool

TOOL = find_tool()


def translate(option, text=""):
    """Runs torchere-translate in 2 GiB of address space."""
    return subprocess.run(
        [Path(TOOL).with_name("torchere-translate"), option],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )


@pytest.mark.skipif(TOOL is None, reason="torchere-opt is not built")
def test_no_memory_for_a_tensor():
    if translate("--version").returncode != 0:
        pytest.skip("a build with sanitizers does not start in 2 GiB")
    result = translate(
        "--interpret",
        """func.func @main() -> tensor<500000000xi64> {
  %0 = stablehlo.iota dim = 0 : tensor<500000000xi64>
  return %0 : tensor<500000000xi64>
}""",
    )
    assert result.stderr == "error: [stablehlo.iota] no memory for a tensor<500000000xi64>; at <stdin>:2:8\n"
    assert result.returncode == 1
