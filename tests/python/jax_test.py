"""Saved programs as JAX functions, equal to eager."""

from __future__ import annotations

import collections
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import torchere
from torchere.errors import InvalidArgumentError, NotFoundError, UnimplementedError

jax = pytest.importorskip("jax")
jnp = jax.numpy

Out = collections.namedtuple("Out", ["mean", "rest"])


def check(actual, expected):
    torch.testing.assert_close(
        torch.tensor(np.asarray(actual)), expected.detach(), rtol=1e-5, atol=1e-5, check_dtype=False
    )


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 8)
        self.third = nn.Linear(8, 8)
        self.third.weight = self.second.weight
        self.table = torch.arange(100.0)

    def forward(self, x, *, scale):
        y = self.third(self.second(torch.relu(self.first(x)))) * scale + self.table[:8]
        return {"out": Out(y.mean(), [y, None]), "size": x.shape[0]}


@pytest.fixture(scope="module")
def mlp():
    torch.manual_seed(0)
    return Mlp().eval()


@pytest.fixture(scope="module", params=["model", "model.torchere"])
def path(mlp, request, tmp_path_factory):
    path = tmp_path_factory.mktemp("jax") / request.param
    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}, "scale": None}
    x, scale = torch.randn(3, 4), torch.tensor(2.0)
    torchere.export(mlp, (x,), {"scale": scale}, dynamic_shapes=shapes).save(path)
    return path


def test_calls_and_jit(mlp, path):
    program = torchere.jax.load(path, classes=[Out])
    names = {"first.bias", "first.weight", "second.bias", "second.weight", "third.bias"}
    assert set(program.params) == names and not program.state
    jitted = jax.jit(program.call)
    for size in (2, 5):
        x = torch.randn(size, 4)
        expected = mlp(x, scale=torch.tensor(2.0))["out"]
        for call in (lambda *a, **k: program(*a[1:], **k), program.call, jitted, program["forward"].call):
            result = call(program.params, jnp.asarray(x.numpy()), scale=jnp.float32(2))
            check(result["out"].mean, expected.mean)
            check(result["out"].rest[0], expected.rest[0])
            assert type(result["out"]) is Out and result["out"].rest[1] is None and result["size"] == size


def test_composes(mlp, path):
    program = torchere.jax.load(path)

    @jax.jit
    def both(params, x):
        first = program.call(params, x * 2, scale=jnp.float32(1))["out"][1][0]
        return jnp.sin(first) + program.call(params, x, scale=jnp.float32(3))["out"][1][0]

    x = torch.randn(4, 4)
    one, three = (mlp(y, scale=torch.tensor(s))["out"].rest[0] for y, s in ((x * 2, 1.0), (x, 3.0)))
    check(both(program.params, jnp.asarray(x.numpy())), torch.sin(one) + three)
    doubled = jax.tree.map(lambda value: value * 2, program.params)
    assert not np.allclose(
        both(doubled, jnp.asarray(x.numpy())), both(program.params, jnp.asarray(x.numpy()))
    )


def test_errors(path):
    program = torchere.jax.load(path)
    x, scale = jnp.zeros((3, 4)), jnp.float32(1)
    with pytest.raises(InvalidArgumentError, match=r"\[x\] wrong size of dimension 1: got 5, expected 4"):
        program(jnp.zeros((3, 5)), scale=scale)
    with pytest.raises(InvalidArgumentError, match=r"batch|dimension 0"):
        program(jnp.zeros((65, 4)), scale=scale)
    with pytest.raises(InvalidArgumentError, match=r"\[x\] wrong dtype: got int32, expected float32"):
        program(jnp.zeros((3, 4), jnp.int32), scale=scale)
    with pytest.raises(
        NotFoundError, match=r"\[params\] first.weight is missing|\[params\] first.bias is mis"
    ):
        program.call({}, x, scale=scale)
    with pytest.raises(
        InvalidArgumentError, match=r"\[jax\] a torch tensor: got Tensor, expected an array of"
    ):
        program(torch.zeros(3, 4), scale=scale)
    with pytest.raises(ValueError, match="No VJP is available"):
        jax.grad(lambda x: program(x, scale=scale)["out"][0])(x)
    with pytest.raises(NotFoundError, match=r"\[none\] no such function: expected one of forward"):
        program["none"]


