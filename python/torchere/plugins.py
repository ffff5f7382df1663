"""PJRT plugins: installs XLA's CPU plugin, discovers those of installed packages, creates their clients.

XLA's CPU plugin is published as a wheel whose metadata pins JAX, so it cannot be a dependency of ours. It is
fetched by its hash, without its dependencies, and its library is kept in the user's data directory, where the
core looks for it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchere import _core
from torchere.arguments import shown
from torchere.errors import Error, InvalidArgumentError, NotFoundError


@dataclass(frozen=True)
class PublishedPlugin:
    """A plugin that install() can fetch: one wheel of the Python package index."""

    distribution: str
    version: str
    module: str
    sha256: Mapping[str, str]  # by machine, as platform.machine() names it


PUBLISHED = {
    "cpu": PublishedPlugin(
        distribution="lammps-jax-pjrt-cpu",
        version="0.11.2",
        module="lammps_jax_pjrt_cpu",
        sha256={"x86_64": "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1"},
    )
}

# How a plugin was discovered, as reported to the core.
_SITE_PACKAGES = "site-packages"
_JAX_PLUGINS = "jax_plugins"


def install(name: str = "cpu", *, wheel: str | os.PathLike[str] | None = None, force: bool = False) -> Path:
    """Installs a plugin for this user and returns the path of its library.

    Does nothing if it is installed already, unless `force` is set. `wheel` is a file to install it from, for
    machines without network access; its hash is checked as well.
    """
    plugin = _published(name)
    target = _directory() / name / plugin.version
    if not force and (library := _library_in(target)):
        return library
    sha256 = plugin.sha256.get(platform.machine())
    if sha256 is None:
        raise NotFoundError(
            f"[{name}] no wheel of the plugin for this machine: got {platform.machine()}, "
            f"expected {' or '.join(plugin.sha256)}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    # Next to the target, so that the last step is a rename: a partially unpacked plugin is never visible.
    with tempfile.TemporaryDirectory(prefix=".installing-", dir=target.parent) as temporary:
        source = Path(wheel) if wheel is not None else _download(plugin, sha256, Path(temporary))
        _check_hash(source, sha256)
        unpacked = Path(temporary) / "unpacked"
        _unpack(source, plugin, unpacked)
        if target.exists():
            shutil.rmtree(target)
        unpacked.rename(target)
    library = _library_in(target)
    assert library is not None
    return library


def uninstall(name: str = "cpu") -> bool:
    """Removes what install() installed; False if there was nothing."""
    directory = _directory() / _checked_name(name)
    if not directory.is_dir():
        return False
    shutil.rmtree(directory)
    return True


def installed_packages() -> list[_core.PluginLocation]:
    """The plugins of installed Python packages: the published ones, and those that JAX would find."""
    locations = []
    for name, plugin in PUBLISHED.items():
        for directory in _package_directories(plugin.module):
            if library := _library_in(directory):
                locations.append(_core.PluginLocation(name, str(library), _SITE_PACKAGES))
    for module, directory in _jax_plugin_directories():
        if library := _library_in(directory, "*pjrt*.so", "*plugin*.so"):
            locations.append(_core.PluginLocation(_jax_name(module), str(library), _JAX_PLUGINS))
    for directory in _package_directories("libtpu"):
        if library := _library_in(directory, "libtpu.so"):
            locations.append(_core.PluginLocation("tpu", str(library), _SITE_PACKAGES))
    return locations


def known() -> list[_core.PluginLocation]:
    """All known plugins; if several have the same name, the first one is used."""
    return _core.known_plugins(installed_packages())


def find(name_or_path: str = "") -> _core.PluginLocation:
    """The plugin with a name or path; if that is empty, that of TORCHERE_PLUGIN, else of PJRT_DEVICE, else
    the engine, "torchere_cpu". "cpu" is XLA's plugin, or the engine where XLA's is nowhere to be found."""
    return _core.find_plugin(name_or_path, installed_packages)


def client(name_or_path: str = "", options: Mapping[str, Any] | None = None) -> _core.Client:
    """The client of a plugin. One client serves all callers with equal options until the process ends."""
    with _without_notices():
        return _core.shared_client(name_or_path, dict(options or {}), installed_packages)


@contextlib.contextmanager
def _without_notices() -> Iterator[None]:
    """Silences the line that XLA's plugins write to stderr for each client option. TensorFlow reads
    the variable as well, so it is set only while the plugin reads it."""
    variable = "TF_CPP_MIN_LOG_LEVEL"
    if variable in os.environ:
        yield
        return
    os.environ[variable] = "1"
    try:
        yield
    finally:
        del os.environ[variable]


def main(arguments: list[str]) -> int:
    """The command `torchere plugins`, for what needs Python: `install cpu` and `uninstall cpu`."""
    parser = argparse.ArgumentParser(prog="torchere plugins")
    commands = parser.add_subparsers(required=True, dest="command")
    command = commands.add_parser("install", help="download a plugin to the user's data directory")
    command.add_argument("name", choices=sorted(PUBLISHED))
    command.add_argument("--wheel", metavar="FILE", help="install from this wheel instead of downloading")
    command.add_argument("--force", action="store_true", help="reinstall")
    command = commands.add_parser("uninstall", help="remove an installed plugin")
    command.add_argument("name", choices=sorted(PUBLISHED))
    options = parser.parse_args(arguments)
    try:
        if options.command == "install":
            print(install(options.name, wheel=options.wheel, force=options.force))
        elif not uninstall(options.name):
            print(f"[{options.name}] the plugin is not installed: nothing was removed")
    except (Error, OSError) as error:
        print(f"torchere: {error}", file=sys.stderr)
        return 1
    return 0


def _directory() -> Path:
    directory: Path = _core.plugin_directory()
    if not directory.is_absolute():
        raise NotFoundError("[plugins] no directory for the user's data: set XDG_DATA_HOME or HOME")
    return directory


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise InvalidArgumentError(f"[plugins] not the name of a plugin: got {shown(name)}")
    return name


def _published(name: str) -> PublishedPlugin:
    plugin = PUBLISHED.get(name)
    if plugin is None:
        raise NotFoundError(
            f"[{name}] not a plugin that can be installed: expected {' or '.join(PUBLISHED)}; "
            "others are used by their path, or installed as JAX's plugins are"
        )
    return plugin


def _library_in(directory: Path, *patterns: str) -> Path | None:
    for pattern in patterns or ("*.so",):
        for path in sorted(directory.glob(pattern)):
            return path
    return None


def _download(plugin: PublishedPlugin, sha256: str, directory: Path) -> Path:
    requirements = directory / "requirements.txt"
    requirements.write_text(f"{plugin.distribution}=={plugin.version} --hash=sha256:{sha256}\n")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
    ]
    command += ["--disable-pip-version-check", "--progress-bar=off", "-q", "-d", str(directory)]
    result = subprocess.run(command + ["-r", str(requirements)], capture_output=True, text=True)
    wheels = list(directory.glob("*.whl"))
    if result.returncode != 0 or len(wheels) != 1:
        raise Error(
            f"[{plugin.distribution}] cannot download the plugin with pip: {result.stderr.strip()}",
            code="UNAVAILABLE",
        )
    return wheels[0]


def _check_hash(wheel: Path, expected: str) -> None:
    import hashlib

    if not wheel.is_file():
        raise NotFoundError(f"[{wheel}] no such file")
    with wheel.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != expected:
        raise Error(f"[{wheel.name}] wrong sha256: got {actual}, expected {expected}", code="DATA_LOSS")


def _unpack(wheel: Path, plugin: PublishedPlugin, directory: Path) -> None:
    """Extracts only the library and the licences from the wheel."""
    directory.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        libraries = [name for name in names if re.fullmatch(rf"{plugin.module}/[^/]+\.so", name)]
        if len(libraries) != 1:
            raise Error(
                f"[{wheel.name}] unexpected contents: got {len(libraries)} libraries in {plugin.module}/, "
                "expected 1",
                code="DATA_LOSS",
            )
        licences = [name for name in names if re.search(r"\.dist-info/licenses/[^/]+$", name)]
        for name in libraries + licences:
            with archive.open(name) as source, (directory / Path(name).name).open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)


def _package_directories(module: str) -> list[Path]:
    """The directories of a package, without importing it."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return []
    return [Path(path) for path in spec.submodule_search_locations or ()] if spec else []


def _jax_plugin_directories() -> Sequence[tuple[str, Path]]:
    """The packages of the namespace jax_plugins, and those registered as its entry points."""
    import importlib.metadata

    found = []
    for namespace in _package_directories("jax_plugins"):
        found += [
            (path.name, path) for path in sorted(namespace.iterdir()) if (path / "__init__.py").is_file()
        ]
    for entry in importlib.metadata.entry_points(group="jax_plugins"):
        found += [(entry.name, path) for path in _package_directories(entry.module)]
    return found


def _jax_name(module: str) -> str:
    """The name that JAX gives to a plugin's platform: "cuda" for the module xla_cuda12."""
    return re.sub(r"\d+$", "", module.removeprefix("xla_"))
