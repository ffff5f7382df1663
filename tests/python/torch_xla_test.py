"""Every module, class and function of PyTorch/XLA that we have, used as a script for it would use them. Each
script runs in a process of its own, in an empty folder."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from warm_process import run_python

from torchere.torch_xla_compat import MODULES

SCRIPTS = {
    "names": """
import torch_xla
import torch_xla.core.xla_model as xm
from packaging.version import Version
assert Version(torch_xla.__version__) >= Version("2.9"), torch_xla.__version__
from torch_xla import save_as_stablehlo, save_torch_model_as_stablehlo, stablehlo
assert save_as_stablehlo is stablehlo.save_as_stablehlo
assert save_torch_model_as_stablehlo is stablehlo.save_torch_model_as_stablehlo
import torchere
assert stablehlo is torchere.stablehlo and torchere.stablehlo.__spec__.name == "torchere.stablehlo"
import importlib
assert importlib.import_module("torch_xla.experimental") is importlib.import_module("torchere.experimental")
assert importlib.util.find_spec("torch_xla.experimental.none") is None
for name in ("torch_xla.amp.syncfree", "torch_xla.errors", "torch_xla.experimental.pjrt"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == name
        assert name != "torch_xla.amp.syncfree" or "torch.optim's optimizers read nothing back" in str(error)
    else:
        raise AssertionError(name)
print("done")
""",
    "random states on the CPU": """
import os, warnings
os.environ["TORCHERE_LAZY_FOLDER"] = "nowhere"
warnings.simplefilter("ignore")
import torch
import torch_xla.core.xla_model as xm
def drawn(between):
    torch.manual_seed(7)
    numbers = []
    for _ in range(3):
        numbers += torch.rand(2).tolist()
        between()
    return numbers
def forked():
    with xm.fork_rng():
        torch.rand(5)
plain = drawn(lambda: None)
assert drawn(forked) == plain and len(set(plain)) == 6
torch.manual_seed(-3)
assert xm.get_rng_state() == 2**64 - 3
torch.rand(1)
state = xm.get_rng_state()
expected = torch.rand(4)
xm.set_rng_state(state)
assert torch.equal(torch.rand(4), expected)
xm.set_rng_state(5)
assert xm.get_rng_state() == 5
try:
    xm.set_rng_state(1 << 100000)
except RuntimeError as error:
    assert "[set_rng_state] got 99937 bits above the seed" in str(error), error
else:
    raise AssertionError
print("done")
""",
    "batches that are objects": """
import collections, dataclasses
import torch
import torch_xla.core.xla_model as xm
from torch_xla.distributed.parallel_loader import MpDeviceLoader
@dataclasses.dataclass
class Plain:
    x: torch.Tensor
    name: str = "one"
@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: torch.Tensor
class Nothing:
    def __init__(self):
        self.module, self.lines = torch.nn.Linear(1, 1), (line for line in ())
packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 1), torch.ones(2, 1)])
given = [Plain(torch.ones(2)), Frozen(torch.ones(2)), collections.UserDict(x=[torch.ones(2)]), packed]
plain, frozen, dictionary, sequence = MpDeviceLoader(given, "meta")
assert (type(plain), plain.x.is_meta, plain.name) == (Plain, True, "one") and not given[0].x.is_meta
assert type(frozen) is Frozen and frozen.x.is_meta
assert type(dictionary) is collections.UserDict and dictionary["x"][0].is_meta
assert sequence.data.is_meta and not sequence.batch_sizes.is_meta and not packed.data.is_meta
shared = Plain(torch.ones(2))
first, second = xm.send_cpu_data_to_device([{"a": shared}, {"a": shared}], "meta")
assert first["a"] is second["a"] is not shared
moved, = xm.send_cpu_data_to_device([{torch.ones(2)}], "meta")
assert type(moved) is set and moved.pop().is_meta
class Loop:
    def __init__(self, x):
        self.x, self.own = x, self
loop, = xm.send_cpu_data_to_device([Loop(torch.ones(2))], "meta")
assert loop.x.is_meta and loop.own is loop
there = Plain(torch.ones(2, device="meta"))
same, none = xm.send_cpu_data_to_device([there, {"none"}], "meta")
assert same is there and none == {"none"}
nothing = Nothing()
assert xm.send_cpu_data_to_device([nothing], "meta")[0] is nothing and not nothing.module.weight.is_meta
print("done")
""",
    "save": """
