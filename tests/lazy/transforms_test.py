"""torch.func and forward derivatives on the device: the CPU's values."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.autograd import forward_ad

from torchere import lazy


def through_views(x):
    y = x.t()[1:] * 2
    return torch.tanh(y.reshape(-1)).unsqueeze(0).expand(2, -1).sum(1)


def through_writes(x):
    y = x * 3
    y[0] = torch.sin(x[0])
    y.t().mul_(2)
    return y


def network(x):
    weight = torch.linspace(-1, 1, 12, device=x.device).reshape(3, 4)
    return torch.nn.functional.layer_norm(torch.relu(x @ weight.t()), (3,))


FUNCTIONS = {"views": through_views, "writes": through_writes, "network": network}


def given(device: str) -> torch.Tensor:
    return torch.arange(8.0).reshape(2, 4).sub(3.5).div(4).to(device)


def check(call) -> None:
    for got, expected in zip(call("xla"), call("cpu"), strict=True):
        assert got.device.type == "xla"
        torch.testing.assert_close(got.cpu(), expected)
    assert set(lazy.executed_fallback_ops()) <= {"aten::_efficientzerotensor"}  # tangents of constants


@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_jvp(fn):
    check(lambda device: torch.func.jvp(fn, (given(device),), (given(device).cos(),)))


@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_vjp(fn):
    def call(device):
        value, pull = torch.func.vjp(fn, given(device))
        return value, *pull(torch.ones_like(value))

    check(call)


@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_dual_numbers(fn):
    def call(device):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(given(device), given(device).cos())
            return tuple(forward_ad.unpack_dual(fn(dual)))

    check(call)


def test_jacobians_and_vmap():
    def call(device):
        x = given(device)
        return (
            torch.func.jacfwd(through_views)(x),
            torch.func.jacrev(through_views)(x),
            torch.func.hessian(lambda x: network(x).square().sum())(x),
            torch.func.vmap(lambda row: torch.softmax(row, 0)[1:])(x),
        )

    check(call)


def layers() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Flatten(0))


def test_fake_tensors_of_the_device():
    """Views of them are of the device as well, and nothing is recorded."""
    weight = torch.ones(3, 4, device="xla", requires_grad=True)
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(weight)
        results = [fake.detach(), fake.t(), fake.view(-1), fake[0], fake @ fake.t(), fake.clone().add_(1)]
    assert [type(result) for result in results] == [FakeTensor] * 6
    assert {result.device for result in results} == {weight.device}
    assert [tuple(result.shape) for result in results] == [(3, 4), (4, 3), (12,), (4,), (3, 3), (3, 4)]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_compile(backend):
    """Dynamo traces with fake tensors and torch's Python dispatcher; the graph runs on the device."""
    torch._dynamo.reset()
    module, x = layers(), given("cpu")
    expected = module(x)
    expected.sum().backward()
    weights = [parameter.grad for parameter in module.parameters()]
    moved = layers().to("xla")
    got = torch.compile(moved, backend=backend, fullgraph=True)(x.to("xla"))
    got.sum().backward()
    torch.testing.assert_close(got.detach().cpu(), expected.detach())
    for parameter, gradient in zip(moved.parameters(), weights, strict=True):
        torch.testing.assert_close(parameter.grad.cpu(), gradient)
