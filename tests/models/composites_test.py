"""Composites: ops that an export was asked to keep whole, each with its function."""

from __future__ import annotations

import re

import pytest
import torch
from judged_engines import assert_same_everywhere, interpreted, verified_by_jaxlib
from torch import nn
from torch.export import Dim
from torch.nn import functional

import torchere
from torchere.errors import InvalidArgumentError

WHOLE = {"sdpa", "layer_norm", "gelu", "softmax"}
BATCH, LENGTH = Dim("batch", max=64), Dim("length", max=64)


class Block(nn.Module):
    """A layer of a transformer, twice, with a softmax at its end."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(2))
        self.projection = nn.Linear(8, 24)
        self.approximate = ("none", "tanh")

    def forward(self, x):
        for norm, approximate in zip(self.norms, self.approximate, strict=True):
            split = self.projection(norm(x)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            attended = functional.scaled_dot_product_attention(*split, is_causal=True)
            x = x + functional.gelu(attended.transpose(1, 2).flatten(2), approximate=approximate)
        return x.softmax(-1)


def composites(text: str) -> list[tuple[str, str, str]]:
    """(name, attributes, function) of each composite, in order. Whether cudnn is there is torch's to say."""
    pattern = r'stablehlo\.composite "([^"]+)" .*?\{composite_attributes = \{(.*?)\}, decomposition = @(\S+),'
    return re.findall(pattern, text.replace("cudnn_enable = false", "cudnn_enable = true"))


def inputs(batch: int, length: int) -> tuple[torch.Tensor]:
    return (torch.sin(torch.arange(batch * length * 8.0)).reshape(batch, length, 8),)


@pytest.mark.parametrize("dynamic_shapes", [None, ({0: BATCH, 1: LENGTH},)], ids=["static", "dynamic"])
def test_a_transformer_block(dynamic_shapes, tmp_path):
    module = Block().eval()
    program = torchere.export(module, inputs(2, 5), dynamic_shapes=dynamic_shapes, composites=WHOLE)
    attention = "dropout_p = 0.000000e+00 : f64, enable_gqa = false, is_causal = true, operands = ["
    attention += '"query", "key", "value"]'
    norm = "cudnn_enable = true, eps = 1.000000e-05 : f64, normalized_shape = [8], operands = ["
    norm += '"input", "weight", "bias"]'
    assert composites(program.get_stablehlo_text()) == [
        ("aten.layer_norm", norm, "aten.layer_norm"),
        ("aten.scaled_dot_product_attention", attention, "aten.scaled_dot_product_attention"),
        ("aten.gelu", 'approximate = "none", operands = ["self"]', "aten.gelu"),
        ("aten.layer_norm", norm, "aten.layer_norm"),
        ("aten.scaled_dot_product_attention", attention, "aten.scaled_dot_product_attention"),
        ("aten.gelu", 'approximate = "tanh", operands = ["self"]', "aten.gelu_1"),
        ("aten.softmax", 'dim = -1 : i64, operands = ["self"]', "aten.softmax"),
    ]
    assert program.get_stablehlo_text().count("version = 1 : i32") == 7
    calls = [inputs(2, 5)] + ([inputs(1, 3), inputs(3, 4)] if dynamic_shapes else [])
    assert_same_everywhere(program, module, calls, tmp_path / "saved")


def test_there_is_none_unless_asked_for():
    text = torchere.export(Block().eval(), inputs(2, 5)).get_stablehlo_text()
    assert "composite" not in text
    assert "func.func private" not in text


