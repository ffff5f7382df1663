"""Torchère's CPU engine as a platform of JAX: JAX_PLATFORMS=torchere_cpu."""

import importlib.util
import json
import os
import warnings
from pathlib import Path


def initialize():
    """Called by JAX. Registers the engine where JAX is asked for it by name: JAX starts every platform that
    is registered, and warns of those that it does not know."""
    import jax
    from jax._src import xla_bridge
    from jax_plugins.torchere_cpu import callbacks, linear_algebra
    from jax_plugins.torchere_cpu.kernels import Kernels

    if "torchere_cpu" not in (jax.config.jax_platforms or "").split(","):
        return
    given = os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")
    registered = [entry.partition(":")[2] for entry in given if entry.startswith("torchere_cpu:")]
    if registered:  # by JAX itself
        library = registered[-1]
        if library.endswith(".json"):  # the library's path beside the client's options
            library = json.loads(Path(library).read_text())["library_path"]
    else:
        package = Path(importlib.util.find_spec("torchere").origin).parent
        library = str(package / "lib" / "libtorchere_cpu.so")
        xla_bridge.register_plugin("torchere_cpu", library_path=library, options={"asynchronous": True})
    Kernels(library).register_with_jax()
    linear_algebra.register()
    try:
        callbacks.register()
    except (AttributeError, ImportError, KeyError) as error:  # of another JAX's inner modules
        warnings.warn(
            f"[jax_plugins.torchere_cpu] JAX {jax.__version__} has no callbacks on this platform: {error}",
            stacklevel=2,
        )
