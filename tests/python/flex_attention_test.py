"""flex_attention beside eager PyTorch: functions of scores, masks, fewer heads of keys, what is captured."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import torchere
from torchere.errors import CaptureError

LENGTH = 48


def causal(batch, head, query, key):
    return query >= key


def window(batch, head, query, key):
    return (query - key).abs() <= 5


def relative(score, batch, head, query, key):
    return score + (key - query) * 0.05


def capped(score, batch, head, query, key):
    return 5 * torch.tanh(score / 5)


def causal_score(score, batch, head, query, key):
    return torch.where(query >= key, score, -float("inf"))


class Attention(nn.Module):
    def __init__(self, score_mod=None, mask_mod=None, length=LENGTH, **options):
        super().__init__()
        self.score_mod = score_mod
        self.mask = mask_mod and create_block_mask(mask_mod, None, None, length, length, device="cpu")
        self.options = options

    def forward(self, query, key, value):
        return flex_attention(
            query, key, value, score_mod=self.score_mod, block_mask=self.mask, **self.options
        )


def heads(count=2, length=LENGTH, size=16, batch=2, dtype=torch.float32):
    return torch.randn(batch, count, length, size, dtype=dtype)


def check(module, *inputs, **tolerance):
    program = torchere.export(module, inputs)
    torch.testing.assert_close(program(*inputs), module(*inputs), **tolerance)
    return program


MODULES = {
    "plain": lambda: Attention(),
    "causal": lambda: Attention(mask_mod=causal),
    "a window": lambda: Attention(mask_mod=window),
    "relative places": lambda: Attention(score_mod=relative),
    "capped scores": lambda: Attention(score_mod=capped, mask_mod=causal),
    "causal by scores": lambda: Attention(score_mod=causal_score),
    "a scale": lambda: Attention(score_mod=relative, scale=0.3),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_results_are_those_of_eager(name, strict):
    module, inputs = MODULES[name](), (heads(), heads(), heads())
    exported = torch.export.export(module, inputs, strict=strict)
    program = torchere.export(exported)
    inputs = heads(), heads(), heads()
    torch.testing.assert_close(program(*inputs), module(*inputs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["plain", "causal", "relative places"])
def test_fewer_heads_of_keys(name):
    options = {"enable_gqa": True}
    module = MODULES[name]()
    module.options |= options
    check(module, heads(4), heads(2), heads(2), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("dtype", "error"), [(torch.bfloat16, 1e-2), (torch.float16, 1e-3)])
@pytest.mark.parametrize("name", ["causal", "capped scores"])
def test_types_of_16_bits(name, dtype, error):
    inputs = [heads(dtype=dtype) for _ in range(3)]
    check(MODULES[name](), *inputs, rtol=error, atol=error)


@pytest.mark.parametrize("name", MODULES)
def test_no_scores_are_stored_by_the_engine(name):
    inputs = heads(), heads(), heads()
    program = torchere.export(MODULES[name](), inputs)
    kernels = {row.kernel for row in program.profile(*inputs).rows}
    assert "attention" in kernels
    assert "matmul" not in kernels


def test_weights_that_its_functions_read():
    class Biased(nn.Module):
        def __init__(self):
            super().__init__()
            self.slopes = nn.Parameter(torch.randn(2))
            self.table = nn.Parameter(torch.randn(2, 2 * LENGTH))
            self.register_buffer("document", torch.arange(LENGTH) // 10)

            def is_same(batch, head, query, key):
                return self.document[query] == self.document[key]

            self.mask = create_block_mask(is_same, None, None, LENGTH, LENGTH, device="cpu")

        def forward(self, query, key, value):
            def biased(score, batch, head, query, key):
                place = (key - query) % (2 * LENGTH - 1)
                return score + self.slopes[head] * (key - query) + self.table[head][place]

            return flex_attention(query, key, value, score_mod=biased, block_mask=self.mask)

    module = Biased()
    program = check(module, heads(), heads(), heads(), rtol=1e-5, atol=1e-5)
    assert {"slopes", "table", "document"} <= set(program.state_dict())


def test_rows_without_a_key_are_zero():
    def later(batch, head, query, key):
        return key > query

    module = Attention(mask_mod=later)
    program = check(module, heads(), heads(), heads(), rtol=1e-5, atol=1e-5)
    assert program(heads(), heads(), heads())[:, :, -1].abs().max() == 0


def test_the_logarithm_of_sums():
    class WithSums(nn.Module):
        def forward(self, query, key, value):
            return flex_attention(query, key, value, score_mod=relative, return_lse=True)

    check(WithSums(), heads(), heads(), heads(), rtol=1e-5, atol=1e-5)


def test_batches_may_be_dynamic():
    torch._dynamo.reset()  # what it keeps of an export with fixed sizes makes torch.export refuse
    batch = torch.export.Dim("batch", min=2, max=16)
    module = Attention(score_mod=capped, mask_mod=causal)
    program = torchere.export(module, (heads(), heads(), heads()), dynamic_shapes=({0: batch},) * 3)
    for size in (2, 5):
        inputs = [heads(batch=size) for _ in range(3)]
        torch.testing.assert_close(program(*inputs), module(*inputs), rtol=1e-5, atol=1e-5)


def test_a_function_that_reads_elements_is_refused():
    def read(score, batch, head, query, key):
        return score * query.item()

    with pytest.raises(CaptureError) as error:
        torchere.export(Attention(score_mod=read), (heads(), heads(), heads()))
    assert "[flex_attention] score_mod and mask_mod are not run for all places at once: " in str(error.value)
    assert ".item()" in str(error.value)


def test_calls_with_other_functions_are_not_shared():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Attention(score_mod=relative), Attention(score_mod=capped)

        def forward(self, query, key, value):
            return self.second(self.first(query, key, value), key, value)

    check(Two(), heads(), heads(), heads(), rtol=1e-5, atol=1e-5)


def test_a_mask_that_the_program_makes():
    class Packed(nn.Module):
        def forward(self, query, key, value, document):
            def is_same(batch, head, query, key):
                return document[query] == document[key]

            mask = create_block_mask(is_same, None, None, LENGTH, LENGTH, device="cpu", _compile=False)
            return flex_attention(query, key, value, block_mask=mask)

    check(Packed(), heads(), heads(), heads(), torch.arange(LENGTH) // 10, rtol=1e-5, atol=1e-5)
