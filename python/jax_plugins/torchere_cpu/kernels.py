"""Kernels that are registered with JAX for the engine: register_ffi_target(..., platform="torchere_cpu")."""

import ctypes

_PLATFORM = "torchere_cpu"
_STAGES = ("instantiate", "prepare", "initialize", "execute")
_FFI_TABLE = 0x54434646  # the plugin's extension that holds the table of XLA's FFI


class _Extension(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("table", ctypes.c_void_p),  # of the extension that is looked for
    )


class _PjrtApi(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("extension", ctypes.c_void_p))


class _FfiApi(ctypes.Structure):
    """The table up to the last function that is called here."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("version", ctypes.c_byte * 24),
        ("internal", ctypes.c_void_p),
        ("error_create", ctypes.c_void_p),
        ("error_get_message", ctypes.c_void_p),
        ("error_destroy", ctypes.c_void_p),
        ("handler_register", ctypes.c_void_p),
        ("stream_get", ctypes.c_void_p),
        ("type_register", ctypes.c_void_p),
        ("context_get", ctypes.c_void_p),
        ("state_set", ctypes.c_void_p),
    )


class _Span(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


class _Arguments(ctypes.Structure):
    """The leading members of every structure of arguments."""

    _fields_ = (("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p))

    def __init__(self, *values):
        last = self._fields_[-1][0]
        field = getattr(type(self), last)
        super().__init__(field.offset + field.size, None, *values)


class _HandlerArguments(_Arguments):
    _fields_ = (
        ("name", _Span),
        ("platform", _Span),
        ("handlers", ctypes.c_void_p * len(_STAGES)),
        ("traits", ctypes.c_uint32),
    )


class _TypeArguments(_Arguments):
    # The size that callers give ends at type_id: type_info came earlier in the ABI's history.
    _fields_ = (("name", _Span), ("type_id", ctypes.c_void_p), ("type_info", ctypes.c_void_p))


class _ErrorArguments(_Arguments):
    _fields_ = (("error", ctypes.c_void_p), ("message", ctypes.c_char_p))


def _pointer_in(capsule) -> int:
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = (ctypes.py_object,)
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


def _span(text) -> _Span:
    data = text if isinstance(text, bytes) else text.encode()
    return _Span(data, len(data))


class Kernels:
    """The registrations of one plugin."""

    def __init__(self, library_path: str):
        get = ctypes.CDLL(library_path).GetPjrtApi
        get.restype = ctypes.POINTER(_PjrtApi)
        address = get().contents.extension
        while address:
            extension = _Extension.from_address(address)
            if extension.type == _FFI_TABLE:
                self._table = _FfiApi.from_address(extension.table)
                return
            address = extension.next
        raise RuntimeError(f"[{library_path}] the plugin has no table of XLA's FFI")

    def register_with_jax(self) -> None:
        """Lets JAX pass on what is registered for the platform, also before this."""
        from jax._src.lib import xla_client

        xla_client.register_custom_type_handler(_PLATFORM, self._add_type)  # targets need their types
        xla_client.register_custom_call_handler(_PLATFORM, self._add_target)

    def _add_target(self, name, function, platform, api_version=1, traits=0):
        if api_version != 1:
            raise NotImplementedError(
                f"[{name}] a kernel of api_version {api_version}: expected 1, a handler of XLA's FFI"
            )
        handlers = function if isinstance(function, dict) else {"execute": function}
        unknown = set(handlers) - set(_STAGES)
        if unknown:
            raise ValueError(f"[{name}] stages of a kernel: got {sorted(unknown)}, expected {_STAGES}")
        addresses = [_pointer_in(handlers[stage]) if stage in handlers else None for stage in _STAGES]
        bundle = (ctypes.c_void_p * len(_STAGES))(*addresses)
        self._call("handler_register", _HandlerArguments(_span(name), _span(platform), bundle, int(traits)))

    def _add_type(self, name, registration):
        info = registration.get("type_info")
        address = _pointer_in(info) if info is not None else None
        arguments = _TypeArguments(_span(name), _pointer_in(registration["type_id"]), address)
        self._call("type_register", arguments)

    def _call(self, function: str, arguments: _Arguments) -> None:
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        error = prototype(getattr(self._table, function))(ctypes.addressof(arguments))
        if not error:
            return
        read = _ErrorArguments(error, None)
        prototype(self._table.error_get_message)(ctypes.addressof(read))
        message = read.message.decode()
        prototype(self._table.error_destroy)(ctypes.addressof(read))
        raise ValueError(message)
