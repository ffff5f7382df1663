"""Views have the strides that they have on the CPU, writes to them reach whatever shares their memory, and
in-place ops refuse what they refuse there."""

import random

import pytest
import torch

from torchere import lazy

VIEWS = {
    "t": lambda x: x.t(),
    "permute": lambda x: x.view(2, 3, 4).permute(2, -3, 1),
    "transpose": lambda x: x.transpose(0, -1),
    "select": lambda x: x[:, -2],
    "slice": lambda x: x[1:5:2, -3:],
    "slice of nothing": lambda x: x[4:2],
    "unsqueeze": lambda x: x.t().unsqueeze(-1).unsqueeze(0),
    "squeeze": lambda x: x.view(1, 6, 1, 4).squeeze(),
    "squeeze of one": lambda x: x.view(1, 6, 1, 4).squeeze(2).squeeze(-1),
    "squeeze of some": lambda x: x.view(1, 6, 1, 4).squeeze((0, 1, -2)),
    "view": lambda x: x.view(3, 2, -1),
    "view of a slice": lambda x: x[:, 1:3].view(2, 3, 2),
    "expand": lambda x: x[:1].t().expand(2, -1, 3),
    "diagonal": lambda x: x.diagonal(1),
    "diagonal of a batch": lambda x: x.view(2, 3, 4).diagonal(-1, 2, 1),
    "unfold": lambda x: x.unfold(0, 2, 3),
    "unfold of a number": lambda x: x[0, 0].unfold(0, 1, 1),
    "split": lambda x: x.split(4)[1],
    "split with sizes": lambda x: x.split((1, 3), 1)[1],
    "unbind": lambda x: x.unbind(1)[2],
    "chunk": lambda x: x.t().chunk(3, -1)[1],
    "unsafe_chunk": lambda x: x.unsafe_chunk(3)[1],
    "unsafe_split_with_sizes": lambda x: x.unsafe_split_with_sizes((1, 3), 1)[1],
    "detach": lambda x: x.t().detach(),
}


def matrix(device: str) -> torch.Tensor:
    return torch.arange(24.0).reshape(6, 4).to(device)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_is_laid_out_as_on_the_cpu_and_written_through(view):
    shown = {}
    for device in ("cpu", "xla"):
        base = matrix(device)
        beside = base[1:]
        made = view(base)
        layout = (made.shape, made.stride(), made.storage_offset(), made.is_contiguous())
        if 0 in made.stride():
            made.fill_(-7)
        else:
            made.mul_(10).sub_(1)
        shown[device] = layout, made.cpu(), base.cpu(), beside.cpu()
        assert (made.stride(), made.storage_offset()) == layout[1:3]
    assert shown["xla"][0] == shown["cpu"][0]
    for got, expected in zip(shown["xla"][1:], shown["cpu"][1:], strict=True):
        assert torch.equal(got, expected)
    assert not lazy.executed_fallback_ops()


def test_detach_shows_the_same_value():
    """As checkpoints do, and losses that are read: there is nothing to compute."""
    linear = torch.nn.Linear(3, 2).to("xla")
    base = matrix("xla")
    lazy.sync()
    lazy.reset_counters()
    shown, state = base.t().detach(), linear.state_dict()
    assert lazy.statistics()["pending_ops"] == 1  # the transposition
    assert torch.equal(state["weight"].cpu(), linear.weight.detach().cpu())
    assert lazy.counters().get("UncachedCompile", 0) == 0
    base.detach()[2:].add_(1)
    linear.weight.data.zero_()
    assert torch.equal(shown.cpu(), base.cpu().t()) and shown[0, 2].item() == 9
    assert state["weight"].abs().sum().item() == 0


@pytest.mark.parametrize("view", [view for name, view in VIEWS.items() if name != "detach"])
def test_the_gradient_of_a_view(view):
    def gradient(device):
        x = matrix(device).requires_grad_()
        shown = view(x * 2)
        (shown * shown.detach()).sum().backward()
        return x.grad.cpu()

    assert torch.equal(gradient("xla"), gradient("cpu"))
    assert not [name for name in lazy.executed_fallback_ops() if "unfold" not in name]


@pytest.mark.parametrize(
    "copy",
    [
        lambda x: x.t().contiguous(),
        lambda x: x.t().reshape(-1),
        lambda x: x.t().flatten(),
        lambda x: x.t().detach().contiguous(),
        lambda x: x.split(2, 1)[0].contiguous(),
        lambda x: x[:, 0].contiguous(),
    ],
)
def test_a_copy_where_the_cpu_copies(copy):
    base = matrix("xla")
    copy(base).fill_(-1)
    assert torch.equal(base.cpu(), matrix("cpu"))


def test_no_copy_where_the_cpu_makes_none():
    base = matrix("xla")
    for alias in (base.contiguous(), base.reshape(-1), base[2:].contiguous(), base.t().t().contiguous()):
        alias.add_(1)
    expected = matrix("cpu")
    expected.add_(3)
    expected[2:].add_(1)
    assert torch.equal(base.cpu(), expected)


def test_a_view_by_impossible_strides_is_refused():
    with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's size and stride"):
        matrix("xla").t().view(-1)


