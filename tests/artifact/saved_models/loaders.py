"""TensorFlow's side of saved_model_test.py: loads the cases of a folder in every way that TensorFlow has,
runs them, and compares what they give with what the cases say.

usage: loaders.py FOLDER RESULTS.json NAME...    {name: {loader: error, or "" if all is well}}
"""

from __future__ import annotations

import ctypes
import json
import sys
import traceback
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

TAGS = ["serve"]
# Of the largest value: TensorFlow's own compiler sums in another order.
TOLERANCES = {"float16": 1e-2, "bfloat16": 1e-2, "float32": 1e-5, "complex64": 1e-5}
EXACT_TO = 1e-12


def read(folder, entry):
    dtype = tf.as_dtype(entry["dtype"]).as_numpy_dtype
    data = np.frombuffer((folder / entry["file"]).read_bytes(), np.uint8)
    return data.view(dtype).reshape(entry["shape"])


def check(got, folder, outputs):
    assert sorted(got) == sorted(outputs), f"got {sorted(got)}, expected {sorted(outputs)}"
    for name, entry in outputs.items():
        value, expected = np.asarray(got[name]), read(folder, entry)
        assert value.dtype == expected.dtype, f"{name}: {value.dtype}, expected {expected.dtype}"
        assert value.shape == expected.shape, f"{name}: {value.shape}, expected {expected.shape}"
        if value.dtype.kind in "bui" or not value.size:
            assert np.array_equal(value, expected), f"{name}: {value}, expected {expected}"
        else:
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            value, expected = value.astype(wide), expected.astype(wide)
            tolerance = TOLERANCES.get(entry["dtype"], EXACT_TO) * max(1.0, np.abs(expected).max())
            assert np.abs(value - expected).max() <= tolerance, f"{name}: {np.abs(value - expected).max()}"


def by_position(names):
    return sorted(names, key=lambda name: int(name.split("_")[1]))


class Loaded:
    """tf.saved_model.load."""

    def __init__(self, model):
        self.loaded = tf.saved_model.load(str(model))

    def close(self):
        del self.loaded


class Functions(Loaded):
    """Called as Python functions with the arguments by position."""

    def call(self, call, inputs):
        function = getattr(self.loaded, call["function"])
        outputs = function(*[tf.constant(inputs[name]) for name in by_position(inputs)])
        names = by_position([name for name in call["outputs"] if name.startswith("output")])
        names += [name for name in call["outputs"] if not name.startswith("output")]
        return dict(zip(names, outputs, strict=True))


class Signatures(Loaded):
    """Called by signature."""

    def call(self, call, inputs):
        signature = self.loaded.signatures[call["key"]]
        return signature(**{name: tf.constant(value) for name, value in inputs.items()})


class Session:
    """tf.compat.v1.saved_model.load."""

    def __init__(self, model):
        self.session = tf.compat.v1.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            self.meta = tf.compat.v1.saved_model.load(self.session, TAGS, str(model))

    def call(self, call, inputs):
        signature = self.meta.signature_def[call["key"]]
        feeds = {signature.inputs[name].name: value for name, value in inputs.items()}
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return self.session.run(fetches, feeds)

    def close(self):
        self.session.close()


class Output(ctypes.Structure):
    _fields_ = (("operation", ctypes.c_void_p), ("index", ctypes.c_int))


class Buffer(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("free", ctypes.c_void_p))


