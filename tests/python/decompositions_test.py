"""Decompositions: ops with a lowering stay whole, others are taken apart, mutations become outputs."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import export

import torchere
from torchere.decompositions import decompose, hybrid_table
from torchere.exporting import lowered_ops


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        y, _ = self.lstm(self.norm(self.linear(x)).relu_())
        return torch.linalg.vector_norm(y) + self.count


def ops(exported):
    return {str(node.target) for node in exported.graph.nodes if node.op == "call_function"}


WHOLE = {"aten.linear.default", "aten.layer_norm.default", "aten.lstm.input"}


def test_ops_with_a_lowering_stay_whole():
    exported = export(Net(), (torch.randn(2, 3, 4),))
    assert ops(decompose(exported, WHOLE)) >= WHOLE
    assert not ops(decompose(exported, set())) & WHOLE  # and core ops are left as they are


def test_mutations_become_outputs():
    exported = export(Net(), (torch.randn(2, 3, 4),))
    decomposed = decompose(exported, WHOLE)
    kinds = [spec.kind.name for spec in decomposed.graph_signature.output_specs]
    assert kinds == ["BUFFER_MUTATION", "USER_OUTPUT"]
    assert not any(name.rpartition(".")[0].endswith("_") for name in ops(decomposed))


def test_ops_without_a_lowering_are_taken_apart_further():
    """linalg_vector_norm is no entry of the default table; torch can decompose it all the same."""
    exported = export(Net(), (torch.randn(2, 3, 4),))
    norm = {"aten.linalg_vector_norm.default"}
    assert ops(decompose(exported, WHOLE | norm)) >= norm
    assert not ops(decompose(exported, WHOLE)) & norm


def test_a_core_op_is_taken_apart_where_all_that_it_becomes_is_lowered():
    class Sampled(nn.Module):
        def forward(self, x, grid):
            sampled = nn.functional.grid_sample(x, grid, align_corners=False)
            return torch.native_dropout(sampled, 0.5, True)[0]

    exported = export(Sampled(), (torch.randn(2, 3, 6, 6), torch.rand(2, 5, 5, 2)))
    decomposed = ops(decompose(exported, lowered_ops()))
    assert "aten.grid_sampler_2d.default" not in decomposed
    assert "aten.native_dropout.default" in decomposed  # would become random numbers


def test_sizes_and_assertions_need_no_lowering():
    batch = torch.export.Dim("batch", min=2, max=8)
    model = nn.Sequential(nn.Flatten(), nn.ReLU())
    exported = export(model, (torch.randn(2, 3, 4),), dynamic_shapes=({0: batch},))
    decomposed = decompose(exported, lowered_ops())
    assert "aten.sym_size.int" in ops(decomposed)
    assert decompose(decomposed, lowered_ops()) is decomposed


def test_a_program_that_is_ready_is_not_traced_again():
    decomposed = decompose(export(Net(), (torch.randn(2, 3, 4),)), WHOLE)
    assert decompose(decomposed, ops(decomposed)) is decomposed
    assert decompose(decomposed, ops(decomposed) - WHOLE) is not decomposed


def test_the_table_is_torchs_without_the_lowered():
    table = hybrid_table(WHOLE)
    assert torch.ops.aten.linear.default not in table
    assert torch.ops.aten.matmul.default in table


class Cache:
    """No module, as transformers' StaticCache is none."""

    def __init__(self):
        self.keys = torch.zeros(4, 2)


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()
        self.register_buffer("keys", self.cache.keys, persistent=False)

    def forward(self, x, position):
        return self.cache.keys.index_copy_(0, position, x).sum()


def test_a_cache_that_torch_captures_twice_needs_strict_export():
    args = (torch.ones(1, 2), torch.tensor([1]))
    with pytest.raises(torchere.errors.CaptureError) as error:
        torchere.export(Cached(), args)
    assert str(error.value).splitlines()[-1] == (
        "The memory of buffer 'keys' was captured twice, as happens to a static cache: export with "
        "strict=True, which captures it once"
    )
    program = torchere.export(Cached(), args, strict=True)
    assert [program(*args), program(args[0], torch.tensor([3]))] == [2, 4]
