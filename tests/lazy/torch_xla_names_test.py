"""torch_xla's names for the device, used as scripts for PyTorch/XLA use them."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch

import torchere
import torchere.core.xla_model as xm
import torchere.debug.metrics as met
import torchere.runtime as xr
from torchere import lazy


def script(source: str, tmp_path, **variables: str) -> str:
    """What a program that imports torch_xla prints; it is run unchanged."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(source))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-m", "torchere.torch_xla_compat", str(path)],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return result.stdout


TRAINING = """
    import torch
    import torch.nn as nn
    import torch_xla
    import torch_xla.core.xla_model as xm
    import torch_xla.debug.metrics as met
    import torch_xla.distributed.parallel_loader as pl
    import torch_xla.runtime as xr

    device = torch_xla.device()
    assert device == xm.xla_device() == xr.xla_device() == torch.device("xla:0"), device
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = [(torch.randn(3, 4), torch.tensor([0, 1, 1])) for _ in range(4)]
    closures = []

    def train(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        xm.optimizer_step(optimizer)
        return loss

    loader = pl.MpDeviceLoader(data, device)
    assert len(loader) == 4
    for x, y in loader:
        assert x.device == y.device == device
        loss = train(x, y)
        xm.add_step_closure(lambda value: closures.append(value.item()), args=(loss,))
    step = torch_xla.compile(train, full_graph=True)
    for x, y in data:
        closures.append(step(x.to(device), y.to(device)).item())
    for x, y in data:
        with torch_xla.step():
            loss = train(x.to(device), y.to(device))
        xm.mark_step()
        closures.append(loss.item())
    xm.wait_device_ops()

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    expected = [train(x, y).item() for _ in range(3) for x, y in data]
    assert len(closures) == 12
    assert torch.allclose(torch.tensor(closures), torch.tensor(expected), atol=1e-5), (closures, expected)
    assert met.executed_fallback_ops() == [], met.executed_fallback_ops()
    report = met.metrics_report()
    assert "Counter: xla::addmm" in report and "UncachedCompile" in report, report
    xm.master_print("done", xm.xla_device_hw(device), xr.device_type())
"""


def test_a_training_script_runs_unchanged(tmp_path):
    assert script(TRAINING, tmp_path, PJRT_DEVICE="CPU") == "done CPU CPU\n"


NAMES = """
    import torch_xla
    import torchere, torchere.core.xla_model
    import torch_xla.core.xla_model as xm
    import torch_xla.runtime as xr
    import torch_xla.debug.metrics as met
    assert xm is torchere.core.xla_model and torch_xla.runtime is torchere.runtime
    assert torch_xla.sync is torchere.sync and torch_xla.debug.metrics is torchere.debug.metrics
    import torch
    torch.ones(2, device="xla")  # the import has made the device known
    def error(work):
        try:
            work()
        except (AttributeError, ImportError) as error:
            print(error)
    error(lambda: xm.all_to_all)
    error(lambda: torch_xla.nothing)
    error(lambda: xr.use_spmd())
    def missing():
        from torch_xla.core.xla_model import reduce_scatter
    error(missing)
    def module():
        import torch_xla.distributed.fsdp.wrap
    error(module)
    def unknown():
        import torch_xla.unknown
    error(unknown)
"""


def test_a_name_that_is_missing_is_named(tmp_path):
    lines = script(NAMES, tmp_path).splitlines()
    tail = "docs/torch_xla.md has those that it has"
    no_name = "torchere has no such name of PyTorch/XLA's"
    assert lines[:3] == [
        f"[torch_xla.core.xla_model.all_to_all] {no_name}: it is for several processes or replicas; {tail}",
        f"[torch_xla.nothing] {no_name}: {tail}",
        f"[torch_xla.runtime.use_spmd] {no_name}: it is for tensors that are sharded over devices; {tail}",
    ]
    assert lines[3].startswith("cannot import name 'reduce_scatter' from 'torchere.core.xla_model'")
    assert lines[4] == (
        "[torch_xla.distributed.fsdp] torchere has no such module of PyTorch/XLA's: it is for tensors that "
        f"are sharded over devices; {tail}"
    )
    assert lines[5] == "No module named 'torch_xla.unknown'"


