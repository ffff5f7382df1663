"""torchere.lazy.save: a step on the lazy device as an artifact."""

from __future__ import annotations

import gc
import inspect
import os
import re
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree

from torchere import trees
from torchere.errors import InvalidArgumentError, UnimplementedError
from torchere.lazy.captured import ABSENT, Place, captured_tensors
from torchere.lazy.inspection import counters, source_lines


def save_step(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    folder: str | os.PathLike[str],
    kwargs: dict[str, Any] | None,
    overwrite: bool,
) -> None:
    if not isinstance(args, tuple | list):
        raise InvalidArgumentError(f"[lazy.save] args: got a {type(args).__name__}, expected a tuple")
    with source_lines():
        _Step(fn, tuple(args), dict(kwargs or {})).save(os.fspath(folder), overwrite)


def _ops() -> Any:
    return torch.ops.torchere_lazy


class _Step:
    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.fn = fn
        leaves, self.input_spec = pytree.tree_flatten((args, kwargs))
        self.given = [_copied(leaf) for leaf in leaves]
        self.paths = [path for path, _ in pytree.tree_flatten_with_path((args, kwargs))[0]]
        self.argument_names = _argument_names(fn, self.input_spec)
        self.tensors = [leaf for leaf in self.given if isinstance(leaf, torch.Tensor)]

    def save(self, folder: str, overwrite: bool) -> None:
        before = captured_tensors(self.fn)
        places = [place for place in before.values() if place.tensor.device.type == "xla"]
        host = {name: p.tensor._version for name, p in before.items() if p.tensor.device.type != "xla"}
        tensors = [place.tensor for place in places]
        _ops().identities(tensors)  # brings views up to date
        for index in sorted({tensor.device.index for tensor in tensors}):
            _ops().sync(index)
        weights = _Weights(places)
        arguments = _ops().snapshot(self.tensors)
        try:
            results = self._trace()
            self._check_host(before, host)
            self._write(folder, overwrite, weights, arguments, results)
        finally:
            _restore(self.fn, before, places, weights.originals[: len(places)])

    def _trace(self) -> Any:
        """The results of the step, without gradients."""
        counted = counters()
        args, kwargs = pytree.tree_unflatten(self.given, self.input_spec)
        results = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, self.fn(*args, **kwargs))
        news = {name: count - counted.get(name, 0) for name, count in counters().items()}
        if fallbacks := sorted(name for name, count in news.items() if count and name.startswith("aten::")):
            raise UnimplementedError(
                f"[lazy.save] the step computes an op on the CPU: got {', '.join(fallbacks)}, expected ops "
                "that the device has"
            )
        if news.get("DeviceToHost"):
            raise UnimplementedError(
                "[lazy.save] the step reads a value on the host, on which what follows may depend: expected "
                "no .item(), .cpu(), print or condition of a tensor"
            )
        return results

    def _check_host(self, before: dict[str, Place], host: dict[str, int]) -> None:
        for name, version in host.items():
            if before[name].tensor._version != version:
                raise UnimplementedError(
                    f"[lazy.save] the step writes '{name}', which is not on the device: got a tensor on "
                    f"{before[name].tensor.device}, expected xla (for an optimizer, capturable=True)"
                )
        after = captured_tensors(self.fn)
        for name in sorted(after.keys() - before.keys()):
            raise UnimplementedError(
                f"[lazy.save] the step makes '{name}', which was not there before: run it once before it is "
                "saved"
            )
        for name in sorted(before.keys() - after.keys()):
            raise UnimplementedError(f"[lazy.save] the step takes '{name}' away: expected it to stay")

    def _write(
        self,
        folder: str,
        overwrite: bool,
        weights: _Weights,
        arguments: list[torch.Tensor],
        results: Any,
    ) -> None:
        present = captured_tensors(self.fn)
        values = weights.values_after([present[place.name].tensor for place in weights.places])
        changed = _changed(weights.originals, values)
        changed_arguments = _changed(arguments, self.tensors)
        leaves, spec = pytree.tree_flatten(results)
        found = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        for leaf in found:
            if leaf.device.type != "xla":
                raise UnimplementedError(
                    f"[lazy.save] a result is not on the device: got a tensor on {leaf.device}, expected xla"
                )
        self._check_others([*found, *values, *self.tensors])
        outputs = [values[index] for index in changed] + [self.tensors[i] for i in changed_arguments] + found
        positions = [index for index, leaf in enumerate(self.given) if isinstance(leaf, torch.Tensor)]
        _ops().save(
            folder,
            [*weights.originals, *weights.bases],
            weights.names,
            weights.are_parameters,
            weights.base_owners,
            arguments,
            self._leaf_names(),
            [_leaf_text(leaf) for leaf in self.given],
            outputs,
            changed + [-1 - positions[index] for index in changed_arguments],
            [_leaf_text(leaf) for leaf in leaves],
            [*trees.dump_spec(self.input_spec), *trees.dump_spec(spec)],
            self.argument_names,
            overwrite,
        )

    def _leaf_names(self) -> list[str]:
        """Of the arguments' leaves, as torch.export has them: "x", "batch_0" for an element of `batch`."""
        names: list[str] = []
        for path in self.paths:
            first, *rest = (str(getattr(key, "idx", getattr(key, "key", key))) for key in path[1:])
            if path[0].idx == 0:  # a positional argument
                position = int(first)
                known = position < len(self.argument_names)
                first = self.argument_names[position] if known else f"args_{position}"
            name = re.sub(r"\W", "_", "_".join([first, *rest]))
            while name in names:
                name += "_"
            names.append(name)
        return names

    def _check_others(self, known: list[torch.Tensor]) -> None:
        """Tensors that the step leaves elsewhere: their next call would not find them."""
        if not _ops().other_results(known, 0):
            return
        gc.collect()
        if others := _ops().other_results(known, 0):
            raise UnimplementedError(
                f"[lazy.save] the step keeps a tensor that it does not return: got {others[0]}, expected it "
                "in a module, an optimizer or a container that the function refers to"
            )


