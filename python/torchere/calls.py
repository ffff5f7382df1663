"""Flattens a call's arguments for an entry point, and unflattens its results."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from torchere import trees
from torchere.errors import InvalidArgumentError

if TYPE_CHECKING:
    from torchere import _core

# Stands for an argument that a call does not give.
_NOT_GIVEN = object()


def _positions(outputs: list[dict[str, Any]], destination: str) -> list[int]:
    return [entry["position"] for entry in outputs if entry["destination"] == destination]


def _is_number(entry: dict[str, Any]) -> bool:
    return bool(entry.get("sym_int") or entry.get("number"))


class CallConvention:
    """How one function is called: the structure of its arguments and results, from its signature's JSON.

    `output_spec` is torch's TreeSpec of the results, which a process that exported
    the program still has; `classes` are those that may be rebuilt without it.
    """

    def __init__(
        self,
        index: int,
        signature: str,
        classes: trees.Classes | None = None,
        output_spec: Any = None,
    ):
        fields = json.loads(signature)
        self.index = index
        self.name: str = fields["name"]
        self.input_count: int = fields["user_input_count"]
        self.argument_names: list[str] = fields["argument_names"]
        #: The positions of the user's inputs that the function writes, and of its results that are numbers.
        self.written_inputs = _positions(fields["outputs"], "user_input")
        self.number_outputs = frozenset(
            _positions([entry for entry in fields["outputs"] if _is_number(entry)], "user_output")
        )
        self.output_tree = fields["output_tree"]["tree"]
        self.output_spec = output_spec
        self.classes = classes
        self._constants: dict[int, Any] | None = None
        tree = fields["input_tree"]["tree"]
        # (args, kwargs); absent in other tools' directories: the arguments are then the leaves.
        self.positional = tree["children"][0]["children"] if tree else [trees.LEAF] * self.input_count
        keywords = tree["children"][1] if tree else {"keys": [], "children": []}
        self.keywords = dict(zip(keywords["keys"], keywords["children"], strict=True))
        # Most programs take positional tensors and return one or several: their calls need not walk a tree.
        self._takes_leaves = not self.keywords and all(tree["kind"] == "leaf" for tree in self.positional)
        output = self.output_tree or {}
        self._gives_leaf = output.get("kind") == "leaf"
        self._gives_tuple = output.get("kind") == "tuple" and all(
            child["kind"] == "leaf" for child in output["children"]
        )

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any], bundle: _core.Bundle) -> list[Any]:
        """The leaves of a call's arguments, in the order of the program's inputs. Arguments that are not
        given are taken from the constants that the bundle has for them."""
        if self._takes_leaves and not kwargs and len(args) == len(self.positional):
            return list(args)
        values = self._bind(args, kwargs, bundle)
        leaves: list[Any] = []
        for (name, tree, positions), value in zip(self._arguments, values, strict=True):
            if value is _NOT_GIVEN:
                constants = self._constants_of(bundle)
                leaves += [constants[position] for position in positions]
            else:
                leaves += trees.flatten(tree, value, name)
        return leaves

    @functools.cached_property
    def _arguments(self) -> list[tuple[str, dict[str, Any], range]]:
        """The name, the tree and the leaves' positions of each argument, positional ones first."""
        names = [self._name_of(position) for position in range(len(self.positional))]
        places, start = [], 0
        for name, tree in [*zip(names, self.positional, strict=True), *self.keywords.items()]:
            stop = start + trees.leaf_count(tree)
            places.append((name, tree, range(start, stop)))
            start = stop
        return places

    def _constants_of(self, bundle: _core.Bundle) -> dict[int, Any]:
        """The leaves that are constants of the program, by position."""
        if self._constants is None:
            self._constants = bundle.constant_inputs(self.name)
        return self._constants

    def _required(self, bundle: _core.Bundle) -> set[str]:
        """The arguments with a leaf that is no constant of the program."""
        constants = self._constants_of(bundle)
        return {name for name, _, leaves in self._arguments if not constants.keys() >= set(leaves)}

    def _name_of(self, position: int) -> str:
        return self.argument_names[position] if position < len(self.argument_names) else f"args[{position}]"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], bundle: _core.Bundle) -> list[Any]:
        """The arguments in order, those given by keyword in their places; rejects missing and unknown
        ones."""
        count, kwargs = len(self.positional), dict(kwargs)
        if len(args) > count:
            raise InvalidArgumentError(f"[{self.name}] too many arguments: got {len(args)}, expected {count}")
        given = len(args) + len(kwargs)
        taken = {self._name_of(position) for position in range(len(args))} - self.keywords.keys()
        if twice := [name for name in kwargs if name in taken]:
            raise InvalidArgumentError(
                f"[{self.name}] arguments are given twice: got {', '.join(twice)} by position and by "
                "keyword, expected each once"
            )
        names = [*map(self._name_of, range(len(args), count)), *self.keywords]
        values = [*args, *(kwargs.pop(name, _NOT_GIVEN) for name in names)]
        absent = [name for name, value in zip(names, values[len(args) :], strict=True) if value is _NOT_GIVEN]
        required = self._required(bundle) if absent else set()
        lacking = [name for name in absent if name in required]
        if lacking:
            unknown = f" and unknown {', '.join(kwargs)}" if kwargs else ""
            raise InvalidArgumentError(
                f"[{self.name}] arguments are missing: got {given - len(kwargs)}{unknown}, "
                f"expected also {', '.join(lacking)}"
            )
        if kwargs:
            raise InvalidArgumentError(
                f"[{self.name}] unknown arguments: got {', '.join(kwargs)}, expected "
                f"{', '.join([*self.argument_names, *self.keywords]) or 'none'}"
            )
        return values

    def unflatten(self, leaves: list[Any]) -> Any:
        """Unflattens the user's results."""
        if self._gives_leaf and len(leaves) == 1:
            return leaves[0]
        if self._gives_tuple and len(leaves) == len(self.output_tree["children"]):
            return tuple(leaves)
        if self.output_tree is None:
            return leaves[0] if len(leaves) == 1 else tuple(leaves)
        if self.output_spec is not None:
            return self.output_spec.unflatten(leaves)
        return trees.unflatten(self.output_tree, leaves, self.classes)
