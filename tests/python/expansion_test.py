"""Expansion: the raw graph is walked, ops with a lowering stay whole, others are expanded alone in place."""

from __future__ import annotations

import gc
import re

import pytest
import torch
from torch import nn
from torch.export import Dim, export

import torchere
from torchere import _core
from torchere.capture import capture
from torchere.errors import CaptureError, InvalidArgumentError, UnimplementedError
from torchere.expansion import Expander
from torchere.exporting import lowered_ops


def walked(exported, without=(), **options):
    """The program as walked, as if the ops of `without` had no lowering."""
    return capture(exported, expander=Expander(lowered_ops() - set(without), **options))


def ops(program):
    return [op for _, op, _, _ in program.nodes() if op]


def assert_as_eager(program, module, *calls):
    for args in calls:
        torch.testing.assert_close(program(*args), module(*args), rtol=1e-5, atol=1e-6)


class Net(nn.Module):
    """Modules whose ops have a lowering, a composite op without one, and a write."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        y = self.norm(self.linear(x)).relu_()
        return torch.tensordot(y, y, ([2], [2])) + self.count


def test_ops_that_were_expanded_are_told():
    program = torchere.export(export(Net(), (torch.randn(2, 3, 4),)))
    assert list(program.expanded) == ["aten.tensordot.default"]
    assert sum(program.expanded.values()) == pytest.approx(program.timings["expand"])
    assert program.expanded["aten.tensordot.default"] > 0
    assert torchere.export(nn.ReLU(), torch.ones(3)).expanded == {}


class Histogram(nn.Module):
    """Of whose results the second is a list."""

    def __init__(self, bins, **options):
        super().__init__()
        self.bins, self.options = bins, options

    def forward(self, x):
        counts, (first, *_, last) = torch.histogramdd(x, self.bins, **self.options)
        return counts, first, last


@pytest.mark.parametrize(
    "module",
    [
        Histogram([3, 1, 4]),
        Histogram(3, range=[0.0, 1.0] * 3, density=True),
        Histogram([torch.tensor([0.0, 0.25, 1.0]), torch.tensor([0.5, 2.0]), torch.tensor([0.0, 1.0])]),
    ],
)
def test_a_list_among_the_results(module):
    x = torch.rand(50, 3)
    program = torchere.export(module, (x,))
    assert any(name.startswith("aten.histogramdd.") for name in program.expanded)
    assert_as_eager(program, module, (x,), (x.flip(0),))


def test_nothing_is_collected_meanwhile(monkeypatch):
    exported, enabled = export(Net(), (torch.randn(2, 3, 4),)), []
    export_program = _core.export_program
    monkeypatch.setattr(
        _core,
        "export_program",
        lambda *args, **kw: enabled.append(gc.isenabled()) or export_program(*args, **kw),
    )
    torchere.export(exported)
    assert gc.isenabled()
    gc.disable()
    try:
        torchere.export(exported)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert enabled == [False, False]
    with pytest.raises(InvalidArgumentError):
        torchere.export(nn.Linear(2, 2), torch.ones(2), composites={"linear"})
    assert gc.isenabled()


def test_ops_with_a_lowering_stay_whole():
    exported = export(Net(), (torch.randn(2, 3, 4),))
    found = ops(walked(exported))
    assert found[0] == "aten.add_.Tensor"
    assert {"aten.linear.default", "aten.layer_norm.default", "aten.relu_.default"} <= set(found)
    assert not {"aten.tensordot.default", "aten.addmm.default"} & set(found)
    found = ops(walked(exported, without={"aten.linear.default", "aten.layer_norm.default"}))
    assert {"aten.addmm.default", "aten.native_layer_norm.default"} <= set(found)


def test_what_an_op_expands_to_is_expanded_in_turn():
    exported = export(Net(), (torch.randn(2, 3, 4),))
    whole = {"aten.layer_norm.default", "aten.native_layer_norm.default"}
    found = ops(walked(exported, without=whole))
    assert not set(found) & whole
    assert {"aten.rsqrt.default", "aten.var_mean.correction"} <= set(found)


def test_an_in_place_op_without_a_lowering_is_its_functional_form_and_a_copy():
    class Cubed(nn.Module):
        def forward(self, x):
            y = x * 1
            y.addcmul_(x, x, value=2)
            return y

    exported = export(Cubed(), (torch.ones(3),))
    found = ops(walked(exported, without={"aten.addcmul.default"}))
    assert found[-1] == "aten.copy_.default"
    assert not any("addcmul" in op for op in found)


def test_nodes_of_an_expansion_have_the_calls_place_and_its_name():
    exported = export(Net(), (torch.randn(2, 3, 4),))
    nodes = walked(exported).nodes()
    names = [name for name, *_ in nodes]
    assert len(set(names)) == len(names)
    assert "tensordot" in names
    (line,) = {place for name, _, _, place in nodes if name in ("tensordot", "mm")}
    assert re.fullmatch(r"expansion_test\.py:\d+", line)


def test_calls_of_the_same_types_are_traced_once(monkeypatch):
    traced = []
    trace = Expander._trace

    def counted(self, node, *rest):
        traced.append(str(node.target))
        return trace(self, node, *rest)

    monkeypatch.setattr(Expander, "_trace", counted)

    class Repeated(nn.Module):
        def forward(self, x, y):
            for _ in range(20):
                x = torch.tensordot(x, y, 1)
            return x + torch.tensordot(x[1:], y, 1).sum()

    torchere.export(Repeated(), (torch.ones(4, 4), torch.ones(4, 4)))
    assert traced.count("aten.tensordot.default") == 2


def test_symbols_and_ints_are_those_of_the_program():
    class Windows(nn.Module):
        def forward(self, x, n: int):
            return torch.tensordot(x, x, ([1], [1])).movedim(0, 1) + n

    module = Windows()
    shapes = ({0: Dim("rows", min=2, max=9)}, Dim.DYNAMIC)
    program = torchere.export(module, (torch.randn(3, 4), 5), dynamic_shapes=shapes)
    assert_as_eager(program, module, (torch.randn(2, 4), 7), (torch.randn(8, 4), -3))


def test_users_decompositions_come_first():
    def doubled(x, approximate="none"):
        return torch.ops.aten.gelu.default(x * 2, approximate=approximate)

    def shifted(x):
        return x + torch.tensor([1.0, 2.0, 3.0]) * torch.tensor(10.0)

    class Model(nn.Module):
        def forward(self, x):
            return nn.functional.gelu(x), torch.relu(x)

    exported = export(Model(), (torch.ones(3),))
    aten = torch.ops.aten
    table = {aten.gelu.default: doubled, aten.relu.default: shifted}
    for target, args in ((exported, None), (Model(), (torch.ones(3),))):
        program = torchere.export(target, args, decompositions=table)
        gelu, shift = program(torch.tensor([1.0, -1.0, 0.5]))
        torch.testing.assert_close(gelu, nn.functional.gelu(torch.tensor([2.0, -2.0, 1.0])))
        assert shift.tolist() == [11, 19, 30.5]


def test_tensors_of_a_decomposition_are_constants_of_the_program():
    def shifted(x):
        return x + torch.arange(100.0) + torch.tensor(list(range(100))) * torch.tensor(0.5)

    class Model(nn.Module):
        def forward(self, x):
            return torch.relu(x) + torch.relu(x * 2)

    table = {torch.ops.aten.relu.default: shifted}
    program = torchere.export(Model(), (torch.ones(100),), decompositions=table)
    assert list(program.program.constants) == ["expanded_tensor_0"]
    steps = torch.arange(100.0) * 1.5
    assert program(torch.ones(100)).tolist() == (3 + 2 * steps).tolist()

    class Branch(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: torch.relu(x), lambda x: x * 1, (x,))

    with pytest.raises(UnimplementedError) as error:
        torchere.export(Branch(), (torch.ones(100),), decompositions=table)
    assert str(error.value) == (
        "[_tensor_constant0] a branch or loop holds an op that becomes a constant tensor: got one of shape "
        "[100], expected numbers"
    )


def test_guards_of_a_decomposition_are_guards_of_the_program():
    def halved(x):
        return x + 1 if x.shape[0] > 4 else x - 1

    class Model(nn.Module):
        def forward(self, x):
            return torch.relu(x)

    table = {torch.ops.aten.relu.default: halved}
    shapes = ({0: Dim("rows", min=2, max=9)},)
    exported = export(Model(), (torch.ones(6),), dynamic_shapes=shapes)
    for _ in range(2):  # torch keeps the guards of the first
        program = torchere.export(exported, decompositions=table)
        assert program(torch.ones(5)).tolist() == [2] * 5
        with pytest.raises(torchere.errors.Error, match="expected 5 to 9"):
            program(torch.ones(3))


class Cast(nn.Module):
    """Ops that autocast runs in bfloat16, composites of such, ops that it leaves alone, and inner regions."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.norm(self.linear(x))
            z = torch.einsum("ij,kj->ik", y, y)
            with torch.autocast("cpu", enabled=False):
                w = y.float() @ y.float().t()
            both = torch.cat([z, w]).softmax(-1)
            v = torch.cond(both.sum() > 0, lambda a: a @ a.t(), lambda a: a @ a.t() * 2, (both,))
        return y, z, w, both, v, x @ x.t()