class C:
    """TF_LoadSessionFromSavedModel, as TensorFlow Serving loads."""

    library = ctypes.CDLL(str(Path(tf.sysconfig.get_lib()) / "libtensorflow_cc.so.2"))

    def __init__(self, model):
        self.status = self.made("TF_NewStatus")
        self.graph = self.made("TF_NewGraph")
        buffer = self.made("TF_NewBuffer")
        tags = (ctypes.c_char_p * 1)(TAGS[0].encode())
        options = self.made("TF_NewSessionOptions")
        path = str(model).encode()
        arguments = (options, None, path, tags, 1, self.graph, ctypes.c_void_p(buffer), self.status)
        self.session = self.made("TF_LoadSessionFromSavedModel", *arguments)
        self.check()
        content = ctypes.cast(buffer, ctypes.POINTER(Buffer)).contents
        self.meta = meta_graph_pb2.MetaGraphDef()
        self.meta.ParseFromString(ctypes.string_at(content.data, content.length))

    def made(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = ctypes.c_void_p
        return function(
            *[
                ctypes.c_void_p(value) if isinstance(value, int) and value > 2**20 else value
                for value in arguments
            ]
        )

    def check(self):
        if self.library.TF_GetCode(ctypes.c_void_p(self.status)):
            self.library.TF_Message.restype = ctypes.c_char_p
            raise RuntimeError(self.library.TF_Message(ctypes.c_void_p(self.status)).decode())

    def output(self, name):
        operation, index = name.split(":")
        found = self.made("TF_GraphOperationByName", self.graph, operation.encode())
        assert found, operation
        return Output(found, int(index))

    def tensor(self, value):
        value = np.array(value, order="C")
        dims = (ctypes.c_int64 * max(1, value.ndim))(*value.shape)
        dtype = tf.as_dtype(value.dtype).as_datatype_enum
        tensor = self.made("TF_AllocateTensor", dtype, dims, value.ndim, ctypes.c_size_t(value.nbytes))
        if value.nbytes:
            ctypes.memmove(self.made("TF_TensorData", tensor), value.ctypes.data, value.nbytes)
        return tensor

    def array(self, tensor):
        pointer = ctypes.c_void_p(tensor)
        self.library.TF_Dim.restype = ctypes.c_int64
        self.library.TF_TensorByteSize.restype = ctypes.c_size_t
        shape = [self.library.TF_Dim(pointer, axis) for axis in range(self.library.TF_NumDims(pointer))]
        dtype = tf.as_dtype(self.library.TF_TensorType(pointer)).as_numpy_dtype
        data = ctypes.string_at(self.made("TF_TensorData", tensor), self.library.TF_TensorByteSize(pointer))
        return np.frombuffer(data, np.uint8).view(dtype).reshape(shape)

    def call(self, call, inputs):
        signature = self.meta.signature_def[call["key"]]
        given = (Output * len(inputs))(*[self.output(signature.inputs[name].name) for name in inputs])
        values = (ctypes.c_void_p * len(inputs))(*[self.tensor(value) for value in inputs.values()])
        names = sorted(signature.outputs)
        wanted = (Output * len(names))(*[self.output(signature.outputs[name].name) for name in names])
        results = (ctypes.c_void_p * len(names))()
        session, status = ctypes.c_void_p(self.session), ctypes.c_void_p(self.status)
        self.library.TF_SessionRun(
            session, None, given, values, len(inputs), wanted, results, len(names), None, 0, None, status
        )
        self.check()
        return {name: self.array(result) for name, result in zip(names, results, strict=True)}

    def close(self):
        self.library.TF_CloseSession(ctypes.c_void_p(self.session), ctypes.c_void_p(self.status))
        self.library.TF_DeleteSession(ctypes.c_void_p(self.session), ctypes.c_void_p(self.status))


class Resaved(Signatures):
    """Loaded, saved by TensorFlow, and loaded again."""

    def __init__(self, model):
        loaded = tf.saved_model.load(str(model))
        again = model.parent / "again"
        tf.saved_model.save(loaded, str(again), signatures=loaded.signatures)
        super().__init__(again)


LOADERS = {
    "functions": Functions,
    "signatures": Signatures,
    "session": Session,
    "c": C,
    "resaved": Resaved,
}


def run(loader, folder):
    case = json.loads((folder / "case.json").read_text())
    loaded = loader(folder / "model")
    for call in case["calls"]:
        inputs = {name: read(folder, entry) for name, entry in call["inputs"].items()}
        check(loaded.call(call, inputs), folder, call["outputs"])
    if case["state"] and loader in (Functions, Signatures):
        variables = {variable.name.removesuffix(":0"): variable for variable in loaded.loaded._variables}
        check({name: variables[name].numpy() for name in case["state"]}, folder, case["state"])
    loaded.close()


def outcome(loader, folder):
    try:
        run(loader, folder)
    except Exception:
        return traceback.format_exc(limit=3)[-3000:]
    return ""


def main(folder, results, *names):
    outcomes = {
        name: {key: outcome(loader, Path(folder) / name) for key, loader in LOADERS.items()} for name in names
    }
    Path(results).write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
