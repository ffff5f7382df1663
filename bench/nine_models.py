"""The nine models of the performance table, with random weights, and what each is called with.

A model may keep state between calls, as GPT-2 keeps its cache of keys and values. Engines that have no
state get its other form, in which the state is passed in and comes back.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

SEED = 0


@dataclasses.dataclass(frozen=True)
class Model:
    """How a model is made, and the arguments of its first calls; later calls begin with the first again."""

    name: str
    make: Callable[[], nn.Module]
    calls: Callable[[], list[tuple[torch.Tensor, ...]]]
    packages: tuple[str, ...] = ()  # beyond torch

    def build(self) -> nn.Module:
        """The module, with the same weights in every process, none of which are all zeros: those of
        torchvision's transformers begin so, and then every result is zero."""
        torch.manual_seed(SEED)
        module = self.make()
        for weight in module.parameters():
            if not weight.any():
                nn.init.normal_(weight, std=0.02)
        return module.eval()

    def arguments(self) -> list[tuple[torch.Tensor, ...]]:
        torch.manual_seed(SEED + 1)
        return self.calls()


def load(package: str) -> ModuleType:
    """torchvision, or transformers, which imports it: also beside a torch of another build."""
    examples = str(Path(__file__).resolve().parent.parent / "examples")
    if examples not in sys.path:
        sys.path.insert(0, examples)
    importlib.import_module("torchvision_schemas")
    return importlib.import_module(package)


class Step(nn.Module):
    """One token of GPT-2: its place in the text and its id in, scores of the next one out.

    The cache of keys and values has a fixed capacity and is written in place.
    """

    def __init__(self, capacity: int, **config: Any):
        super().__init__()
        transformers = load("transformers")
        self.config = transformers.GPT2Config(**config)
        self.model = transformers.GPT2LMHeadModel(self.config)
        self.capacity = capacity
        heads, width = self.config.n_head, self.config.n_embd // self.config.n_head
        for name in self.cache_names():
            self.register_buffer(name, torch.randn(1, heads, capacity, width))

    def cache_names(self) -> list[str]:
        return [f"{kind}_{layer}" for layer in range(self.config.n_layer) for kind in ("keys", "values")]

    def forward(self, ids: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        buffers = [getattr(self, name) for name in self.cache_names()]
        return self.scores(ids, place, WrittenInPlace(buffers, place))

    def scores(self, ids: torch.Tensor, place: torch.Tensor, cache: Cache) -> torch.Tensor:
        seen = (torch.arange(self.capacity) <= place)[None, None, None, :]
        hidden = self.model.transformer(
            ids, past_key_values=cache, attention_mask=seen, position_ids=place[None], use_cache=True
        ).last_hidden_state
        return self.model.lm_head(hidden)

    def without_state(self) -> nn.Module:
        return StepWithoutState(self)

    def state(self) -> list[torch.Tensor]:
        return [getattr(self, name).clone() for name in self.cache_names()]


class StepWithoutState(nn.Module):
    """The same step, with the cache as arguments and results."""

    def __init__(self, step: Step):
        super().__init__()
        self.step = step

    def forward(
        self, ids: torch.Tensor, place: torch.Tensor, state: list[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        cache = Copied(state, place)
        return self.step.scores(ids, place, cache), cache.tensors


class Cache:
    """What transformers' layers ask of a cache: update() writes a layer's part and returns the whole."""

    def __init__(self, tensors: list[torch.Tensor], place: torch.Tensor):
        self.tensors, self.place = list(tensors), place

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return self.write(2 * layer, keys), self.write(2 * layer + 1, values)

    def write(self, index: int, rows: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


class WrittenInPlace(Cache):
    def write(self, index: int, rows: torch.Tensor) -> torch.Tensor:
        return self.tensors[index].index_copy_(2, self.place, rows)


class Copied(Cache):
    def write(self, index: int, rows: torch.Tensor) -> torch.Tensor:
        self.tensors[index] = self.tensors[index].index_copy(2, self.place, rows)
        return self.tensors[index]


class Encoder(nn.Module):
    """BERT as a function of ids alone."""

    def __init__(self, **config: Any):
        super().__init__()
        transformers = load("transformers")
        self.bert = transformers.BertModel(transformers.BertConfig(**config), add_pooling_layer=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.bert(input_ids=ids).last_hidden_state


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


def torchvision_model(name: str) -> Callable[[], nn.Module]:
    return lambda: getattr(load("torchvision").models, name)(weights=None)


def images(batch: int, size: int = 224) -> Callable[[], list[tuple[torch.Tensor, ...]]]:
    return lambda: [(torch.randn(batch, 3, size, size),)]


def vision(name: str, batch: int = 1, size: int = 224) -> Model:
    title = name if batch == 1 else f"{name} b{batch}"
    return Model(title, torchvision_model(name), images(batch, size), ("torchvision",))


def bert(name: str, length: int, **config: Any) -> Model:
    vocabulary = config.get("vocab_size", 30522)
    return Model(
        name,
        lambda: Encoder(**config),
        lambda: [(torch.randint(vocabulary, (1, length)),)],
        ("transformers",),
    )


def gpt2(name: str, first: int, capacity: int, **config: Any) -> Model:
    """Eight tokens one after the other, from place `first` on."""
    vocabulary = config.get("vocab_size", 50257)
    return Model(
        name,
        lambda: Step(capacity, **config),
        lambda: [
            (torch.randint(vocabulary, (1, 1)), torch.tensor([place])) for place in range(first, first + 8)
        ],
        ("transformers",),
    )


NINE = [
    Model("mlp b32", perceptron, lambda: [(torch.randn(32, 784),)]),
    vision("resnet18", batch=4),
    vision("resnet50"),
    vision("mobilenet_v3_large"),
    vision("efficientnet_b0"),
    vision("convnext_tiny"),
    vision("vit_b_16"),
    bert("BERT-base, 128 tokens", 128),
    gpt2("GPT-2, one token, 256 cached", 100, 256),
]

# The same kinds, small: they show that all works, and nothing about speed.
SMALL = [
    Model("mlp b32", perceptron, lambda: [(torch.randn(32, 784),)]),
    vision("resnet18", size=64),
    bert(
        "small BERT",
        16,
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    ),
    gpt2("small GPT-2", 5, 16, vocab_size=99, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0),
]


def find(name: str) -> Model:
    from further_models import FURTHER  # which are made of this module's parts

    return next(model for model in [*NINE, *SMALL, *FURTHER] if model.name == name)
