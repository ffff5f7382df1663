"""torch.autocast("xla"): which ops compute in which dtype, and with which results."""

import pytest
import torch

from torchere import lazy

F = torch.nn.functional

LOWER = {
    "matmul": lambda a, b: a @ b,
    "mm": lambda a, b: torch.mm(a, b),
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "addmm": lambda a, b: torch.addmm(a, a, b),
    "baddbmm": lambda a, b: torch.baddbmm(a[None], a[None], b[None]),
    "linear": lambda a, b: F.linear(a, b, b[0]),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "conv1d": lambda a, b: F.conv1d(a[None], b[:, :, None]),
    "conv2d": lambda a, b: F.conv2d(a[None, :, :, None], b[:, :, None, None]),
    "conv_transpose2d": lambda a, b: F.conv_transpose2d(a[None, :, :, None], b[:, :, None, None]),
    "relu": lambda a, b: torch.relu(a),
    "prelu": lambda a, b: F.prelu(a, b[0, :1]),
    "max_pool2d": lambda a, b: F.max_pool2d(a[None], 2),
    "attention": lambda a, b: F.scaled_dot_product_attention(a[None], b[None], b[None]),
}
# Their operands need no arithmetic: it would round to the lower precision.
SINGLE = {
    "softmax": lambda a, b: torch.softmax(a, 1),
    "log_softmax": lambda a, b: torch.log_softmax(a, 1),
    "mse_loss": lambda a, b: F.mse_loss(a, b),
    "cross_entropy": lambda a, b: F.cross_entropy(a, torch.arange(4, device=a.device)),
    "nll_loss": lambda a, b: F.nll_loss(a, torch.arange(4, device=a.device)),
    "binary_cross_entropy_with_logits": lambda a, b: F.binary_cross_entropy_with_logits(
        a, (b > 0).to(b.dtype)
    ),
    "prod": lambda a, b: torch.prod(a),
    "trace": lambda a, b: torch.trace(a),
    "reflection_pad1d": lambda a, b: F.pad(a[None], (1, 1), mode="reflect"),
    "batch_norm": lambda a, b: F.batch_norm(a, None, None, training=True),
    "cdist": lambda a, b: torch.cdist(a, b),
    "linalg_inv": lambda a, b: torch.linalg.inv(torch.where(torch.eye(4, device=a.device) > 0, 4.0, a)),
}
UNTOUCHED = {
    "add": lambda a, b: a + b,
    "exp": lambda a, b: torch.exp(a),
    "sum": lambda a, b: a.sum(),
    "layer_norm": lambda a, b: F.layer_norm(a, (4,)),
}


def operands(dtype):
    torch.manual_seed(0)
    return torch.randn(4, 4).to(dtype), torch.randn(4, 4).to(dtype)


def under_policy(function, a, b, dtype):
    """What the op gives on the CPU in that dtype."""
    return function(a.to(dtype), b.to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_compute_in_the_lower_precision(dtype):
    a, b = operands(torch.float32)
    for name, function in LOWER.items():
        with torch.autocast("xla", dtype=dtype):
            got = function(a.to("xla"), b.to("xla"))
        assert got.dtype == dtype, name
        expected = under_policy(function, a, b, dtype)
        torch.testing.assert_close(got.cpu().float(), expected.float(), rtol=2e-2, atol=2e-2)
    assert not [counter for counter in lazy.counters() if counter.startswith("aten::")]


@pytest.mark.parametrize("name", SINGLE)
def test_losses_and_the_like_compute_in_float32(name):
    a, b = operands(torch.bfloat16)
    with torch.autocast("xla", dtype=torch.bfloat16):
        got = SINGLE[name](a.to("xla"), b.to("xla"))
    assert got.dtype == torch.float32
    expected = under_policy(SINGLE[name], a, b, torch.float32)
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_ops_keep_their_dtype(dtype):
    a, b = operands(dtype)
    for name, function in UNTOUCHED.items():
        with torch.autocast("xla", dtype=torch.bfloat16):
            got = function(a.to("xla"), b.to("xla"))
        assert got.dtype == dtype, name


def test_what_is_joined_takes_the_widest_dtype():
    a, b = operands(torch.float32)
    with torch.autocast("xla", dtype=torch.bfloat16):
        joined = torch.cat([a.to("xla"), b.to("xla").bfloat16()])
        stacked = torch.stack([a.to("xla").bfloat16(), b.to("xla")])
    assert joined.dtype == stacked.dtype == torch.float32
    assert torch.equal(joined.cpu(), torch.cat([a, b.bfloat16().float()]))


def test_autocast_ends_and_may_be_off():
    a, b = (x.to("xla") for x in operands(torch.float32))
    assert torch.get_autocast_dtype("xla") == torch.bfloat16
    with torch.autocast("xla"):
        assert torch.is_autocast_enabled("xla") and (a @ b).dtype == torch.bfloat16
        with torch.autocast("xla", enabled=False):
            assert (a @ b).dtype == torch.float32
    assert (a @ b).dtype == torch.float32


def test_a_model_trains_under_autocast():
    """Gradients come in the weights' own dtype; a weight is cast once."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, target = torch.randn(6, 8).to("xla"), torch.tensor([0, 1, 2, 0, 1, 2]).to("xla")
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        with torch.autocast("xla", dtype=torch.bfloat16):
            output = model(x)
            loss = F.cross_entropy(output, target)
        assert output.dtype == torch.bfloat16 and loss.dtype == torch.float32
        loss.backward()
        assert all(parameter.grad.dtype == torch.float32 for parameter in model.parameters())
        optimizer.step()
        losses.append(loss.detach())
    assert losses[-1].item() < losses[0].item()
    assert not [name for name in lazy.counters() if name.startswith("aten::")]
