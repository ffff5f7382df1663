"""What is added to torch.export's own time: over the model families, beside torch's run_decompositions and
its ONNX exporter, over the number of layers, and for a Llama of 405 billion parameters that are fake.

    export_scale_bench.py [families] [layers] [llama]      all where none is named
        --jobs N             families at the same time
        --only NAME ...      of the families, these
"""

import argparse

import torch
from added_time import ours, timed
from family_exports import print_table

PARTS = ("families", "layers", "llama")
LAYERS = (512, 1024, 2048, 4096)
# Llama 3.1 405B.
LLAMA = {
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_hidden_layers": 126,
    "num_attention_heads": 128,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
}


def print_layers() -> None:
    """Linear and ReLU, one after the other: the time of a layer must not depend on their number."""
    for count in LAYERS:
        layers = [layer for _ in range(count) for layer in (torch.nn.Linear(16, 16), torch.nn.ReLU())]
        model = torch.nn.Sequential(*layers)
        exported, seconds = timed(lambda model=model: torch.export.export(model, (torch.randn(2, 16),)))
        print(f"{count:5} layers: torch.export {seconds:6.2f} s, ours {ours(exported)[1]:6.2f} s", flush=True)


class Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids, use_cache=False).logits


def print_llama() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from transformers import LlamaConfig, LlamaForCausalLM

    with FakeTensorMode(allow_non_fake_inputs=True):
        model = Logits(LlamaForCausalLM(LlamaConfig(**LLAMA)).eval())
    parameters = sum(parameter.numel() for parameter in model.parameters())
    ids, shapes = torch.ones(1, 16, dtype=torch.int64), ({1: torch.export.Dim("length", min=2, max=4096)},)
    exported, seconds = timed(lambda: torch.export.export(model, (ids,), dynamic_shapes=shapes))
    _, added = ours(exported)
    print(
        f"Llama, {LLAMA['num_hidden_layers']} layers, {parameters / 1e9:.0f} billion fake parameters, ",
        end="",
    )
    print(f"{len(exported.graph.nodes)} nodes: torch.export {seconds:.2f} s, ours {added:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description="What is added to torch.export's own time.")
    parser.add_argument("parts", nargs="*", metavar="families|layers|llama", default=PARTS)
    parser.add_argument("--jobs", type=int, default=1, help="families at the same time")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="of the families, these")
    options = parser.parse_args()
    for part in options.parts:
        if part == "families":
            print_table(options.only, options.jobs)
        elif part == "layers":
            print_layers()
        elif part == "llama":
            print_llama()
        else:
            parser.error(f"not a part: got {part!r}, expected one of {', '.join(PARTS)}")


if __name__ == "__main__":
    main()