class CastFlat(nn.Module):
    """torch.export makes a graph of a region that is not nested; so it does where gradients are off."""

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = (x @ x.t()).relu_()
        with torch.no_grad():
            y = y + torch.cond(x.sum() > 0, lambda x: x.sum(), lambda x: x.prod(), (x,))
        return y, x @ x.t()


@pytest.mark.parametrize("module", [Cast(), CastFlat()], ids=["nested", "flat"])
def test_autocast_casts_what_eager_mode_casts(module):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    program = torchere.export(module, (x,))
    with torch.no_grad():
        expected = module(x)
    for got, wanted in zip(program(x), expected, strict=True):
        assert got.dtype == wanted.dtype
        torch.testing.assert_close(got.float(), wanted.float(), rtol=2e-2, atol=2e-2)
    assert torch.bfloat16 in {value.dtype for value in expected}


def test_autocast_keeps_ops_whole():
    found = ops(walked(export(Cast(), (torch.randn(3, 4),))))
    assert {"aten.linear.default", "aten.layer_norm.default", "aten.softmax.int"} <= set(found)
    assert "aten.tensordot.default" not in found


def test_every_op_without_a_lowering_is_reported_as_the_user_wrote_it():
    class Two(nn.Module):
        def forward(self, x):
            a = torch.special.airy_ai(x)
            return a + torch.special.airy_ai(x + 1) + torch.linalg.ldl_factor(x)[0].sum()

    with pytest.raises(UnimplementedError) as error:
        torchere.export(Two(), (torch.eye(3),))
    lines = str(error.value).splitlines()
    assert lines[0] == "[export] 2 ops of this program cannot be lowered yet:"
    assert re.fullmatch(
        r"  aten\.linalg_ldl_factor\.default: 1 use, first at expansion_test\.py:\d+", lines[1]
    )
    assert re.fullmatch(
        r"  aten\.special_airy_ai\.default: 2 uses, first at expansion_test\.py:\d+", lines[2]
    )


