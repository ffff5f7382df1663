"""The plugin, its devices, and what is said where one is missing."""

import os
import subprocess
import sys

import pytest
import torch

from torchere import lazy

CHOICES = ("PJRT_DEVICE", "TORCHERE_PLUGIN", "TORCHERE_PLUGIN_OPTIONS", "CPU_NUM_DEVICES")


def run(code: str, **variables: str) -> str:
    """What a program prints that begins with importing the device."""
    environment = {name: value for name, value in os.environ.items() if name not in CHOICES}
    result = subprocess.run(
        [sys.executable, "-c", f"import torch, torchere.lazy as lazy\n{code}"],
        env=environment | variables,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return result.stdout


SEVERAL = """
assert torch.xla.is_available() and torch.xla.device_count() == 3
assert torch.xla.current_device() == 0 and torch.zeros(2, device="xla").device == torch.device("xla:0")
a, b = torch.arange(3.0).to("xla:0"), torch.arange(3.0).to("xla:2")
assert (a + 1).device.index == 0 and (b + 1).device.index == 2
assert (b * 2).tolist() == [0.0, 2.0, 4.0]
# copies
moved = (b + 1).to("xla:1")
assert moved.device.index == 1 and moved.tolist() == [1.0, 2.0, 3.0]
assert a.to("xla:2", torch.int64).tolist() == [0, 1, 2]
a.copy_(b * 3)
assert a.device.index == 0 and a.tolist() == [0.0, 3.0, 6.0]
target = torch.zeros(2, 3, device="xla:1")
target[0].copy_(b)
assert target.tolist() == [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]
a.data = b.data.to("xla:0")
# gradients across devices
w = torch.ones(3, device="xla:1", requires_grad=True)
(w.to("xla:0") * a).sum().backward()
assert w.grad.device.index == 1 and w.grad.tolist() == [0.0, 1.0, 2.0]
# the current device
torch.xla.set_device(1)
assert torch.xla.current_device() == 1 and torch.ones(2, device="xla").device.index == 1
assert torch.ones(2).to("xla").device.index == 1 and torch.arange(3, device="xla").device.index == 1
pending = b.to("xla:1") + 1
assert lazy.device().index == 1 and lazy.statistics()["pending_ops"] == lazy.statistics(1)["pending_ops"] > 0
lazy.sync()
assert lazy.statistics()["pending_ops"] == 0 and pending.tolist() == [1.0, 2.0, 3.0]
with torch.xla.device(2):
    assert torch.ones(2, device="xla").device.index == 2
assert torch.xla.current_device() == 1
torch.xla.synchronize(), torch.xla.synchronize("xla:2")
assert torch.xla.get_device_name(2) == "CPU:2"
model = torch.nn.Linear(3, 2).to("xla:2")
assert model(b).device.index == 2
# errors, at their lines
def error(work):
    try:
        work()
    except (RuntimeError, IndexError) as e:
        print(str(e).splitlines()[0])
    else:
        print("no error")
error(lambda: a + b)
error(lambda: torch.cat([a, b]))
error(lambda: torch.sort(torch.stack([a, a]).sum(0))[0] + b)
error(lambda: torch.searchsorted(a, b))
error(lambda: model(a))
error(lambda: torch.zeros(2, device="xla:3"))
error(lambda: torch.ones(2).to("xla:3"))
error(lambda: a.to("xla:7"))
error(lambda: torch.xla.set_device(5))
error(lambda: torch.xla.get_device_name(5))
"""
NO_DEVICE = "[xla:{0}] no such device: got index {0}, expected less than 3"


@pytest.mark.parametrize(
    "variables",
    [
        {"TORCHERE_PLUGIN_OPTIONS": "device_count=3"},
        {"CPU_NUM_DEVICES": "3"},
        {"PJRT_DEVICE": "CPU", "CPU_NUM_DEVICES": "3"},
    ],
    ids=["options", "the engine's number", "PyTorch/XLA's variables"],
)
def test_several_devices_of_one_plugin(variables):
    two = "tensors on two devices: got xla:{}, expected xla:{}"
    assert run(SEVERAL, **variables).splitlines() == [
        f"[aten.add.Tensor] {two.format(2, 0)}",
        f"[aten.cat.default] {two.format(2, 0)}",
        f"[aten.add.Tensor] {two.format(2, 0)}",
        f"[aten.searchsorted.Tensor] {two.format(2, 0)}",
        f"[aten.mm.default] {two.format(2, 0)}",
        *[NO_DEVICE.format(index) for index in (3, 3, 7, 5, 5)],
    ]


NAME = "x = torch.ones(2).to('xla') + 1; print(torch.xla.get_device_name(), x.tolist())"


def test_the_environment_chooses_the_plugin():
    assert run(NAME) == "CPU:0 [2.0, 2.0]\n"
    assert run(NAME, PJRT_DEVICE="CPU") == "CPU:0 [2.0, 2.0]\n"
    assert run(NAME, PJRT_DEVICE="interpreter") == "INTERPRETER:0 [2.0, 2.0]\n"
    assert run(NAME, PJRT_DEVICE="tpu", TORCHERE_PLUGIN="interpreter") == "INTERPRETER:0 [2.0, 2.0]\n"


def test_the_environment_is_read_at_the_first_use():
    assert "INTERPRETER" in run(f"import os; os.environ['PJRT_DEVICE'] = 'interpreter'; {NAME}")


def test_plugins_of_installed_packages_are_found(tmp_path):
    """As JAX finds them: a package in the namespace jax_plugins."""
    from torchere import plugins

    package = tmp_path / "jax_plugins" / "vendor"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "pjrt_vendor.so").symlink_to(plugins.find("interpreter").path)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert "INTERPRETER" in run(NAME, PJRT_DEVICE="vendor", PYTHONPATH=path)


