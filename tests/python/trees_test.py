"""Trees: what torch flattens is flattened by the JSON alike, and rebuilt with the classes that the caller
allows; mismatches name the place."""

from __future__ import annotations

import collections
import dataclasses
import json
import sys
import types

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


pytree.register_dataclass(State, serialized_type_name="trees_test.State")


class Record(dict):
    """As transformers' ModelOutput: a dict with a registration of its own."""


class Opaque:
    """Registered without names of its parts: what the object needs beside them is in the context."""

    def __init__(self, parts, label):
        self.parts, self.label = parts, label


pytree.register_pytree_node(
    Record,
    lambda record: (list(record.values()), list(record)),
    lambda values, keys: Record(zip(keys, values, strict=True)),
    serialized_type_name="trees_test.Record",
)
pytree.register_pytree_node(
    Opaque,
    lambda opaque: (opaque.parts, {"label": opaque.label}),
    lambda values, context: Opaque(list(values), context["label"]),
    serialized_type_name="trees_test.Opaque",
)


class Cache:
    """As transformers' DynamicCache: the names of its registration are no attributes."""

    def __init__(self, layers):
        self.layers = layers


pytree.register_pytree_node(
    Cache,
    lambda cache: (
        [[key for key, _ in cache.layers], [value for _, value in cache.layers]],
        [["keys", "values"], 0],
    ),
    lambda lists, context: Cache(list(zip(*lists, strict=True))),
    serialized_type_name="trees_test.Cache",
)

VALUES = {
    "leaf": 1,
    "none": None,
    "nested": ([1, (2, {"b": 3, "a": [4, None]})], ()),
    "dict with numbers as keys": {3: "x", 1: "y"},
    "ordered": collections.OrderedDict(b=1, a=2),
    "named tuple": Pair(1, [2, 3]),
    "dataclass": {"state": State([1, 2], 3)},
    "deque": collections.deque([1, 2]),
    "deque with a bound": collections.deque([1, 2], maxlen=5),
    "defaultdict": collections.defaultdict(list, {"a": [1], 2: 3}),
}


def test_an_object_is_flattened_as_it_is_registered():
    _, spec = pytree.tree_flatten(Cache([(1, 2), (3, 4)]))
    tree = json.loads(trees.dump_spec(spec)[1])
    assert tree["keys"] == ["keys", "values"]
    assert trees.flatten(tree, Cache([(5, 6), (7, 8)])) == [5, 7, 6, 8]
    assert trees.flatten(tree, {"keys": [5, 7], "values": [6, 8]}) == [5, 7, 6, 8]
    with pytest.raises(
        InvalidArgumentError, match=r"\[cache.keys\] another structure .* got 1 items, expected 2"
    ):
        trees.flatten(tree, Cache([(5, 6)]), "cache")
    with pytest.raises(InvalidArgumentError, match="got Opaque, expected something with 'keys'"):
        trees.flatten(tree, Opaque([1, 2], ""))


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_flattens_as_torch_does(value):
    leaves, spec = pytree.tree_flatten(value)
    tree = json.loads(trees.dump_spec(spec)[1])
    assert trees.flatten(tree, value) == leaves
    rebuilt = trees.unflatten(tree, leaves, trees.name_classes([Pair, State]))
    assert rebuilt == value and type(rebuilt) is type(value)


def rebuild(value, *classes):
    leaves, spec = pytree.tree_flatten(value)
    return trees.unflatten(json.loads(trees.dump_spec(spec)[1]), leaves, trees.name_classes(classes))


def test_only_allowed_classes_are_rebuilt():
    value = [Pair(1, 2), State(3, 4), Record(a=5), collections.OrderedDict(a=6), Opaque([7, 8], "x")]
    pair, state, record, ordered, opaque = rebuild(value, Pair, State, Record, Opaque)
    assert (pair, state, record, ordered) == tuple(value[:4])
    assert [type(part) for part in (pair, state, record, ordered)] == [
        Pair, State, Record, collections.OrderedDict
    ]  # fmt: skip
    assert (opaque.parts, opaque.label) == ([7, 8], "x")
    plain = rebuild(value)
    assert plain == [(1, 2), {"key": 3, "value": 4}, {"a": 5}, {"a": 6}, (7, 8)]
    assert [type(part) for part in plain] == [tuple, dict, dict, collections.OrderedDict, tuple]


