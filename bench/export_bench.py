"""Export time: what is added to torch.export's own, step by step for ResNet-50, over the model families
beside torch's run_decompositions, and over the number of layers.

    export_bench.py [resnet50] [families] [layers]      all of them where none is named
"""

import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "models"))
import torchvision_schemas  # noqa: F401  before torchvision

# isort: split
import torchvision

import torchere

OURS = ("walk", "expand", "functionalize", "run_decompositions", "lower", "verify")
REPEATS = 5
LAYERS = (512, 1024, 2048, 4096)


def timed(exported: torch.export.ExportedProgram) -> dict[str, float]:
    """The timings of an export in seconds, with the sum of our steps as "ours"."""
    timings = dict(torchere.export(exported).timings)
    timings["ours"] = sum(timings.get(step, 0.0) for step in OURS)
    return timings


def measure(repeats: int = REPEATS) -> list[dict[str, float]]:
    """The timings of `repeats` exports of ResNet-50."""
    model = torchvision.models.resnet50().eval()
    exported = torch.export.export(model, (torch.randn(1, 3, 224, 224),))
    return [timed(exported) for _ in range(repeats)]


def print_resnet50() -> None:
    runs = measure()
    print("ResNet-50, ms           best   median")
    for step in runs[0]:
        times = [run[step] * 1e3 for run in runs]
        print(f"{step:<20} {min(times):7.1f}  {statistics.median(times):7.1f}")


def compare(model: torch.nn.Module, args: tuple, dynamic_shapes: tuple | None = None) -> dict[str, float]:
    """Seconds of torch.export, of our steps, and of torch's run_decompositions with its default table."""
    begin = time.perf_counter()
    exported = torch.export.export(model.eval(), args, dynamic_shapes=dynamic_shapes)
    seconds = {"torch.export": time.perf_counter() - begin, "ours": timed(exported)["ours"]}
    begin = time.perf_counter()
    exported.run_decompositions()
    seconds["run_decompositions"] = time.perf_counter() - begin
    return seconds


def print_families() -> None:
    from families import TORCHVISION, TRANSFORMERS

    rows = []
    for family in TORCHVISION + TRANSFORMERS:
        torch.manual_seed(0)
        row = compare(family.make(), family.inputs(*family.exported_with), (*family.shapes,))
        rows.append(row)
        print(f"{family!s:<32}" + "".join(f"{step:>20} {row[step]:6.2f}" for step in row), flush=True)
    print(f"{len(rows)} families, s{'':>16}median   95th percentile")
    for step in rows[0]:
        times = [row[step] for row in rows]
        print(f"{step:<24} {statistics.median(times):10.2f} {statistics.quantiles(times, n=20)[-1]:17.2f}")


def print_layers() -> None:
    """Linear and ReLU, one after the other: the time of a layer must not depend on their number."""
    for count in LAYERS:
        layers = [layer for _ in range(count) for layer in (torch.nn.Linear(16, 16), torch.nn.ReLU())]
        begin = time.perf_counter()
        exported = torch.export.export(torch.nn.Sequential(*layers), (torch.randn(2, 16),))
        seconds = time.perf_counter() - begin
        ours = timed(exported)["ours"]
        print(f"{count:5} layers: torch.export {seconds:6.2f} s, ours {ours:6.2f} s")


PARTS = {"resnet50": print_resnet50, "families": print_families, "layers": print_layers}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
