"""Builds the extension of the lazy device against the torch that is installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from torchere.errors import Error, NotFoundError
from torchere.lazy.extension import LIBRARY, PACKAGE, library_path, source_folder, torch_version

SHARDS = 8
# How many sources are compiled as one: loading torch's headers takes most of a file's time, even precompiled.
FILES_AT_ONCE = 8


def build(jobs: int | None = None) -> Path:
    """Builds what is not up to date, and returns the extension's path. Raises Error with the compiler's
    output."""
    target = library_path()
    if importlib.util.find_spec("yaml") is None:
        raise NotFoundError("[lazy] the build needs PyYAML, which torchgen reads tables with: install pyyaml")
    folder = target.parent
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in joined_sources(folder).items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    (folder / "build.ninja").write_text(ninja_file(folder))
    command = [_program("ninja"), "-C", str(folder), *([f"-j{jobs}"] if jobs else [])]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode != 0:
        raise Error(f"[lazy] the build against torch {torch_version()} failed in {folder}:\n{process.stdout}")
    return target


def _program(name: str) -> str:
    for folder in (None, sysconfig.get_path("scripts")):
        if found := shutil.which(name, path=folder):
            return found
    raise NotFoundError(f"[lazy] the build needs {name}, which is not on the PATH: install it")


def _torch_folder() -> Path:
    import torch

    return Path(torch.__file__).parent


def joined_sources(folder: Path) -> dict[Path, str]:
    """The text of each file that includes several of the sources, which are compiled as one."""
    lazy = source_folder() / "lazy"
    joined = {}
    for name, pattern in (("device", "*.cpp"), ("kernel", "kernels/*.cpp"), ("shape", "shapes/*.cpp")):
        sources = sorted(lazy.glob(pattern))
        for number, first in enumerate(range(0, len(sources), FILES_AT_ONCE)):
            lines = [f'#include "{source}"\n' for source in sources[first : first + FILES_AT_ONCE]]
            joined[folder / f"{name}_group_{number}.cpp"] = "".join(lines)
    return joined


def ninja_file(folder: Path) -> str:
    """The build as ninja reads it: generate, compile, link."""
    source, torch = source_folder(), _torch_folder()
    generated = folder / "generated"
    lazy = source / "lazy"
    generator = sorted((lazy / "generator").glob("*.py"))
    written = [generated / "lazy" / f"kernels_{shard}.cpp" for shard in range(SHARDS)]
    written += [
        generated / "lazy" / name
        for name in ("registration_supported.cpp", "shape_functions.h", "native_functions.h")
    ]
    inputs = [
        lazy / "ops.yaml",
        lazy / "number_operands.yaml",
        *generator,
        *lazy.glob("shapes/*.cpp"),
        *lazy.glob("kernels/*.cpp"),
    ]
    includes = [f"-I{source}", f"-I{generated}"]
    includes += [f"-isystem {path}" for path in (torch / "include", source / "third_party") if path.is_dir()]
    flags = "-std=c++20 -O2 -fPIC -fvisibility=hidden -DNDEBUG -DFMT_HEADER_ONLY -Wall -Wextra -Werror"
    # torch's own headers are not held to our warnings, nor is what they expand to.
    flags += " -Wno-unused-parameter -Wno-deprecated-declarations"
    compiler = os.environ.get("CXX") or _program("c++")
    lines = [
        f"flags = {flags} {' '.join(includes)}",
        f"libraries = -L{torch / 'lib'} -ltorch_cpu -lc10 -L{PACKAGE / 'lib'} -ltorchere",
        f"rpath = -Wl,-rpath,{torch / 'lib'} -Wl,-rpath,{(PACKAGE / 'lib').resolve()}",
        "rule generate",
        "  description = generate $out",
        f"  command = {sys.executable} {lazy / 'generator'} --table {lazy / 'ops.yaml'} "
        f"--numbers {lazy / 'number_operands.yaml'} --output {generated} --shards {SHARDS}",
        "  restat = 1",
        "rule header",
        "  description = header $out",
        f"  command = {compiler} -MD -MF $out.d $flags -x c++-header -c $in -o $out",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule compile",
        "  description = compile $out",
        f"  command = {compiler} -MD -MF $out.d $flags -include {folder}/precompiled.h -c $in -o $out",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule link",
        "  description = link $out",
        f"  command = {compiler} -shared -Wl,-z,defs -o $out $in $libraries $rpath",
        f"build {' '.join(map(str, written))}: generate | {' '.join(map(str, inputs))}",
        f"build precompiled.h.gch: header {lazy / 'precompiled.h'}",
    ]
    objects = []
    for path in [*joined_sources(folder), *(file for file in written if file.suffix == ".cpp")]:
        objects.append(f"{path.stem}.o")
        lines.append(f"build {objects[-1]}: compile {path} | precompiled.h.gch || {written[-1]}")
    lines += [f"build {LIBRARY}: link {' '.join(objects)} | {PACKAGE / 'lib' / 'libtorchere.so'}", ""]
    return "\n".join(lines)
