"""Memory that exporting a model takes, beside the size of its weights: an MLP of 2 GB."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

import torchere

WIDTH = 8192
LAYERS = 8


@dataclass
class Growth:
    """Bytes: of the weights, and by how much the peak of the resident set rose while exporting."""

    weights: int
    export: int

    @property
    def ratio(self) -> float:
        return self.export / self.weights


def status(field: str) -> int:
    """A field of /proc/self/status in bytes: VmRSS is what is resident, VmHWM its peak."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def mlp(width: int, layers: int) -> torch.nn.Module:
    """Linear layers whose every page is written, so that it is resident before the export."""
    with torch.device("meta"):
        model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(layers)))
    model = model.to_empty(device="cpu")
    with torch.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.fill_(1e-3 * index)
    return model.eval()


def measure(width: int = WIDTH, layers: int = LAYERS) -> Growth:
    torchere.export(mlp(8, 2), (torch.zeros(1, 8),))  # what is loaded once does not count
    model = mlp(width, layers)
    weights = sum(parameter.nbytes for parameter in model.parameters())
    x = torch.zeros(1, width)
    reset_peak()
    before = status("VmRSS")
    program = torchere.export(model, (x,))
    growth = Growth(weights, status("VmHWM") - before)
    assert "stablehlo.dot_general" in program.get_stablehlo_text()
    return growth


def main() -> int:
    growth = measure()
    print(f"weights              {growth.weights / 2**20:8.0f} MiB")
    print(f"export: peak growth  {growth.export / 2**20:8.1f} MiB  {growth.ratio:.3f} x the weights")
    return 0


if __name__ == "__main__":
    sys.exit(main())