GUIDE = """
    from torch.export import export
    from torch_xla.stablehlo import StableHLOGraphModule, exported_program_to_stablehlo
    import torch_xla.core.xla_model as xm
    import torch

    xla_device = xm.xla_device()
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
    sample_input = (torch.randn(2, 3, 8, 8), )
    output = model(*sample_input)
    exported = export(model, sample_input)
    stablehlo_program = exported_program_to_stablehlo(exported)
    assert "stablehlo.convolution" in stablehlo_program.get_stablehlo_text("forward")
    sample_input_xla = tuple(s.to(xla_device) for s in sample_input)
    output2 = stablehlo_program(*sample_input_xla)
    print(output2.device, torch.allclose(output, output2.cpu(), atol=1e-5))
    stablehlo_program.save("stablehlo_dir")
    output3 = StableHLOGraphModule.load("stablehlo_dir")(*sample_input_xla)
    print(output3.device, torch.allclose(output, output3.cpu(), atol=1e-5))
"""


def test_the_guides_example_runs_on_the_device(tmp_path):
    assert script(GUIDE, tmp_path) == "xla:0 True\nxla:0 True\n"


def test_without_the_extension_the_device_is_the_cpu_and_says_so_once(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        textwrap.dedent(GUIDE)
        + "import torch_xla, torch_xla.debug.metrics as met\n"
        + "assert torch_xla.device() == torch_xla.device(0) == torch.device('cpu')\n"
        + "assert torch_xla.devices() == [torch.device('cpu')]\n"
        + "with torch_xla.step(): y = torch.ones(2, device=torch_xla.device()) + 1\n"
        + "torch_xla.sync(wait=True); xm.mark_step(); xm.wait_device_ops(); torch_xla.manual_seed(1)\n"
        + "print(torch_xla.compile(torch.sin)(y * 0).tolist(), [met.metrics_report()], met.counter_names())\n"
        + "print(torch_xla.device_count(), xm.get_xla_supported_devices(), xm.xla_device_hw('cpu'))\n"
    )
    result = subprocess.run(
        [sys.executable, "-m", "torchere.torch_xla_compat", str(path)],
        cwd=tmp_path,
        env={**os.environ, "TORCHERE_LAZY_FOLDER": str(tmp_path / "none")},
        capture_output=True,
        text=True,
    )
    assert result.stdout == "cpu True\ncpu True\n[0.0, 0.0] [''] []\n1 ['cpu'] CPU\n", result.stderr
    assert (
        result.stderr.count(
            "UserWarning: [torch_xla] torch_xla.device() is the CPU: [lazy] the extension is not"
        )
        == 1
    )
    assert "run: python -m torchere.lazy build" in result.stderr


SEVERAL = """
    import torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.runtime as xr
    assert torch_xla.devices() == [torch.device("xla:0"), torch.device("xla:1")]
    assert torch_xla.device_count() == xr.addressable_device_count() == xr.global_device_count() == 2
    assert torch_xla.real_devices() == xm.xla_real_devices() == ["CPU:0", "CPU:1"]
    assert xm.xla_real_devices(["xla:1"]) == ["CPU:1"]
    assert xm.get_xla_supported_devices() == ["xla:0", "xla:1"]
    assert xm.get_xla_supported_devices(max_devices=1) == ["xla:0"]
    assert xm.get_xla_supported_devices("CPU") and xm.get_xla_supported_devices("TPU") is None
    assert torch_xla.device() == torch.device("xla:0")
    assert torch_xla.device(1) == torch_xla.device() == torch.device("xla:1")
    assert torch.ones(1, device="xla").device == torch.device("xla:1")
    x = torch.ones(2).to(torch_xla.device(1)) + 1
    torch_xla.sync()
    assert x.tolist() == [2.0, 2.0]
    for work in (lambda: torch_xla.device(2), lambda: xm.xla_device(devkind="TPU"),
                 lambda: xm.xla_device_hw("xla:4"), lambda: torch_xla.launch(print)):
        try:
            work()
        except (IndexError, RuntimeError) as error:
            print(error)
    torch_xla.launch(print, ("launched",), debug_single_process=True)
"""


def test_several_devices(tmp_path):
    assert script(SEVERAL, tmp_path, PJRT_DEVICE="CPU", CPU_NUM_DEVICES="2").splitlines() == [
        "[torch_xla.device] no such device: got index 2, expected 0 to 1",
        "[xla_device] no such device: got TPU, expected CPU",
        "[xla_model] no such device: got xla:4, expected one of xla:0, xla:1",
        "[torch_xla.launch] a process for each device: got 2 devices, expected 1, "
        "or debug_single_process=True",
        "0 launched",
    ]


