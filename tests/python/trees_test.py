"""Trees: what torch flattens is flattened by the JSON alike, and rebuilt; mismatches name the place."""

from __future__ import annotations

import collections
import dataclasses
import json

import pytest
import torch
import torch.utils._pytree as pytree

from torchere import trees
from torchere.errors import InvalidArgumentError, UnimplementedError

Pair = collections.namedtuple("Pair", ["first", "second"])
LEAF = {"kind": "leaf"}


@dataclasses.dataclass
class State:
    key: object
    value: object


pytree.register_dataclass(State)

VALUES = {
    "leaf": 1,
    "none": None,
    "nested": ([1, (2, {"b": 3, "a": [4, None]})], ()),
    "dict with numbers as keys": {3: "x", 1: "y"},
    "ordered": collections.OrderedDict(b=1, a=2),
    "named tuple": Pair(1, [2, 3]),
    "dataclass": {"state": State([1, 2], 3)},
    "deque": collections.deque([1, 2]),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_flattens_as_torch_does(value):
    leaves, spec = pytree.tree_flatten(value)
    tree = json.loads(trees.dump_spec(spec)[1])
    assert trees.flatten(tree, value) == leaves
    assert trees.count_leaves(tree) == len(leaves)
    rebuilt = trees.unflatten(tree, leaves)
    assert list(rebuilt) == list(value) if isinstance(value, collections.deque) else rebuilt == value


def test_rebuilds_the_classes():
    spec = pytree.tree_flatten([Pair(1, 2), State(3, 4), collections.OrderedDict(a=1)])[1]
    pair, state, ordered = trees.unflatten(trees.describe_spec(spec), [1, 2, 3, 4, 5])
    assert type(pair) is Pair and type(state) is State and type(ordered) is collections.OrderedDict


def test_classes_that_are_gone_become_plain():
    named = {"kind": "namedtuple", "type": "gone.Pair", "keys": ["a", "b"], "children": [LEAF, LEAF]}
    assert trees.unflatten(named, [1, 2]) == (1, 2)
    assert trees.unflatten(named | {"kind": "custom"}, [1, 2]) == {"a": 1, "b": 2}


def test_the_order_of_a_dict_does_not_matter():
    tree = {"kind": "dict", "keys": ["a", "b"], "children": [LEAF, LEAF]}
    assert trees.flatten(tree, {"b": 2, "a": 1}) == [1, 2]


PAIR_OF_LISTS = {"kind": "dict", "keys": ["x"], "children": [{"kind": "list", "children": [LEAF, LEAF]}]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"x": 1}, "[mask['x']] another structure than the program's: got int, expected a list of 2"),
        ({"x": [1]}, "[mask['x']] another structure than the program's: got 1 items, expected 2"),
        (
            {"y": [1, 2]},
            "[mask] another structure than the program's: got [\"'y'\"], expected the keys ['x']",
        ),
        (7, "[mask] another structure than the program's: got int, expected the keys ['x']"),
    ],
)
def test_mismatches_name_the_place(value, message):
    with pytest.raises(InvalidArgumentError) as error:
        trees.flatten(PAIR_OF_LISTS, value, "mask")
    assert str(error.value) == message


def test_a_list_is_no_tuple():
    with pytest.raises(InvalidArgumentError) as error:
        trees.flatten({"kind": "tuple", "children": [LEAF]}, [1], "x")
    assert str(error.value) == ("[x] another structure than the program's: got [1], expected a tuple of 1")


def test_too_many_leaves_are_refused():
    with pytest.raises(InvalidArgumentError, match=r"^\[pytree\] more leaves than the tree has$"):
        trees.unflatten(LEAF, [1, 2])


def test_keys_that_json_cannot_hold_are_refused():
    spec = pytree.tree_flatten({torch.float32: 1})[1]
    with pytest.raises(UnimplementedError) as error:
        trees.describe_spec(spec)
    assert str(error.value) == (
        "[pytree] unsupported key of a dict: got torch.float32, expected a string, a number, a bool or None"
    )
