"""Tensors on the lazy device: transfers, writes and views, training, what is compiled again, errors."""

import copy
import threading

import pytest
import torch

from torchere import lazy


def compiles() -> int:
    return lazy.counters().get("UncachedCompile", 0)


def fallbacks() -> list[str]:
    return [name for name in lazy.counters() if name.startswith("aten::")]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.bool, torch.complex64])
def test_there_and_back(dtype):
    for shape in [(), (0, 3), (1,), (2, 3)]:
        x = torch.ones(shape).to(dtype)
        assert torch.equal(x.to("xla").cpu(), x)
        assert torch.equal(x.expand(2, *shape).to("xla").cpu(), x.expand(2, *shape))


def test_nothing_is_computed_before_a_read():
    y = torch.ones(3).to("xla") + 2
    assert "func.func public @main" in lazy.get_stablehlo() and compiles() == 0
    assert y.tolist() == [3.0, 3.0, 3.0] and compiles() == 1
    assert y.tolist() == [3.0, 3.0, 3.0] and compiles() == 1


def test_writes_reach_views_and_their_bases():
    def program(device):
        base = torch.arange(12.0).to(device).reshape(3, 4)
        row, column = base[1], base[:, 2]
        row.mul_(10)
        column.add_(0.5)
        base.t().copy_(torch.relu(base.t() - 3))
        flat = base.view(-1)
        flat[3:5] = 7
        out = torch.empty(4, device=device)
        torch.add(row, 1, out=out)
        return [base.cpu(), row.cpu(), column.cpu(), flat.cpu(), out.cpu()]

    for got, expected in zip(program("xla"), program("cpu"), strict=True):
        assert torch.equal(got, expected)
    assert not fallbacks()


def trained(model, device, optimizer, steps, rates=()):
    model = copy.deepcopy(model).to(device)
    x, target = torch.linspace(-1, 1, 40).reshape(5, 8).to(device), torch.full((5, 4), 0.5).to(device)
    optimizer = optimizer(model.parameters())
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = dict(rates).get(step, group["lr"])
        optimizer.zero_grad()
        loss = ((torch.tanh(model(x)) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if device == "xla":
            lazy.sync()
    return [loss.item() for loss in losses], [parameter.detach().cpu() for parameter in model.parameters()]


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01),
        lambda parameters: torch.optim.Adam(parameters, lr=0.01),
    ],
    ids=["sgd", "adam"],
)
def test_training_equals_the_cpu_and_compiles_two_steps(optimizer):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))
    rates = {4: 0.003, 6: 0.07}
    expected = trained(model, "cpu", optimizer, 8, rates)
    trained(model, "xla", optimizer, 3)
    before = compiles()
    losses, parameters = trained(model, "xla", optimizer, 8, rates)
    assert losses == pytest.approx(expected[0], rel=1e-5)
    for got, wanted in zip(parameters, expected[1], strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-6)
    assert compiles() == before, "the same steps with other numbers compiled again"


def test_a_classifier_trains_without_the_cpu():
    def losses(device):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(6, 8),
            torch.nn.ReLU(),
            torch.nn.Linear(8, 8),
            torch.nn.GELU(),
            torch.nn.Linear(8, 3),
        ).to(device)
        x, target = torch.linspace(-2, 2, 24).reshape(4, 6).to(device), torch.tensor([0, 2, 1, 2]).to(device)
        optimizer, seen = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), []
        lazy.reset_counters()
        for _ in range(4):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
            seen.append(loss.detach())
            if device == "xla":
                lazy.sync()
        assert not fallbacks() and "DeviceToHost" not in lazy.counters()
        return [loss.item() for loss in seen]

    assert losses("xla") == pytest.approx(losses("cpu"), rel=1e-5)


def test_batch_norm_updates_its_running_statistics():
    torch.manual_seed(0)
    ours, theirs = torch.nn.BatchNorm2d(3).to("xla"), torch.nn.BatchNorm2d(3)
    for _ in range(2):
        x = torch.randn(2, 3, 4, 4)
        torch.testing.assert_close(ours(x.to("xla")).cpu(), theirs(x), rtol=1e-5, atol=1e-5)
    for name, expected in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name].cpu(), expected, rtol=1e-5, atol=1e-6)
    assert theirs.running_mean.abs().sum() > 0
    ours.eval(), theirs.eval()
    torch.testing.assert_close(ours(x.to("xla")).cpu(), theirs(x), rtol=1e-5, atol=1e-5)
    assert not fallbacks()


