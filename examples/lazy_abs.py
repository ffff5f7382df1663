"""The lazy device at work on one op: what is generated for abs, what it traces, its value, the counters."""

from __future__ import annotations

import re

import torch

import torchere.torch_xla_compat  # noqa: F401 - torch_xla's names

# isort: split
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met

from torchere.lazy.extension import library_path


def generated_kernel(name: str) -> str:
    """The function that the build has generated for an op of src/lazy/ops.yaml."""
    for path in sorted((library_path().parent / "generated" / "lazy").glob("kernels_*.cpp")):
        if found := re.search(rf"^at::Tensor {name}\(.*?^}}$", path.read_text(), re.DOTALL | re.MULTILINE):
            return found[0]
    raise SystemExit(f"no kernel was generated for {name}: expected one in {library_path().parent}")


def main() -> None:
    print("== what is generated for abs")
    print(generated_kernel("abs"))

    device = torch_xla.device()
    x = torch.tensor([-2.0, -0.5, 0.0, 3.0])
    met.clear_all()
    y = torch.abs(x.to(device))
    print(f"\n== torch.abs(x) on {device} is traced: its StableHLO")
    print(xm.get_stablehlo([y]))

    print("== its value, which is compiled and computed now")
    print(y.cpu())
    if not torch.equal(y.cpu(), x.abs()):
        raise SystemExit(f"got {y.cpu()}, expected {x.abs()}")

    print("\n== the counters")
    for name in met.counter_names():
        print(f"{name}: {met.counter_value(name)}")
    print(f"computed on the CPU instead: {', '.join(met.executed_fallback_ops()) or 'nothing'}")


if __name__ == "__main__":
    main()
