"""Python functions that programs call: pure_callback, io_callback, jax.debug.callback and jax.debug.print.

JAX hands them to kernels of XLA's CPU client, which find the functions in that client. Here the kernel is a
function of this module's, and an attribute of the call names the Python function."""

import ctypes
import itertools
import os
import queue
import threading
import traceback
import weakref

import jax
import numpy
from jax_plugins.torchere_cpu.kernels import _Arguments, _FfiApi

_PLATFORM = "torchere_cpu"
_TARGET = "torchere_python_callback"
_PRIMITIVES = ("pure_callback", "io_callback", "debug_callback", "debug_print")
_INTERNAL = 13  # the code of an error


class _Values(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("kinds", ctypes.c_void_p),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    )


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("kinds", ctypes.c_void_p),
        ("names", ctypes.c_void_p),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    )


class _CallFrame(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(ctypes.c_size_t)),
        ("api", ctypes.POINTER(_FfiApi)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("operands", _Values),
        ("results", _Values),
        ("attributes", _Attributes),
    )


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("type", ctypes.c_int),
        ("data", ctypes.c_void_p),
    )


class _Scalar(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_uint64)))


class _Metadata(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("version_size", ctypes.c_size_t),
        ("version_extension_start", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("traits", ctypes.c_uint32),
    )


class _MetadataExtension(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("metadata", ctypes.POINTER(_Metadata)),
    )


class _ErrorArguments(_Arguments):
    _fields_ = (("message", ctypes.c_char_p), ("code", ctypes.c_int))


class _TypeInfo(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class _StateArguments(_Arguments):
    _fields_ = (
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("type_id", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
    )


class _Function:
    """What a call runs."""

    def __init__(self, function, operands, results):
        self.function, self.operands, self.results = function, operands, results


# By the call's attribute, as long as JAX may compile it. The numbers of one process are not those of another,
# which might find its program in JAX's cache.
_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_numbers = itertools.count(int.from_bytes(os.urandom(6), "little") << 15)
# Of each compiled call, as long as the plugin has it: by the address of a semaphore, which the plugin posts
# when the call is gone. It may do so in any thread, also when Python has ended, so that is no function of
# Python's.
_compiled: dict[int, _Function] = {}
_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_SEMAPHORE = 64  # bytes, more than any has
_state_type = ctypes.c_int64(0)
_state_info = _TypeInfo(ctypes.sizeof(_TypeInfo), None, ctypes.cast(_libc.sem_post, ctypes.c_void_p))


def _forget_dropped() -> None:
    for state in list(_compiled):
        value = ctypes.c_int(0)
        _libc.sem_getvalue(ctypes.c_void_p(state), ctypes.byref(value))
        if value.value and _compiled.pop(state, None):
            _libc.free(ctypes.c_void_p(state))


def _arrays(values: _Values, avals):
    """Views of the call's memory."""
    for place, aval in enumerate(avals):
        dtype = numpy.dtype(aval.dtype)
        size = int(numpy.prod(aval.shape, dtype=numpy.int64))
        if size == 0:
            yield numpy.empty(aval.shape, dtype)
            continue
        data = _Buffer.from_address(values.values[place]).data
        memory = (ctypes.c_char * (size * dtype.itemsize)).from_address(data)
        yield numpy.frombuffer(memory, dtype, size).reshape(aval.shape)


def _found(frame: _CallFrame) -> _Function:
    number = _Scalar.from_address(frame.attributes.values[0]).value[0]
    found = _functions.get(number)
    if found is None:
        raise RuntimeError("the function of a callback is in the process that traced the program alone")
    return found


def _instantiate(frame: _CallFrame) -> None:
    """A call may run when JAX has dropped what it was compiled from."""
    found = _found(frame)
    _forget_dropped()
    state = _libc.malloc(ctypes.c_size_t(_SEMAPHORE))
    _libc.sem_init(ctypes.c_void_p(state), 0, 0)
    _compiled[state] = found
    arguments = _StateArguments(frame.context, frame.stage, ctypes.addressof(_state_type), state)
    set_state = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(frame.api.contents.state_set)
    if set_state(ctypes.addressof(arguments)):
        del _compiled[state]
        raise RuntimeError("the state of a callback is not kept")


def _execute(frame: _CallFrame) -> None:
    found = _found(frame)
    given = [array.copy() for array in _arrays(frame.operands, found.operands)]  # which it may keep
    made = found.function(*given)
    for result, array in zip(made, _arrays(frame.results, found.results), strict=True):
        array[...] = result


class _Caller(threading.Thread):
    """Runs functions for the engine's thread: what JAX keeps for each thread must not end with that one,
    which may be when Python has ended."""

    def __init__(self):
        super().__init__(name="torchere callbacks", daemon=True)
        self.questions: queue.SimpleQueue = queue.SimpleQueue()
        self.start()

    def run(self):
        while True:
            work, frame, answers = self.questions.get()
            try:
                work(frame)
                error = None
            except BaseException as raised:
                error = "".join(traceback.format_exception(raised))
            _idle.append(self)
            answers.put(error)
            del work, frame, answers, error


_idle: list[_Caller] = []
os.register_at_fork(after_in_child=_idle.clear)


def _call(frame: _CallFrame) -> str | None:
    """The error."""
    answers: queue.SimpleQueue = queue.SimpleQueue()
    try:
        caller = _idle.pop()
    except IndexError:
        caller = _Caller()
    caller.questions.put((_execute, frame, answers))
    return answers.get()


def _answer(pointer, work):
    """The error, or null."""
    frame = pointer.contents
    if frame.extension_start:  # asks for the version
        metadata = ctypes.cast(frame.extension_start, ctypes.POINTER(_MetadataExtension)).contents.metadata
        metadata.contents.major, metadata.contents.minor = 0, 3
        return None
    try:
        error = work(frame)
    except BaseException as raised:
        error = "".join(traceback.format_exception(raised))
    if error is None:
        return None
    arguments = _ErrorArguments(error.encode(), _INTERNAL)
    create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(frame.api.contents.error_create)
    return create(ctypes.addressof(arguments))


_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_CallFrame))
_handlers = {
    "instantiate": _Handler(lambda pointer: _answer(pointer, _instantiate)),
    "execute": _Handler(lambda pointer: _answer(pointer, _call)),
}


def _checked(results, avals):
    """As arrays of the types that the program was told."""
    from jax._src import dtypes

    arrays = [dtypes.canonicalize_value(numpy.asarray(result)) for result in results or ()]
    if len(arrays) != len(avals):
        raise RuntimeError(
            f"Mismatched number of outputs from callback. Expected: {len(avals)}, Actual: {len(arrays)}"
        )
    for place, (array, aval) in enumerate(zip(arrays, avals, strict=True)):
        for what in ("shape", "dtype"):
            got, expected = getattr(array, what), getattr(aval, what)
            if got != expected:
                raise RuntimeError(
                    f"Incorrect output {what} for return value #{place}: Expected: {expected}, Actual: {got}"
                )
    return arrays


def _without_devices(callback):
    """The user's function, which JAX's own closure calls with arrays on its CPU platform: where that platform
    is not there, it gets NumPy's."""
    cells = dict(zip(callback.__code__.co_freevars, callback.__closure__ or (), strict=True))
    return cells["callback"].cell_contents


def _emit(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, **_):
    """Steps run in the order of the ops, so the token that orders calls comes out as it went in."""
    from jax._src import xla_bridge

    operand_avals, result_avals = list(operand_avals), list(result_avals)

    def call(*arrays):
        try:
            xla_bridge.local_devices(backend="cpu")
            function = callback
        except RuntimeError:
            function = _without_devices(callback)
        return _checked(function(*arrays), result_avals)

    held = _Function(call, operand_avals, result_avals)
    number = next(_numbers)
    _functions[number] = held
    ctx.module_context.add_keepalive(held)
    lower = jax.ffi.build_ffi_lowering_function(_TARGET, has_side_effect=has_side_effect)
    made = lower(
        ctx.replace(avals_in=operand_avals, avals_out=result_avals), *operands, number=numpy.uint64(number)
    )
    return list(made.results), token, held


def register() -> None:
    from jax._src import callback as callbacks
    from jax._src.interpreters import mlir  # the only way to the rules of another platform

    def capsule(value):
        return jax.ffi.pycapsule(ctypes.cast(value, ctypes.c_void_p))

    registration = {
        "type_id": capsule(ctypes.pointer(_state_type)),
        "type_info": capsule(ctypes.pointer(_state_info)),
    }
    jax.ffi.register_ffi_type(_TARGET, registration, platform=_PLATFORM)
    handlers = {stage: capsule(handler) for stage, handler in _handlers.items()}
    jax.ffi.register_ffi_target(_TARGET, handlers, platform=_PLATFORM)
    common = callbacks.emit_python_callback

    def emit(ctx, *args, **parameters):
        ours = tuple(ctx.module_context.platforms) == (_PLATFORM,)
        return (_emit if ours else common)(ctx, *args, **parameters)

    callbacks.emit_python_callback = emit
    rules = mlir._platform_specific_lowerings
    rules[_PLATFORM].update(
        (primitive, rule) for primitive, rule in rules["cpu"].items() if primitive.name in _PRIMITIVES
    )
