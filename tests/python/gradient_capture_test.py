"""Programs that take gradients: torch.func's transforms and torch.autograd, with fixed and dynamic sizes."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn import functional

import torchere
from torchere.errors import CaptureError
from torchere.sources import as_module


def energy(layer, x):
    return layer(x).tanh().sum()


def forces(layer, x):
    x = x.detach().requires_grad_(True)
    return -torch.autograd.grad(energy(layer, x), x)[0]


def energy_and_forces(layer, x):
    with torch.enable_grad():
        x = x.requires_grad_(True)
        value = energy(layer, x)
        return value, -torch.autograd.grad(value, x, create_graph=True)[0]


def gradients_of_weights(layer, x):
    def loss(weights):
        return functional_call(layer, weights, (x,)).pow(2).sum()

    return grad(loss)(dict(layer.named_parameters()))


def trained(layer, x):
    """Three steps of gradient descent on x."""
    for _ in range(3):
        x = x - 0.1 * grad(lambda y: energy(layer, y))(x)
    return x


def attention_gradient(layer, x):
    def attended(y):
        heads = layer(y)[None, None].expand(2, 3, -1, -1)
        return functional.scaled_dot_product_attention(heads, heads.tanh(), heads, is_causal=True).sum()

    return grad(attended)(x)


def factorized(layer, x):
    def loss(y):
        covariance = y.T @ y + torch.eye(4)
        factor = torch.linalg.cholesky(covariance)
        return factor.diagonal().log().sum() + torch.linalg.solve(covariance, layer(y).T).sum()

    return grad(loss)(x)


PROGRAMS = {
    "grad": lambda layer, x: grad(lambda y: energy(layer, y))(x),
    "gradients by rows": lambda layer, x: vmap(grad(lambda y: energy(layer, y)))(x),
    "jacrev": lambda layer, x: jacrev(lambda y: layer(y).tanh())(x[0]),
    "jacfwd": lambda layer, x: jacfwd(lambda y: layer(y).tanh())(x[0]),
    "hessian": lambda layer, x: hessian(lambda y: energy(layer, y))(x[0]),
    "vjp": lambda layer, x: vjp(lambda y: layer(y).tanh(), x)[1](x),
    "jvp": lambda layer, x: jvp(lambda y: layer(y).tanh(), (x,), (x,)),
    "jvp of softmax": lambda layer, x: jvp(lambda y: layer(y).softmax(-1) @ y.T, (x,), (x,)),
    "forces": forces,
    "energy and forces": energy_and_forces,
    "gradients of weights": gradients_of_weights,
    "trained": trained,
    "of attention": attention_gradient,
    "of factorizations": factorized,
}


class Program(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.function(self.layer, x)


def check(program, module, x):
    expected = torch.utils._pytree.tree_leaves(module(x.clone()))
    results = torch.utils._pytree.tree_leaves(program(x.clone()))
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert not result.requires_grad
        torch.testing.assert_close(result, wanted.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_eager(name):
    module = Program(PROGRAMS[name])
    program = torchere.export(module, (torch.randn(3, 4),))
    assert set(program.state_dict()) <= {"layer.weight", "layer.bias"}
    for _ in range(2):
        check(program, module, torch.randn(3, 4))
    assert "forward" not in vars(module)
    assert all(weight.requires_grad for weight in module.parameters())


@pytest.mark.parametrize("name", ["grad", "gradients by rows", "forces", "energy and forces", "trained"])
def test_sizes_may_be_dynamic(name):
    module = Program(PROGRAMS[name])
    rows = torch.export.Dim("rows", min=2, max=64)
    program = torchere.export(module, (torch.randn(3, 4),), dynamic_shapes={"x": {0: rows}})
    for size in (2, 3, 17):
        check(program, module, torch.randn(size, 4))


@pytest.mark.parametrize(
    "name", ["jvp", "jvp of softmax", "jacfwd of rows", "hessians of rows", "differences of quotients"]
)
@pytest.mark.parametrize("rows", [torch.export.Dim("rows", min=2, max=64), torch.export.Dim.AUTO])
def test_sizes_of_forward_derivatives_may_be_dynamic(name, rows):
    functions = {
        **PROGRAMS,
        "jacfwd of rows": lambda layer, x: vmap(jacfwd(lambda y: layer(y).tanh()))(x),
        "hessians of rows": lambda layer, x: vmap(hessian(lambda y: energy(layer, y)))(x),
        "differences of quotients": lambda layer, x: jvp(lambda y: x - layer(y) / (x.abs() + 1), (x,), (x,)),
    }
    module = Program(functions[name])
    program = torchere.export(module, (torch.randn(3, 4),), dynamic_shapes={"x": {0: rows}})
    for size in (2, 3, 17):
        check(program, module, torch.randn(size, 4))


def test_arguments_may_be_views():
    def directional(x, y):
        return jvp(lambda z: z.sin(), (x,), (y,))

    x, y = torch.randn(2, 4, 4)
    results = torchere.export(directional, (x, y))(x, y)
    torch.testing.assert_close(results, (x.sin(), x.cos() * y))


def test_what_a_gradient_checks_is_checked():
    program = torchere.export(lambda x: grad(lambda y: torch.linalg.cholesky(y).sum())(x), (torch.eye(3),))
    with pytest.raises(torchere.errors.Error, match="positive-definite"):
        program(-torch.eye(3))


def test_a_refused_transform_is_left():
    def directional(x):
        return jvp(lambda y: y.softmax(-1), (x,), (x,))

    x = torch.randn(3, 4)
    exported = torch.export.export(as_module(directional), (x,))
    with pytest.raises(torchere.errors.UnimplementedError, match="_make_dual"):
        torchere.export(exported)
    directional(x)
    torch.testing.assert_close(torchere.export(nn.ReLU(), (x,))(x), x.relu())


def test_a_function_is_captured_as_well():
    def step(x, factor=2.0):
        return grad(lambda y: (factor * y).pow(3).sum())(x)

    x = torch.randn(5)
    torch.testing.assert_close(torchere.export(step, (x,))(x), 24 * x**2)


def test_a_forward_of_the_users_own_stays():
    module = Program(PROGRAMS["grad"])
    own = module.forward = lambda x: grad(lambda y: energy(module.layer, y))(x) * 2
    x = torch.randn(3, 4)
    check(torchere.export(module, (x,)), module, x)
    assert module.forward is own


def test_an_op_of_a_gradient_names_the_users_line():
    def refused(x):
        return grad(lambda y: torch.special.airy_ai(y.detach()).sum() + y.sum())(x)

    with pytest.raises(torchere.errors.UnimplementedError) as error:
        torchere.export(refused, (torch.randn(3),))
    assert "airy_ai" in str(error.value)
    assert "gradient_capture_test.py:" in str(error.value)


def test_other_failures_are_told_as_they_are():
    def refused(x):
        y = x.detach().requires_grad_(True)
        return torch.autograd.grad(y.sum() if x.sum() > 0 else y.prod(), y)[0]

    with pytest.raises(CaptureError) as error:
        torchere.export(refused, (torch.randn(3),))
    assert "Python needs a value that only a call has" in str(error.value)


def test_a_captured_program_without_their_values_is_refused():
    module = Program(PROGRAMS["gradients of weights"])
    exported = torch.export.export(module, (torch.randn(3, 4),))
    with pytest.raises(CaptureError) as error:
        torchere.export(exported)
    assert "torch.export took a tensor of a torch.func transform (grad, vjp, jacrev) for a constant" in str(
        error.value
    )
    assert "lifted_tensor_" in str(error.value)
    assert error.value.advice.startswith("torchere.export on the module, without strict=True")


class Step(nn.Module):
    """A step of gradient descent, which writes weights."""

    def __init__(self, take):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.take = take

    def forward(self, x):
        loss = self.layer(x).pow(2).mean()
        gradients = self.take(loss, list(self.layer.parameters()))
        with torch.no_grad():
            for weight, gradient in zip(self.layer.parameters(), gradients, strict=True):
                weight.sub_(0.1 * gradient)
        return loss


def test_a_step_of_training():
    module, x = Step(torch.autograd.grad), torch.randn(3, 4)
    program = torchere.export(module, (x,))
    for _ in range(3):
        torch.testing.assert_close(program(x), module(x).detach(), rtol=1e-5, atol=1e-6)
    for name, weight in program.state_dict().items():
        torch.testing.assert_close(weight.detach(), module.state_dict()[name], rtol=1e-5, atol=1e-6)


class TiedStep(Step):
    """A step of a module with one weight at two places."""

    def __init__(self, shared):
        super().__init__(torch.autograd.grad)
        self.layer = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        if shared == "module":
            self.layer[1] = self.layer[0]
        else:
            self.layer[1].weight = self.layer[0].weight


@pytest.mark.parametrize("shared", ["weight", "module"])
def test_a_step_of_training_with_tied_weights(shared):
    module, x = TiedStep(shared), torch.randn(3, 4)
    program = torchere.export(module, (x,))
    assert module.layer[1].weight is module.layer[0].weight
    assert (module.layer[1] is module.layer[0]) == (shared == "module")
    assert set(program.state_dict()) == set(module.state_dict())
    for _ in range(3):
        torch.testing.assert_close(program(x), module(x).detach(), rtol=1e-5, atol=1e-6)
    for name, weight in program.state_dict().items():
        torch.testing.assert_close(weight.detach(), module.state_dict()[name], rtol=1e-5, atol=1e-6)


def test_the_error_is_that_of_the_gradient():
    def refused(x):
        return torch.autograd.grad(x.detach().requires_grad_(True).sum(), x)[0]

    with pytest.raises(CaptureError) as error:
        torchere.export(refused, (torch.randn(3),))
    assert "One of the differentiated Tensors does not require grad" in str(error.value)


def backward(loss, weights):
    loss.backward()
    return [weight.grad for weight in weights]


@pytest.mark.parametrize("through_tensor", [True, False])
def test_backward_is_refused_with_what_to_write(through_tensor):
    def through_autograd(loss, weights):
        torch.autograd.backward(loss)
        return [weight.grad for weight in weights]

    with pytest.raises(CaptureError) as error:
        torchere.export(Step(backward if through_tensor else through_autograd), (torch.randn(3, 4),))
    assert "a program cannot store gradients in .grad: got backward()" in str(error.value)
    assert "torch.autograd.grad(loss, tensors)" in error.value.advice
    assert error.value.where.startswith("gradient_capture_test.py:")
    torch.ones(1, requires_grad=True).sum().backward()


def test_an_optimizers_step_is_refused():
    class WithOptimizer(Step):
        def forward(self, x):
            optimizer = torch.optim.SGD(self.layer.parameters(), lr=0.1)
            loss = self.layer(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

    with pytest.raises(CaptureError) as error:
        torchere.export(WithOptimizer(None), (torch.randn(3, 4),))
    assert "got backward()" in str(error.value)


def test_other_threads_may_call_backward_meanwhile():
    losses = []

    class Waiting(nn.Module):
        def forward(self, x):
            def train():
                weight = torch.ones(1, requires_grad=True)
                weight.sum().backward()
                losses.append(weight.grad)

            thread = threading.Thread(target=train)
            thread.start()
            thread.join()
            return x + 1

    torchere.export(Waiting(), (torch.ones(2),))
    assert losses
    assert all(float(loss) == 1 for loss in losses)