import torch
import torch_xla
from torch_xla.stablehlo import (
    StableHLOExportOptions, StableHLOGraphModule, exported_program_to_stablehlo, save_as_stablehlo,
    save_torch_model_as_stablehlo,
)
class ElementwiseAdd(torch.nn.Module):
    def forward(self, x, y):
        return x + y
model, inputs = ElementwiseAdd(), (torch.randn(1, 3), torch.randn(1, 3))
exported = torch.export.export(model, inputs)
options = StableHLOExportOptions()
options.override_tracing_arguments = inputs
options.save_weights = False
save_as_stablehlo(exported, "a", options)
torch_xla.save_as_stablehlo(exported, "b")
save_torch_model_as_stablehlo(model, inputs, "c", options)
torch_xla.save_torch_model_as_stablehlo(model, inputs, "d")
for name in "abcd":
    program = StableHLOGraphModule.load(name)
    assert len(program._bundle.state_dict) == 0
    assert torch.allclose(model(*inputs), program(*inputs).detach().cpu())
    assert torch.allclose(model(*inputs), program.evaluate("forward", inputs))
    assert "stablehlo.add" in program.get_stablehlo_text("forward") == program.get_stablehlo_text()
    assert program.get_stablehlo_bytecode("forward") == program.get_stablehlo_bytecode()
import os
assert not os.path.exists("a/data") or not os.listdir("a/data")
print("done")
""",
    "scalars": """
import re
import torch
from torch_xla.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo
class M(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aten.sub(torch.ops.aten.sub(x, 5), 1)
arg = (torch.randn(10, 10),)
exported = torch.export.export(M(), arg)
shlo = exported_program_to_stablehlo(exported)
shlo_text = shlo.get_stablehlo_text()
assert "stablehlo.constant dense<1.000000e+00>" in shlo_text
assert "stablehlo.constant dense<5.000000e+00>" in shlo_text
assert re.search(r"%arg.*tensor<f32>", shlo_text) is None
export_options = StableHLOExportOptions()
export_options.inline_all_constant = False
shlo = exported_program_to_stablehlo(exported, options=export_options)
assert torch.allclose(M()(*arg), shlo(*arg).cpu().to(torch.float32), atol=1e-5)
shlo_text = shlo.get_stablehlo_text()
assert "stablehlo.constant dense<1.000000e+00>" in shlo_text
assert re.search(r"%arg.*tensor<f32>", shlo_text) is not None
assert "stablehlo.constant dense<5.000000e+00>" not in shlo_text
export_options = StableHLOExportOptions()
export_options.export_weights = False
layer = torch.export.export(torch.nn.Linear(10, 10), arg)
assert exported_program_to_stablehlo(layer, options=export_options)._bundle.state_dict == {}
print("done")
""",
    "debug information": r"""
import re
import torch
import torch_xla
import torch_xla.experimental.xla_mlir_debuginfo
from torch_xla.experimental.xla_mlir_debuginfo import write_mlir_debuginfo
from torch_xla.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo
class SampleModel(torch.nn.Module):
    def forward(self, x, y):
        x = x + y
        x = torch.ops.xla.write_mlir_debuginfo(x, "MY_ADD")
        x = x - y
        x = write_mlir_debuginfo(x, "MY_SUB")
        return x
exported = torch.export.export(SampleModel(), (torch.rand(10), torch.rand(10)))
mlir_text = exported_program_to_stablehlo(exported).get_stablehlo_text()
assert re.search(r'stablehlo.add.+\"MY_ADD\"', mlir_text)
assert re.search(r'stablehlo.sub.+\"MY_SUB\"', mlir_text)
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(in_features=4, out_features=16, bias=True)
        self.fc2 = torch.nn.Linear(in_features=16, out_features=10, bias=True)
    def forward(self, x):
        x = self.fc1(x)
        x = self.fc2(x)
        return torch.relu(x)
ep = torch.export.export(M(), (torch.rand(2, 4),))
export_options = StableHLOExportOptions()
export_options.export_node_metadata = True
shlo_text = exported_program_to_stablehlo(ep, options=export_options).get_stablehlo_text()
for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn"):
    assert key in shlo_text, key
print("done")
""",
    "quantized": """
import torch
import torch_xla.experimental.quantized
from torch_xla import stablehlo
class M(torch.nn.Module):
    def forward(self, x):
        x = torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.4, 2, -128, 127, torch.int8)
        return torch.ops.quantized_decomposed.dequantize_per_tensor(x, 0.4, 2, -128, 127, torch.int8)
