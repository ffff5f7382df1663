"""StableHLOProgram: an exported program, ready to be called, printed, saved and loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from torchere import _core
from torchere.arguments import path_text, positional_arguments, seed_bits, shown
from torchere.calls import CallConvention
from torchere.entry_points import EntryPoint, EntryPoints, joined_bundle
from torchere.errors import Error, InvalidArgumentError, NotFoundError
from torchere.pickling import parts_of, program_of
from torchere.state import ProgramState
from torchere.trees import name_classes

if TYPE_CHECKING:  # a method imports what a loaded program's first result does without
    from torchere.bisection import Bisection
    from torchere.bundle import StableHLOModelBundle
    from torchere.profile import Profile
    from torchere.reference import Source
    from torchere.signature import Signature, ValueInfo
    from torchere.verification import VerificationReport


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
        if not isinstance(bundle, _core.Bundle):
            from torchere.bundle import core_bundle

            bundle = core_bundle(bundle)
        super().__init__(bundle)
        self._target_version = target_version
        allowed, specs = name_classes(classes), output_specs or {}
        self._conventions = {
            name: CallConvention(index, bundle.call_signature(name), allowed, specs.get(name))
            for index, name in enumerate(bundle.functions)
        }
        #: The default function as it was lowered, written as torch writes an ExportedProgram. None after
        #: loading.
        self.program = program
        #: Seconds spent in each step of the export: export, walk, expand, functionalize, lower, verify; and
        #: run_decompositions where torch had to decompose the program.
        self.timings: dict[str, float] = dict(timings or {})
        #: The ops that were expanded, with the seconds that it took to find what they are made of.
        self.expanded: dict[str, float] = {}
        #: What its only function was exported from, for verify() and bisect(); None after loading.
        self._source: Source | None = None
        #: Of functions that were exported together: each as a program of its own, and what its weights are
        #: called here.
        self._parts: dict[str, tuple[StableHLOProgram, dict[str, str]]] = {}

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
    def _joined(
        cls, programs: Mapping[str, StableHLOProgram], target_version: str | None
    ) -> StableHLOProgram:
        """One program with the functions of programs that were just exported, each with one."""
        specs, timings = {}, dict[str, float]()
        for name, program in programs.items():
            specs[name] = program._conventions[name].output_spec
            for step, seconds in program.timings.items():
                timings[step] = timings.get(step, 0.0) + seconds
        first = next(iter(programs.values()))
        made = cls(joined_bundle(programs), first.program, timings, target_version, output_specs=specs)
        made._parts = {name: (program, made._names_here(program)) for name, program in programs.items()}
        for program, names in made._parts.values():
            made._tensors |= {names.get(own, own): tensor for own, tensor in program._tensors.items()}
            for op, seconds in program.expanded.items():
                made.expanded[op] = made.expanded.get(op, 0.0) + seconds
        return made

    @classmethod
    def load(
        cls,
        stablehlo_dir: str | os.PathLike[str],
        *,
        classes: Iterable[type] = (),
        verify: bool = False,
        precision: str | None = None,
    ) -> StableHLOProgram:
        """Reads a directory or file that save() wrote, or a directory of PyTorch/XLA. Weights are mapped, not
        read; with `verify` every file is read and compared with the digest that save(digests=True) recorded.
        Result classes (named tuples, dataclasses, whatever is registered with torch) are rebuilt if listed in
        `classes`; others become plain tuples and dicts, because files are not trusted to import or call
        anything. `precision` is that of products and convolutions, in place of what the program asks:
        "default", "high" or "highest"."""
        bundle = _core.load_bundle(path_text(stablehlo_dir, "load"), verify=verify, precision=precision or "")
        return cls(bundle, classes=classes)

    def save(
        self,
        stablehlo_dir: str | os.PathLike[str],
        options: Any = None,
        overwrite: bool = False,
        *,
        target_version: str | None = None,
        digests: bool = False,
        state: str = "initial",
        embed_weights: bool = False,
    ) -> None:
        """Writes a directory in PyTorch/XLA's layout, atomically, and syncs it to disk; if the path ends in
        ".torchere", one uncompressed zip file that holds the same.
        Parents are created; a non-empty directory is rejected unless it contains a saved program and
        nothing else, and `overwrite` is set. `options` are StableHLOExportOptions, of which `save_weights`
        and `include_human_readable_text` apply here. The bytecode targets StableHLO `target_version`; the
        default is the export's, or a release of about twelve weeks ago. `digests` records a
        digest of every file, for load(verify=True) and `torchere verify-files`. `state` is "initial" for the
        state that the program was exported or loaded with, or "present" for that of now, random numbers
        included: the loaded program goes on from there. With `embed_weights` the weights become constants of
        the modules, but for state, which stays as it is; the text is then left out unless `options` ask for
        it. More than 2 GB of them are an error."""
        if state not in ("initial", "present"):
            raise InvalidArgumentError(
                f"[state] unknown: got {shown(state)}, expected 'initial' or 'present'"
            )
        target_version = target_version or getattr(options, "target_version", None) or self._target_version
        bundle = self._core_bundle if state == "initial" else self._with_changes()[1]
        _core.save_bundle(
            bundle.embed_weights(target_version) if embed_weights else bundle,
            path_text(stablehlo_dir, "save"),
            save_weights=getattr(options, "save_weights", True),
            include_text=getattr(options, "include_human_readable_text", not embed_weights),
            overwrite=overwrite,
            target_version=target_version,
            digests=digests,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program's default function. DeviceArrays are accepted wherever tensors are."""
        return self._call(self._default, args, kwargs)

    def evaluate(self, method_name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Calls the function with that name."""
        return self._call(method_name, positional_arguments(method_name, args), kwargs or {})

    @property
    def functions(self) -> EntryPoints:
        """The program's functions by name, the default one first: program.functions["encode"](x)."""
        return EntryPoints(self)

    def __getitem__(self, name: str) -> EntryPoint:
        """The function with that name, to be called: program["encode"](x)."""
        return self.functions[name]

    # Without it, Python would take the program for a sequence.
    __iter__ = None

    def call_on_device(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program's default function. Its results are DeviceArrays, which stay on the device until
        they are read, and are waited for there: the CPU engine computes in the call, unless its client is
        asynchronous. Calls of any program on that device accept them without a copy.
        Tensors among the arguments are copied. If the execution fails, every read of a result raises the
        error, with the place of this call. State advances at once; an execution that fails loses it, and
        later calls and reads of the state raise an error. Ints are returned as DeviceArrays, too."""
        return self._call_on_device(self._default, args, kwargs)

    def evaluate_on_device(
        self, method_name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Calls the function with that name as call_on_device does."""
        return self._call_on_device(method_name, positional_arguments(method_name, args), kwargs or {})

    def to_device(self, value: Any) -> _core.DeviceArray:
        """A copy of a tensor or array on the device that the program runs on; of a tensor of the lazy device
        its own memory."""
        if "torchere.lazy.buffers" in sys.modules:
            from torchere.lazy import buffers

            if buffers.is_lazy(value):
                return buffers.array_of(value)
        return self._ready_session().to_device(value)

    def get_stablehlo_text(self, method_name: str | None = None, *, embed_weights: bool = False) -> str:
        """The text of a function's StableHLO module; the default function's if no name is given. With
        `embed_weights`, its weights are constants of the module, but for state."""
        name, bundle = self._known(method_name), self._core_bundle
        return (bundle.embed_weights(function=name) if embed_weights else bundle).text(name)

    def get_stablehlo_bytecode(
        self,
        method_name: str | None = None,
        target_version: str | None = None,
        *,
        embed_weights: bool = False,
    ) -> bytes:
        """A function's StableHLO module as a portable artifact for StableHLO `target_version` ("1.13.0")
        and newer. The default is a release of about twelve weeks ago. An error names the op that the
        version cannot express. With `embed_weights`, the function's weights are constants of the module, but
        for state."""
        name, target = self._known(method_name), target_version or self._target_version
        bundle = self._core_bundle.embed_weights(target, name) if embed_weights else self._core_bundle
        return bundle.bytecode(name, target)

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
        from torchere.signature import read_signature

        name, bundle = self._known(method_name), self._core_bundle
        return read_signature(
            bundle.signature(name), bundle.constant_inputs(name), bundle.constant_outputs(name)
        )

    def manual_seed(self, seed: int) -> None:
        """Starts the program's random numbers anew: equal seeds give equal numbers, on every plugin. A
        program starts with the seed 0. Seeds are those that torch.manual_seed takes; nothing happens to a
        program that draws no random numbers."""
        bits = seed_bits(seed)
        self._with_session(lambda session: session.manual_seed(bits))

    def get_rng_state(self) -> Any:
        """The state of the program's random numbers, an int64 tensor: the seed, and how many blocks of 64
        bits have been drawn since."""
        self._check_draws()
        return self._with_session(lambda session: session.read_weight(_core.GENERATOR_BUFFER))

    def set_rng_state(self, new_state: Any) -> None:
        """Continues the random numbers from where get_rng_state() was called, of this or another program."""
        self._check_draws()
        self._with_session(lambda session: session.write_states({_core.GENERATOR_BUFFER: new_state}))

    def verify(self, *args: Any, against: Any = None, **kwargs: Any) -> VerificationReport:
        """Compares a call of the default function with eager PyTorch, and with the same in float64: its
        results, and what it writes. The program's present weights and state are used, and the state does not
        advance. Returns a report that prints as a table, with `.ok` and `.raise_if_wrong()`. Eager PyTorch is
        the module or ExportedProgram that the program was exported from; `against` is another one, which a
        loaded program needs. The module must not be called by other threads meanwhile."""
        return self._verify(self._default, args, kwargs, against)

    def bisect(self, *args: Any, repro: str | os.PathLike[str] | None = None, **kwargs: Any) -> Bisection:
        """Finds the first op of the default function that computes other values than eager PyTorch: runs the
        program's functional graph in eager mode node by node, and each node beside it as this program has
        it, with the same inputs. Returns a report that names the op, its source line, and its errors; a
        script that reproduces it alone is written to the folder `repro` (by default torchere_repro, with a
        number if there is one)."""
        return self._bisect(self._default, args, kwargs, repro)

    def memory_statistics(self, *args: Any, **kwargs: Any) -> dict[str, int]:
        """The bytes that a call of the default function with such arguments needs, as planned by the plugin's
        compiler: `arguments` (including weights and state) and `results`; `aliases`, the part of the
        results in the memory of donated state; `temporaries`, allocated during the call; `code`.
        Nothing is executed. Not every plugin reports this."""
        convention = self._conventions[self._default]
        leaves = convention.flatten(args, kwargs, self._core_bundle)
        return self._ready_session().memory_statistics(convention.index, leaves)

    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Calls the default function and measures each kernel: its op and source line, its time, GFLOP/s or
        GB/s, and the share of the machine's peak. The result prints as a table, and `.save(path)` writes a
        trace for chrome://tracing. A program without state is called twice, and the second call is measured.
        Only the plugin torchere_cpu can do this."""
        convention = self._conventions[self._default]
        leaves = convention.flatten(args, kwargs, self._core_bundle)
        results, fields, table, trace = self._with_session(
            lambda session: session.profile(convention.index, leaves)
        )
        from torchere.profile import read_profile

        return read_profile(convention.unflatten(results), fields, table, trace)

    @property
    def _default(self) -> str:
        return self._core_bundle.functions[0]

    @property
    def _bundle(self) -> StableHLOModelBundle:
        from torchere.bundle import bundle_of

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
        leaves = convention.flatten(args, kwargs, self._core_bundle)
        if (device := self._lazy_device(convention, leaves)) is not None:
            return convention.unflatten(self._call_lazily(convention, leaves, device, "call", _place(3)))
        session = self._ready_session()
        try:
            results = session.call(convention.index, leaves)
        except Error as error:
            results = self._try_again(session, error, lambda other: other.call(convention.index, leaves))
        return convention.unflatten(results)

    def _call_on_device(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        convention = self._conventions[self._known(name)]
        leaves = convention.flatten(args, kwargs, self._core_bundle)
        place = _place(3)  # of the call of call_on_device or evaluate_on_device
        if (device := self._lazy_device(convention, leaves)) is not None:
            return convention.unflatten(
                self._call_lazily(convention, leaves, device, "call_on_device", place)
            )
        results = self._with_session(lambda session: session.call_on_device(convention.index, leaves, place))
        return convention.unflatten(results)

    def _lazy_device(self, convention: CallConvention, leaves: list[Any]) -> int | None:
        """The index of the lazy device that a call's tensors are on, if they are."""
        if "torchere.lazy.buffers" not in sys.modules:
            return None
        from torchere.lazy import buffers

        device = buffers.common_device(convention.name, leaves)
        return None if device is None else device.index

    def _call_lazily(
        self, convention: CallConvention, leaves: list[Any], device: int, form: str, place: str
    ) -> list[Any]:
        """A call with tensors of the lazy device, which `form` names: one of those in
        torchere.lazy.buffers."""
        from torchere.lazy import buffers

        def work(session: _core.Session) -> list[Any]:
            return getattr(buffers, form)(session, convention, leaves, place)

        return self._with_session(work, device)

    def _verify(self, name: str, args: Any, kwargs: Any, against: Any) -> VerificationReport:
        from torchere.verification import verify

        return verify(self._alone(name), self._known(name), args, kwargs, against)

    def _bisect(self, name: str, args: Any, kwargs: Any, repro: Any) -> Bisection:
        from torchere.bisection import bisect

        return bisect(self._alone(name), args, kwargs, repro)

    def _names_here(self, part: StableHLOProgram) -> dict[str, str]:
        """What the weights of a program that was joined to this one are called here."""
        known: dict[Any, list[str]] = {}
        for name in self._weight_names:
            known.setdefault(self._identity(name), []).append(name)
        found = {}
        for name in part._weight_names:
            qualified = (f"{function}.{name}" for function in self._conventions)
            same = known.get(part._identity(name))
            if same is None:  # without data, names alone tell weights apart
                same = [here for here in (name, *qualified) if here in known]
            found[name] = name if name in same else same[0]
        return found

    def _alone(self, name: str) -> StableHLOProgram:
        """The program that the function was exported as, with the present weights and state."""
        if name not in self._parts:
            return self
        from torchere.verification import weights_of

        part, names = self._parts[name]
        present = weights_of(self)
        return part.with_weights({own: present[here] for own, here in names.items()})

    def _check_draws(self) -> None:
        if not self._ready_session().draws_random_numbers():
            raise NotFoundError("[rng_state] the program draws no random numbers")

    def __reduce__(self) -> tuple[Any, ...]:
        return program_of, (type(self), parts_of(self))

    def __repr__(self) -> str:
        functions = ", ".join(self._conventions)
        return f"{type(self).__name__}({functions}; {len(self._weight_names)} weights)"


def _place(depth: int) -> str:
    """The line of a caller, `depth` frames up, for errors of calls that do not wait."""
    caller = sys._getframe(depth)
    return f"{caller.f_code.co_filename}:{caller.f_lineno}"


def load(
    stablehlo_dir: str | os.PathLike[str],
    *,
    classes: Iterable[type] = (),
    verify: bool = False,
    precision: str | None = None,
) -> StableHLOProgram:
    """Reads a program from the directory or file that StableHLOProgram.save wrote, or from a directory of
    PyTorch/XLA. Result classes listed in `classes` are rebuilt: load("mlp", classes=[Out]); others become
    plain tuples and dicts. With `verify`, every file is compared with its digest first. `precision` is that
    of products and convolutions, in place of what the program asks: "default", "high" or "highest"."""
    return StableHLOProgram.load(stablehlo_dir, classes=classes, verify=verify, precision=precision)
