"""What is added to torch.export's own time: over the model families, beside torch's run_decompositions and
its ONNX exporter, over the number of layers, and for a Llama of 405 billion parameters that are fake.

    export_scale_bench.py [families] [layers] [llama]      all where none is named

Seconds are of the process's CPU time: what is measured runs in one thread, and other programs do not count.
"""

import importlib.util
import logging
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "models"))
import torchvision_schemas  # noqa: F401  before torchvision

# isort: split
import torchere

OURS = ("walk", "expand", "functionalize", "run_decompositions", "lower", "verify")
LAYERS = (512, 1024, 2048, 4096)
SHOWN = 10  # of the families, those to which most is added
# Llama 3.1 405B.
LLAMA = {
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_hidden_layers": 126,
    "num_attention_heads": 128,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
}


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    result = call()
    return result, time.process_time() - begin


def ours(exported: torch.export.ExportedProgram) -> tuple[float, str]:
    """The seconds of all that we do, and what most of them went to: the steps, and ops that were expanded."""
    program, seconds = timed(lambda: torchere.export(exported))
    steps = {step: program.timings.get(step, 0.0) for step in OURS if step != "expand"}
    most = sorted((steps | program.expanded).items(), key=lambda item: -item[1])[:3]
    return seconds, ", ".join(f"{name} {1000 * spent:.0f} ms" for name, spent in most)


def to_onnx(exported: torch.export.ExportedProgram) -> float:
    """Seconds of torch's ONNX exporter; NaN where it fails."""
    try:
        return timed(lambda: torch.onnx.export(exported, dynamo=True, verbose=False))[1]
    except Exception:  # it raises whatever its passes do
        return float("nan")


def compare(family: Any) -> tuple[dict[str, float], str]:
    """Seconds of torch.export, of our steps, and of torch's ways on from there."""
    model, args = family.make().eval(), family.inputs(*family.exported_with)
    shapes = (*family.shapes,)
    exported, seconds = timed(lambda: torch.export.export(model, args, dynamic_shapes=shapes))
    row = {"torch.export": seconds}
    row["ours"], most = ours(exported)
    row["run_decompositions"] = timed(exported.run_decompositions)[1]
    if importlib.util.find_spec("onnxscript"):
        row["torch.onnx"] = to_onnx(exported)
    return row, most


def percentile95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def print_families() -> None:
    from families import TORCHVISION, TRANSFORMERS

    logging.disable(logging.WARNING)  # of torch, about sizes that it cannot solve for
    ours(torch.export.export(torch.nn.ReLU(), (torch.ones(1),)))  # tables that are made once
    rows = {}
    for family in TORCHVISION + TRANSFORMERS:
        torch.manual_seed(0)
        rows[str(family)] = row, most = compare(family)
        times = "".join(f"{step:>20} {seconds:7.3f}" for step, seconds in row.items())
        print(f"{family!s:<36}{times}   {most}", flush=True)
    print(f"{len(rows)} families, s{'':>16}median   95th percentile")
    for step in row:
        times = [row[step] for row, _ in rows.values() if row[step] == row[step]]
        print(f"{step:<24} {statistics.median(times):10.3f} {percentile95(times):17.3f}")
    added = {name: 100 * row["ours"] / row["torch.export"] for name, (row, _) in rows.items()}
    shares = list(added.values())
    print(f"ours, % of torch.export {statistics.median(shares):11.1f} {percentile95(shares):17.1f}")
    for name in sorted(added, key=lambda name: -added[name])[:SHOWN]:
        print(f"  {name:<36} {added[name]:5.1f}%   {rows[name][1]}")


def print_layers() -> None:
    """Linear and ReLU, one after the other: the time of a layer must not depend on their number."""
    for count in LAYERS:
        layers = [layer for _ in range(count) for layer in (torch.nn.Linear(16, 16), torch.nn.ReLU())]
        model = torch.nn.Sequential(*layers)
        exported, seconds = timed(lambda model=model: torch.export.export(model, (torch.randn(2, 16),)))
        print(f"{count:5} layers: torch.export {seconds:6.2f} s, ours {ours(exported)[0]:6.2f} s", flush=True)


class Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids, use_cache=False).logits


def print_llama() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from transformers import LlamaConfig, LlamaForCausalLM

    with FakeTensorMode(allow_non_fake_inputs=True):
        model = Logits(LlamaForCausalLM(LlamaConfig(**LLAMA)).eval())
    parameters = sum(parameter.numel() for parameter in model.parameters())
    ids, shapes = torch.ones(1, 16, dtype=torch.int64), ({1: torch.export.Dim("length", min=2, max=4096)},)
    exported, seconds = timed(lambda: torch.export.export(model, (ids,), dynamic_shapes=shapes))
    added, most = ours(exported)
    print(
        f"Llama, {LLAMA['num_hidden_layers']} layers, {parameters / 1e9:.0f} billion fake parameters, ",
        end="",
    )
    print(f"{len(exported.graph.nodes)} nodes: torch.export {seconds:.2f} s, ours {added:.2f} s ({most})")


PARTS = {"families": print_families, "layers": print_layers, "llama": print_llama}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
