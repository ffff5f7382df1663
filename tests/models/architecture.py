"""A row of the table of architectures: how a model is made, what it takes, how it is exported."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from families import VOCABULARY
from torch import nn

# Sizes that many rows share.
WIDTHS: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
PATCHES: dict[str, Any] = {**WIDTHS, "image_size": 32, "patch_size": 8}
TEXT_WIDTHS: dict[str, Any] = {**WIDTHS, "vocab_size": VOCABULARY, "max_position_embeddings": 64}

# Positional arguments as a tuple, or keyword arguments as a dict.
Inputs = tuple[Any, ...] | dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Architecture:
    """A small model with random weights, and the inputs that it is exported and called with."""

    name: str
    library: str
    kind: str
    make: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    strict: bool = False
    dynamic_shapes: Callable[[], Any] | None = None

    def __str__(self) -> str:
        return f"{self.library}-{self.kind}-{self.name}".replace(" ", "_")


def images(size: int = 64, batch: int = 2, channels: int = 3) -> Callable[[], Inputs]:
    return lambda: (torch.randn(batch, channels, size, size),)


def transformers_model(name: str, config: str, **options: Any) -> Callable[[], nn.Module]:
    """A model of transformers without its cache; `options` are its configuration's."""

    def make() -> nn.Module:
        import transformers

        model = getattr(transformers, name)(getattr(transformers, config)(**options))
        for module in model.modules():
            if hasattr(getattr(module, "config", None), "use_cache"):
                module.config.use_cache = False
        return model

    return make


def transformers_row(
    name: str, kind: str, model: str, config: str, inputs: Callable[[], Inputs], **options: Any
) -> Architecture:
    return Architecture(name, "transformers", kind, transformers_model(model, config, **options), inputs)
