"""The weights and the state of a program: read, reset, loaded."""

from __future__ import annotations

import collections
import copy
import functools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

from torchere import _core
from torchere.arrays import as_array, has_torch, weight_tensor
from torchere.errors import Error, InvalidArgumentError
from torchere.lent_weights import LentWeights
from torchere.state_dicts import check_state_dict, has_equal_elements
from torchere.weights import Weights, with_weights

Result = TypeVar("Result")


class IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict() returns, as torch's does."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"


class WeightNames(NamedTuple):
    """What the functions' signatures say of weights: parameters and buffers in the functions' order, the
    names of the state, and of the buffers that are not persistent, and the names that each function knows."""

    parameters: tuple[str, ...]
    buffers: tuple[str, ...]
    states: frozenset[str]
    transient: frozenset[str]
    functions: tuple[frozenset[str], ...]

    @staticmethod
    def of(signatures: Iterable[str]) -> WeightNames:
        kinds: dict[str, str] = {}
        states: set[str] = set()
        transient: set[str] = set()
        functions: list[frozenset[str]] = []
        for fields in map(json.loads, signatures):
            known = [*fields["inputs"], *fields["unused_inputs"]]
            functions.append(frozenset(entry["name"] for entry in known))
            for entry in known:
                if entry["source"] in ("parameter", "buffer"):
                    kinds.setdefault(entry["name"], entry["source"])
                if not entry.get("persistent", True):
                    transient.add(entry["name"])
            outputs = fields["outputs"]
            states |= {item["target"] for item in outputs if item["destination"] in ("buffer", "parameter")}
        kinds.pop(_core.GENERATOR_BUFFER, None)
        parameters, buffers = (
            tuple(name for name, kind in kinds.items() if kind == wanted)
            for wanted in ("parameter", "buffer")
        )
        return WeightNames(parameters, buffers, frozenset(states), frozenset(transient), tuple(functions))


