"""Greedy decoding by exported steps: the tokens that transformers' own generate gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from cache_architectures import FirstStep, NextStep, decoder, dynamic_cache, growing, with_static_cache
from families import tokens
from torch.export import Dim

import torchere

pytestmark = pytest.mark.usefixtures("torchvision")  # which transformers imports
STEPS = 32
PROMPT = 6
LAYERS = 1
SWEPT = pytest.mark.sweep


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("transformers")


def lively(name: str) -> Any:
    """A decoder whose weights are large enough that the tokens vary, with no token that ends the text."""
    model = decoder(name, LAYERS)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5 if parameter.dim() > 1 else 0.2)
    model.generation_config.eos_token_id = None
    return model


def generated(model: Any, prompt: torch.Tensor, cache: str) -> list[int]:
    result = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=STEPS,
        do_sample=False,
        cache_implementation=cache,
        pad_token_id=0,
    )
    found = result[0, prompt.shape[1] :].tolist()
    assert len(found) == STEPS
    assert len(set(found)) > 3  # one token again and again would hide a wrong cache
    return found


def most_likely(logits: torch.Tensor) -> torch.Tensor:
    return logits.argmax(-1).reshape(1, 1)


@pytest.mark.parametrize("strict", [False, pytest.param(True, marks=SWEPT)])
@pytest.mark.parametrize(
    "name", ["llama", *(pytest.param(name, marks=SWEPT) for name in ("gemma", "gpt2", "qwen2", "qwen3"))]
)
def test_static_cache(name, strict):
    """One program of one shape; its state is the cache, and the position is an input."""
    model, prompt = lively(name), tokens(1, PROMPT)
    expected = generated(model, prompt, "static")
    program = torchere.export(
        with_static_cache(model),
        (),
        {"input_ids": prompt[:, :1], "cache_position": torch.tensor([0])},
        strict=strict,
    )
    found: list[int] = []
    for position in range(PROMPT + STEPS - 1):
        token = prompt[:, position : position + 1] if position < PROMPT else torch.tensor([[found[-1]]])
        logits = program(input_ids=token, cache_position=torch.tensor([position]))
        if position >= PROMPT - 1:
            found.append(int(most_likely(logits[:, -1])))
    assert found == expected


@pytest.mark.slow  # every length is compiled
@pytest.mark.parametrize(
    "name", ["gpt2", *(pytest.param(name, marks=SWEPT) for name in ("gemma", "llama", "qwen2", "qwen3"))]
)
def test_dynamic_cache(name):
    """A program for the prompt, and one for all further steps, through which the cache passes and grows."""
    model, prompt = lively(name), tokens(1, PROMPT)
    expected = generated(model, prompt, "dynamic")
    example = dynamic_cache(model, 3)
    first = torchere.export(FirstStep(model), (tokens(1, 4),), dynamic_shapes=({1: Dim.AUTO(min=2, max=64)},))
    following = torchere.export(NextStep(model), (tokens(1, 1), example), dynamic_shapes=growing(LAYERS))
    logits, cache = first(prompt)
    found = [int(most_likely(logits))]
    while len(found) < STEPS:
        logits, cache = following(torch.tensor([[found[-1]]]), cache)
        assert cache.get_seq_length() == PROMPT + len(found)
        found.append(int(most_likely(logits)))
    assert found == expected
