"""The programs of saved_model_test.py: written as SavedModels by a process that has no TensorFlow.

Each case is a folder: model/ (the SavedModel), case.json (calls in their order, with what they give), and the
arrays as bytes.

usage: cases.py FOLDER NAME...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import nn

import torchere
from torchere import _core
from torchere.program import StableHLOProgram
from torchere.tf_saved_model_integration import (
    save_stablehlo_graph_as_tf,
    save_torch_module_as_tf_saved_model,
)

VARIABLE_DTYPES = [torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16]
VARIABLE_DTYPES += [torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64]
VARIABLE_DTYPES += [torch.complex64, torch.complex128, torch.float8_e5m2, torch.float8_e4m3fn]
INPUT_DTYPES = [torch.float32, torch.int32, torch.bool, torch.float64, torch.int64, torch.uint8]
INPUT_DTYPES += [torch.float16, torch.bfloat16, torch.complex64, torch.int8, torch.int16, torch.float32]


class Case:
    """Collects the calls of a case and what they have to give."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.model = folder / "model"
        self.calls: list[dict] = []
        self.state: dict[str, dict] = {}
        self.count = 0
        folder.mkdir(parents=True)

    def call(self, inputs, outputs, key="serving_default", function="f"):
        """`inputs` and `outputs` by position; None for a place that is no tensor."""
        self.calls.append(
            {
                "key": key,
                "function": function,
                "inputs": self._store("args", inputs),
                "outputs": self._store("output", outputs),
            }
        )

    def _store(self, prefix, values):
        stored = {}
        for position, value in enumerate(values):
            if value is not None:
                stored[f"{prefix}_{position}"] = self._write(value)
        return stored

    def _write(self, value):
        tensor = value if isinstance(value, torch.Tensor) else number_tensor(value)
        tensor = tensor.detach().contiguous()
        name = f"{self.count}.bin"
        self.count += 1
        (self.folder / name).write_bytes(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
        dtype = str(tensor.dtype).removeprefix("torch.")
        return {"file": name, "dtype": dtype, "shape": list(tensor.shape)}

    def expect_state(self, module):
        """The variables after the calls: the module's buffers."""
        self.state = {name: self._write(value) for name, value in module.named_buffers()}

    def finish(self):
        (self.folder / "case.json").write_text(json.dumps({"calls": self.calls, "state": self.state}))


def number_tensor(value):
    """A Python number as a SavedModel takes it."""
    if isinstance(value, bool):
        return torch.tensor(value)
    return torch.tensor(value, dtype=torch.int32 if isinstance(value, int) else torch.float32)


def fixed(shape, dtype, seed=0):
    """Small numbers that every dtype holds."""
    values = (torch.arange(torch.Size(shape).numel()) * 7 + seed) % 5
    return values.to(dtype).reshape(shape)


class MixedTypes(nn.Module):
    """Twelve inputs and outputs: output_10 is sorted before output_2."""

    def forward(self, *inputs):
        outputs = [~x if x.dtype is torch.bool else x + x for x in inputs]
        return (*outputs[3:], *outputs[:3])


def mixed_types(case):
    inputs = tuple(fixed((2, 3), dtype, seed) for seed, dtype in enumerate(INPUT_DTYPES))
    save_torch_module_as_tf_saved_model(MixedTypes(), inputs, case.model)
    case.call(inputs, MixedTypes()(*inputs))


class TwoSizes(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 4)

    def forward(self, x):
        projected = self.project(x)
        pooled = torch.softmax(projected, 1) * projected
        return pooled.sum(1), projected.flatten(1)


def two_sizes(case):
    module = TwoSizes()
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    program = torchere.export(module, (torch.randn(3, 5, 8),), dynamic_shapes={"x": {0: batch, 1: length}})
    save_stablehlo_graph_as_tf(program, case.model)
    for size, tokens in ((1, 1), (2, 7), (33, 3), (1000, 2)):
        x = torch.randn(size, tokens, 8)
        case.call((x,), module(x))


class Arguments(nn.Module):
    """An unused tensor, numbers that are constants, None, and a number that a tensor holds."""

    def forward(self, x, unused, scalar, count: int, factor: float, negate: bool, none):
        assert none is None
        return (-x if negate else x) * scalar * factor + count, scalar, 3, None, 0.5


def arguments(case):
    inputs = (torch.randn(2, 2), torch.ones(3, dtype=torch.int64), torch.tensor(3.0), 3, 2.5, True, None)
    save_torch_module_as_tf_saved_model(Arguments(), inputs, case.model)
    first, second, *_ = Arguments()(*inputs)
    case.call(inputs, (first, second, torch.tensor(3), None, torch.tensor(0.5, dtype=torch.float64)))


def integers(case):
    """An int that may change from call to call."""

    class Scale(nn.Module):
        def forward(self, x, n):
            return x * n, n + 1

    dynamic = {"x": None, "n": torch.export.Dim.DYNAMIC}
    program = torchere.export(Scale(), (torch.randn(3), 4), dynamic_shapes=dynamic)
    save_stablehlo_graph_as_tf(program, case.model)
    for n in (4, 9):
        x = torch.randn(3)
        case.call((x, torch.tensor(n)), (x * n, torch.tensor(n + 1)))


class Empty(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("nothing", torch.zeros(0, 4))
        self.register_buffer("scalar", torch.tensor(2.0))

    def forward(self, x):
        return torch.cat([x, self.nothing]) * self.scalar, self.nothing + 1


def zero_size(case):
    x = torch.zeros(0, 4)
    save_torch_module_as_tf_saved_model(Empty(), (x,), case.model)
    case.call((x,), Empty()(x))


class EveryType(nn.Module):
    def __init__(self):
        super().__init__()
        for dtype in VARIABLE_DTYPES:
            self.register_buffer(str(dtype).replace(".", "_"), fixed((3, 2), dtype, 1))

    def forward(self, x):
        return (x + 1, *[buffer.clone() for buffer in self.buffers()])


def every_type(case):
    x = torch.ones(2)
    save_torch_module_as_tf_saved_model(EveryType(), (x,), case.model)
    case.call((x,), EveryType()(x))


class OddNames(nn.Module):
    """500 variables with names that TensorFlow's pattern lacks, or that differ in case alone."""

    STEMS = (
        "w",
        "W",
        "_w",
        "-w",
        "w w",
        "w/",
        "/w",
        "é",
        "日本",
        "a'b\"c",
        "%25",
        "^w",
        "w:0",
        "\\",
        "x" * 150,
    )

    def __init__(self):
        super().__init__()
        for index in range(500):
            name = f"{self.STEMS[index % len(self.STEMS)]}{index // len(self.STEMS)}"
            self.register_buffer(name, torch.tensor(float(index)))

    def forward(self, x):
        return x + torch.stack(list(self.buffers()))


def odd_names(case):
    x = torch.zeros(500)
    save_torch_module_as_tf_saved_model(OddNames(), (x,), case.model)
    case.call((x,), (OddNames()(x),))


class Encoder(nn.Module):
    def __init__(self, shared):
        super().__init__()
        self.shared = shared
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        return torch.tanh(self.shared(x)), self.calls + 0


class Decoder(nn.Module):
    def __init__(self, shared):
        super().__init__()
        self.shared = shared

    def forward(self, x, scale):
        return x @ self.shared.weight * scale


def two_signatures(case):
    shared = nn.Linear(4, 4)
    encoder, decoder = Encoder(shared), Decoder(shared)
    x, scale = torch.randn(2, 4), torch.tensor(2.0)
    captured = {"encode": torchere.export(encoder, (x,)), "decode": torchere.export(decoder, (x, scale))}
    functions = [_core.export_program(program.program, name) for name, program in captured.items()]
    program = StableHLOProgram(_core.make_bundle(functions))
    save_stablehlo_graph_as_tf(program, case.model, function_alias="reader")
    for _ in range(2):
        case.call((x,), encoder(x), function="encode")
        case.call((x, scale), (decoder(x, scale),), key="decode", function="decode")


class Training(nn.Module):
    """Statistics, a counter and random numbers move from call to call."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        return self.norm(x), self.calls + 0, torch.rand(4), self.norm.running_mean + 0


def training(case):
    module, x = Training(), torch.randn(4, 3)
    program = torchere.export(module, (x,))
    save_stablehlo_graph_as_tf(program, case.model)
    for step in range(3):
        case.call((x + step,), [torch.as_tensor(value) for value in program(x + step)])


class Writes(nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return x * y


def written_input(case):
    x, y = torch.randn(3), torch.randn(3)
    save_torch_module_as_tf_saved_model(Writes(), (x.clone(), y), case.model)
    case.call((x, y), ((x + 1) * y,))
    case.calls[-1]["outputs"]["args_0_after"] = case._write(x + 1)


def attention(case):
    """A composite, with a constant that is an argument of the module."""
    table = torch.randn(8, 8)

    class Attention(nn.Module):
        def forward(self, x):
            return nn.functional.scaled_dot_product_attention(x, x, x) @ table

    x = torch.randn(2, 4, 8)
    program = torchere.export(Attention(), (x,), composites={"sdpa"})
    assert "stablehlo.composite" in program.get_stablehlo_text()
    save_stablehlo_graph_as_tf(program, case.model)
    case.call((x,), (Attention()(x),))


def dynamic_composites(case):
    """TensorFlow refines calls alone, so composites of open sizes are written as calls."""
    module = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU())
    x = torch.randn(3, 8)
    sizes = ({0: torch.export.Dim("batch")},)
    program = torchere.export(module, (x,), composites={"layer_norm", "gelu"}, dynamic_shapes=sizes)
    assert program.get_stablehlo_text().count("stablehlo.composite") == 2
    save_stablehlo_graph_as_tf(program, case.model)
    for batch in (2, 5):
        given = torch.randn(batch, 8)
        case.call((given,), (module(given),))


def without_weights(case):
    """Nothing but a result."""

    class Range(nn.Module):
        def forward(self):
            return torch.arange(5)

    save_torch_module_as_tf_saved_model(Range(), (), case.model)
    case.call((), (torch.arange(5),))


def hostile_key(case):
    key = "clé /\"'-$"
    save_torch_module_as_tf_saved_model(nn.ReLU(), (torch.randn(3),), case.model, serving_key=key)
    case.call((torch.tensor([-1.0, 2.0, 0.0]),), (torch.tensor([0.0, 2.0, 0.0]),), key=key)


def resnet18(case, train):
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))
    import torchvision_schemas  # noqa: F401  before torchvision, whose extension may not load beside this torch

    # isort: split
    import torchvision

    module = torchvision.models.resnet18().train(train)
    x = torch.randn(4, 3, 96, 96)
    save_torch_module_as_tf_saved_model(module, (x,), case.model)
    for step in range(2):
        with torch.no_grad():
            case.call((x + step,), (module(x + step),))
    return module


def resnet18_eval(case):
    resnet18(case, train=False)


def resnet18_train(case):
    case.expect_state(resnet18(case, train=True))


class Large(nn.Module):
    """2.4 GB in four variables."""

    def __init__(self):
        super().__init__()
        for index in range(4):
            self.register_buffer(f"part_{index}", torch.arange(150_000_000, dtype=torch.float32) + index)

    def forward(self, index):
        parts = list(self.buffers())
        return torch.stack([part[index] for part in parts])


def large(case):
    module, index = Large(), torch.tensor([0, 149_999_999, 77])
    save_torch_module_as_tf_saved_model(module, (index,), case.model)
    case.call((index,), (module(index),))


# A size that a custom call checks, as other exporters write them.
AT_MOST_FOUR = """module { func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %c = stablehlo.compare LE, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%c, %n)
    {error_message = "size {0} is above 4", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %r = stablehlo.add %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
} }"""


def written_by_hand(path, text, inputs, outputs):
    """A directory as PyTorch/XLA writes it, of a module as text. Types are (shape, dtype)
    or (shape, dtype, dynamic dimensions)."""

    def signature(shape, dtype, dynamic=()):
        return {"shape": shape, "dtype": dtype, "dynamic_dims": list(dynamic)}

    meta = {
        "name": "forward",
        "stablehlo_version": "0.0.0",
        "input_signature": [signature(*entry) for entry in inputs],
        "output_signature": [signature(*entry) for entry in outputs],
        "input_locations": [
            {"type_": "input_arg", "position": place, "name": ""} for place in range(len(inputs))
        ],
        "unused_inputs": [],
        "input_pytree_spec": None,
        "output_pytree_spec": None,
    }
    for folder in ("functions", "data", "constants"):
        (path / folder).mkdir(parents=True)
    (path / "functions/forward.meta").write_text(json.dumps(meta))
    (path / "functions/forward.mlir").write_text(text)
    return torchere.load(path)


def assertions(case):
    size = ([3], "float32", [0])
    program = written_by_hand(case.folder / "program", AT_MOST_FOUR, [size], [size])
    save_stablehlo_graph_as_tf(program, case.model)
    case.call((torch.ones(4),), (torch.full((4,), 2.0),))


CASES = [
    mixed_types,
    two_sizes,
    arguments,
    integers,
    zero_size,
    every_type,
    odd_names,
    two_signatures,
    training,
]
CASES += [written_input, attention, dynamic_composites, without_weights, hostile_key, assertions]
CASES += [resnet18_eval, resnet18_train]
NAMES = [case.__name__ for case in CASES]


def main(folder, *names):
    torch.manual_seed(0)
    for write in [*CASES, large]:
        if write.__name__ in names:
            case = Case(Path(folder) / write.__name__)
            write(case)
            case.finish()
    assert not any(name.split(".")[0] in ("tensorflow", "keras") for name in sys.modules)
    libraries = Path("/proc/self/maps").read_text()
    assert "tensorflow" not in libraries, libraries


if __name__ == "__main__":
    main(*sys.argv[1:])
