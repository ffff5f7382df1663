"""Export time of ResNet-50, step by step: the walk over the graph, lowering, verifying. Best and median of 5.

What torch does (export, decompose) is printed beside it for scale.
"""

import statistics
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import torchvision_schemas  # noqa: F401  before torchvision

# isort: split
import torchvision

import torchere

OURS = ("walk", "lower", "verify")
REPEATS = 5


def measure(repeats: int = REPEATS) -> list[dict[str, float]]:
    """The timings of `repeats` exports in seconds, each with the sum of our steps as "ours"."""
    model = torchvision.models.resnet50().eval()
    x = torch.randn(1, 3, 224, 224)
    exported = torch.export.export(model, (x,))
    runs = []
    for _ in range(repeats):
        timings = dict(torchere.export(exported).timings)
        timings["ours"] = sum(timings[step] for step in OURS)
        runs.append(timings)
    return runs


def main() -> None:
    runs = measure()
    print("ResNet-50, ms           best   median")
    for step in runs[0]:
        times = [run[step] * 1e3 for run in runs]
        label = f"{'+'.join(OURS)}" if step == "ours" else step
        print(f"{label:<20} {min(times):7.1f}  {statistics.median(times):7.1f}")


if __name__ == "__main__":
    main()