RUNTIME = """
    import os, torch, torch_xla, torch_xla.runtime as xr
    assert xr.using_pjrt() and xr.world_size() == 1 and xr.global_ordinal() == xr.local_ordinal() == 0
    assert xr.process_count() == xr.local_process_count() == 1 and xr.process_index() == xr.host_index() == 0
    assert not xr.is_spmd() and xr.device_type() == "CPU"
    xr.set_device_type("interpreter")
    assert xr.device_type() == "INTERPRETER"
    xr.set_device_type("CPU")
    os.environ["TORCHERE_CACHE"] = "1G"  # the tests' own processes have none
    xr.initialize_cache("cache")
    x = (torch.ones(3).to("xla") + 1).cpu()
    assert xr.is_bf16_supported()
    assert xr.local_device_count() == xr.addressable_runtime_device_count() == 1
    assert xr.global_runtime_device_count() == 1
    print(len(os.listdir("cache")) > 0)
    for work in (lambda: xr.set_device_type("TPU"), lambda: xr.initialize_cache("other"),
                 lambda: xr.initialize_cache("cache", readonly=True)):
        try:
            work()
        except RuntimeError as error:
            print(error)
"""


def test_the_runtime(tmp_path):
    assert script(RUNTIME, tmp_path, PJRT_DEVICE="CPU").splitlines() == [
        "True",
        "[set_device_type] the device was used already: got TPU, expected CPU",
        "[initialize_cache] the device was used already: expected the call before that",
        "[initialize_cache] a cache that is only read: got readonly=True, expected False",
    ]


def syncs() -> int:
    counters = lazy.counters()
    return counters.get("CachedCompile", 0) + counters.get("UncachedCompile", 0)


def test_compile_makes_one_step_of_a_function():
    before = torch.ones(2, device="xla") * 3
    calls = []

    @torchere.compile
    def step(x, *, scale):
        assert syncs() == len(calls) + 1, "what was pending is computed before"
        calls.append(x)
        return x.sin() * scale + x.cos()

    assert step.__name__ == "step"
    x = torch.ones(2).to("xla")
    result = step(x, scale=2)
    assert syncs() == 2
    lazy.reset_counters()
    assert not syncs() and result.tolist() == pytest.approx([2.2232443] * 2)
    assert not syncs() and before.tolist() == [3.0, 3.0]


def test_compile_is_a_decorator_with_arguments_and_a_context_manager_and_takes_modules():
    @torchere.compile(full_graph=True, name="twice")
    def twice(x):
        return x * 2

    x = torch.ones(2).to("xla")
    assert twice(x).tolist() == [2.0, 2.0] and twice(x).tolist() == [2.0, 2.0]
    model = torch.nn.Linear(2, 1).to("xla")
    assert torch.equal(torchere.compile(model)(x).cpu(), model(x).cpu())
    lazy.reset_counters()
    with torchere.compile():
        y = x + 1
        assert not syncs()
    assert syncs() == 1 and y.tolist() == [2.0, 2.0]
    with torchere.step():
        y = x + 2
    assert syncs() == 2 and y.tolist() == [3.0, 3.0]


def test_a_full_graph_reads_nothing():
    def reads(x):
        y = x + 1
        if y.sum() > 0:
            return y
        return x

    message = (
        r"\[torch_xla.compile\] reads is not one graph: got a value that is read inside of it, or a sync"
    )
    x = torch.ones(2).to("xla")
    with pytest.raises(RuntimeError, match=message):
        torchere.compile(reads, full_graph=True)(x)
    assert torchere.compile(reads)(x).tolist() == [2.0, 2.0]
    assert (x + 1).tolist() == [2.0, 2.0], "the region is left"


def test_more_different_graphs_than_allowed_are_an_error():
    def double(x):
        return x * 2

    limited = torchere.compile(double, max_different_graphs=2)
    for size in (1, 2, 1, 2):
        limited(torch.ones(size).to("xla"))
    with pytest.raises(RuntimeError, match=r"double has too many graphs: got 3, expected at most 2"):
        torchere.compile(double, max_different_graphs=2)(torch.ones(3).to("xla"))
    torchere.compile(double)(torch.ones(4).to("xla"))


def test_an_error_in_a_region_is_the_functions_own():
    with pytest.raises(ZeroDivisionError), torchere.compile(full_graph=True):
        y = torch.ones(2, device="xla") + 1
        raise ZeroDivisionError
    assert y.tolist() == [2.0, 2.0]


def test_sync_waits_if_told_and_runs_the_steps_closures():
    seen = []
    x = torch.ones(3).to("xla") + 1
    xm.add_step_closure(lambda value: seen.append(value.tolist()), (x,))
    xm.add_step_closure(seen.append, ("asynchronous",), run_async=True)
    torchere.sync(wait=True)
    torchere.sync()
    assert seen[0] == [2.0] * 3 and len(seen) <= 2

    def fails():
        raise KeyError("closure")

    xm.add_step_closure(fails)
    with pytest.raises(KeyError, match="closure"):
        xm.mark_step()
    xm.mark_step()
    xm.unlazy([x * 2, x])


