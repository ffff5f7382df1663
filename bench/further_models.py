"""Models beyond the nine, of other kinds, with random weights: a second list to measure the CPU engine by."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from nine_models import Cache, Model, Step, images, load, torchvision_model, vision
from torch import nn


class DoubleConvolution(nn.Sequential):
    def __init__(self, given: int, made: int):
        def layer(channels: int) -> list[nn.Module]:
            return [
                nn.Conv2d(channels, made, 3, padding=1, bias=False),
                nn.BatchNorm2d(made),
                nn.ReLU(),
            ]

        super().__init__(*layer(given), *layer(made))


class UNet(nn.Module):
    """Down by pooling, up by transposed convolutions, with the maps of the way down joined on the way up."""

    def __init__(self, width: int, depth: int):
        super().__init__()
        widths = [width * 2**level for level in range(depth + 1)]
        self.first = DoubleConvolution(3, width)
        self.down = nn.ModuleList(DoubleConvolution(a, b) for a, b in itertools.pairwise(widths))
        pairs = list(itertools.pairwise(widths[::-1]))
        self.raised = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairs)
        self.up = nn.ModuleList(DoubleConvolution(2 * b, b) for _, b in pairs)
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        maps = [self.first(x)]
        for block in self.down:
            maps.append(block(nn.functional.max_pool2d(maps[-1], 2)))
        x = maps.pop()
        for raised, block in zip(self.raised, self.up, strict=True):
            x = block(torch.cat([maps.pop(), raised(x)], 1))
        return self.last(x)


class Lstm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


class Sound(nn.Module):
    """Words in a second of sound: convolutions of rows, norms and pooling."""

    def __init__(self, widths: tuple[int, ...]):
        super().__init__()

        def layer(given: int, made: int, kernel: int, stride: int) -> list[nn.Module]:
            convolution = nn.Conv1d(given, made, kernel, stride)
            return [convolution, nn.BatchNorm1d(made), nn.ReLU(), nn.MaxPool1d(4)]

        layers = layer(1, widths[0], 80, 4)
        for given, made in itertools.pairwise(widths):
            layers += layer(given, made, 3, 1)
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(widths[-1], 35)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x).mean(-1))


class Causal(nn.Module):
    """A stack of dilated convolutions that see the past alone, halves that gate each other, skips."""

    def __init__(self, width: int, layers: int):
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.dilated = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2**i) for i in range(layers))
        self.mixed = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.last = nn.Conv1d(width, 256, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, skips = self.first(x), torch.zeros(())
        for dilated, mixed in zip(self.dilated, self.mixed, strict=True):
            seen = dilated(nn.functional.pad(x, (dilated.dilation[0], 0)))
            value, gate = seen.chunk(2, 1)
            made = mixed(torch.tanh(value) * torch.sigmoid(gate))
            x, skips = x + made, skips + made
        return self.last(torch.relu(skips))


class Graph(nn.Module):
    """Layers of a graph network: what the neighbours' features add up to, then a perceptron."""

    def __init__(self, width: int, layers: int):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
            for _ in range(layers)
        )

    def forward(self, nodes: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            places = targets[:, None].expand(-1, nodes.shape[1])
            nodes = layer(nodes + torch.zeros_like(nodes).scatter_add(0, places, nodes[sources])).relu()
        return nodes


class Branches(nn.Module):
    """A block as RepVGG trains it: windows of 3x3 and 1x1, and the input, each with its norm."""

    def __init__(self, given: int, made: int, stride: int):
        super().__init__()

        def convolution(window: int) -> nn.Sequential:
            layer = nn.Conv2d(given, made, window, stride, window // 2, bias=False)
            return nn.Sequential(layer, nn.BatchNorm2d(made))

        self.terms = nn.ModuleList([convolution(3), convolution(1)])
        if given == made and stride == 1:
            self.terms.append(nn.BatchNorm2d(made))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, *others = (term(x) for term in self.terms)
        return torch.relu(sum(others, first))


def branches() -> nn.Module:
    widths = [3, 32, 64, 64, 128, 128, 256, 256]
    blocks = [Branches(a, b, 1 if a == b else 2) for a, b in itertools.pairwise(widths)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 1000))


class Segmentation(nn.Module):
    """torchvision's LRASPP, whose maps are resampled twice."""

    def __init__(self) -> None:
        super().__init__()
        models = load("torchvision").models.segmentation
        self.model = models.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)["out"]