def random_program(seed: int, device: str) -> list:
    """Views of views of a tensor, which are written in turns; what each holds in the end, and its strides."""
    chosen = random.Random(seed)
    tensors = [torch.arange(24.0).to(device).view(2, 3, 4)]
    for _ in range(12):
        x = chosen.choice(tensors)
        rank = x.dim()
        axis = chosen.randrange(rank) if rank else 0
        made = chosen.choice(
            [
                lambda: x.transpose(axis, -1) if rank else x.unsqueeze(0),  # noqa: B023
                lambda: x.select(axis, x.shape[axis] - 1) if rank and x.shape[axis] else x,  # noqa: B023
                lambda: x.narrow(axis, 0, (x.shape[axis] + 1) // 2) if rank else x,  # noqa: B023
                lambda: x[::2] if rank else x.detach(),  # noqa: B023
                lambda: x.unsqueeze(axis),  # noqa: B023
                lambda: x.squeeze(),  # noqa: B023
                lambda: x.reshape(-1),  # noqa: B023
                lambda: x.contiguous(),  # noqa: B023
                lambda: x.permute(tuple(reversed(range(rank)))),  # noqa: B023
                lambda: x.chunk(2, axis)[-1] if rank else x,  # noqa: B023
                lambda: x.diagonal(0, 0, -1) if rank > 1 else x,  # noqa: B023
                lambda: x.unfold(axis, 1, 2) if rank and x.shape[axis] else x,  # noqa: B023
            ]
        )()
        tensors.append(made)
        written = chosen.choice(tensors)
        number = float(chosen.randrange(1, 5))
        if chosen.random() < 0.3:
            written.add_(number)
        elif chosen.random() < 0.3:
            written.mul_(chosen.choice([0.5, 2.0])).sub_(number)
        elif chosen.random() < 0.2:
            written.copy_(torch.full_like(written, number))
    return [(tensor.cpu(), tensor.stride(), tensor.storage_offset()) for tensor in tensors]


def check_random_programs(seeds: range) -> None:
    for seed in seeds:
        expected = random_program(seed, "cpu")
        for position, (got, wanted) in enumerate(zip(random_program(seed, "xla"), expected, strict=True)):
            assert torch.equal(got[0], wanted[0]), f"seed {seed}, tensor {position}"
            assert got[1:] == wanted[1:], f"seed {seed}, tensor {position}"


def test_random_programs_of_views_and_writes():
    check_random_programs(range(15))
    check_random_programs(range(213, 214))  # a view of one element, whose stride is not 1


@pytest.mark.sweep
def test_many_random_programs_of_views_and_writes():
    check_random_programs(range(15, 400))


def test_a_write_through_windows():
    apart, touching = torch.zeros(8).to("xla"), torch.zeros(2, 6).to("xla")
    apart.unfold(0, 2, 3).add_(1)
    touching.unfold(1, 3, 3).copy_(torch.arange(12.0).view(2, 2, 3))
    assert apart.tolist() == [1, 1, 0, 1, 1, 0, 1, 1]
    assert torch.equal(touching.cpu(), torch.arange(12.0).view(2, 6))
    with pytest.raises(
        RuntimeError, match=r"a write to windows that overlap.*got step 1, expected at least 2"
    ):
        apart.unfold(0, 2, 1).add_(1)


def test_a_long_chain_of_views():
    expected, got = matrix("cpu"), matrix("xla")
    for device_tensor in (expected, got):
        view = device_tensor
        for _ in range(100):
            view = view.t()
        view[1:, 2].mul_(-1)
        other = device_tensor.view(-1)[3:]
        other.sub_(0.5)
        assert torch.equal(view.cpu(), device_tensor.cpu())
    assert torch.equal(got.cpu(), expected)


PARTS = {"split", "split with sizes", "unbind", "chunk", "unsafe_chunk", "unsafe_split_with_sizes"}


@pytest.mark.parametrize("view", [view for name, view in VIEWS.items() if name not in PARTS])
def test_autograd_knows_the_view(view):
    def known(device):
        root = matrix(device).requires_grad_()
        base = root * 2
        made = view(base)
        facts = made._is_view(), made._is_view() and made._base is base, made.requires_grad
        if made.requires_grad:
            base.t().mul_(matrix(device).t())  # the view is made again to know its gradient
            facts += type(made.grad_fn).__name__, made._version
            made.sum().backward()
        with torch.no_grad():
            hidden = view(base.detach().requires_grad_())
        try:
            hidden.mul_(2)
        except RuntimeError as error:
            facts += (str(error),)
        return *facts, root.grad.cpu() if root.grad is not None else None

    *got, gradient = known("xla")
    *wanted, expected = known("cpu")
    if "AsStrided" in str(wanted):  # the name of what makes it again
        got[3] = wanted[3]
    assert got == wanted
    assert gradient is expected or torch.equal(gradient, expected)


def test_a_very_long_chain_of_views_is_freed():
    x = matrix("xla").requires_grad_()
    with torch.no_grad():
        view = x
        for _ in range(5000):
            view = view.t()
    assert view._base is x and torch.equal(view.cpu(), matrix("cpu"))
    del view
    (x * 1).t().sum().backward()
    assert torch.equal(x.grad.cpu(), torch.ones(6, 4))


ERRORS = {
    "shape": lambda make: make(3, 4).add_(make(2, 3, 4)),
    "no common shape": lambda make: make(3).mul_(make(4)),
    "dtype": lambda make: make(3).long().add_(1.5),
    "integer division": lambda make: make(3).int().div_(2),
    "complex": lambda make: make(3).sub_(1j),
    "function of integers": lambda make: make(3).long().sqrt_(),
    "shared elements": lambda make: make(1, 3).expand(2, 3).add_(1),
    "copy to shared elements": lambda make: make(1, 3).expand(2, 3).copy_(make(2, 3)),
    "leaf": lambda make: make(3).requires_grad_().exp_(),
    "view of a leaf": lambda make: make(3).requires_grad_()[0].exp_(),
}


@pytest.mark.parametrize("call", ERRORS.values(), ids=ERRORS)
def test_in_place_ops_refuse_with_the_words_of_the_cpu(call):
    def make(device):
        return lambda *sizes: torch.ones(sizes).to(device)

    with pytest.raises(RuntimeError) as expected:
        call(make("cpu"))
    with pytest.raises(RuntimeError) as got:
        call(make("xla"))
    assert str(got.value).splitlines()[0] == str(expected.value).splitlines()[0]


OUT_ERRORS = {
    "integers": lambda make: torch.add(make(3), 1.5, out=make(3).int()),
    "real": lambda make: torch.mul(make(3), 1j, out=make(3)),
    "comparison": lambda make: torch.sin(make(3), out=make(3) > 0),
    "matrices": lambda make: torch.mm(make(2, 2), make(2, 2), out=make(2, 2).int()),
    "through a view": lambda make: torch.exp(make(2), out=make(2, 2).int()[1]),
    "shared elements": lambda make: torch.exp(make(2, 3), out=make(1, 3).expand(2, 3)),
    "leaf": lambda make: torch.exp(make(3), out=make(3).requires_grad_()),
}


def overlapping(make):
    x = make(6)
    return torch.exp(x[1:], out=x[:-1])


@pytest.mark.parametrize("call", [*OUT_ERRORS.values(), overlapping], ids=[*OUT_ERRORS, "partly the same"])
def test_out_is_refused_with_the_words_of_the_cpu(call):
    test_in_place_ops_refuse_with_the_words_of_the_cpu(call)


def test_what_out_takes():
    def program(device):
        whole = torch.zeros(2, 3).to(device)
        x = torch.arange(3.0).to(device)
        torch.exp(x, out=whole[1])
        wider = torch.add(x, 1, out=torch.zeros(3, dtype=torch.float64).to(device))
        resized = torch.mul(x, x, out=torch.zeros(0).to(device))
        values, indices = torch.zeros(2).to(device), torch.zeros(2, dtype=torch.int64).to(device)
        torch.max(whole, 1, out=(values, indices))
        torch.add(x, x, out=x)
        return whole, wider, resized, values, indices, x

    for got, expected in zip(program("xla"), program("cpu"), strict=True):
        torch.testing.assert_close(got.cpu(), expected)


def test_what_in_place_ops_convert():
    def program(device):
        half, number = torch.ones(3, dtype=torch.bfloat16).to(device), torch.tensor(2.0).to(device)
        half.add_(torch.full((3,), 0.1).to(device)).lt_(number)
        number.eq_(2).add_(torch.ones((), dtype=torch.int64).to(device))
        return half.cpu(), number.cpu()

    for got, expected in zip(program("xla"), program("cpu"), strict=True):
        assert got.dtype == expected.dtype and torch.equal(got, expected)


def test_values_that_do_not_depend_on_what_was_there():
    base = matrix("xla")
    base[1:3].zero_()
    base[4].fill_(7)
    base.view(-1)[-1:].copy_(torch.tensor(9))
    expected = matrix("cpu")
    expected[1:3], expected[4], expected[5, 3] = 0, 7, 9
    assert torch.equal(base.cpu(), expected)


def test_versions_and_gradients():
    def program(device):
        x = torch.arange(1.0, 7.0).to(device).requires_grad_()
        y = x * 2
        y.view(2, 3)[1].mul_(y[0].detach() + 3)
        y.t().add_(x)
        version = y._version
        y.tanh_().sum().backward()
        saved = (x * 3).exp()
        loss = saved.sum()
        saved.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
        return version, x.grad.cpu()

    got, expected = program("xla"), program("cpu")
    assert got[0] == expected[0]
    torch.testing.assert_close(got[1], expected[1])


@pytest.mark.parametrize("call", [lambda x: x.add_(1.5), lambda x: x.view(2, -1), lambda x: x.copy_(x * 2)])
def test_nothing_runs_a_meta_kernel_once_it_is_known(call):
    x = torch.ones(4).to("xla")
    call(x)
    with torch.profiler.profile() as profile:
        call(x)
    names = [event.name for event in profile.events()]
    assert len(names) == len(set(names)), names  # the Meta kernel would be a second call of the op
