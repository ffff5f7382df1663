"""What the shipped binaries export, need and look for: nothing of LLVM, nothing that a bare machine lacks."""

import importlib.metadata
import re
import subprocess
from pathlib import Path

import pytest

import torchere

PACKAGE = Path(torchere.__file__).parent
LIBRARY = PACKAGE / "lib" / "libtorchere.so"
INTERPRETER = PACKAGE / "lib" / "libtorchere_interpreter.so"
ENGINE = PACKAGE / "lib" / "libtorchere_cpu.so"
EXTENSIONS = sorted(PACKAGE.glob("_core.*.so"))
PROGRAMS = sorted(path for path in (PACKAGE / "bin").glob("torchere") if path.is_file())

# What any Linux with a C++ runtime has. zlib is LLVM's one dependency outside that.
SYSTEM_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libz.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
OURS = re.compile(r"(?:(?:vtable|typeinfo|typeinfo name|VTT|guard variable) for )?torchere::")
C_ABI = re.compile(r"torchere_\w+@@TORCHERE_1$")


def output(*command):
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


def exported(path):
    """The demangled names of the dynamic symbols that `path` defines."""
    lines = output("nm", "-DC", "--defined-only", path).splitlines()
    return [line.split(" ", 2)[2] for line in lines]


def dynamic(path, tag):
    """The values of one tag of the dynamic section: NEEDED, RUNPATH."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", output("readelf", "-dW", path))


def test_the_library_exports_only_our_names():
    names = exported(LIBRARY)
    assert [name for name in names if not OURS.match(name) and not C_ABI.match(name)] == []
    assert any(name.startswith("torchere::Error::text") for name in names)


def test_the_library_exports_what_the_c_header_declares():
    header = (Path(__file__).resolve().parents[2] / "include/torchere/torchere.h").read_text()
    declared = set(re.findall(r"^TORCHERE_API [\w *]*?(torchere_\w+)\(", header, re.MULTILINE))
    assert {"torchere_call", "torchere_version", "torchere_program_snapshot"} <= declared
    assert {name.split("@")[0] for name in exported(LIBRARY) if C_ABI.match(name)} == declared


def test_the_extension_exports_only_its_entry():
    assert EXTENSIONS
    for extension in EXTENSIONS:
        assert exported(extension) == ["PyInit__core"]


@pytest.mark.parametrize("plugin", [INTERPRETER, ENGINE], ids=["interpreter", "engine"])
def test_a_plugin_exports_only_its_table(plugin):
    assert exported(plugin) == ["GetPjrtApi"]


def test_the_engine_stands_alone():
    needed = set(dynamic(ENGINE, "NEEDED"))
    assert needed <= {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"} | {
        name for name in needed if name.startswith("ld-linux")
    }
    assert ENGINE.stat().st_size < 25e6


@pytest.mark.parametrize(
    "path", [LIBRARY, INTERPRETER, *EXTENSIONS, *PROGRAMS], ids=lambda path: path.name.split(".")[0]
)
def test_only_system_libraries_are_needed(path):
    needed = set(dynamic(path, "NEEDED"))
    assert needed - SYSTEM_LIBRARIES <= {"libtorchere.so"}


def test_each_binary_finds_the_library_beside_it():
    assert dynamic(LIBRARY, "RUNPATH") == ["$ORIGIN"]
    assert dynamic(INTERPRETER, "RUNPATH") == ["$ORIGIN"]
    for extension in EXTENSIONS:
        assert dynamic(extension, "RUNPATH") == ["$ORIGIN/lib"]
    assert PROGRAMS
    for program in PROGRAMS:
        assert dynamic(program, "RUNPATH") == ["$ORIGIN/../lib"]


def test_the_version_is_the_build_s():
    assert torchere.__version__ == importlib.metadata.version("torchere")