def test_what_cannot_be_expanded_alone_is_decomposed_by_torch():
    class Mapped(nn.Module):
        def forward(self, x, y):
            return torch.vmap(lambda a: (a * y).sum())(x)

    module, args = Mapped(), (torch.randn(3, 4), torch.randn(4))
    program = torchere.export(module, args)
    assert_as_eager(program, module, args)
    assert program.timings["run_decompositions"] > 0


def test_the_last_resort_is_not_taken_where_it_is_not_needed():
    program = torchere.export(Net(), (torch.randn(2, 3, 4),))
    assert "run_decompositions" not in program.timings


def test_an_op_that_runs_for_its_effect_is_refused():
    class Loud(nn.Module):
        def forward(self, x):
            torch.ops.aten._print("here")
            return x + 1

    with pytest.raises((UnimplementedError, CaptureError)) as error:
        torchere.export(Loud(), (torch.ones(3),))
    assert "[aten._print.default] runs for its effect, which no artifact holds" in str(error.value)


def test_a_decomposed_program_is_taken_as_it_is():
    exported = export(Net(), (torch.randn(2, 3, 4),)).run_decompositions()
    assert str(_functional(exported)) == str(capture(exported))


def _functional(exported):
    program = walked(exported)
    _core.functionalize(program)
    return program


