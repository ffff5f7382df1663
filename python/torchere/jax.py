"""Saved programs as JAX functions: torchere.jax.load("model"). Needs jax, and neither torch nor a plugin."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from torchere import _core
from torchere.arguments import path_text
from torchere.calls import CallConvention
from torchere.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from torchere.trees import Classes, name_classes

#: name -> array: parameters and buffers, or state. A pytree.
Arrays = Mapping[str, Any]


class JaxFunction:
    """A function of a program, to be called with JAX arrays, under jax.jit or not."""

    def __init__(self, program: JaxProgram, name: str, classes: Classes | None):
        self._program = program
        #: The function's name.
        self.name = self.__name__ = name
        signature = program._bundle.signature(name)
        self._fields = json.loads(signature)
        index = program._bundle.functions.index(name)
        self._convention = CallConvention(index, signature, classes)
        self._exported: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function with the program's own weights. Under jax.jit these are constants of what is traced;
        call() has them as an argument."""
        return self.call(self._program.params, *args, **kwargs)

    def call(self, params: Arrays, /, *args: Any, **kwargs: Any) -> Any:
        """The function with these weights: its results. For functions without state."""
        states = sorted({self._program._key(name) for name in self._state_names()})
        if states:
            others = f", and {len(states) - 3} others" if len(states) > 3 else ""
            raise InvalidArgumentError(
                f"[{self.name}] has state ({', '.join(states[:3])}{others}): "
                "expected step(params, state, ...), which returns (results, new state)"
            )
        return self._apply(params, {}, args, kwargs)[0]

    def step(self, params: Arrays, state: Arrays, /, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """The function with these weights in this state: (results, new state). Nothing is written."""
        return self._apply(params, state, args, kwargs)

    def _state_names(self) -> list[str]:
        reads = [entry["name"] for entry in self._fields["inputs"] if entry["source"] != "user_input"]
        writes = [entry["target"] for entry in self._fields["outputs"] if "target" in entry]
        return [name for name in [*reads, *writes] if self._program._key(name) in self._program.state]

    def _apply(
        self, params: Arrays, state: Arrays, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        bundle = self._program._bundle
        leaves = [_as_int(leaf) for leaf in self._convention.flatten(args, kwargs, bundle)]
        operands = [self._operand(entry, leaves, params, state) for entry in self._fields["inputs"]]
        exported = self._specialize(leaves)
        with _sixty_four_bits():
            results = exported.call(
                *(
                    _converted(value, aval.dtype)
                    for value, aval in zip(operands, exported.in_avals, strict=True)
                )
            )
        outputs: list[Any] = [None] * self._fields["user_output_count"]
        for position, value in bundle.constant_outputs(self.name).items():
            outputs[position] = value
        state = dict(state)
        for entry, result in zip(self._fields["outputs"], results, strict=True):
            if entry["destination"] == "check":
                continue  # a traced function cannot raise
            if entry["destination"] == "user_output":
                outputs[entry["position"]] = _converted(result, _present(result.dtype))
            else:
                state[self._program._key(entry["target"])] = _converted(result, _present(result.dtype))
        return self._convention.unflatten(outputs), state

    def _operand(self, entry: dict[str, Any], leaves: list[Any], params: Arrays, state: Arrays) -> Any:
        if entry["source"] == "user_input":
            return leaves[entry["position"]]
        if entry["source"] == "constant":
            return self._program._constants[entry["position"]]
        name = self._program._key(entry["name"])
        of, kind = (state, "state") if name in self._program.state else (params, "params")
        if name not in of:
            raise NotFoundError(f"[{kind}] {name} is missing: function '{self.name}' takes it")
        return of[name]

    def _specialize(self, leaves: list[Any]) -> Any:
        """The jax.export.Exported for leaves of these types."""
        wanted = {
            entry["position"]: entry["dtype"]
            for entry in [*self._fields["inputs"], *self._fields["unused_inputs"]]
            if entry["source"] == "user_input"
        }
        types = [_type_of(leaf, wanted.get(position)) for position, leaf in enumerate(leaves)]
        key = tuple((type(one), one) for one in types)
        if key not in self._exported:
            mutated = [item for item in self._fields["outputs"] if item["destination"] == "user_input"]
            if mutated:
                raise UnimplementedError(
                    f"[{self.name}] writes its argument {mutated[0]['position']}: expected a function that "
                    "returns the new value, because JAX's arrays cannot be written"
                )
            bytecode, results = _core.static_module(self._program._bundle, self.name, types)
            self._exported[key] = _exported(bytecode, self._argument_types(types), results)
        return self._exported[key]

    def _argument_types(self, types: list[Any]) -> list[tuple[str, tuple[int, ...]]]:
        return [
            types[entry["position"]]
            if entry["source"] == "user_input" and not entry.get("sym_int")
            else (entry["dtype"], tuple(entry["shape"]))
            for entry in self._fields["inputs"]
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class JaxProgram:
    """A saved program in JAX. It is called as its default function; program["encode"] is another one.

    `params` are its weights and `state` what its functions write, as {name: array}. A tied weight has the
    first of its names.
    """

    def __init__(self, bundle: _core.Bundle, classes: Iterable[type] = ()):
        self._bundle = bundle
        if not bundle.has_weights or bundle.names_without_data:
            raise InvalidArgumentError("[jax] the program was saved without its weights: expected them in it")
        signatures = {name: json.loads(bundle.signature(name)) for name in bundle.functions}
        self._keys = _keys(bundle)
        taken = {
            self._key(entry["name"])
            for fields in signatures.values()
            for entry in fields["inputs"]
            if entry["source"] in ("parameter", "buffer")
        }
        written = {
            self._key(entry["target"])
            for fields in signatures.values()
            for entry in fields["outputs"]
            if entry["destination"] in ("parameter", "buffer")
        }
        #: The weights: name -> jax.Array.
        self.params: dict[str, Any] = {name: _array(bundle.weight(name)) for name in sorted(taken - written)}
        #: The initial state: name -> jax.Array.
        self.state: dict[str, Any] = {name: _array(bundle.weight(name)) for name in sorted(written)}
        self._constants = [_array(constant) for constant in bundle.constants]
        allowed = name_classes(classes)
        #: The functions by name, the default one first.
        self.functions = {name: JaxFunction(self, name, allowed) for name in bundle.functions}

    @property
    def _default(self) -> JaxFunction:
        return self.functions[self._bundle.functions[0]]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The default function with the program's own weights."""
        return self._default(*args, **kwargs)

    def call(self, params: Arrays, /, *args: Any, **kwargs: Any) -> Any:
        """The default function with these weights, which may be traced: jax.jit(program.call)(params, x)."""
        return self._default.call(params, *args, **kwargs)

    def step(self, params: Arrays, state: Arrays, /, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """The default function with these weights in this state: (results, new state)."""
        return self._default.step(params, state, *args, **kwargs)

    def __getitem__(self, name: str) -> JaxFunction:
        if name not in self.functions:
            raise NotFoundError(f"[{name}] no such function: expected one of {', '.join(self.functions)}")
        return self.functions[name]

    # Without it, Python would take the program for a sequence.
    __iter__ = None

    def _key(self, name: str) -> str:
        return self._keys.get(name, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.functions)}; {len(self.params)} weights)"


def load(path: str | os.PathLike[str], *, classes: Iterable[type] = (), verify: bool = False) -> JaxProgram:
    """A JAX function from the directory or file of a saved program, with the weights as a pytree:

    program = torchere.jax.load("model")
    y = jax.jit(program.call)(program.params, x)

    `classes` and `verify` are those of torchere.load."""
    _jax()
    return JaxProgram(_core.load_bundle(path_text(path, "load"), verify=verify), classes)


def _jax() -> Any:
    try:
        import jax
        import jax.export
    except ImportError as error:
        raise ImportError("[torchere.jax] jax is not installed: pip install jax", name="jax") from error
    return jax


def _keys(bundle: _core.Bundle) -> dict[str, str]:
    """The first name of each weight's view."""
    first: dict[Any, str] = {}
    keys = {}
    for name in bundle.weight_names:  # sorted
        weight = bundle.weight(name)
        view = (weight.address, weight.dtype, weight.shape, weight.strides) if weight.address else name
        keys[name] = first.setdefault(view, name)
    return keys


def _dtype(name: str) -> Any:
    """numpy's dtype of that name, or ml_dtypes', which jax depends on."""
    import ml_dtypes
    import numpy

    if name == "complex32":
        raise UnimplementedError("[complex32] JAX has no such dtype: expected complex64 or another one")
    return numpy.dtype(getattr(ml_dtypes, name, None) or name)


def _array(weight: _core.Weight) -> Any:
    import numpy

    jax = _jax()
    _, dtype, shape, data = weight.parts
    array = numpy.asarray(data).view(_dtype(dtype)).reshape(shape)
    present = _present(array.dtype)
    if present != array.dtype and array.dtype.kind in "iu" and not (array == array.astype(present)).all():
        raise InvalidArgumentError(
            f"[{weight.name}] does not fit {present}: expected the option jax_enable_x64, with which JAX has "
            f"{array.dtype}"
        )
    return jax.numpy.asarray(array.astype(present, copy=False))


def _present(dtype: Any) -> Any:
    """What JAX makes of a dtype: without jax_enable_x64 it has no 64-bit ones."""
    return _jax().dtypes.canonicalize_dtype(dtype)


def _sixty_four_bits() -> contextlib.AbstractContextManager:
    """Modules have the dtypes that they have, whatever JAX's option says."""
    jax = _jax()
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64(True)


def _converted(value: Any, dtype: Any) -> Any:
    jax = _jax()
    if getattr(value, "dtype", None) == dtype:
        return value
    return jax.lax.convert_element_type(value, dtype)


def _as_int(leaf: Any) -> Any:
    """numpy's integers are ints; other leaves are unchanged."""
    import numpy

    return int(leaf) if isinstance(leaf, numpy.integer) else leaf


def _type_of(leaf: Any, wanted: str | None) -> Any:
    """(dtype, shape) of an array; other leaves are constants."""
    if not (hasattr(leaf, "dtype") and hasattr(leaf, "shape")):
        return leaf
    if type(leaf).__module__.partition(".")[0] == "torch":
        raise InvalidArgumentError(
            f"[jax] a torch tensor: got {type(leaf).__name__}, expected an array of JAX or numpy, such as "
            "jax.numpy.asarray(x.numpy())"
        )
    if not all(isinstance(size, int) for size in leaf.shape):
        raise UnimplementedError(
            f"[jax] a symbolic size: got the shape {leaf.shape}, expected known sizes (a program is refined "
            "to those that it is traced with)"
        )
    name = str(leaf.dtype)
    if wanted is not None and name != wanted and _present(_dtype(wanted)) == leaf.dtype:
        name = wanted  # what it would be with jax_enable_x64
    return name, tuple(leaf.shape)


def _exported(bytecode: bytes, arguments: list[Any], results: list[Any]) -> Any:
    """A jax.export.Exported of the module. JAX makes one of a function with the same types; its module is
    then replaced, and its gradients, which are that function's, are taken away."""
    jax = _jax()
    numpy = jax.numpy
    checks = [jax.export.DisabledSafetyCheck.platform()]  # the module is for any
    with _sixty_four_bits():
        outs = [(tuple(shape), _dtype(dtype)) for dtype, shape in results]
        stand_in = jax.jit(lambda *_: tuple(numpy.zeros(shape, dtype) for shape, dtype in outs))
        specs = [jax.ShapeDtypeStruct(tuple(shape), _dtype(dtype)) for dtype, shape in arguments]
        made = jax.export.export(stand_in, platforms=["cpu"], disabled_checks=checks)(*specs)
    return dataclasses.replace(
        made,
        mlir_module_serialized=bytecode,
        module_kept_var_idx=tuple(range(len(specs))),
        _get_vjp=None,
    )
