"""Small models, whole: an MLP with a loss, an attention block, an MLP with a dynamic batch."""

import filecmp
import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

import torchere


class Classifier(nn.Module):
    """An MLP that gives its probabilities and its loss."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, x, target):
        logits = self.layers(x)
        return functional.softmax(logits, dim=-1), functional.cross_entropy(logits, target)


class Block(nn.Module):
    """A transformer's block: attention and a gelu MLP, each after a LayerNorm."""

    def __init__(self, width=32, heads=4, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        heads = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.second(x))


def counts(program):
    """(calls, refinements) of a program's default function."""
    numbers = program._ready_session().counts(0)
    return numbers["calls"], numbers["refinements"]


def assert_same(got, expected):
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_mlp_with_softmax_and_cross_entropy(training):
    model = Classifier().train(training)
    target = torch.tensor([0, 4, 2, 2, 1, 0])
    program = torchere.export(model, (torch.randn(6, 12), target))
    x = torch.randn(6, 12)
    assert_same(program(x, target.flip(0)), tuple(t.detach() for t in model(x, target.flip(0))))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("causal", [True, False])
def test_attention_block(causal, approximate):
    model = Block(causal=causal)
    model.mlp[1] = nn.GELU(approximate)
    program = torchere.export(model, (torch.randn(2, 7, 32),))
    x = torch.randn(2, 7, 32)
    assert_same(program(x), model(x).detach())


def test_attention_block_keeps_its_layers_whole():
    """Linear layers, attention and LayerNorm reach the lowering as such."""
    program = torchere.export(Block(), (torch.randn(2, 7, 32),))
    text = str(program.program)
    for op in (
        "linear.default",
        "scaled_dot_product_attention.default",
        "layer_norm.default",
        "gelu.default",
    ):
        assert f"torch.ops.aten.{op}" in text


def test_attention_block_with_a_dynamic_length():
    model = Block()
    sizes = {0: torch.export.Dim("batch", max=8), 1: torch.export.Dim("length", min=2, max=50)}
    program = torchere.export(model, (torch.randn(3, 7, 32),), dynamic_shapes=(sizes,))
    for batch, length in [(3, 7), (2, 50), (8, 3)]:
        x = torch.randn(batch, length, 32)
        assert_same(program(x), model(x).detach())


def dynamic_mlp():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1))
    batch = torch.export.Dim("batch", min=2, max=64)
    return model, torchere.export(model, (torch.randn(3, 8),), dynamic_shapes=({0: batch},))


def test_dynamic_batch_is_refined_once_for_each_size(on_xla):
    model, program = dynamic_mlp()
    assert "tensor<?x8xf32>" in program.get_stablehlo_text()
    sizes = (2, 3, 5, 17, 64)
    for calls, size in enumerate(sizes, 1):
        x = torch.randn(size, 8)
        assert_same(program(x), model(x).detach())
        assert counts(program) == (calls, calls)
    for size in sizes:
        x = torch.randn(size, 8)
        assert_same(program(x), model(x).detach())
    assert counts(program) == (10, 5)


def test_dynamic_batch_after_save_and_load(tmp_path):
    model, program = dynamic_mlp()
    program.save(tmp_path / "mlp")
    loaded = torchere.load(tmp_path / "mlp")
    for size in (2, 64):
        x = torch.randn(size, 8)
        assert_same(loaded(x), model(x).detach())
    with pytest.raises(torchere.errors.InvalidArgumentError, match="got 65, expected 2 to 64"):
        loaded(torch.randn(65, 8))


@pytest.mark.parametrize("size", [0, 1, 65])
def test_batch_out_of_range_is_named(size):
    _, program = dynamic_mlp()
    message = rf"dimension 0 \(batch\) out of range: got {size}, expected 2 to 64"
    with pytest.raises(torchere.errors.InvalidArgumentError, match=message):
        program(torch.randn(size, 8))


class Unsupported(nn.Module):
    """Ops without a lowering, one of them twice."""

    def forward(self, x):
        values = torch.linalg.ldl_factor(x)[0]
        more = torch.linalg.ldl_factor(x + 1)[0]
        return values + more, torch.special.airy_ai(x)


def test_ops_without_a_lowering_are_listed_in_one_error():
    with pytest.raises(torchere.errors.UnimplementedError) as caught:
        torchere.export(Unsupported(), (torch.rand(3, 3),))
    lines = Path(__file__).read_text().splitlines()
    first = 1 + lines.index("        values = torch.linalg.ldl_factor(x)[0]")
    text = str(caught.value)
    assert re.search(rf"aten\.linalg_ldl_factor\.default.*2.*small_models_test\.py:{first}\b", text), text
    assert re.search(rf"aten\.special_airy_ai\.default.*1.*small_models_test\.py:{first + 2}\b", text), text


def files_of(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def test_two_exports_give_the_same_bytes(tmp_path):
    model = Block()
    for name in ("first", "second"):
        torchere.export(model, (torch.zeros(2, 7, 32),)).save(tmp_path / name)
    names = files_of(tmp_path / "first")
    assert names == files_of(tmp_path / "second")
    assert "functions/forward.mlir" in names
    equal, different, unread = filecmp.cmpfiles(tmp_path / "first", tmp_path / "second", names, shallow=False)
    assert (different, unread) == ([], [])
    assert sorted(equal) == names
