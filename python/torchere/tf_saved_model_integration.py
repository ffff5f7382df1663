"""PyTorch/XLA's torch_xla.tf_saved_model_integration under the same names: programs for TensorFlow.

SavedModels are written by the core. Only make_tf_function imports TensorFlow.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from typing import Any

from torchere import _core
from torchere.arguments import path_text
from torchere.bundle import StableHLOModelBundle
from torchere.errors import InvalidArgumentError
from torchere.program import StableHLOProgram
from torchere.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo

__all__ = ["make_tf_function", "save_stablehlo_graph_as_tf", "save_torch_module_as_tf_saved_model"]

DEFAULT_SERVING_KEY = "serving_default"

# Of TensorFlow's op XlaCallModule. The module is made for no platform, so the one named is not insisted on.
_CALL = {"version": 9, "platforms": ["CPU"], "disabled_checks": ["platform"]}


def save_torch_module_as_tf_saved_model(
    torch_model: Any,
    args: tuple[Any, ...],
    saved_model_dir: str | os.PathLike[str],
    serving_key: str = DEFAULT_SERVING_KEY,
    function_alias: str = "",
    options: StableHLOExportOptions | None = None,
) -> None:
    """Exports the module with these example arguments and writes it as a SavedModel, without TensorFlow."""
    from torchere.exporting import capture_with_torch

    program = exported_program_to_stablehlo(capture_with_torch(torch_model, args), options)
    save_stablehlo_graph_as_tf(program, saved_model_dir, serving_key, function_alias)


def save_stablehlo_graph_as_tf(
    stablehlo_program: StableHLOProgram,
    saved_model_dir: str | os.PathLike[str],
    serving_key: str = DEFAULT_SERVING_KEY,
    function_alias: str = "",
) -> None:
    """Writes the program as a SavedModel, without TensorFlow (docs/saved_model.md). State starts as the
    program was exported or loaded with it. `serving_key` is the signature of the default function; others
    have their own names. `function_alias` marks the default function for tools that look for it."""
    _core.save_saved_model(
        stablehlo_program._core_bundle,
        path_text(saved_model_dir, "save_stablehlo_graph_as_tf"),
        serving_key=serving_key,
        function_alias=function_alias,
    )


def make_tf_function(
    stablehlo_program: StableHLOProgram, bundle: StableHLOModelBundle | None = None
) -> Callable[..., list[Any]]:
    """The program's default function as a function of TensorFlow's tensors, which gives a list of them.

    It takes the leaves of the program's arguments by position. `bundle` holds the weights and constants to
    use, tf.Variables or what tf.convert_to_tensor takes; without one they are variables of the function's
    own. State that the program writes must be variables.
    """
    function = _TensorFlowFunction(stablehlo_program, bundle)

    def inner(*args: Any) -> list[Any]:
        return function(args)

    return inner


class _TensorFlowFunction:
    """A call of XlaCallModule with the user's arguments, the weights and the constants in its order."""

    def __init__(self, program: StableHLOProgram, bundle: StableHLOModelBundle | None):
        core = program._core_bundle
        name = core.functions[0]
        self.module = _core.tensorflow_module(core, name)
        self.signature = json.loads(core.signature(name))
        self.weights = _Weights(bundle or program._bundle, bundle is None)

    def __call__(self, args: tuple[Any, ...]) -> list[Any]:
        from tensorflow.compiler.tf2xla.python import xla

        count = self.signature["user_input_count"]
        if len(args) != count:
            raise InvalidArgumentError(
                f"[{self.signature['name']}] wrong number of arguments: got {len(args)}, expected {count}"
            )
        for constant in self.signature["constant_inputs"]:
            _check_constant(args[constant["position"]], constant)
        outputs = self.signature["outputs"]
        results = xla.call_module(
            [self._argument(entry, args) for entry in self.signature["inputs"]],
            module=self.module,
            Tout=[_dtype(entry["dtype"]) for entry in outputs],
            Sout=[_shape(entry) for entry in outputs],
            **_CALL,
        )
        users = []
        for entry, result in zip(outputs, results, strict=True):
            if entry["destination"] in ("buffer", "parameter"):
                self.weights.assign(entry["target"], result)
            elif entry["destination"] == "user_output":
                users.append((entry["position"], result))
        return [result for _, result in sorted(users, key=lambda user: user[0])]

    def _argument(self, entry: dict[str, Any], args: tuple[Any, ...]) -> Any:
        if entry["source"] == "user_input":
            return _as_tf(args[entry["position"]], _dtype(entry["dtype"]))
        if entry["source"] == "constant":
            return self.weights.constant(entry["position"])
        return self.weights.weight(entry["name"])


@dataclasses.dataclass
class _Weights:
    """The tensors of a bundle. Those that are not TensorFlow's yet become it when they are first used; the
    function's own ones (`are_own`) then become variables."""

    bundle: StableHLOModelBundle
    are_own: bool
    made: dict[str | int, Any] = dataclasses.field(default_factory=dict)

    def weight(self, name: str) -> Any:
        return self._get(name, lambda: self.bundle.state_dict[name])

    def constant(self, index: int) -> Any:
        return self._get(index, lambda: self.bundle.additional_constants[index])

    def assign(self, name: str, value: Any) -> None:
        self.weight(name)
        variable = self.made[name]
        if not hasattr(variable, "assign"):
            raise InvalidArgumentError(
                f"[{name}] the program writes it: got a {type(variable).__name__}, expected a tf.Variable"
            )
        variable.assign(value)

    def _get(self, key: str | int, find: Callable[[], Any]) -> Any:
        import tensorflow as tf

        if key not in self.made:
            value = find()
            with tf.init_scope():  # the variable outlives the tf.function that is traced
                if self.are_own:
                    value = tf.Variable(_as_tf(value), trainable=False)
                elif not hasattr(value, "assign"):
                    value = _as_tf(value)
            self.made[key] = value
        return tf.convert_to_tensor(self.made[key])


def _check_constant(value: Any, constant: dict[str, Any]) -> None:
    """Fails unless the argument has the value that the program was exported with; None stands for any."""
    import tensorflow as tf

    expected = constant["value"]
    if isinstance(expected, bool | int | float | str):
        message = f"[{constant['name']}] another value than the program was exported with"
        tf.debugging.assert_equal(value, expected, message)


def _dtype(name: str) -> Any:
    import tensorflow as tf

    return tf.as_dtype(name)


def _shape(entry: dict[str, Any]) -> Any:
    import tensorflow as tf

    return tf.TensorShape([size if isinstance(size, int) else None for size in entry["shape"]])


def _as_tf(value: Any, dtype: Any = None) -> Any:
    """A tensor of torch, an array or a number as TensorFlow's; what is TensorFlow's already is unchanged."""
    import sys

    import tensorflow as tf

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        kind = tf.as_dtype(str(value.dtype).removeprefix("torch.")).as_numpy_dtype
        data = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
        value = data.view(kind).reshape(tuple(value.shape))
    return (
        tf.convert_to_tensor(value, dtype_hint=dtype) if dtype is None else tf.convert_to_tensor(value, dtype)
    )
