"""Flattens a call's arguments for an entry point, and unflattens its results."""

from __future__ import annotations

import json
from typing import Any

from torchere import trees
from torchere.errors import InvalidArgumentError


class CallConvention:
    """How one function is called: the structure of its arguments and results, from its signature's JSON.

    `output_spec` is torch's TreeSpec of the results, which a process that exported the program still has;
    `classes` are those that may be rebuilt without it.
    """

    def __init__(
        self, index: int, signature: str, classes: trees.Classes | None = None, output_spec: Any = None
    ):
        fields = json.loads(signature)
        self.index = index
        self.name: str = fields["name"]
        self.input_count: int = fields["user_input_count"]
        self.argument_names: list[str] = fields["argument_names"]
        self.output_tree = fields["output_tree"]["tree"]
        self.output_spec = output_spec
        self.classes = classes
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

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of a call's arguments, in the order of the program's inputs."""
        if self._takes_leaves and not kwargs and len(args) == len(self.positional):
            return list(args)
        args, kwargs = self._bind(args, kwargs)
        leaves: list[Any] = []
        for i, (tree, value) in enumerate(zip(self.positional, args, strict=True)):
            leaves += trees.flatten(tree, value, self._name_of(i))
        for name, tree in self.keywords.items():
            leaves += trees.flatten(tree, kwargs[name], name)
        return leaves

    def _name_of(self, position: int) -> str:
        return self.argument_names[position] if position < len(self.argument_names) else f"args[{position}]"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Binds keyword arguments to their positions; rejects missing and unknown ones."""
        count, kwargs = len(self.positional), dict(kwargs)
        if len(args) > count:
            raise InvalidArgumentError(f"[{self.name}] too many arguments: got {len(args)}, expected {count}")
        given, lacking = [], []
        for name in map(self._name_of, range(len(args), count)):
            if name in kwargs:
                given.append(kwargs.pop(name))
            else:
                lacking.append(name)
        lacking += [name for name in self.keywords if name not in kwargs]
        if lacking:
            raise InvalidArgumentError(
                f"[{self.name}] arguments are missing: got {len(args) + len(given) + len(kwargs)}, "
                f"expected also {', '.join(lacking)}"
            )
        unknown = [name for name in kwargs if name not in self.keywords]
        if unknown:
            raise InvalidArgumentError(
                f"[{self.name}] unknown arguments: got {', '.join(unknown)}, expected "
                f"{', '.join([*self.argument_names, *self.keywords]) or 'none'}"
            )
        return (*args, *given), kwargs

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
