"""Weights that an export lacks (fake ones, those on the meta device), and others in place of given ones."""

import json
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import torchere
from torchere.errors import Error, InvalidArgumentError, NotFoundError
from torchere.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo


class Model(nn.Module):
    """Tied parameters, a buffer that is written, one that is not saved, and a constant."""

    def __init__(self, has_constant=True):
        super().__init__()
        self.has_constant = has_constant
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("scale", torch.rand(4), persistent=False)

    def forward(self, x):
        self.calls.add_(1)
        result = self.second(self.first(x)) * self.scale + self.calls
        return result + torch.tensor([1.0, 2.0, 3.0, 4.0]) if self.has_constant else result


NAMES = ["calls", "first.bias", "first.weight", "scale", "second.bias", "second.weight"]


def weights_of(model):
    return model.state_dict() | dict(model.named_buffers())


def made_under(how):
    """torch adds no constant in host memory to tensors on the meta device."""
    with FakeTensorMode() if how == "fake" else torch.device("meta"):
        return Model(has_constant=how == "fake")


@pytest.fixture
def x():
    return torch.randn(3, 4)


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def fake(x):
    return torchere.export(made_under("fake"), x)


def without_data(name):
    return re.escape(
        f"[{name}] has no data: the program was exported or saved without it, expected "
        f'program.with_weights({{"{name}": ...}}) before the call'
    )


@pytest.mark.parametrize("how", ["fake", "meta"])
def test_a_model_without_data_is_exported_as_with_data(how, x):
    model = Model(has_constant=how == "fake")
    program = torchere.export(made_under(how), x, dynamic_shapes=({0: torch.export.Dim("batch")},))
    real = torchere.export(model, x, dynamic_shapes=({0: torch.export.Dim("batch")},))
    assert program.get_stablehlo_text() == real.get_stablehlo_text()
    assert program.state_dict() == {}
    with pytest.raises(Error, match=without_data("first.weight")) as error:
        program(x)
    assert error.value.code == "FAILED_PRECONDITION"
    supplied = program.with_weights(weights_of(model))
    assert not supplied._core_bundle.names_without_data
    for count in (1, 2):
        torch.testing.assert_close(supplied(x), model(x))
        assert supplied.state_dict()["calls"] == count
    with pytest.raises(Error, match=without_data("first.weight")):
        program(x)  # it stays as it is


def test_a_fake_model_is_saved_without_data(fake, model, x, tmp_path):
    fake.save(tmp_path / "fake")
    manifest = json.loads((tmp_path / "fake/manifest.json").read_text())
    assert [entry["name"] for entry in manifest["weights"]] == NAMES
    assert {entry.get("has_data", True) for entry in manifest["weights"]} == {False}
    assert manifest["weights"][-1]["same_as"] == "first.weight"
    assert not any(path.is_file() for path in (tmp_path / "fake/data").rglob("*"))
    loaded = torchere.load(tmp_path / "fake")
    assert loaded._core_bundle.names_without_data == [name for name in NAMES if name != "second.weight"]
    with pytest.raises(Error, match=without_data("first.weight")):
        loaded(x)
    torch.testing.assert_close(loaded.with_weights(weights_of(model))(x), model(x))
    fake.save(tmp_path / "fake", overwrite=True, digests=True)
    torchere.load(tmp_path / "fake", verify=True)


def test_some_weights_at_a_time(fake, model, x, tmp_path):
    given = weights_of(model)
    some = fake.with_weights({name: given.pop(name) for name in ("first.weight", "scale")})
    assert sorted(some.state_dict()) == ["first.weight", "scale", "second.weight"]  # which is tied
    assert some._core_bundle.names_without_data == ["calls", "first.bias", "second.bias"]
    with pytest.raises(Error, match=without_data("first.bias")):
        some(x)
    some.save(tmp_path / "some")
    files = sorted(path.name for path in (tmp_path / "some/data").iterdir())
    assert files == ["first.weight", "scale", "second.weight"]
    loaded = torchere.load(tmp_path / "some")
    torch.testing.assert_close(loaded.with_weights(given)(x), model(x))


def test_weights_of_a_saved_program(fake, model, x, tmp_path):
    torchere.export(model, x).save(tmp_path / "real")
    expected = model(x)
    torch.testing.assert_close(fake.with_weights(tmp_path / "real")(x), expected)
    fake.save(tmp_path / "fake")
    with pytest.raises(InvalidArgumentError, match="was saved without weights: expected some"):
        fake.with_weights(tmp_path / "fake")
    with pytest.raises(NotFoundError, match="does not exist"):
        fake.with_weights(tmp_path / "nothing")


def test_an_overlay_compiles_nothing(model, x):
    program = torchere.export(model, x)
    program(x)
    counts = torchere.plugins.client().compile_counts
    bias = torch.randn(4)
    overlay = program.with_weights({"second.bias": bias})
    del program  # whose executable the overlay keeps
    model.load_state_dict({"second.bias": bias}, strict=False)
    model.calls.zero_()
    torch.testing.assert_close(overlay(x), model(x))
    again = overlay.with_weights({"second.bias": torch.zeros(4)}).with_weights({"first.bias": torch.ones(4)})
    del overlay
    again(x)
    after = torchere.plugins.client().compile_counts
    assert after == counts | {"reused": counts["reused"] + 2}
    assert again._ready_session().counts(0)["preparations"] == 1
    assert sorted(again.state_dict()) == NAMES


