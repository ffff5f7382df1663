"""What torchere.export takes: functions, methods and callables as modules; arguments that share no memory."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from torch import nn

from torchere.errors import CaptureError, InvalidArgumentError
from torchere.exporting import capture_with_torch
from torchere.sources import as_arguments, as_module, separate

layer = nn.Linear(3, 4)


def scaled(a, *, b):
    return layer(a) + b


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        return x

    def encode(self, tokens):
        return self.inner(tokens) + self.count


class Holder:
    def __init__(self):
        self.net = layer

    def run(self, x):
        return self.net(x)

    def __call__(self, x):
        return self.net(x) + 1


def specs(target, args, kwargs=None):
    exported = capture_with_torch(target, args, kwargs)
    return [(spec.arg.name, spec.target) for spec in exported.graph_signature.input_specs]


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (lambda x, factor=2: layer(x) * factor, ["layer.weight", "layer.bias", "x"]),
        (Encoder().encode, ["inner.weight", "inner.bias", "count", "tokens"]),
        (Holder().run, ["net.weight", "net.bias", "x"]),
        (Holder(), ["net.weight", "net.bias", "x"]),
        (functools.partial(scaled, b=2), ["layer.weight", "layer.bias", "a"]),
        (torch.sin, ["args_0"]),
        (nn.functional.relu, ["input"]),
        (layer, ["weight", "bias", "input"]),
    ],
    ids=["lambda", "method", "method of no module", "object", "partial", "builtin", "function", "module"],
)
def test_weights_and_inputs_keep_their_names(target, expected):
    assert [target or name for name, target in specs(target, X)] == expected


def test_keyword_arguments_of_functions():
    assert [name for name, _ in specs(scaled, (X,), {"b": torch.ones(4)})][-2:] == ["a", "b"]


def test_a_method_leaves_the_module_alone():
    encoder = Encoder()
    twin = as_module(encoder.encode)
    assert torch.equal(encoder(X), X)
    assert torch.equal(twin(X), encoder.encode(X))
    assert twin.inner is encoder.inner


def test_what_cannot_be_exported_is_named():
    with pytest.raises(InvalidArgumentError) as error:
        as_module(3)
    assert str(error.value) == (
        "[export] nothing to export: got a int, expected a torch.nn.Module, a function, a method or a "
        "torch.export.ExportedProgram"
    )


def test_arguments_become_a_tuple():
    assert as_arguments((1, 2)) == (1, 2)
    assert as_arguments([1, 2]) == (1, 2)
    assert as_arguments(X) == (X,)


def test_tensors_that_share_memory_are_separated():
    base = torch.arange(6.0).reshape(2, 3)
    module = nn.Linear(3, 3)
    args, kwargs = separate(module, (base, base, base[1]), {"w": module.weight, "own": X})
    assert args[0] is base and kwargs["own"] is X
    assert len({args[0].data_ptr(), args[1].data_ptr(), args[2].data_ptr(), module.weight.data_ptr()}) == 4
    assert torch.equal(args[1], base) and torch.equal(args[2], base[1])
    assert torch.equal(kwargs["w"], module.weight) and kwargs["w"].requires_grad
    assert kwargs["w"].data_ptr() != module.weight.data_ptr()


def test_one_tensor_given_twice_stays_two_inputs():
    exported = capture_with_torch(lambda x, y: x - 2 * y, (X, X))
    got = exported.module()(torch.full((2, 3), 5.0), torch.full((2, 3), 1.0))
    assert torch.equal(got, torch.full((2, 3), 3.0))


def test_numpy_arrays_are_tensors():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    array.flags.writeable = False
    (args, _) = separate(nn.Module(), (array,), {})
    assert torch.equal(args[0], torch.arange(6.0).reshape(2, 3))


def test_failures_of_torch_export_are_explained():
    def branches(x):
        return x + 1 if x.sum() > 0 else x - 1

    with pytest.raises(CaptureError) as error:
        capture_with_torch(branches, X)
    first, *_ = str(error.value).splitlines()
    name = "test_failures_of_torch_export_are_explained.<locals>.branches"
    assert first.startswith(f"[export] torch.export could not capture {name}: ")
    assert "Python needs a value that only a call has: got Eq(u0, 1), expected a number" in first
    assert error.value.advice.startswith("choose with torch.where, or with torch.cond in place of `if`")
    assert type(error.value.__cause__).__name__ == "GuardOnDataDependentSymNode"
    assert error.value.code == "FAILED_PRECONDITION"