class EachOnce(nn.Module):
    """Every op that can be a composite."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        y = functional.group_norm(self.norm(x), 2)
        y = functional.rms_norm(functional.layer_norm(y, (3, 3)), (3,))
        y = functional.gelu(functional.silu(y))
        y = functional.scaled_dot_product_attention(y, y + 1, y * 2)
        return y.softmax(1), y.log_softmax(2)


KNOWN = [
    "batch_norm",
    "gelu",
    "group_norm",
    "layer_norm",
    "log_softmax",
    "rms_norm",
    "sdpa",
    "silu",
    "softmax",
]


def images(batch: int) -> torch.Tensor:
    return torch.cos(torch.arange(batch * 36.0)).reshape(batch, 4, 3, 3)


def test_every_op_that_can_be_one(tmp_path):
    module = EachOnce().eval()
    program = torchere.export(
        module, (images(2),), dynamic_shapes=({0: BATCH},), composites=KNOWN, target_version="1.13.0"
    )
    assert [name for name, _, _ in composites(program.get_stablehlo_text())] == [
        "aten._native_batch_norm_legit_no_training",
        "aten.group_norm",
        "aten.layer_norm",
        "aten.rms_norm",
        "aten.silu",
        "aten.gelu",
        "aten.scaled_dot_product_attention",
        "aten.softmax",
        "aten.log_softmax",
    ]
    assert_same_everywhere(program, module, [(images(2),), (images(5),)], tmp_path / "saved")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("layer_norm", ["aten.layer_norm"]),
        ("aten.softmax", ["aten.softmax"]),
        ("aten.softmax.int", ["aten.softmax"]),
        ("scaled_dot_product_attention", ["aten.scaled_dot_product_attention"]),
        ("aten.native_layer_norm", []),
    ],
)
def test_names_as_users_and_as_aten_spell_them(name, found):
    program = torchere.export(EachOnce().eval(), (images(2),), composites={name})
    assert [composite for composite, _, _ in composites(program.get_stablehlo_text())] == found


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InvalidArgumentError) as caught:
        torchere.export(EachOnce().eval(), (images(2),), composites={"softmax", "aten.add"})
    assert str(caught.value) == (
        f"[export] unknown composite: got 'aten.add', expected some of {', '.join(KNOWN)}"
    )


def test_calls_share_a_function_only_where_their_sizes_are_alike():
    """Keys as long as the queries in the first two, whose symbols differ; of another length in the third."""

    class Attentions(nn.Module):
        def forward(self, a, b):
            attend = functional.scaled_dot_product_attention
            return attend(a, a, a), attend(b, b, b), attend(a, b, b)

    module = Attentions()
    example = (torch.randn(2, 5, 4), torch.randn(2, 6, 4))
    dims = ({1: Dim("n", max=64)}, {1: Dim("m", max=64)})
    program = torchere.export(module, example, dynamic_shapes=dims, composites={"sdpa"})
    name = "aten.scaled_dot_product_attention"
    functions = [function for _, _, function in composites(program.get_stablehlo_text())]
    assert functions == [name, name, f"{name}_1"]
    assert verified_by_jaxlib(program.get_stablehlo_text())
    for tensors in (example, (torch.randn(2, 3, 4), torch.randn(2, 1, 4))):
        expected = module(*tensors)
        torch.testing.assert_close(program(*tensors), expected)
        for got, wanted in zip(interpreted(program, *tensors), expected, strict=True):
            torch.testing.assert_close(torch.tensor(got), wanted)


class InBranches(nn.Module):
    """Composites in the regions of a loop and a branch; sizes that are no dimension of an operand's own."""

    def forward(self, x, y):
        width = x.shape[0] * y.shape[0]

        def body(i, z):
            return i + 1, torch.cond(z.sum() > 1, lambda z: z.softmax(0), lambda z: z.softmax(1) * 2, (z,))

        return torch.while_loop(lambda i, z: i < 3, body, (0, x[:, None] * y.reshape(1, -1)))[
            1
        ], functional.layer_norm((x[:, None] * y).reshape(width), (width,))


def test_composites_in_branches_and_of_products_of_sizes(tmp_path):
    module = InBranches()
    dims = ({0: Dim("n", max=64)}, {0: Dim("m", max=64)})
    calls = [(torch.arange(3.0), torch.arange(4.0)), (torch.arange(5.0) - 1, torch.arange(2.0))]
    program = torchere.export(module, calls[0], dynamic_shapes=dims, composites={"softmax", "layer_norm"})
    found = composites(program.get_stablehlo_text())
    assert sorted(name for name, _, _ in found) == ["aten.layer_norm", "aten.softmax", "aten.softmax"]
    assert_same_everywhere(program, module, calls, tmp_path / "saved")
