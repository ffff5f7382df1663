"""Products of operands that are transposed or repeated: eager's numbers, and nothing laid out anew."""

import pytest
import torch

import torchere


def repeated(value, times):
    """Each head `times` times, as models write it that have fewer heads of keys than of queries."""
    batch, heads, length, width = value.shape
    grouped = value[:, :, None].expand(batch, heads, times, length, width)
    return grouped.reshape(batch, heads * times, length, width)


def attend(query, key, value):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)


# The sizes are batch, heads of queries (6) or keys (2 or 1), rows (3) or keys (5), width (4).
PRODUCTS = {
    "transposed keys": (lambda q, k: q @ k.transpose(2, 3), (6, 3, 4), (6, 5, 4)),
    "transposed rows": (lambda q, k: q.transpose(2, 3) @ k, (6, 5, 3), (6, 5, 4)),
    "both transposed": (lambda q, k: q.transpose(2, 3) @ k.transpose(2, 3), (6, 4, 3), (6, 5, 4)),
    "heads moved": (lambda q, k: q.transpose(1, 2) @ k.permute(0, 2, 3, 1), (3, 6, 4), (5, 6, 4)),
    "a transposed matrix": (lambda q, k: q @ k[0, 0].t(), (6, 3, 4), (6, 5, 4)),
    "repeated keys": (lambda q, k: q @ repeated(k, 3).transpose(2, 3), (6, 3, 4), (2, 5, 4)),
    "repeated values": (lambda q, k: q @ repeated(k, 3), (6, 3, 5), (2, 5, 4)),
    "repeated, transposed rows": (lambda q, k: q.transpose(2, 3) @ repeated(k, 3), (6, 5, 3), (2, 5, 4)),
    "repeated another way": (
        lambda q, k: q @ k[:, None].expand(-1, 3, -1, -1, -1).reshape(-1, 6, 5, 4).transpose(2, 3),
        (6, 3, 4),
        (2, 5, 4),
    ),
    "one head of keys": (lambda q, k: q @ k.transpose(2, 3), (6, 3, 4), (1, 5, 4)),
    "one matrix for a batch": (lambda q, k: q.flatten(1, 2) @ k[:1, 0], (6, 3, 5), (1, 5, 4)),
    "attention": (lambda q, k: attend(q, k, k + 1), (6, 3, 4), (2, 5, 4)),
}


class Product(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.product = PRODUCTS[name][0]

    def forward(self, left, right):
        return self.product(left, right)


def operands(name, batch):
    torch.manual_seed(0)
    return tuple(torch.randn(batch, *sizes) for sizes in PRODUCTS[name][1:])


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_products_are_those_of_eager(name, is_dynamic):
    module, shapes = Product(name), None
    if is_dynamic:
        batch = torch.export.Dim("batch", min=2, max=64)
        shapes = ({0: batch}, {0: batch})
    program = torchere.export(module, operands(name, 2), dynamic_shapes=shapes)
    for batch in (2, 7) if is_dynamic else (2,):
        given = operands(name, batch)
        torch.testing.assert_close(program(*given), module(*given), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "name", ["transposed keys", "transposed rows", "both transposed", "a transposed matrix"]
)
def test_transposed_operands_are_read_as_they_lie(name):
    text = torchere.export(Product(name), operands(name, 2)).get_stablehlo_text()
    assert "stablehlo.dot_general" in text
    assert "stablehlo.transpose" not in text


@pytest.mark.parametrize("name", ["repeated keys", "repeated values", "one head of keys", "attention"])
def test_operands_are_not_repeated(name):
    text = torchere.export(Product(name), operands(name, 2)).get_stablehlo_text()
    assert "stablehlo.dot_general" in text
    assert "tensor<2x6x5x4xf32>" not in text  # the keys of as many heads as there are of queries
    assert "tensor<2x2x3x5x4xf32>" not in text
