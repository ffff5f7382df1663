"""Saves what the C++ examples run, with eager PyTorch's results: save_programs.py FOLDER [NAME...]"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F

import torchere


class Layer(torch.nn.Module):
    """One layer of a decoder that sees one token at a time and keeps the keys and values of those before."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.project = torch.nn.Linear(width, 3 * width)
        self.join = torch.nn.Linear(width, width)
        self.feed = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )

    def forward(self, x, keys, values, position):
        split = self.project(self.norms[0](x)).view(1, 3, self.heads, 1, -1)
        query, key, value = split[:, 0], split[:, 1], split[:, 2]
        keys.index_copy_(2, position, key)
        values.index_copy_(2, position, value)
        mask = torch.arange(keys.shape[2]) <= position
        seen = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask[None, None, None])
        x = x + self.join(seen.reshape(1, -1))
        return x + self.feed(self.norms[1](x))


class Decoder(torch.nn.Module):
    """token, position -> logits; the cache is its buffers."""

    def __init__(self, tokens: int = 64, width: int = 32, heads: int = 4, layers: int = 2, length: int = 32):
        super().__init__()
        self.embedding = torch.nn.Embedding(tokens, width)
        self.places = torch.nn.Embedding(length, width)
        self.layers = torch.nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, tokens)
        for index in range(layers):
            for kind in ("keys", "values"):
                self.register_buffer(f"{kind}_{index}", torch.zeros(1, heads, length, width // heads))

    def forward(self, token, position):
        x = self.embedding(token) + self.places(position)
        for index, layer in enumerate(self.layers):
            x = layer(x, getattr(self, f"keys_{index}"), getattr(self, f"values_{index}"), position)
        return self.head(self.norm(x))


def save_resnet18(folder: Path) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import torchvision_schemas  # noqa: F401  before torchvision, whose extension may not load beside this torch

    # isort: split
    import torchvision

    model = torchvision.models.resnet18().eval()
    image = torch.randn(1, 3, 224, 224)
    torchere.export(model, (image,)).save(folder / "resnet18", overwrite=True)
    image.numpy().tofile(folder / "image.f32")
    model(image).numpy().tofile(folder / "logits.f32")


def save_decoder(folder: Path) -> None:
    model = Decoder().eval()
    example = (torch.tensor([1]), torch.tensor([0]))
    torchere.export(model, example).save(folder / "decoder", overwrite=True)
    tokens = [1, 2, 3, 4]
    for position in range(19):
        logits = model(torch.tensor([tokens[position]]), torch.tensor([position]))
        if position + 1 == len(tokens):
            tokens.append(int(logits.argmax()))
    torch.tensor(tokens).numpy().tofile(folder / "tokens.i64")


def main(folder: str, *names: str) -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    with torch.no_grad():
        for name in names or ("resnet18", "decoder"):
            {"resnet18": save_resnet18, "decoder": save_decoder}[name](target)


if __name__ == "__main__":
    main(*sys.argv[1:])