@pytest.mark.parametrize(
    ("factory", "classes", "expected"),
    [(int, [], int), (State, [], None), (State, [State], State), (lambda: 0, [], None), (None, [], None)],
)
def test_a_defaultdict_makes_missing_values_with_known_classes_alone(factory, classes, expected):
    rebuilt = rebuild(collections.defaultdict(factory, a=1), *classes)
    assert type(rebuilt) is collections.defaultdict and rebuilt.default_factory is expected


def test_a_bounded_deque_keeps_its_bound():
    assert rebuild(collections.deque([1], maxlen=3)).maxlen == 3
    hostile = custom("collections.deque", context="9" * 5000, children=[LEAF])
    assert trees.unflatten(hostile, [1]) == collections.deque([1])


def test_fields_of_a_dataclass_that_were_none():
    tree = json.loads(trees.dump_spec(pytree.tree_flatten(State(1, None))[1])[1])
    assert trees.unflatten(tree, [5]) == {"key": 5, "value": None}
    assert trees.unflatten(tree, [5], trees.name_classes([State])) == State(5, None)
    tree.pop("context")  # as where torch is not installed
    assert trees.unflatten(tree, [5], trees.name_classes([State])) == State(5, None)
    for value in (State(6, None), {"key": 6}, types.SimpleNamespace(key=6)):
        assert trees.flatten(tree, value, "x") == [6]
    with pytest.raises(InvalidArgumentError) as error:
        trees.flatten(tree, State(6, 7), "x")
    assert str(error.value) == "[x.value] another structure than the program's: got int, expected None"


def test_a_dict_of_a_class_of_its_own_may_have_numbers_as_keys():
    class Plain(dict):
        pass

    tree = {"kind": "dict", "type": "m.Plain", "keys": [1, "a"], "children": [LEAF, LEAF]}
    rebuilt = trees.unflatten(tree, [2, 3], {"m.Plain": Plain})
    assert type(rebuilt) is Plain and rebuilt == {1: 2, "a": 3}


def custom(name, **fields):
    return {"kind": "custom", "type": name, **fields}


def test_names_of_a_file_are_neither_imported_nor_called(monkeypatch):
    """As a program could be called that somebody sent: with the class of any module that is installed."""
    imported = []
    sys.addaudithook(lambda event, args: imported.append(args[0]) if event == "import" else None)
    monkeypatch.delitem(sys.modules, "this", raising=False)
    tree = custom("subprocess.Popen", keys=["args"], children=[LEAF])
    assert trees.unflatten(tree, [["true"]]) == {"args": ["true"]}
    hostile = json.dumps({"__enum__": True, "fqn": "this:Color", "name": "RED"})
    context = custom("trees_test.State", context=hostile, children=[LEAF, LEAF])
    assert trees.unflatten(context, [1, 2]) == (1, 2)
    allowed = {"trees_test.State": State}
    with pytest.raises(InvalidArgumentError, match=r"^\[result\] trees_test.State cannot be rebuilt: got "):
        trees.unflatten(context, [1, 2], allowed)
    assert "this" not in imported and "this" not in sys.modules


def test_classes_that_fail_are_named():
    class Picky:
        def __init__(self, other):
            raise AssertionError("not reached")

    tree = {"kind": "list", "children": [custom("m.Picky", keys=["a"], children=[LEAF])]}
    with pytest.raises(InvalidArgumentError) as error:
        trees.unflatten(tree, [1], {"m.Picky": Picky})
    assert str(error.value).startswith("[result[0]] m.Picky cannot be rebuilt: got TypeError: ")
    tree["children"][0].pop("keys")
    with pytest.raises(InvalidArgumentError) as error:
        trees.unflatten(tree, [1], {"m.Picky": Picky})
    assert str(error.value) == (
        "[result[0]] m.Picky cannot be rebuilt: got no names of fields, expected them or a class that is "
        "registered with torch.utils._pytree"
    )
    with pytest.raises(InvalidArgumentError) as error:
        trees.name_classes(["m.Picky"])
    assert str(error.value) == "[classes] wrong kind of element: got 'm.Picky', expected a class"


def test_fields_are_data():
    tree = custom("m.State", keys=["key", "__class__"], children=[LEAF, LEAF])
    with pytest.raises(InvalidArgumentError) as error:
        trees.flatten(tree, State(1, 2), "x")
    assert str(error.value) == (
        "[x] another structure than the program's: got State, expected something with '__class__'"
    )
    for value, kind in ((types.SimpleNamespace(value=1), "SimpleNamespace"), ({"value": 1}, "dict")):
        with pytest.raises(InvalidArgumentError, match=rf"got {kind}, expected something with 'key'$"):
            trees.flatten(tree, value, "x")


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