class Cache:
    """No module, as transformers' StaticCache is none."""

    def __init__(self):
        self.keys = torch.zeros(4, 2)


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()
        self.register_buffer("keys", self.cache.keys, persistent=False)

    def forward(self, x, position):
        return self.cache.keys.index_copy_(0, position, x).sum() + self.keys.sum()


@pytest.mark.parametrize("strict", [False, True])
def test_a_cache_that_torch_captures_twice_is_one(strict):
    args = (torch.ones(1, 2), torch.tensor([1]))
    program = torchere.export(Cached(), args, strict=strict)
    assert [program(*args), program(args[0], torch.tensor([3]))] == [4, 8]
    assert program.state_dict()["keys"].sum() == 4


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("shape", [(4, 5), (5,)])
def test_labels_of_a_multilabel_loss_end_at_the_first_negative_one(shape, reduction):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator)
    target = torch.tensor([[1, 2, -1, 0, 0], [-1, 1, 1, 1, 1], [4, 0, 2, 1, 3], [3, 3, 0, -1, 2]])
    target = target[: shape[0]] if len(shape) == 2 else target[0]

    class Loss(nn.Module):
        def forward(self, x, target):
            return nn.functional.multilabel_margin_loss(x, target, reduction=reduction)

    program = torchere.export(Loss(), (x, target))
    torch.testing.assert_close(program(x, target), Loss()(x, target), rtol=1e-6, atol=1e-6)
    spoiled = torch.where(x > 0.5, torch.nan, x)
    torch.testing.assert_close(program(spoiled, target), Loss()(spoiled, target), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("strict", [False, True])
def test_a_region_that_is_compiled_once_is_inlined(strict):
    region = getattr(torch.compiler, "nested_compile_region", None)
    if region is None:
        pytest.skip("this torch has no such regions")

    @region
    def once(x, y):
        return x.sin() + y, x * 2

    def twice(x):
        first, second = once(x, x)
        return once(second, first)[0]

    x = torch.randn(3, 4)
    torch.testing.assert_close(torchere.export(twice, (x,), strict=strict)(x), twice(x))


WIDER = {
    "bytes": (torch.ops.aten.mm.default, torch.int8, (5, 3), "_int_mm"),
    "words": (torch.ops.aten.mm.default, torch.int16, (5, 3), "mm"),
    "elements": (torch.ops.aten.mul.Tensor, torch.int8, (4, 5), "mul"),
}


@pytest.mark.parametrize("name", WIDER)
def test_results_of_a_wider_dtype(name):
    from torch._higher_order_ops.out_dtype import out_dtype

    op, dtype, shape, row = WIDER[name]

    class Wider(nn.Module):
        def forward(self, x, y):
            return out_dtype(op, torch.int32, x, y)

    x, y = torch.randint(-128, 127, (4, 5)).to(dtype), torch.randint(-128, 127, shape).to(dtype)
    exported = export(Wider(), (x, y))
    assert any(f"aten.{row}." in op for op in ops(walked(exported)))
    got = torchere.export(exported)(x, y)
    assert got.dtype == torch.int32 and torch.equal(got, Wider()(x, y))
