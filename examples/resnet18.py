"""ResNet-18 from PyTorch to StableHLO and back: export, run, compare, save, load in a new process, run."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torchvision_schemas  # noqa: F401  before torchvision, whose extension may not load beside this torch

# isort: split
import torchvision

import torchere

TOLERANCE = 1e-5
HEAD_LINES = 12


def largest_difference(got: torch.Tensor, expected: torch.Tensor) -> float:
    return (torch.as_tensor(got) - expected).abs().max().item()


def report(what: str, got: torch.Tensor, expected: torch.Tensor) -> bool:
    difference = largest_difference(got, expected)
    close = torch.allclose(torch.as_tensor(got), expected, atol=TOLERANCE)
    print(f"{what}: largest difference from eager {difference:.2e}, allclose(atol={TOLERANCE:g}) is {close}")
    return close


def run_in_new_process(directory: Path, x: torch.Tensor, scratch: Path) -> torch.Tensor:
    """Loads the saved program where the model was never imported, and runs it on x."""
    import numpy as np

    np.save(scratch / "x.npy", x.numpy())
    script = Path(__file__).with_name("load_and_run.py")
    arguments = [script, directory, scratch / "x.npy", scratch / "y.npy"]
    subprocess.run([sys.executable, *map(str, arguments)], check=True)
    return torch.from_numpy(np.load(scratch / "y.npy"))


def main() -> int:
    torch.manual_seed(0)
    model = torchvision.models.resnet18().eval()
    x = torch.randn(4, 3, 224, 224)
    with torch.no_grad():
        expected = model(x)

    begin = time.perf_counter()
    program = torchere.export(model, (x,))
    print(f"exported ResNet-18 in {time.perf_counter() - begin:.2f} s; its StableHLO begins:\n")
    text = program.get_stablehlo_text()
    for line in text.splitlines()[:HEAD_LINES]:
        print("  " + (line if len(line) <= 110 else line[:107] + "..."))
    print(f"  ... {len(text.splitlines()) - HEAD_LINES} more lines\n")

    close = report("run in this process", program(x), expected)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "resnet18"
        program.save(directory)
        files = [path for path in directory.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        print(f"saved {len(files)} files, {size / 2**20:.1f} MiB")
        close &= report("run in a new process", run_in_new_process(directory, x, Path(scratch)), expected)
    return 0 if close else 1


if __name__ == "__main__":
    sys.exit(main())