def superresolution(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 5, padding=2),
        nn.Tanh(),
        nn.Conv2d(width, width // 2, 3, padding=1),
        nn.Tanh(),
        nn.Conv2d(width // 2, 27, 3, padding=1),
        nn.PixelShuffle(3),
    )


class T5(nn.Module):
    """Encoder and decoder in one pass."""

    def __init__(self, **config: Any):
        super().__init__()
        transformers = load("transformers")
        self.model = transformers.T5ForConditionalGeneration(transformers.T5Config(**config))

    def forward(self, ids: torch.Tensor, decoded: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids, decoder_input_ids=decoded, use_cache=False).logits


class Whisper(nn.Module):
    """Thirty seconds of a spectrogram, and the text so far."""

    def __init__(self, **config: Any):
        super().__init__()
        transformers = load("transformers")
        self.model = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(**config))

    def forward(self, spectrum: torch.Tensor, decoded: torch.Tensor) -> torch.Tensor:
        return self.model(input_features=spectrum, decoder_input_ids=decoded, use_cache=False).logits


class Llama(nn.Module):
    """A Llama of 110 million parameters: RMS norms, rotary places, gated units, shared keys and values."""

    def __init__(self, **config: Any):
        super().__init__()
        transformers = load("transformers")
        self.model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids, use_cache=False).logits


class LlamaStep(Step):
    """One token of it, with a cache of keys and values that is written in place."""

    def __init__(self, capacity: int, **config: Any):
        nn.Module.__init__(self)
        transformers = load("transformers")
        self.config = transformers.LlamaConfig(**config)
        self.model = transformers.LlamaForCausalLM(self.config)
        self.capacity = capacity
        heads, width = self.config.num_key_value_heads, self.config.head_dim
        for name in self.cache_names():
            self.register_buffer(name, torch.randn(1, heads, capacity, width))

    def cache_names(self) -> list[str]:
        layers = range(self.config.num_hidden_layers)
        return [f"{kind}_{layer}" for layer in layers for kind in ("keys", "values")]

    def scores(self, ids: torch.Tensor, place: torch.Tensor, cache: Cache) -> torch.Tensor:
        seen = (torch.arange(self.capacity) <= place)[None, None, None, :]
        hidden = self.model.model(
            ids,
            past_key_values=cache,
            attention_mask=seen,
            position_ids=place[None],
            cache_position=place,
            use_cache=True,
        ).last_hidden_state
        return self.model.lm_head(hidden)


LLAMA = {
    "hidden_size": 768,
    "intermediate_size": 2048,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "max_position_embeddings": 512,
}
WHISPER = {
    "d_model": 384,
    "encoder_layers": 4,
    "decoder_layers": 4,
    "encoder_attention_heads": 6,
    "decoder_attention_heads": 6,
    "encoder_ffn_dim": 1536,
    "decoder_ffn_dim": 1536,
}


def ids(vocabulary: int, length: int) -> torch.Tensor:
    return torch.randint(vocabulary, (1, length))


FURTHER = [
    vision("regnet_y_400mf"),
    vision("densenet121"),
    vision("shufflenet_v2_x1_0"),
    vision("swin_t"),
    Model("U-Net", lambda: UNet(16, 4), images(1, 256)),
    Model(
        "T5-small",
        lambda: T5(num_layers=6, d_model=512, d_ff=2048, num_heads=8),
        lambda: [(ids(32128, 64), ids(32128, 16))],
        ("transformers",),
    ),
    Model(
        "Whisper-tiny",
        lambda: Whisper(**WHISPER),
        lambda: [(torch.randn(1, 80, 3000), ids(51865, 8))],
        ("transformers",),
    ),
    Model(
        "Llama-shaped, 128 tokens",
        lambda: Llama(**LLAMA),
        lambda: [(ids(32000, 128),)],
        ("transformers",),
    ),
    Model(
        "Llama-shaped, one token, 256 cached",
        lambda: LlamaStep(256, **LLAMA),
        lambda: [(ids(32000, 1), torch.tensor([place])) for place in range(100, 108)],
        ("transformers",),
    ),
    Model("resnet50 b8", torchvision_model("resnet50"), images(8), ("torchvision",)),
    Model("resnet50 b32", torchvision_model("resnet50"), images(32), ("torchvision",)),
    Model("branches", branches, images(1)),
    Model("segmentation", Segmentation, images(1, 256), ("torchvision",)),
    Model("super-resolution", lambda: superresolution(64), images(1, 128)),
    Model("sound, one second", lambda: Sound((128, 128, 256, 512)), lambda: [(torch.randn(1, 1, 16000),)]),
    Model("causal convolutions", lambda: Causal(64, 8), lambda: [(torch.randn(1, 1, 4000),)]),
    Model(
        "graph, 6,000 edges",
        lambda: Graph(64, 3),
        lambda: [(torch.randn(1500, 64), torch.randint(1500, (6000,)), torch.randint(1500, (6000,)))],
    ),
    Model("LSTM, 100 steps", lambda: Lstm(256), lambda: [(torch.randn(1, 100, 256),)]),
]
