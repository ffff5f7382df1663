"""The engines that the nine models run on, behind one interface.

An engine loads a model once and then answers calls; a call's results are the engine's own until as_arrays()
is asked for them. Everything runs in f32. Engines are imported where they are used, so that one that is not
installed is absent rather than an error.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from model_files import ONNX, PROGRAM, Arrays, read_state
from nine_models import Model


class Engine:
    """One model on one engine. `packages` are what it needs, `file` what it loads of those in the folder."""

    name = ""
    packages: tuple[str, ...] = ()
    file = ""

    def load(self, model: Model, folder: Path, threads: int, calls: list[Arrays]) -> None:
        raise NotImplementedError

    def call(self, index: int) -> Any:
        """Calls the model with the arguments of that number."""
        raise NotImplementedError

    def as_arrays(self, results: Any) -> Arrays:
        raise NotImplementedError

    @classmethod
    def is_here(cls) -> bool:
        return all(importlib.util.find_spec(package) for package in cls.packages)


class Eager(Engine):
    name = "eager"
    packages = ("torch",)

    def load(self, model: Model, folder: Path, threads: int, calls: list[Arrays]) -> None:
        import torch

        torch.set_num_threads(threads)
        self.run = self.prepare(model.build())
        self.calls = [[torch.from_numpy(array) for array in call] for call in calls]

    def prepare(self, module: Any) -> Any:
        return module

    def call(self, index: int) -> Any:
        import torch

        with torch.no_grad():
            return self.run(*self.calls[index])

    def as_arrays(self, results: Any) -> Arrays:
        return [results.numpy()]


class Compiled(Eager):
    name = "torch.compile"

    def prepare(self, module: Any) -> Any:
        import torch

        return torch.compile(module)


class Torchere(Eager):
    """Tensors in, tensors out; what a program keeps between calls stays with the plugin."""

    name = "Torchère"
    packages = ("torch", "torchere")
    file = PROGRAM

    def load(self, model: Model, folder: Path, threads: int, calls: list[Arrays]) -> None:
        import torch

        import torchere

        self.run = torchere.load(folder / PROGRAM)
        self.calls = [[torch.from_numpy(array) for array in call] for call in calls]

    def call(self, index: int) -> Any:
        return self.run(*self.calls[index])


class OnnxRuntime(Engine):
    """A model takes its state and gives it back: two sets of tensors take turns."""

    name = "ONNX Runtime"
    packages = ("onnxruntime", "onnx", "onnxscript")
    file = ONNX

    def load(self, model: Model, folder: Path, threads: int, calls: list[Arrays]) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            str(folder / ONNX), options, providers=["CPUExecutionProvider"]
        )
        self.session, self.turn = session, 0
        names = [given.name for given in session.get_inputs()]
        states = read_state(folder)
        taken = names[len(names) - len(states) :]
        self.inputs = [dict(zip(names, call, strict=False)) for call in calls]
        self.bindings = []
        if not states:
            return
        value = onnxruntime.OrtValue.ortvalue_from_numpy
        both = [[value(state.copy()) for state in states] for _ in range(2)]
        results = [given.name for given in session.get_outputs()]
        for given, back in (both, both[::-1]):
            binding = session.io_binding()
            binding.bind_output(results[0])
            for name, tensor in zip(taken, given, strict=True):
                binding.bind_ortvalue_input(name, tensor)
            for name, tensor in zip(results[1:], back, strict=True):
                binding.bind_ortvalue_output(name, tensor)
            self.bindings.append(binding)

    def call(self, index: int) -> Any:
        if not self.bindings:
            return self.session.run(None, self.inputs[index])
        binding = self.bindings[self.turn]
        self.turn = 1 - self.turn
        for name, array in self.inputs[index].items():
            binding.bind_cpu_input(name, array)
        self.session.run_with_iobinding(binding)
        return [binding.get_outputs()[0].numpy()]

    def as_arrays(self, results: Any) -> Arrays:
        return list(results)


class OpenVino(Engine):
    """As with ONNX Runtime, two sets of tensors take turns as the state."""

    name = "OpenVINO"
    packages = ("openvino", "onnx", "onnxscript")
    file = ONNX

    def load(self, model: Model, folder: Path, threads: int, calls: list[Arrays]) -> None:
        import openvino

        options = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32",
        }
        compiled = openvino.Core().compile_model(str(folder / ONNX), "CPU", options)
        self.request, self.turn = compiled.create_infer_request(), 0
        states = read_state(folder)
        self.first_state = len(compiled.inputs) - len(states)
        self.states = [[openvino.Tensor(state.copy()) for state in states] for _ in range(2)]
        self.inputs = [[openvino.Tensor(array, shared_memory=True) for array in call] for call in calls]

    def call(self, index: int) -> Any:
        request = self.request
        for position, tensor in enumerate(self.inputs[index]):
            request.set_input_tensor(position, tensor)
        given, back = self.states[self.turn], self.states[1 - self.turn]
        for position, tensor in enumerate(given):
            request.set_input_tensor(self.first_state + position, tensor)
        for position, tensor in enumerate(back):
            request.set_output_tensor(1 + position, tensor)
        self.turn = 1 - self.turn
        request.infer()
        return request.get_output_tensor(0).data

    def as_arrays(self, results: Any) -> Arrays:
        return [np.array(results)]


ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (Torchere, Eager, Compiled, OnnxRuntime, OpenVino)
}
