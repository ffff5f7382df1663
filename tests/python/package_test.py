"""The package as a whole: cheap to import, PyTorch/XLA's names, the command."""

from __future__ import annotations

import subprocess
import sys

import pytest

import torchere
from torchere import command_line


def run(source, **options):
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, **options)


def test_importing_loads_neither_torch_nor_the_core():
    result = run(
        "import sys, torchere; print({'torch', 'numpy', 'torchere._core'} & {name for name in sys.modules})"
    )
    assert result.stdout.strip() == "set()", result.stderr


def test_loading_imports_nothing_that_a_first_result_does_without():
    unneeded = {f"torchere.{name}" for name in ("bundle", "exporting", "profile", "signature", "stablehlo")}
    result = run(f"import sys, torchere; torchere.load; print({unneeded} & {{*sys.modules}})")
    assert result.stdout.strip() == "set()", result.stderr


def test_public_names_are_there():
    for name in torchere.__all__:
        assert getattr(torchere, name) is not None
        assert name in dir(torchere)
    with pytest.raises(AttributeError, match="module 'torchere' has no attribute 'exports'"):
        _ = torchere.exports


COMPATIBLE = """
import torchere.torch_xla_compat
import torch, torch_xla
import torch_xla.core.xla_model as xm
from torch_xla.stablehlo import (StableHLOExportOptions, StableHLOGraphModule, VariableType,
                                 exported_program_to_stablehlo, save_as_stablehlo)
import torchere.torch_xla_compat
import importlib.util
assert importlib.util.find_spec("torch_xla.core") is not None
assert xm.xla_device() == torch_xla.device() and torch_xla.device().type in ("xla", "cpu")
xm.mark_step()
torch_xla.sync()
assert torch_xla.save_as_stablehlo is save_as_stablehlo
assert torch_xla.stablehlo.save_torch_model_as_stablehlo is torch_xla.save_torch_model_as_stablehlo
import torchere
assert StableHLOGraphModule is torchere.StableHLOProgram
exported = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
assert "stablehlo.dot_general" in exported_program_to_stablehlo(exported).get_stablehlo_text("forward")
print("done")
"""


def test_programs_for_torch_xla_find_its_names():
    result = run(COMPATIBLE)
    assert result.stdout.strip() == "done", result.stderr


def test_torch_xla_itself_is_not_replaced(tmp_path):
    (tmp_path / "torch_xla.py").write_text("")
    for source in ("import torchere.torch_xla_compat", "import torch_xla, torchere.torch_xla_compat"):
        result = run(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {source}")
        assert result.returncode == 1
        assert result.stderr.splitlines()[-1] == (
            "ImportError: [torch_xla_compat] torch_xla itself is installed, and its names cannot be taken "
            "over: uninstall it, or import torchere.stablehlo instead of torch_xla.stablehlo"
        )


def test_the_command_hands_over_to_the_binary(tmp_path):
    binary = tmp_path / "torchere"
    binary.write_text('#!/bin/sh\necho "binary: $@"\nexit 3\n')
    binary.chmod(0o755)
    source = (
        f"from torchere import command_line as c; c.BINARY = {str(binary)!r}; c.main(['run', 'DIR', '-x'])"
    )
    result = run(source)
    assert (result.stdout, result.returncode) == ("binary: run DIR -x\n", 3)


def test_the_command_tells_the_binary_of_installed_packages(tmp_path):
    """Of a package that JAX would find, where a plugin is named or all are listed."""
    package = tmp_path / "jax_plugins/vendor"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    library = package / "vendor_pjrt.so"
    library.write_bytes(b"")
    binary = tmp_path / "torchere"
    binary.write_text('#!/bin/sh\necho "$TORCHERE_PACKAGE_PLUGINS"\n')
    binary.chmod(0o755)

    def told(*arguments):
        source = (
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from torchere import command_line as c; "
        )
        return run(source + f"c.BINARY = {str(binary)!r}; c.main({list(arguments)!r})").stdout

    assert f"vendor:{library}" in told("plugins")
    assert f"vendor:{library}" in told("run", "DIR", "--plugin", "vendor")
    assert f"vendor:{library}" in told("verify", "DIR", "--plugin=vendor")
    assert f"vendor:{library}" in told("run", "DIR", "--plugin", "cpu")  # which may be a package's
    assert told("run", "DIR") == told("run", "DIR", "--plugin", "torchere_cpu") == "\n"


def test_a_missing_binary_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command_line, "BINARY", tmp_path / "torchere")
    assert command_line.main(["inspect"]) == 1
    assert capsys.readouterr().err == (
        f"torchere: the program is missing: expected {tmp_path / 'torchere'}; install the package again\n"
    )