x = torch.randn(2, 3, 4, 5)
program = stablehlo.exported_program_to_stablehlo(torch.export.export(M(), (x,)))
text = program.get_stablehlo_text()
assert text.count("tensor<2x3x4x5x!quant.uniform<i8:f32, 4.000000e-01:2>>") == 2
assert text.count("stablehlo.uniform_quantize") == text.count("stablehlo.uniform_dequantize") == 1
assert torch.allclose(program(x), M()(x))
print("done")
""",
    "bundles": """
import copy, json, pickle
import numpy as np
import torch
from torch_xla import stablehlo
from torch_xla.stablehlo import (
    InputLocation, StableHLOFunc, StableHLOFunctionMeta, StableHLOGraphModule, StableHLOJSONSerializer,
    StableHLOModelBundle, VariableSignature, VariableType, stablehlo_obj_hook,
)
exported = torch.export.export(torch.nn.Linear(3, 2), (torch.ones(1, 3),))
program = stablehlo.exported_program_to_stablehlo(exported)
bundle = copy.deepcopy(program._bundle)
for func in bundle.stablehlo_funcs:
    text = json.dumps(func.meta, cls=StableHLOJSONSerializer)
    meta = json.loads(text, object_hook=stablehlo_obj_hook)
    assert isinstance(meta, StableHLOFunctionMeta) and meta.name == "forward"
    assert isinstance(meta.input_signature[0], VariableSignature)
    assert isinstance(meta.input_locations[0], InputLocation)
    assert meta.input_locations[0].type_ is VariableType.PARAMETER
assert InputLocation.parameter(name="weight") in meta.input_locations
assert InputLocation.input_arg(position=0) in meta.input_locations
assert InputLocation.constant(position=0).type_ == VariableType.CONSTANT
again = StableHLOModelBundle(
    state_dict={name: np.zeros_like(value) for name, value in bundle.state_dict.items()},
    additional_constants=bundle.additional_constants,
    stablehlo_funcs=[StableHLOFunc(meta, func.bytecode, func.text)],
)
made = StableHLOGraphModule(pickle.loads(pickle.dumps(again)))
made.save("made")
for each in (made, StableHLOGraphModule.load("made")):
    result = each(torch.ones(1, 3))
    assert torch.equal(result, torch.zeros(1, 2)), result
print("done")
""",
    "composites": """
import torch
import torch.nn.functional as F
from torch_xla import stablehlo
from torch_xla.experimental import xla_marker
from torch_xla.experimental.mark_pattern_utils import StableHLOCompositeBuilder
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = torch.nn.Linear(128, 128, bias=False)
        self.b = StableHLOCompositeBuilder("test.sdpa", {"scale": 0.25, "other_attr": "val"})
    def forward(self, x):
        q = self.q_proj(x)
        q = self.b.mark_inputs(q)
        attn_out = F.scaled_dot_product_attention(q, q, q, scale=0.25)
        attn_out = self.b.mark_outputs(attn_out)
        return attn_out + x
exported = torch.export.export(M(), (torch.randn((10, 8, 128)),))
text = stablehlo.exported_program_to_stablehlo(exported).get_stablehlo_text()
assert 'stablehlo.composite "test.sdpa"' in text and "@test.sdpa.impl" in text
print("done")
""",
    "marks": """
import json
import torch
from torch_xla import stablehlo
from torch_xla.experimental import xla_marker
attr = {"scale": 2, "kind": "twice"}
xla_marker.assert_valid_composite_attr(attr)
text = xla_marker.serialize_composite_attr(attr)
assert xla_marker.deserialize_composite_attr(text) == attr
class M(torch.nn.Module):
    def forward(self, x):
        x = torch.ops.xla.mark_tensor(x, "test.twice", 0, "id", True, text)
        return torch.ops.xla.mark_tensor(2 * x, "test.twice", 0, "id", False, text)
