"""Decoders with the cache of their keys and values: written in place, or handed from step to step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from architecture import Architecture
from families import tokens
from text_architectures import GROUPED, NAMED_N, SMALL
from torch import nn
from torch.export import Dim

CACHE_LENGTH = 48
KEPT = 5  # the length of the caches that programs are exported with

# Of each decoder: its class, its configuration's class, and the configuration.
DECODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", NAMED_N),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", {**GROUPED, "head_dim": 8}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", GROUPED),
    "mixtral": (
        "MixtralForCausalLM",
        "MixtralConfig",
        {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "opt": ("OPTForCausalLM", "OPTConfig", {**SMALL, "ffn_dim": 64, "word_embed_proj_dim": 32}),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", GROUPED),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", GROUPED),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**GROUPED, "head_dim": 8}),
    "stablelm": ("StableLmForCausalLM", "StableLmConfig", GROUPED),
}


def decoder(name: str, layers: int = 2) -> Any:
    import transformers

    model, config, options = DECODERS[name]
    options = options | {"n_layer" if "n_layer" in options else "num_hidden_layers": layers}
    return getattr(transformers, model)(getattr(transformers, config)(**options)).eval()


def with_static_cache(model: Any) -> nn.Module:
    """transformers' own module for export: buffers are the cache, and the place to write at is an input."""
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    model.generation_config.use_cache = True
    model.generation_config.cache_implementation = "static"
    return TorchExportableModuleWithStaticCache(model, batch_size=1, max_cache_len=CACHE_LENGTH).eval()


class FirstStep(nn.Module):
    """The whole prompt: the logits of what follows, and the cache."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        result = self.model(input_ids=input_ids, use_cache=True)
        return result.logits[:, -1], result.past_key_values


class NextStep(nn.Module):
    """One more token, after those of which the cache is."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, input_ids, cache):
        result = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)
        return result.logits[:, -1], result.past_key_values


def dynamic_cache(model: Any, length: int) -> Any:
    """A cache that was filled by random tokens."""
    from transformers import DynamicCache
    from transformers.integrations.executorch import register_dynamic_cache_export_support

    register_dynamic_cache_export_support()
    cache = DynamicCache(config=model.config)
    with torch.no_grad():
        model(input_ids=tokens(1, length), past_key_values=cache, use_cache=True)
    return cache


def growing(layers: int) -> tuple[Any, ...]:
    """The dynamic shapes of NextStep: torch finds that all keys and values have one length."""
    length = Dim.AUTO(min=2, max=512)
    kept = [{2: length} for _ in range(layers)]
    return None, [list(kept), list(kept)]


def static_row(name: str, strict: bool) -> Architecture:
    kind = "static cache, strict" if strict else "static cache"
    return Architecture(
        name,
        "transformers",
        kind,
        lambda: with_static_cache(decoder(name)),
        lambda: {"input_ids": tokens(1, 1), "cache_position": torch.tensor([KEPT])},
        strict,
    )


def dynamic_row(name: str) -> Architecture:
    make: Callable[[], Any] = functools.partial(decoder, name)
    return Architecture(
        name,
        "transformers",
        "dynamic cache",
        lambda: NextStep(make()),
        lambda: (tokens(1, 1), dynamic_cache(make(), KEPT)),
        dynamic_shapes=lambda: growing(2),
    )


CACHED = [
    *(static_row(name, strict=False) for name in DECODERS),
    *(static_row(name, strict=True) for name in ("gpt2", "llama", "qwen2")),
    *(dynamic_row(name) for name in DECODERS),
]
