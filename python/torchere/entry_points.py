"""Several entry points: the functions of a program by name, and the export of several programs as one."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torchere import _core
from torchere.arguments import shown
from torchere.errors import InvalidArgumentError

if TYPE_CHECKING:
    from torchere.bisection import Bisection
    from torchere.program import StableHLOProgram
    from torchere.signature import Signature, ValueInfo
    from torchere.verification import VerificationReport


class EntryPoint:
    """A function of a program: program["encode"]. It shares the program's weights and state."""

    def __init__(self, program: StableHLOProgram, name: str):
        self._program = program
        #: The function's name.
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._program._call(self.name, args, kwargs)

    def call_on_device(self, *args: Any, **kwargs: Any) -> Any:
        """As StableHLOProgram.call_on_device()."""
        return self._program._call_on_device(self.name, args, kwargs)

    def verify(self, *args: Any, against: Any = None, **kwargs: Any) -> VerificationReport:
        """As StableHLOProgram.verify()."""
        return self._program._verify(self.name, args, kwargs, against)

    def bisect(self, *args: Any, repro: str | os.PathLike[str] | None = None, **kwargs: Any) -> Bisection:
        """As StableHLOProgram.bisect()."""
        return self._program._bisect(self.name, args, kwargs, repro)

    def signature(self) -> Signature:
        """What the function takes and gives; it prints as text."""
        return self._program.signature(self.name)

    @property
    def inputs(self) -> tuple[ValueInfo, ...]:
        return self.signature().inputs

    @property
    def outputs(self) -> tuple[ValueInfo, ...]:
        return self.signature().outputs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature()})"


class EntryPoints(Mapping[str, EntryPoint]):
    """The functions of a program by name, the default one first."""

    def __init__(self, program: StableHLOProgram):
        self._program = program

    def __getitem__(self, name: str) -> EntryPoint:
        return EntryPoint(self._program, self._program._known(name))

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - this is get()

    def __contains__(self, name: object) -> bool:
        return name in self._program._conventions

    def __iter__(self) -> Iterator[str]:
        return iter(self._program._conventions)

    def __len__(self) -> int:
        return len(self._program._conventions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self)})"


def export_entry_points(target: Mapping[str, Any], **options: Any) -> StableHLOProgram:
    """One program whose functions are what export() makes of the targets. `options` are all arguments of
    export(); they hold for targets without their own."""
    from torchere.exporting import export
    from torchere.program import StableHLOProgram

    targets, target_version = target, options["target_version"]
    own = [options.pop(key) for key in ("args", "kwargs", "dynamic_shapes")]
    if any(value is not None for value in own) or options.pop("name") != "forward":
        raise InvalidArgumentError(
            "[export] entry points have names and arguments of their own: got others, expected "
            'export({"encode": (module, args), ...})'
        )
    if not targets:
        raise InvalidArgumentError("[export] no entry points: got an empty dict, expected name -> program")
    programs = {}
    for name, target in targets.items():
        if not isinstance(name, str):
            raise InvalidArgumentError(
                f"[export] an entry point's name: got {shown(name)}, expected a string"
            )
        keywords = _keywords(name, target)
        try:
            programs[name] = export(**(options | keywords), name=name)
        except Exception as error:
            error.add_note(f"in entry point '{name}'")
            raise
    return StableHLOProgram._joined(programs, target_version)


def _keywords(name: str, target: Any) -> dict[str, Any]:
    """The arguments of export() that stand for an entry point."""
    order = ("target", "args", "kwargs", "dynamic_shapes")
    if isinstance(target, tuple | list):
        if not 1 <= len(target) <= len(order):
            raise InvalidArgumentError(
                f"[export] entry point '{name}': got a {type(target).__name__} of {len(target)}, expected "
                "(module, args), (module, args, kwargs) or (module, args, kwargs, dynamic_shapes)"
            )
        return dict(zip(order, target, strict=False))
    if not isinstance(target, Mapping):
        return {"target": target}
    from torchere.exporting import export

    known = [key for key in inspect.signature(export).parameters if key not in ("name", "target_version")]
    unknown = [key for key in target if key not in known]
    if unknown or "target" not in target:
        wrong = f"got {shown(unknown[0])}" if unknown else "'target' is missing"
        raise InvalidArgumentError(
            f"[export] entry point '{name}': {wrong}, expected a dict with 'target' and any of "
            f"{', '.join(known[1:])}"
        )
    return dict(target)


def joined_bundle(programs: Mapping[str, StableHLOProgram]) -> _core.Bundle:
    return _core.join_bundles([program._core_bundle for program in programs.values()])
