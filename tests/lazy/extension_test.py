"""The extension: where it is looked for, and what is said where it cannot be used."""

import os
import subprocess
import sys
from pathlib import Path

from torchere.lazy import extension
from torchere.lazy.build import ninja_file


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True
    )


def test_what_is_not_built_says_how_to_build_it(tmp_path):
    result = run("import torchere.lazy", TORCHERE_LAZY_FOLDER=str(tmp_path))
    assert result.returncode == 1
    assert "NotFoundError: [lazy] the extension is not built for torch" in result.stderr
    assert "run: python -m torchere.lazy build" in result.stderr


def test_it_refuses_to_load_beside_torch_xla():
    code = (
        "import sys, types; sys.modules['torch_xla'] = types.SimpleNamespace(_XLAC=1); import torchere.lazy"
    )
    result = run(code)
    assert result.returncode == 1
    assert "[lazy] torch_xla is loaded, which has the device 'xla' too: got both" in result.stderr


def test_each_torch_has_its_own_folder(monkeypatch):
    monkeypatch.delenv("TORCHERE_LAZY_FOLDER", raising=False)
    ours = extension.library_path()
    monkeypatch.setattr(extension, "torch_version", lambda: "9.9.9")
    assert ours != extension.library_path() and "torch-9.9.9-" in str(extension.library_path())


def test_headers_of_the_library_have_folders_of_their_own(monkeypatch, tmp_path):
    monkeypatch.delenv("TORCHERE_LAZY_FOLDER", raising=False)
    for part in ("lazy", "exporter"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "a.h").write_text("struct A {};")
        (tmp_path / part / "a.cpp").write_text("A a;")
    monkeypatch.setattr(extension, "source_folder", lambda: tmp_path)
    before = extension.library_path()
    (tmp_path / "exporter" / "a.cpp").write_text("A b;")
    assert extension.library_path() == before
    (tmp_path / "exporter" / "a.h").write_text("struct A { int b; };")
    assert extension.library_path() != before


def test_the_build_writes_to_its_folder_alone(tmp_path):
    written = [
        line.split()[1].rstrip(":") for line in ninja_file(tmp_path).splitlines() if line.startswith("build ")
    ]
    assert len(written) > 15 and not list(tmp_path.iterdir())
    assert all(not Path(name).is_absolute() or Path(name).is_relative_to(tmp_path) for name in written)


def test_a_missing_plugin_is_an_error_where_the_device_is_used(tmp_path):
    code = """
import torch, torchere.lazy
try:
    torch.ones(2).to("xla")
except RuntimeError as error:
    print(error)
"""
    result = run(code, PJRT_DEVICE=str(tmp_path / "no_plugin.so"))
    assert result.returncode == 0 and "no_plugin.so" in result.stdout, result.stderr


def test_nothing_is_written_to_stderr():
    code = "import torch, torchere.lazy; print((torch.ones(2).to('xla') + 1).tolist())"
    result = run(code)
    assert result.stdout == "[2.0, 2.0]\n" and result.stderr == ""


def test_sources_are_those_of_the_tree():
    assert (Path(extension.source_folder()) / "lazy/ops.yaml").exists()