class Decoder(nn.Module):
    """Token ids of 64 bits, and a state that two entry points share."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.register_buffer("cache", torch.zeros(4, 8))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.half = torch.rand(8).to(torch.bfloat16)

    def prefill(self, ids):
        self.cache.copy_(self.embedding(ids))
        self.count.add_(ids.shape[0])
        return ids + 1

    def decode(self, token):
        hidden = self.cache.sum(0) + self.embedding(token)
        self.cache[0] = hidden
        return hidden * self.half, self.count * 2

    def score(self, ids):
        return self.embedding(ids).sum(-1)


def test_state_and_entry_points(tmp_path):
    torch.manual_seed(0)
    model = Decoder().eval()
    ids, token = torch.tensor([3, 1, 4, 1]), torch.tensor(5)
    entry_points = {
        "prefill": (model.prefill, (ids,)),
        "decode": (model.decode, (token,)),
        "score": (model.score, (ids,)),
    }
    torchere.export(entry_points).save(tmp_path / "model")
    program = torchere.jax.load(tmp_path / "model")
    assert set(program.state) == {"cache", "count"} and set(program.params) == {"embedding.weight"}
    assert list(program.functions) == ["prefill", "decode", "score"]
    state = program.state
    decode = jax.jit(program["decode"].step)
    with torch.no_grad():
        out, state = program["prefill"].step(program.params, state, jnp.asarray(ids.numpy()))
        assert np.asarray(out).tolist() == model.prefill(ids).tolist()
        for _ in range(2):
            (hidden, count), state = decode(program.params, state, jnp.asarray(token.numpy()))
            expected, expected_count = model.decode(token)
            check(hidden, expected)
            assert int(count) == int(expected_count)
        check(state["cache"], model.cache)
        check(program["score"](jnp.asarray(ids.numpy())), model.score(ids))
    assert not np.asarray(program.state["cache"]).any()  # nothing is written
    with pytest.raises(
        InvalidArgumentError, match=r"\[prefill\] has state \(cache, count\): expected step\("
    ):
        program(jnp.asarray(ids.numpy()))


def test_ints_that_shapes_depend_on(tmp_path):
    class Repeat(nn.Module):
        def forward(self, x, n):
            return x.repeat(n, 1)

    shapes = {"x": None, "n": torch.export.Dim.DYNAMIC}
    torchere.export(Repeat(), (torch.ones(2, 3), 4), dynamic_shapes=shapes).save(tmp_path / "model")
    program = torchere.jax.load(tmp_path / "model")
    assert program(jnp.ones((2, 3)), 7).shape == (14, 3)
    assert jax.jit(program, static_argnums=1)(jnp.ones((2, 3)), 5).shape == (10, 3)


def test_convolutions_and_random_numbers(tmp_path):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.GELU())

        def forward(self, x):
            return torch.atan2(self.body(x), torch.ones(()))

    model, x = Net().eval(), torch.randn(2, 3, 8, 8)
    torchere.export(model, x).save(tmp_path / "net")
    check(torchere.jax.load(tmp_path / "net")(jnp.asarray(x.numpy())), model(x))
    noise = torchere.export(lambda x: x + torch.rand_like(x), torch.zeros(4))
    noise.save(tmp_path / "noise")
    program = torchere.jax.load(tmp_path / "noise")
    first, state = program.step(program.params, program.state, jnp.zeros(4))
    second, _ = program.step(program.params, state, jnp.zeros(4))
    check(first, noise(torch.zeros(4)))
    check(second, noise(torch.zeros(4)))


def test_written_arguments_are_refused(tmp_path):
    torchere.export(lambda x: x.add_(1), torch.zeros(4)).save(tmp_path / "model")
    with pytest.raises(UnimplementedError, match=r"\[forward\] writes its argument 0"):
        torchere.jax.load(tmp_path / "model")(jnp.zeros(4))


def test_the_pages_example(tmp_path, monkeypatch):
    page = (Path(__file__).resolve().parents[2] / "docs/jax.md").read_text()
    monkeypatch.chdir(tmp_path)
    model, x = nn.Linear(4, 3).eval(), torch.randn(2, 4)
    torchere.export(model, x).save("model")
    names = {"x": jnp.asarray(x.numpy())}
    exec(page.split("```python\n")[1].split("```")[0], names)
    check(names["y"], model(x))