def test_the_stablehlo_of_tensors():
    x = torch.ones(3).to("xla")
    y, other = torch.abs(x), torch.sin(x)
    text = xm.get_stablehlo([y])
    assert text.count("stablehlo.abs") == 1 and "stablehlo.sine" not in text
    everything = xm.get_stablehlo()
    assert "stablehlo.abs" in everything and "stablehlo.sine" in everything
    assert xm.get_stablehlo_bytecode([y])[:4] == b"ML\xefR" == xm.get_stablehlo_bytecode()[:4]
    assert not syncs() and other.tolist() == pytest.approx([0.8414710] * 3)


def test_counters_and_metrics():
    met.clear_all()
    x = torch.abs(torch.ones(3).to("xla"))
    assert met.counter_value("xla::abs") == 1 and "xla::abs" in met.counter_names()
    assert met.counter_value("xla::sin") is None and met.executed_fallback_ops() == []
    x.cpu()
    assert "Counter: UncachedCompile" in met.metrics_report()
    assert "UncachedCompile" in met.short_metrics_report(counter_names=["UncachedCompile"])
    assert "Counter: UncachedCompile" in met.short_metrics_report()
    name = next(name for name in met.metric_names() if "Compile" in name)
    samples, total, points = met.metric_data(name)
    assert samples == len(points) == 1 and total >= 0
    assert met.metric_data("nothing") is None
    met.clear_counters()
    assert met.counter_names() == []
    met.clear_metrics()


def test_random_numbers_are_seeded_forked_and_set():
    def drawn():
        return torch.rand(3, device="xla").tolist()

    torchere.manual_seed(7)
    assert xm.get_rng_state() == 7
    first, second = drawn(), drawn()
    assert first != second
    torchere.manual_seed(7, "xla:0")
    with xm.fork_rng():
        assert drawn() == first and drawn() == second
    assert drawn() == first
    state = xm.get_rng_state()
    assert drawn() == second
    xm.set_rng_state(state)
    assert drawn() == second
    xm.set_rng_state(-1)
    assert drawn() != first


def test_autocast():
    from torchere.amp import autocast

    x = torch.ones(2, 2).to("xla")
    with autocast(torchere.device()):
        assert (x @ x).dtype == torch.bfloat16
    with autocast("xla", dtype=torch.float16):
        assert (x @ x).dtype == torch.float16
    with autocast("xla", enabled=False):
        assert (x @ x).dtype == torch.float32
    with autocast("cpu"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16


def test_one_process_is_its_own_group(tmp_path):
    x = torch.ones(2).to("xla")
    assert xm.is_xla_tensor(x) and not xm.is_xla_tensor(torch.ones(2))
    for kind in (xm.REDUCE_SUM, xm.REDUCE_MUL, xm.REDUCE_AND, xm.REDUCE_OR, xm.REDUCE_MIN, xm.REDUCE_MAX):
        assert xm.all_reduce(kind, x).tolist() == [1.0, 1.0]
    xm.reduce_gradients(torch.optim.SGD([x], lr=0.1))
    tensors = [x]
    assert xm.all_reduce(xm.REDUCE_SUM, tensors) is tensors
    assert xm.mesh_reduce("loss", {"a": x}, lambda all: all[0]["a"].device) == torch.device("cpu")
    assert xm.rendezvous("tag", b"payload") == xm.xla_rendezvous(b"payload") == [b"payload"]
    assert xm.do_on_ordinals(lambda t: t.sum().item(), (x,)) == 2.0
    assert xm.do_on_ordinals(print, (), ordinals=(1,)) is None
    assert xm.is_master_ordinal() and xm.xrt_world_size() == 1
    assert xm.get_ordinal() == xm.get_local_ordinal() == 0
    xm.broadcast_master_param(torch.nn.Linear(2, 2).to("xla"))
    xm.save({"x": [x]}, tmp_path / "saved.pt")
    assert torch.load(tmp_path / "saved.pt")["x"][0].device == torch.device("cpu")
    (moved,) = xm.send_cpu_data_to_device(torch.ones(2), "xla:0")
    assert moved.device == torch.device("xla:0")
    tracker = xm.RateTracker()
    tracker.add(10)
    assert tracker.rate() > 0 and tracker.global_rate() > 0
    with pytest.raises(TypeError, match=r"the payload: got str, expected bytes"):
        xm.rendezvous("tag", "text")
    assert xr.is_bf16_supported()
