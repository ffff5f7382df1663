"""A decoder of transformers with flex_attention, which looks up in tensors under torch.vmap for its mask."""

from __future__ import annotations

import pytest
import torch

import torchere

pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("torchvision")  # which transformers imports

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 50,
}


class Decoder(torch.nn.Module):
    def __init__(self, attention):
        super().__init__()
        import transformers

        configuration = transformers.LlamaConfig(**SIZES, attn_implementation=attention)
        self.decoder = transformers.LlamaForCausalLM(configuration).eval().requires_grad_(False)

    def forward(self, input_ids):
        return self.decoder(input_ids, use_cache=False).logits


def test_results_are_those_of_eager_attention():
    module, eager = Decoder("flex_attention"), Decoder("eager")
    eager.load_state_dict(module.state_dict())
    tokens = torch.randint(0, 50, (1, 8))
    length = torch.export.Dim("length", min=2, max=64)
    program = torchere.export(module, (tokens,), dynamic_shapes={"input_ids": {1: length}})
    for size in (8, 13):
        tokens = torch.randint(0, 50, (1, size))
        torch.testing.assert_close(program(tokens), eager(tokens), rtol=1e-5, atol=1e-5)
    kernels = {row.kernel for row in program.profile(tokens).rows}
    assert "attention" in kernels
