"""StableHLOProgram: an exported program, ready to be called, printed, saved and loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from torchere import _core
from torchere.bundle import StableHLOModelBundle, bundle_of, core_bundle
from torchere.calls import CallConvention
from torchere.errors import Error, InvalidArgumentError, NotFoundError
from torchere.pickling import parts_of, program_of
from torchere.signature import Signature, ValueInfo, read_signature
from torchere.state import ProgramState
from torchere.trees import name_classes


class StableHLOProgram(ProgramState):
    """A program in StableHLO with its weights. Made by torchere.export and torchere.load, and of a bundle:
    StableHLOGraphModule(StableHLOModelBundle(...)), in PyTorch/XLA's words.

    It is called like the module that it was exported from. State (buffers that the module writes) is carried
    from call to call; `state_dict()` returns it. Results are torch tensors, or numpy arrays if torch is not
    installed. Several threads may call a program at the same time. It can be pickled; copy.deepcopy gives a
    program with a state of its own.
    """

    def __init__(
        self,
        bundle: _core.Bundle | StableHLOModelBundle,
        program: _core.Program | None = None,
        timings: dict[str, float] | None = None,
        target_version: str | None = None,
        classes: Iterable[type] = (),
        output_specs: dict[str, Any] | None = None,
    ):
        if isinstance(bundle, StableHLOModelBundle):
            bundle = core_bundle(bundle)
        super().__init__(bundle)
        self._target_version = target_version
        allowed, specs = name_classes(classes), output_specs or {}
        self._conventions = {
            name: CallConvention(index, bundle.signature(name), allowed, specs.get(name))
            for index, name in enumerate(bundle.functions)
        }
        #: The program as it was lowered, written as torch writes an ExportedProgram. None after loading.
        self.program = program
        #: Seconds spent in each step of the export: export, walk, expand, functionalize, lower, verify; and
        #: run_decompositions where torch had to decompose the program.
        self.timings: dict[str, float] = dict(timings or {})
        #: The ops that were expanded, with the seconds that it took to find what they are made of.
        self.expanded: dict[str, float] = {}

    @classmethod
    def _from_exported(
        cls,
        exported: _core.Exported,
        program: _core.Program,
        timings: dict[str, float],
        has_weights: bool,
        target_version: str | None,
        output_spec: Any,
    ) -> StableHLOProgram:
        bundle = _core.make_bundle([exported], has_weights, target_version)
        specs = {bundle.functions[0]: output_spec}
        return cls(bundle, program, timings, target_version, output_specs=specs)

    @classmethod
    def load(
        cls, stablehlo_dir: str | os.PathLike[str], *, classes: Iterable[type] = (), verify: bool = False
    ) -> StableHLOProgram:
        """Reads a directory that save() or PyTorch/XLA wrote. Weights are mapped, not read; with `verify`
        every file is read and compared with the digest that save(digests=True) recorded. Result classes
        (named tuples, dataclasses, whatever is registered with torch) are rebuilt if listed in `classes`;
        others become plain tuples and dicts, because files are not trusted to import or call anything."""
        return cls(_core.load_bundle(os.fspath(stablehlo_dir), verify=verify), classes=classes)

    def save(
        self,
        stablehlo_dir: str | os.PathLike[str],
        options: Any = None,
        overwrite: bool = False,
        *,
        target_version: str | None = None,
        digests: bool = False,
        state: str = "initial",
    ) -> None:
        """Writes a directory in PyTorch/XLA's layout, atomically, and syncs it to disk.
        Parents are created; a non-empty directory is rejected unless it contains a saved program and
        nothing else, and `overwrite` is set. `options` are StableHLOExportOptions, of which `save_weights`
        and `include_human_readable_text` apply here. The bytecode targets StableHLO `target_version`; the
        default is the export's, or a release of about twelve weeks ago. `digests` records a
        digest of every file, for load(verify=True) and `torchere verify-files`. `state` is "initial" for the
        state that the program was exported or loaded with, or "present" for that of now, random numbers
        included: the loaded program goes on from there."""
        if state not in ("initial", "present"):
            raise InvalidArgumentError(f"[state] unknown: got {state!r}, expected 'initial' or 'present'")
        _core.save_bundle(
            self._core_bundle if state == "initial" else self._with_changes()[1],
            os.fspath(stablehlo_dir),
            save_weights=getattr(options, "save_weights", True),
            include_text=getattr(options, "include_human_readable_text", True),
            overwrite=overwrite,
            target_version=target_version or getattr(options, "target_version", None) or self._target_version,
            digests=digests,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program's default function. DeviceArrays are accepted wherever tensors are."""
        return self._call(self._default, args, kwargs)

    def evaluate(self, method_name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Calls the function with that name."""
        return self._call(method_name, tuple(args), kwargs or {})

    def call_on_device(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program's default function without waiting: its results are DeviceArrays, which stay on
        the device until they are read. Calls of any program on that device accept them without a copy.
        Tensors among the arguments are copied. If the execution fails, every read of a result raises the
        error, with the place of this call. State advances at once; an execution that fails loses it, and
        later calls and reads of the state raise an error. Ints are returned as DeviceArrays, too."""
        return self._call_on_device(self._default, args, kwargs)

    def evaluate_on_device(
        self, method_name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Calls the function with that name as call_on_device does."""
        return self._call_on_device(method_name, tuple(args), kwargs or {})

    def to_device(self, value: Any) -> _core.DeviceArray:
        """A copy of a tensor or array on the device that the program runs on."""
        return self._ready_session().to_device(value)

    def get_stablehlo_text(self, method_name: str | None = None) -> str:
        """The text of a function's StableHLO module; the default function's if no name is given."""
        return self._core_bundle.text(self._known(method_name))

    def get_stablehlo_bytecode(
        self, method_name: str | None = None, target_version: str | None = None
    ) -> bytes:
        """A function's StableHLO module as a portable artifact for StableHLO `target_version` ("1.13.0")
        and newer. The default is a release of about twelve weeks ago. An error names the op that the
        version cannot express."""
        return self._core_bundle.bytecode(self._known(method_name), target_version or self._target_version)

    @property
    def inputs(self) -> tuple[ValueInfo, ...]:
        """The leaves of the default function's arguments; print(program.signature()) shows them."""
        return self.signature().inputs

    @property
    def outputs(self) -> tuple[ValueInfo, ...]:
        """The leaves of the default function's results."""
        return self.signature().outputs

    def signature(self, method_name: str | None = None) -> Signature:
        """What a function takes and gives; the default function if no name is given. It prints as text."""
        name, bundle = self._known(method_name), self._core_bundle
        return read_signature(
            bundle.signature(name), bundle.constant_inputs(name), bundle.constant_outputs(name)
        )

    def manual_seed(self, seed: int) -> None:
        """Starts the program's random numbers anew: equal seeds give equal numbers, on every plugin. A
        program starts with the seed 0. Seeds are those that torch.manual_seed takes; nothing happens to a
        program that draws no random numbers."""
        if not -(2**63) <= seed < 2**64:
            raise InvalidArgumentError(
                f"[seed] does not fit 64 bits: got {seed}, expected {-(2**63)} to {2**64 - 1}"
            )
        self._with_session(lambda session: session.manual_seed(seed % 2**64))

    def get_rng_state(self) -> Any:
        """The state of the program's random numbers, an int64 tensor: the seed, and how many blocks of 64
        bits have been drawn since."""
        self._check_draws()
        return self._with_session(lambda session: session.read_weight(_core.GENERATOR_BUFFER))

    def set_rng_state(self, new_state: Any) -> None:
        """Continues the random numbers from where get_rng_state() was called, of this or another program."""
        self._check_draws()
        self._with_session(lambda session: session.write_states({_core.GENERATOR_BUFFER: new_state}))

    def memory_statistics(self, *args: Any, **kwargs: Any) -> dict[str, int]:
        """The bytes that a call of the default function with such arguments needs, as planned by the plugin's
        compiler: `arguments` (including weights and state) and `results`; `aliases`, the part of the
        results in the memory of donated state; `temporaries`, allocated during the call; `code`.
        Nothing is executed. Not every plugin reports this."""
        convention = self._conventions[self._default]
        leaves = convention.flatten(args, kwargs, self._core_bundle)
        return self._ready_session().memory_statistics(convention.index, leaves)

    @property
    def _default(self) -> str:
        return self._core_bundle.functions[0]

    @property
    def _bundle(self) -> StableHLOModelBundle:
        return bundle_of(self._core_bundle)

    def _known(self, method_name: str | None) -> str:
        if method_name is None:
            return self._default
        if method_name not in self._conventions:
            raise NotFoundError(
                f"[{method_name}] no such function: expected one of {', '.join(self._conventions)}"
            )
        return method_name

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        convention = self._conventions[self._known(name)]
        leaves, session = convention.flatten(args, kwargs, self._core_bundle), self._ready_session()
        try:
            results = session.call(convention.index, leaves)
        except Error as error:
            results = self._try_again(session, error, lambda other: other.call(convention.index, leaves))
        return convention.unflatten(results)

    def _call_on_device(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        convention = self._conventions[self._known(name)]
        leaves = convention.flatten(args, kwargs, self._core_bundle)
        caller = sys._getframe(2)  # of call_on_device or evaluate_on_device
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        results = self._with_session(lambda session: session.call_on_device(convention.index, leaves, place))
        return convention.unflatten(results)

    def _check_draws(self) -> None:
        if not self._ready_session().draws_random_numbers():
            raise NotFoundError("[rng_state] the program draws no random numbers")

    def __reduce__(self) -> tuple[Any, ...]:
        return program_of, (type(self), parts_of(self))

    def __repr__(self) -> str:
        functions = ", ".join(self._conventions)
        return f"{type(self).__name__}({functions}; {len(self._weight_names)} weights)"


def load(
    stablehlo_dir: str | os.PathLike[str], *, classes: Iterable[type] = (), verify: bool = False
) -> StableHLOProgram:
    """Reads a program from a directory that StableHLOProgram.save or PyTorch/XLA wrote. Result classes listed
    in `classes` are rebuilt: load("mlp", classes=[Out]); others become plain tuples and dicts. With
    `verify`, every file is compared with its digest first."""
    return StableHLOProgram.load(stablehlo_dir, classes=classes, verify=verify)
