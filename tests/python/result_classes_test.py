"""Results come back in the classes that the module returned: in the process that exported, and after loading
where the caller allows the class."""

from __future__ import annotations

import collections
import dataclasses
import typing

import pytest
import torch
import torch.utils._pytree as pytree
from torch import nn

import torchere

modeling_outputs = pytest.importorskip("transformers.modeling_outputs")
Causal = modeling_outputs.CausalLMOutputWithPast
Pair = collections.namedtuple("Pair", ["first", "second"])


class Scored(typing.NamedTuple):
    score: torch.Tensor
    label: str


@dataclasses.dataclass
class Box:
    corner: torch.Tensor
    size: torch.Tensor | None = None
    name: str = ""


torch.export.register_dataclass(Box, serialized_type_name="result_classes_test.Box")


class Returns(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(x)


# What a module returns, and what it is after loading where no class is allowed.
RESULTS = {
    "named tuple": (lambda x: Pair(x, [x + 1]), tuple),
    "typed named tuple": (lambda x: Scored(x * 2, "a"), tuple),
    "torch.return_types": (lambda x: torch.max(x, 0), tuple),
    "ModelOutput": (lambda x: Causal(logits=x, hidden_states=(x, x + 1)), dict),
    "dataclass": (lambda x: Box(x, None, "b"), dict),
    "OrderedDict": (lambda x: collections.OrderedDict(b=x, a=x + 1), collections.OrderedDict),
    "defaultdict": (lambda x: collections.defaultdict(list, {"a": x, 3: [x]}), collections.defaultdict),
    "deque": (lambda x: collections.deque([x], maxlen=3), collections.deque),
}


def check(got, expected):
    assert type(got) is type(expected)
    got, expected = ([*pytree.tree_flatten_with_path(value)[0]] for value in (got, expected))
    assert [path for path, _ in got] == [path for path, _ in expected]
    for (_, left), (_, right) in zip(got, expected, strict=True):
        assert torch.equal(left, right) if isinstance(right, torch.Tensor) else left == right


@pytest.mark.parametrize(("make", "plain"), RESULTS.values(), ids=RESULTS)
def test_results_have_the_modules_classes(make, plain, tmp_path):
    module, x = Returns(make), torch.randn(2, 3)
    expected, program = module(x), torchere.export(Returns(make), x)
    check(program(x), expected)
    program.save(tmp_path / "program")
    check(torchere.load(tmp_path / "program", classes=[type(expected)])(x), expected)
    loaded = torchere.load(tmp_path / "program")(x)
    assert type(loaded) is plain
    if isinstance(loaded, dict):
        assert set(loaded) == set(expected if isinstance(expected, dict) else vars(expected))


def test_a_class_in_another(tmp_path):
    module, x = Returns(lambda x: {"p": [Pair(x, Causal(logits=x + 1))]}), torch.randn(3)
    torchere.export(module, x).save(tmp_path / "program")
    result = torchere.load(tmp_path / "program", classes=[Causal])(x)
    first, second = result["p"][0]
    assert type(result["p"][0]) is tuple and type(second) is Causal
    torch.testing.assert_close((first, second.logits), (x, x + 1))


def test_arguments_of_these_classes(tmp_path):
    class Takes(nn.Module):
        def forward(self, box, output, *, pair):
            return box.corner + output.logits * pair.second

    x = torch.randn(3)
    arguments = (Box(x, None, "b"), Causal(logits=x + 1))
    program = torchere.export(Takes(), arguments, {"pair": Pair(x, x)})
    program.save(tmp_path / "program")
    other = (Box(x + 2, None, "b"), Causal(logits=x + 3))
    for called in (program, torchere.load(tmp_path / "program")):
        torch.testing.assert_close(called(*other, pair=Pair(x, x - 1)), Takes()(*other, pair=Pair(x, x - 1)))
        with pytest.raises(torchere.errors.InvalidArgumentError) as error:
            called(Box(x, x, "b"), other[1], pair=Pair(x, x))
        assert str(error.value) == (
            "[box.size] another structure than the program's: got Tensor, expected None"
        )