def test_an_overlay_compiles_nothing_at_any_size(x):
    program = torchere.export(nn.Linear(4, 2), x, dynamic_shapes=({0: torch.export.Dim("batch")},))
    for size in (2, 3, 5):
        program(torch.randn(size, 4))
    counts = torchere.plugins.client().compile_counts
    weight, bias = torch.randn(2, 4), torch.randn(2)
    overlay = program.with_weights({"weight": weight, "bias": bias})
    del program
    for size in (5, 2, 3):
        x = torch.randn(size, 4)
        torch.testing.assert_close(overlay(x), nn.functional.linear(x, weight, bias))
    after = torchere.plugins.client().compile_counts
    assert after == counts | {"reused": counts["reused"] + 3}


def test_an_overlay_begins_with_its_own_state(model, x):
    program = torchere.export(model, x)
    program(x)
    program(x)
    overlay = program.with_weights({"first.bias": torch.zeros(4)})
    assert overlay.state_dict()["calls"] == 0
    overlay(x)
    assert overlay.state_dict()["calls"] == 1
    assert program.state_dict()["calls"] == 2


@pytest.mark.parametrize(
    "weight",
    [
        np.arange(8, dtype=np.float32).reshape(2, 4),
        np.arange(8, dtype=np.float32).reshape(4, 2).T,
        np.arange(8, dtype=np.float32).reshape(2, 4)[::-1, ::-1],
        torch.arange(16.0).reshape(2, 8)[:, ::2],
        torch.randn(4).expand(2, 4),
        nn.Parameter(torch.randn(2, 4)),
    ],
    ids=["array", "transposed", "reversed", "strided", "expanded", "parameter"],
)
def test_kinds_of_weights(weight, x, tmp_path):
    program = torchere.export(nn.Linear(4, 2, bias=False), x).with_weights({"weight": weight})
    expected = torch.as_tensor(weight.copy() if isinstance(weight, np.ndarray) else weight).detach()
    torch.testing.assert_close(program(x), x @ expected.T)
    assert torch.equal(program.state_dict()["weight"], expected)
    program.save(tmp_path / "program")
    assert torch.equal(torchere.load(tmp_path / "program").state_dict()["weight"], expected)


def test_weights_are_not_copied(x):
    weight = torch.randn(2, 4)
    program = torchere.export(nn.Linear(4, 2, bias=False), x).with_weights({"weight": weight})
    assert program.state_dict()["weight"].data_ptr() == weight.data_ptr()


def test_a_tensor_is_read_again_when_it_is_given_again(x):
    weight = torch.zeros(2, 4)
    program = torchere.export(nn.Linear(4, 2, bias=False), x).with_weights({"weight": weight})
    assert not program(x).any()
    weight += 1
    torch.testing.assert_close(program.with_weights({"weight": weight})(x), x @ torch.ones(4, 2))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"weight": torch.ones(2, 3)}, "[weight] wrong shape: got (2, 3), expected (2, 4)"),
        ({"weight": np.ones((2, 4))}, "[weight] wrong dtype: got float64, expected float32"),
        (
            {"w": torch.ones(2, 4)},
            "[w] no such weight in the program: expected one of bias, weight",
        ),
        ({"weight": 1.0}, "[weight] wrong kind of value: got float, expected a tensor"),
        ({"weight": torch.ones(2, 4, device="meta")}, "[weight] wrong device: got meta, expected cpu"),
        ({0: torch.ones(2, 4)}, "[with_weights] a weight's name: got 0, expected a string"),
        (
            [torch.ones(2, 4)],
            "[with_weights] no weights: got a list, expected a dict of tensors",
        ),
    ],
    ids=["shape", "dtype", "name", "kind", "meta", "key", "list"],
)
def test_weights_that_do_not_fit(weights, message, x):
    with pytest.raises(Error, match=re.escape(message)):
        torchere.export(nn.Linear(4, 2), x).with_weights(weights)


def test_many_names_are_not_all_listed(x):
    layers = nn.Sequential(*[nn.Linear(4, 4) for _ in range(8)])
    with pytest.raises(NotFoundError, match=r"expected one of 0\.bias, .*, 4\.weight, and 6 others$"):
        torchere.export(layers, x).with_weights({"8.bias": torch.ones(4)})


def test_constants_are_supplied_by_their_names(model, x):
    program = torchere.export(made_under("fake"), x).with_weights(weights_of(model))
    table = torch.arange(100.0).reshape(25, 4)

    class Table(nn.Module):
        def forward(self, x):
            return x + table.sum(0)

    program = torchere.export(Table(), x)
    (name,) = {constant.name for constant in program._core_bundle.constants}
    torch.testing.assert_close(program.with_weights({name: torch.zeros(25, 4)})(x), x)


def test_weights_left_out_on_purpose(x, tmp_path):
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    exported = torch.export.export(model.train(), (x,))
    options = StableHLOExportOptions(export_weights=False)
    program = exported_program_to_stablehlo(exported, options)
    assert program.state_dict() == {}
    program.save(tmp_path / "program")
    for left_out in (program, torchere.load(tmp_path / "program")):
        with pytest.raises(Error, match=r"without its weights: it cannot be called before program.with_w"):
            left_out(x)
        supplied = left_out.with_weights(model.state_dict())
        supplied.manual_seed(1)
        whole = torchere.export(exported)
        whole.manual_seed(1)
        assert torch.equal(supplied(x), whole(x))


def test_fake_state_under_two_names(x):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", torch.zeros(4))
            self.register_buffer("b", self.a)

        def forward(self, x):
            self.a.add_(x.sum())
            return self.b + x

    with FakeTensorMode():
        fake = Two()
    model = Two()
    program = torchere.export(fake, x).with_weights(model.state_dict())
    for _ in range(2):
        torch.testing.assert_close(program(x), model(x))


def test_weights_on_two_devices(x):
    model = Model()
    model.first.bias = nn.Parameter(torch.ones(4, device="meta"))
    with pytest.raises(Error, match=r"\[weight 'first.bias'\] .*got a tensor without data \(meta device\)"):
        torchere.export(model, x)
