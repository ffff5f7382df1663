"""The precision that programs ask of their products: at the export, and of a saved program."""

import re

import pytest
import torch

import torchere
from torchere.errors import InvalidArgumentError


class Products(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3)
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(self.conv(x))


def precisions(program):
    """Of each product, in order."""
    text = program.get_stablehlo_text()
    found = re.findall(r"(?:convolution|dot_general).*?precision(?:_config)? = \[([^\]]*)\]", text)
    return [each.replace("#stablehlo<precision ", "").replace(">", "") for each in found]


@pytest.fixture(scope="module")
def model():
    return Products().eval(), (torch.randn(1, 2, 6, 6),)


def test_an_export_sets_it(model):
    module, args = model
    assert precisions(torchere.export(module, args)) == []
    for name in ("high", "highest"):
        program = torchere.export(module, args, precision=name)
        assert precisions(program) == [f"{name.upper()}, {name.upper()}"] * 2
    torch.testing.assert_close(program(*args), module(*args), rtol=1e-5, atol=1e-5)


def test_entry_points_have_it(model):
    module, args = model
    program = torchere.export(
        {"first": (module, args), "second": {"target": module, "args": args, "precision": "high"}},
        precision="highest",
    )
    texts = [program.get_stablehlo_text(name) for name in ("first", "second")]
    assert ["HIGHEST" in text for text in texts] == [True, False]
    assert "HIGH" in texts[1]


def test_loading_replaces_it(model, tmp_path):
    module, args = model
    torchere.export(module, args, precision="high").save(tmp_path / "program")
    assert precisions(torchere.load(tmp_path / "program")) == ["HIGH, HIGH"] * 2
    program = torchere.load(tmp_path / "program", precision="highest")
    assert precisions(program) == ["HIGHEST, HIGHEST"] * 2
    torch.testing.assert_close(program(*args), module(*args), rtol=1e-5, atol=1e-5)
    program.save(tmp_path / "again")
    assert precisions(torchere.load(tmp_path / "again")) == ["HIGHEST, HIGHEST"] * 2
    assert precisions(torchere.load(tmp_path / "again", precision="default")) == ["DEFAULT, DEFAULT"] * 2


def test_other_names_are_errors(model, tmp_path):
    module, args = model
    expected = re.escape('[precision] of products: got "best", expected "default", "high" or "highest"')
    with pytest.raises(InvalidArgumentError, match=expected):
        torchere.export(module, args, precision="best")
    torchere.export(module, args).save(tmp_path / "program")
    with pytest.raises(InvalidArgumentError, match=expected):
        torchere.load(tmp_path / "program", precision="best")