def test_a_convolution_has_gradients():
    torch.manual_seed(0)
    model, x = torch.nn.Conv2d(3, 4, 3, stride=2), torch.randn(2, 3, 9, 9)
    gradients = []
    for device in ("xla", "cpu"):
        copied = copy.deepcopy(model).to(device)
        (copied(x.to(device)) ** 2).sum().backward()
        gradients.append([p.grad.cpu() for p in copied.parameters()])
    for got, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    assert not fallbacks()


def test_checkpointing():
    from torch.utils.checkpoint import checkpoint

    x = torch.randn(3)
    w = x.to("xla").requires_grad_()
    checkpoint(lambda value: torch.exp(value) * 2, w, use_reentrant=False).sum().backward()
    torch.testing.assert_close(w.grad.cpu(), 2 * x.exp())


def test_tensors_are_copied_and_saved(tmp_path):
    x = torch.randn(2, 3)
    y = copy.deepcopy(x.to("xla"))
    torch.save(y, tmp_path / "y.pt")
    loaded = torch.load(tmp_path / "y.pt")
    assert loaded.device == torch.device("xla:0") and torch.equal(loaded.cpu(), x)


def test_files_are_loaded_onto_the_device(tmp_path):
    path, weight = tmp_path / "state.pt", torch.arange(6.0).reshape(2, 3)
    shared = {"weight": weight, "tied": weight, "row": weight[1], "turned": weight.t(), "number": 3}
    torch.save({**shared, "ours": torch.ones(2).to("xla"), "whole": torch.tensor([1, 2])}, path)
    for target in ("xla", torch.device("xla"), "xla:0", {"cpu": "xla:0"}):
        loaded = torch.load(path, map_location=target)
        for name in ("weight", "tied", "row", "turned"):
            assert loaded[name].device == torch.device("xla:0")
            assert torch.equal(loaded[name].cpu(), shared[name])
        assert loaded["ours"].tolist() == [1, 1] and loaded["whole"].tolist() == [1, 2]
        loaded["weight"][1, 1] = 9
        assert loaded["ours"].device.type == "xla" and loaded["number"] == 3
        assert loaded["tied"][1, 1] == loaded["row"][1] == loaded["turned"][1, 1] == 9
    with pytest.raises(IndexError, match=r"\[xla:7\] no such device"):
        torch.load(path, map_location="xla:7")


def test_copies_between_host_and_device():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(torch.zeros(2, 3, device="xla").copy_(x).cpu(), x)
    assert torch.equal(
        torch.zeros(2, 3, dtype=torch.int64, device="xla").copy_(x[0]).cpu(), x[:1].long().expand(2, 3)
    )
    assert torch.equal(torch.zeros(2, 3).copy_(x.to("xla")), x)


def test_tensors_are_made_on_the_device():
    def made(device):
        return [
            torch.arange(2, 9, 3, device=device),
            torch.eye(2, 3, device=device),
            torch.full((2,), 2.5, device=device),
            torch.linspace(0, 1, 5, device=device),
            torch.ones(2, dtype=torch.int64, device=device),
            torch.tensor([1, 2], device=device),
        ]

    for got, expected in zip(made("xla"), made("cpu"), strict=True):
        assert got.device.type == "xla" and got.dtype == expected.dtype and torch.equal(got.cpu(), expected)
    assert not fallbacks()


def test_a_changed_number_does_not_compile_again():
    x = torch.ones(3).to("xla")
    for number in (0.25, 0.5, 7.0):
        assert (x * number).tolist() == [number] * 3
    assert compiles() == 1
    assert (x * 1).tolist() == [1.0] * 3 and compiles() == 2  # a constant


def test_programs_differ_where_operands_are_shared_in_another_way():
    a, b = torch.tensor([2.0]).to("xla"), torch.tensor([3.0]).to("xla")
    assert (a * a).item() == 4.0
    assert (a * b).item() == 6.0
    assert (b * b).item() == 9.0


def test_unread_values_are_freed_with_their_tensors():
    x = torch.ones(2).to("xla")
    for _ in range(10):
        x + 1
    assert lazy.get_stablehlo().count("stablehlo.add") == 0
    long = x
    for _ in range(20000):
        long = long + x
    del long


def test_two_threads_trace_and_read():
    failures = []

    def work(seed):
        for step in range(20):
            x = torch.full((4,), float(seed + step)).to("xla")
            if not torch.equal((x * 2 + x).cpu(), torch.full((4,), 3.0 * (seed + step))):
                failures.append((seed, step))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 100, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_mixed_devices_are_an_error():
    with pytest.raises(
        RuntimeError, match=r"\[aten.add.Tensor\] tensors on two devices: got cpu, expected xla"
    ):
        torch.ones(2).to("xla") + torch.ones(2)


