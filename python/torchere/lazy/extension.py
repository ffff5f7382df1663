"""Where the extension of the lazy device is, and its loading."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
from pathlib import Path

from torchere.errors import Error, NotFoundError

PACKAGE = Path(__file__).parent.parent
LIBRARY = "libtorchere_lazy.so"


def source_folder() -> Path:
    """The C++ sources: the wheel's, or those of the source tree."""
    carried = Path(__file__).parent / "sources"
    return carried if carried.is_dir() else PACKAGE.parent.parent / "src"


def torch_version() -> str:
    """Of the torch that is installed; nothing is imported."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise NotFoundError("[lazy] torch is not installed") from None


def library_path() -> Path:
    """Of the extension for this torch: in TORCHERE_LAZY_FOLDER, else in the user's cache. A new torch and new
    sources have a folder of their own."""
    if folder := os.environ.get("TORCHERE_LAZY_FOLDER"):
        return Path(folder).resolve() / LIBRARY
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "torchere" / "lazy" / f"torch-{torch_version()}-{_sources_digest()}" / LIBRARY


def _sources_digest() -> str:
    """Of the extension's sources, and of all headers: those of the library that it calls may change alone."""
    digest = hashlib.sha256(str(source_folder()).encode())
    own = source_folder() / "lazy"
    for path in sorted(
        [*source_folder().rglob("*.h"), *(p for p in own.rglob("*") if p.suffix in (".cpp", ".py", ".yaml"))]
    ):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


_loaded = False


def load() -> None:
    """Loads the extension; torch then has the device "xla". Raises NotFoundError if it was not built, and
    Error beside torch_xla, which owns the same device."""
    global _loaded
    if _loaded:
        return
    foreign = sys.modules.get("torch_xla")
    if foreign is not None and hasattr(foreign, "_XLAC"):
        raise Error(
            "[lazy] torch_xla is loaded, which has the device 'xla' too: got both, expected one in a process"
        )
    path = library_path()
    if not path.exists():
        raise NotFoundError(
            f"[lazy] the extension is not built for torch {torch_version()}: expected {path}; "
            "run: python -m torchere.lazy build"
        )
    import torch

    from torchere import plugins  # with _core, which loads the library that the extension uses

    try:
        torch.ops.load_library(str(path))
    except OSError as error:
        raise Error(f"[lazy] the extension cannot be loaded: {error}") from error
    # The device makes its client at its first use, which says so if there is no plugin.
    found = plugins.installed_packages()
    torch.ops.torchere_lazy.add_plugins(
        [plugin.name for plugin in found],
        [plugin.path for plugin in found],
        [plugin.origin for plugin in found],
    )
    from torchere.lazy import buffers, device_module, loading, random_state  # noqa: F401 - calls use buffers

    torch._register_device_module("xla", device_module)
    random_state.follow_torch()
    loading.follow_torch()
    _loaded = True