exported = torch.export.export(M(), (torch.randn(3),))
text = stablehlo.exported_program_to_stablehlo(exported).get_stablehlo_text()
assert 'composite_attributes = {kind = "twice", scale = 2 : i64}' in text, text
assert torch.equal(xla_marker.mark_tensor(torch.ones(3), "test.twice", 0, "id", True, text), torch.ones(3))
data = xla_marker.BoundaryMetadata(name="test.twice", pos=0, id="id", is_input=True, attr=attr)
assert json.loads(json.dumps(data, cls=xla_marker.BoundaryMetadataSerializer))["attr"] == attr
print("done")
""",
    "custom calls": """
import torch
from torch_xla.experimental.stablehlo_custom_call import (
    extract_custom_call_outputs_shape_dtype, place_to_device, place_to_host, stablehlo_custom_call,
)
from torch_xla.stablehlo import exported_program_to_stablehlo
class M(torch.nn.Module):
    def forward(self, x):
        y = stablehlo_custom_call((x,), "my_target", [x.shape], [x.dtype], backend_config="config")
        return place_to_device(place_to_host(y) + 1)
exported = torch.export.export(M(), (torch.ones(3),))
text = exported_program_to_stablehlo(exported).get_stablehlo_text()
assert "stablehlo.custom_call @my_target(%arg0)" in text, text
assert text.count("@annotate_device_placement") == 2, text
node = next(node for node in exported.graph.nodes if "custom_call" in str(node.target))
shapes, dtypes = extract_custom_call_outputs_shape_dtype(node)
assert [tuple(shape) for shape in shapes] == [(3,)] and list(dtypes) == [torch.float32], (shapes, dtypes)
print("done")
""",
    "SavedModels": """
import os, sys
import torch
from torch_xla.stablehlo import exported_program_to_stablehlo
from torch_xla.tf_saved_model_integration import (
    make_tf_function, save_stablehlo_graph_as_tf, save_torch_module_as_tf_saved_model,
)
from torch_xla.utils.stablehlo_test_utils import (
    compare_exported_program_and_saved_model_result, has_tf_package, load_save_model_and_inference,
    wrap_func_as_nn_module,
)
model, args = wrap_func_as_nn_module(lambda x, y: (x + y, x * y)), (torch.ones(2, 3), torch.rand(2, 3))
exported = torch.export.export(model, args)
save_torch_module_as_tf_saved_model(model, args, "module")
save_stablehlo_graph_as_tf(exported_program_to_stablehlo(exported), "graph", serving_key="serving_default")
assert "tensorflow" not in sys.modules
assert callable(make_tf_function)
for path in ("module", "graph"):
    assert os.path.exists(os.path.join(path, "saved_model.pb"))
    if has_tf_package():
        torch_results, tf_results = compare_exported_program_and_saved_model_result(exported, path, args)
        assert len(torch_results) == len(tf_results) == len(load_save_model_and_inference(path, args)) == 2
print("done")
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_for_pytorch_xla_runs(name, tmp_path):
    source = f"import torchere.torch_xla_compat\n{SCRIPTS[name]}"
    result = run_python("-c", source, cwd=tmp_path)
    assert result.stdout.strip() == "done", result.stderr


SPAWNING = """
import sys
import torch
import torch_xla.core.xla_model as xm
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(float(index))

if __name__ == "__main__":
    loader = DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context=sys.argv[1])
    print([batch.tolist() for batch in loader])
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_program_that_stays_as_it_is_starts_processes(method, tmp_path):
    (tmp_path / "program.py").write_text(SPAWNING)
    command = [sys.executable, "-W", "ignore", "-m", "torchere.torch_xla_compat", "program.py", method]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout.strip() == "[[0.0, 1.0], [2.0, 3.0]]", result.stderr


def names_of(module: str) -> set[str]:
    """The public functions and classes that a module of ours defines or lists."""
    spec = importlib.util.find_spec(f"torchere.{module}")
    tree = ast.parse(Path(spec.origin).read_text())
    listed = {
        element.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        for element in node.value.elts
    }
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return listed or {name for name in defined if not name.startswith("_")}


# The names of the device are tested where it is built.
DEVICE_TESTS = Path(__file__).parent.parent / "lazy" / "torch_xla_names_test.py"


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_used_in_a_script(module):
    texts = [*SCRIPTS.values(), DEVICE_TESTS.read_text()]
    unused = [name for name in sorted(names_of(module)) if not any(name in text for text in texts)]
    assert unused == []