def test_a_bad_shape_is_an_error_at_its_line():
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.ones(2).to("xla") + torch.ones(3).to("xla")


def test_a_dtype_without_programs_is_an_error():
    with pytest.raises(RuntimeError, match="no such dtype on the device: got Float8_e4m3fn"):
        torch.ones(2).to(torch.float8_e4m3fn).to("xla")


def test_kernels_of_the_device_say_nothing_to_an_export():
    """Of ops that are expanded because they have no row."""
    from torchere.expansion import _has_xla_kernel

    assert torch._C._dispatch_has_kernel_for_dispatch_key("aten::cat", "XLA")
    assert not _has_xla_kernel(torch.ops.aten.cat.default)


def test_inference_mode():
    base, weight = torch.zeros(2, 3).to("xla"), torch.ones(3).to("xla").requires_grad_()
    with torch.inference_mode():
        base.t()[1].add_(2)
        made = torch.ones(3, device="xla").mul_(2)[1:]
        shown = weight.view(3, 1) + 1
    assert base.tolist() == [[0, 2, 0], [0, 2, 0]]
    assert made.tolist() == [2, 2] and shown.tolist() == [[2], [2], [2]]
    (weight * base).sum().backward()
    assert weight.grad.tolist() == [0, 4, 0]


COMPOSITES = {
    "linear": (torch.nn.functional.linear, [(2, 3, 4), (5, 4), (5,)]),
    "matmul": (torch.matmul, [(2, 3, 4), (4, 5)]),
    "attention": (torch.nn.functional.scaled_dot_product_attention, [(1, 2, 5, 8)] * 3),
    "chunk": (lambda x: torch.cat(x.chunk(2, 1)), [(2, 4)]),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b), [(2, 3, 4), (2, 4, 5)]),
    "block_diag": (torch.block_diag, [(2, 2), (3, 3)]),
    "affine_grid": (lambda x: torch.nn.functional.affine_grid(x, (1, 1, 2, 2), True), [(1, 2, 3)]),
    "conv_tbc": (torch.conv_tbc, [(5, 2, 3), (3, 3, 4), (4,)]),
}


@pytest.mark.parametrize("name", COMPOSITES)
def test_composite_ops_in_inference_mode(name):
    function, shapes = COMPOSITES[name]
    arguments = [torch.randn(shape) for shape in shapes]
    with torch.inference_mode():
        result = function(*(argument.to("xla") for argument in arguments))
    torch.testing.assert_close(result.cpu(), function(*arguments))
    assert not lazy.executed_fallback_ops()


@pytest.mark.parametrize("name", ["affine_grid", "conv_tbc"])
def test_the_gradients_of_composite_ops(name):
    function, shapes = COMPOSITES[name]
    arguments = [torch.randn(shape, requires_grad=True) for shape in shapes]
    moved = [argument.detach().to("xla").requires_grad_() for argument in arguments]
    function(*arguments).square().sum().backward()
    function(*moved).square().sum().backward()
    for got, expected in zip(moved, arguments, strict=True):
        torch.testing.assert_close(got.grad.cpu(), expected.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_kaiser_windows(dtype):
    for arguments in ((5,), (6, False), (6, True, 3.0), (1,), (0,)):
        got = torch.kaiser_window(*arguments, dtype=dtype, device="xla")
        torch.testing.assert_close(got.cpu(), torch.kaiser_window(*arguments, dtype=dtype))


def trained_for_quantization(device):
    from torch.ao import quantization

    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(12, 2)]
    model = torch.nn.Sequential(quantization.QuantStub(), *layers, quantization.DeQuantStub()).train()
    model.qconfig = quantization.get_default_qat_qconfig("fbgemm")
    model = quantization.prepare_qat(model).to(device)
    results = []
    for step in range(3):
        if step == 2:
            model.apply(quantization.disable_observer)
        x = torch.linspace(-1, 1 + step, 64).reshape(2, 2, 4, 4).to(device)
        y = model(x)
        y.square().sum().backward()
        results.append(y.detach().cpu())
    results += [parameter.grad.cpu() for parameter in model.parameters()]
    return results + [value.cpu() for value in model.state_dict().values()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_quantization_aware_training():
    expected = trained_for_quantization("cpu")
    lazy.reset_counters()
    got = trained_for_quantization("xla")
    assert not lazy.executed_fallback_ops()
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_lost_writes_in_inference_mode_are_refused():
    with torch.inference_mode(), pytest.raises(RuntimeError, match=r"writes to a view .* use no_grad\(\)"):
        torch.vander(torch.ones(3).to("xla"))