MISSING = """
def error(work):
    try:
        work()
    except RuntimeError as e:
        print(str(e).splitlines()[0])
error(lambda: torch.ones(2).to("xla"))
error(lambda: torch.xla.device_count())
error(lambda: torch.zeros(2, device="xla:1"))
error(lambda: (torch.zeros(2, device="xla") + 1).cpu())
print(torch.xla.is_available())
"""


def test_a_missing_plugin_is_an_error_that_says_what_there_is():
    lines = run(MISSING, PJRT_DEVICE="tpu").splitlines()
    assert lines[-1] == "False" and len(lines) == 5
    for line in lines[:4]:
        assert line.startswith("[tpu] no such PJRT plugin: known are ")
        assert line.endswith("; name one by its path, or in PJRT_NAMES_AND_LIBRARY_PATHS")


def test_options_that_cannot_be_read_are_an_error():
    code = """
try:
    torch.ones(2).to("xla")
except RuntimeError as error:
    print(str(error).splitlines()[0])
"""
    assert run(code, TORCHERE_PLUGIN_OPTIONS="device_count") == (
        "[TORCHERE_PLUGIN_OPTIONS] malformed entry: got 'device_count', expected 'name=value'\n"
    )


FORK = """
import os
{before}
child = os.fork()
if child == 0:
    try:
        print((torch.ones(2).to("xla") + 1).tolist(), torch.xla._is_in_bad_fork(), flush=True)
    except RuntimeError as error:
        print(str(error).split(":")[0], torch.xla._is_in_bad_fork(), flush=True)
    torch.manual_seed(0)
    x = torch.ones(2) + 1
    os._exit(int(x.sum().item()))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), torch.ones(2).to("xla").tolist())
"""


def test_a_fork_after_the_device_was_used_is_an_error_there():
    used = run(FORK.format(before="x = torch.ones(2).to('xla') * 2; x.cpu()"))
    assert used.splitlines() == [
        "[torchere_cpu] made before fork() and unusable after it, because a fork has not the plugin's "
        "threads True",
        "4 [1.0, 1.0]",
    ]
    assert run(FORK.format(before="")).splitlines() == ["[2.0, 2.0] False", "4 [1.0, 1.0]"]


def test_a_cpu_tensor_beside_one_of_the_device_is_an_error():
    with pytest.raises(RuntimeError, match=r"tensors on two devices: got cpu, expected xla"):
        torch.ones(2, device="xla") * torch.ones(2)


def test_the_device_module():
    assert torch.get_device_module("xla") is torch.xla
    assert torch.xla.is_available() and torch.xla.device_count() >= 1
    x = torch.ones(2).to("xla") + 1
    torch.xla.synchronize()
    assert torch.xla.is_initialized()
    assert lazy.counters()["xla::add"] == 1 and "DeviceToHost" not in lazy.counters()
    assert x.tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match=r"\[torch.xla\] not one of its devices: got cpu, expected xla"):
        torch.xla.synchronize("cpu")
    torch.xla.manual_seed(3), torch.xla.manual_seed_all(3)
    torch.xla.set_rng_state(torch.xla.get_rng_state())