class ProgramState:
    """The part of a StableHLOProgram that holds weights, state, and the session that computes with them."""

    def __init__(self, bundle: _core.Bundle):
        # Of what follows; held while one session takes the place of another.
        self._lock = threading.RLock()
        self._core_bundle = bundle
        self._session: _core.Session | None = None
        self._device = 0  # the session's, by its index
        self._like: _core.Session | None = None  # of another program with these functions
        self._waiting: dict[str, Any] = {}  # state that was set before there was a session, by name
        self._tensors: dict[str, Any] = {}  # whose memory the weights are, by name
        self._lent: LentWeights | None = None  # of these; None before the first session

    def state_dict(self) -> dict[str, Any]:
        """name -> tensor, for all parameters and buffers; state has its current value. The
        random number generator is not among them: get_rng_state() returns its state."""
        return dict(self._named(self._weight_names, remove_duplicate=False))

    def parameters(self) -> Iterator[Any]:
        """The parameters, as torch.nn.Module.parameters(): tensors without gradients, in the memory that was
        exported or mapped. load_state_dict() gives the program others."""
        return (tensor for _, tensor in self.named_parameters())

    def named_parameters(self, *, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """(name, parameter) of each; of tied ones the first, unless `remove_duplicate` is False."""
        return self._named(self._names.parameters, remove_duplicate)

    def buffers(self) -> Iterator[Any]:
        """The buffers, as torch.nn.Module.buffers(); state has its current value."""
        return (tensor for _, tensor in self.named_buffers())

    def named_buffers(self, *, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """(name, buffer) of each; of tied ones the first, unless `remove_duplicate` is False."""
        return self._named(self._names.buffers, remove_duplicate)

    def snapshot(self) -> dict[str, Any]:
        """name -> a copy of each state (what calls write), as it is between two calls.
        load_state_dict(snapshot, strict=False) goes back to it."""
        names = [name for name in self._weight_names if name in self._names.states]
        return {name: _copy_of(value) for name, value in self._named(names, remove_duplicate=False)}

    def reset(self) -> None:
        """Gives the state, and the random numbers, the values that they had when the program was exported or
        loaded. State that a failed call has lost is there again."""
        with self._lock:
            self._waiting = {}
            if self._session is not None:
                self._session.reset_states()

    def with_weights(self, weights: Weights) -> Self:
        """This program with other weights: {name: tensor or array}, or the directory of a saved program, with
        all weights in it. Names that are not given keep their weights, but for those that are tied to one
        that is. Nothing is compiled again, and no weight is copied. State of the new program begins anew.
        Supplies what was exported from fake tensors or saved without weights:
        program.with_weights(model.state_dict()).

        Dtypes and shapes are those of the export. Buffers that are not persistent, and constants of the
        program, are supplied by their names too: model.state_dict() | dict(model.named_buffers())."""
        made = copy.copy(self)
        made._lock = threading.RLock()
        with self._lock:
            self._follow_lent_weights()
            made._core_bundle = with_weights(self._core_bundle, weights)
            made._session, made._like, made._waiting = None, self._session or self._like, {}
            given = dict(weights) if isinstance(weights, Mapping) else {}
            made._tensors = self._tensors | given
            if self._lent is not None:
                made._lent = self._lent.within(made._core_bundle, given)
        vars(made).pop("_tied_states", None)
        return made

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Gives weights and state other values, all of them between two calls. As torch's: values are copied
        and converted to the program's dtypes; with `strict`, the names have to be those of state_dict().
        Buffers that are not persistent may be left out, as modules leave them out, and so may names that an
        entry point has for a weight that is given by another one's name. Nothing is compiled again.
        The module that was exported keeps its weights."""
        if without_data := self._core_bundle.names_without_data:
            raise InvalidArgumentError(
                f"[load_state_dict] the program has no data of {without_data[0]}: expected "
                "program.with_weights(...), which supplies it"
            )
        known = {name: self._core_bundle.weight(name) for name in self._weight_names}
        values, missing, unexpected = check_state_dict(
            state_dict, known, self._optional_names(state_dict), strict, type(self).__name__
        )
        tied = [name for name in values if name in self._tied_states]
        states = {self._tied_states[name]: values.pop(name) for name in tied}
        with self._lock:
            self._exchange(values, states)
        return IncompatibleKeys(missing, unexpected)

    def _exchange(self, weights: dict[str, Any], states: dict[str, Any]) -> None:
        """With the lock held. A session's weights are fixed: others need another session."""
        self._follow_lent_weights()
        bundle = self._core_bundle
        weights = {
            name: value
            for name, value in weights.items()
            if not has_equal_elements(_read(bundle.weight(name)), value)
        }
        if weights:
            weights = {
                name: weights[name] for name in {self._identity(name): name for name in weights}.values()
            }
            bundle = bundle.with_weights({name: _copy_of(value) for name, value in weights.items()})
        if self._session is None:
            self._waiting |= {name: _copy_of(value) for name, value in states.items()}
        elif weights:
            self._session = self._session.succeed(bundle, states)
        else:
            self._session.write_states(states)
        self._core_bundle = bundle
        if self._lent is not None:
            self._lent = self._lent.within(bundle)

    def _follow_lent_weights(self) -> None:
        """With the lock held. Tensors that were written since have new contents for the session."""
        if self._lent is None or not (changed := self._lent.changed()):
            return
        bundle = self._core_bundle.with_weights(changed)
        if self._session is not None:
            self._session = self._session.succeed(bundle, {})
        self._core_bundle, self._lent = bundle, self._lent.within(bundle)

    @property
    def _weight_names(self) -> list[str]:
        return [name for name in self._core_bundle.weight_names if name != _core.GENERATOR_BUFFER]

    def _optional_names(self, given: Any) -> set[str]:
        """Names that a strict load need not give: of buffers that are not persistent, and those that are tied
        to a given name which no function has beside them."""
        groups: dict[Any, list[str]] = {}
        for name in self._weight_names:
            groups.setdefault(self._identity(name), []).append(name)
        optional = set(self._names.transient)
        for names in groups.values():
            present = [name for name in names if isinstance(given, Mapping) and name in given]
            for name in names:
                beside = set().union(*(known for known in self._names.functions if name in known))
                if present and beside.isdisjoint(present):
                    optional.add(name)
        return optional

    @functools.cached_property
    def _names(self) -> WeightNames:
        bundle = self._core_bundle
        return WeightNames.of(bundle.signature(name) for name in bundle.functions)

    @functools.cached_property
    def _tied_states(self) -> dict[str, str]:
        """The name of the state, for each name of a weight that is one."""
        names = self._weight_names
        states = {self._identity(name): name for name in names if name in self._names.states}
        tied = {name: states.get(self._identity(name)) for name in names}
        return {name: state for name, state in tied.items() if state is not None}

    def _identity(self, name: str) -> Any:
        """Equal for tied weights."""
        weight = self._core_bundle.weight(name)
        return (weight.address, weight.dtype, weight.shape, weight.strides) if weight.address else name

    def _named(self, names: Iterable[str], remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """(name, present value) of weights, as they are between two calls."""
        with self._lock:
            bundle, states = self._core_bundle, self._changed_states()
        seen = set()
        for name in names:
            identity = self._identity(name)
            if remove_duplicate and identity in seen:
                continue
            seen.add(identity)
            state = self._tied_states.get(name)
            yield name, states[state] if state in states else _read(bundle.weight(name))

    def _changed_states(self) -> dict[str, Any]:
        """The present values of the states that may have changed, the generator's with them; of tied ones
        (entry points may have several names for one) under one name, so that they stay tied."""
        with self._lock:
            states = dict(self._waiting) if self._session is None else self._session.read_states()
        return {name: value for name, value in states.items() if self._tied_states.get(name, name) == name}

    def _with_changes(self) -> tuple[_core.Bundle, _core.Bundle, list[str]]:
        """The bundle; the bundle with the present state; the names of the states that may have changed."""
        with self._lock:
            bundle, states = self._core_bundle, self._changed_states()
        return bundle, bundle.with_weights(states) if states else bundle, sorted(states)

    def _ready_session(self, device: int | None = None) -> _core.Session:
        """The session, made at the first call: a program that is only saved needs no plugin. It is on that
        call's device, by its index among the plugin's; if another is asked for later, an error."""
        session, lent = self._session, self._lent  # without the lock
        if session is not None and device is None and lent is not None and not lent.have_changed():
            return session
        with self._lock:
            self._follow_lent_weights()
            if self._session is None:
                self._make_session(device or 0)
            if device not in (None, self._device):
                raise InvalidArgumentError(
                    f"[{self._core_bundle.functions[0]}] tensors on another device than the program: got "
                    f"xla:{device}, expected xla:{self._device}, where its first call was; "
                    "copy.deepcopy(program) gives one for another device"
                )
            assert self._session is not None
            return self._session

    def _make_session(self, device: int) -> None:
        from torchere import plugins

        client = plugins.client()
        if device >= len(client.devices):
            raise InvalidArgumentError(
                f"[{self._core_bundle.functions[0]}] tensors on another plugin's device than the program: "
                f"got xla:{device}, expected one of {client.platform_name}'s, which has {len(client.devices)}"
            )
        device_id = client.devices[device].id
        if self._lent is None:
            self._lent = LentWeights(self._tensors, self._core_bundle, self._names.states)
        session = _core.Session(client, self._core_bundle, device_id, like=self._like)
        session.write_states(self._waiting)
        self._session, self._like, self._waiting = session, None, {}
        self._device = device

    def _with_session(self, work: Callable[[_core.Session], Result], device: int | None = None) -> Result:
        session = self._ready_session(device)
        try:
            return work(session)
        except Error as error:
            return self._try_again(session, error, work)

    def _try_again(
        self, session: _core.Session, error: Error, work: Callable[[_core.Session], Result]
    ) -> Result:
        """Once more, if the error is that another session has taken the state of this one."""
        if error.code != "FAILED_PRECONDITION":
            raise error
        with self._lock:  # until the other one is there
            is_replaced = self._session is not session
        if not is_replaced:
            raise error
        return self._with_session(work)

    def __copy__(self) -> ProgramState:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> ProgramState:
        """A program with a state of its own, which begins with the present one. Weights and compiled code
        are shared."""
        with self._lock:
            made = copy.copy(self)
            made._waiting = {name: _copy_of(value) for name, value in self._changed_states().items()}
            made._session, made._like = None, self._session or self._like
        made._lock = threading.RLock()
        memo[id(self)] = made
        return made


def _read(weight: _core.Weight) -> Any:
    return weight_tensor(weight) if has_torch() else as_array(weight)


def _copy_of(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()
