"""Torchère's CPU engine as a platform of JAX: JAX_PLATFORMS=torchere_cpu."""

import importlib.util
import os
from pathlib import Path


def initialize():
    """Called by JAX. Registers the engine where JAX is asked for it by name: JAX starts every platform that
    is registered, and warns of those that it does not know."""
    import jax
    from jax._src import xla_bridge

    if "torchere_cpu" not in (jax.config.jax_platforms or "").split(","):
        return
    given = os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")
    if any(entry.startswith("torchere_cpu:") for entry in given):  # JAX registers it by that
        return
    package = Path(importlib.util.find_spec("torchere").origin).parent
    xla_bridge.register_plugin(
        "torchere_cpu",
        library_path=str(package / "lib" / "libtorchere_cpu.so"),
        options={"asynchronous": True},
    )