class _Weights:
    """The tensors that a step finds, with the values that they have before it. A tensor that is a view of
    another (as a module's parameters are) is read and written by way of its base. Where the view is the
    whole of the base, both are one weight; else the base is a weight beside it, "NAME.base"."""

    def __init__(self, places: list[Place]):
        self.places = places
        tensors = [place.tensor for place in places]
        self.names = [place.name for place in places]
        self.are_parameters = [place.is_parameter for place in places]
        self.originals = list(_ops().snapshot(tensors))
        self.bases: list[torch.Tensor] = []
        self.base_owners: list[int] = []  # by base, the index of its weight
        self.others: list[int] = []  # the places whose bases are weights of their own
        bases = _ops().bases(tensors)
        known = set(_ops().identities(self.originals))
        whole = None
        for index, number in enumerate(_ops().identities(bases)):
            if number in known:
                continue
            known.add(number)
            whole = _ops().are_whole(tensors) if whole is None else whole
            if whole[index]:
                self.bases.append(bases[index])
                self.base_owners.append(index)
            else:
                self.others.append(index)
                self.names.append(f"{places[index].name}.base")
                self.are_parameters.append(False)
                self.originals.append(bases[index])

    def values_after(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """The tensors after the step, and the bases that are weights."""
        _ops().identities(tensors)  # brings views up to date
        bases = _ops().bases([tensors[index] for index in self.others])
        return [*tensors, *bases]


def _copied(leaf: Any) -> Any:
    """An argument as a tensor of its own on the device: two arguments may be the same tensor."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return leaf.detach().cpu().clone().to("xla").requires_grad_(leaf.requires_grad)


def _changed(before: list[torch.Tensor], after: list[torch.Tensor]) -> list[int]:
    pairs = zip(_ops().identities(before), _ops().identities(after), strict=True)
    return [index for index, (old, new) in enumerate(pairs) if old != new]


def _restore(
    fn: Callable[..., Any], before: dict[str, Place], places: list[Place], originals: list[torch.Tensor]
) -> None:
    """The step's writes are undone: the tensors are where they were, with the values that they had."""
    after = captured_tensors(fn)
    for name, place in after.items():
        if name not in before:
            place.put(ABSENT)
        elif place.tensor is not before[name].tensor:
            place.put(before[name].tensor)
    for name, place in before.items():
        if name not in after:
            place.put(place.tensor)
    with torch.no_grad():
        tensors = [place.tensor for place in places]
        for index in _changed(originals, tensors):
            tensors[index].copy_(originals[index])


def _leaf_text(leaf: Any) -> str:
    """How a leaf that is no tensor is passed on; a tensor's text is empty."""
    if isinstance(leaf, torch.Tensor):
        return ""
    if leaf is None:
        return "n:"
    if isinstance(leaf, bool):
        return f"b:{int(leaf)}"
    if isinstance(leaf, int):
        return f"i:{leaf}"
    if isinstance(leaf, float):
        return f"f:{leaf!r}"
    if isinstance(leaf, str):
        return f"s:{leaf}"
    raise InvalidArgumentError(
        f"[lazy.save] an argument or result: got a {type(leaf).__name__}, expected tensors, numbers, text "
        "and None"
    )


def _argument_names(fn: Callable[..., Any], spec: Any) -> list[str]:
    """Of the positional arguments, as far as fn declares them."""
    called = fn.forward if isinstance(fn, torch.nn.Module) else fn
    count = trees.children_of(spec)[0].num_children
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds][:count]
