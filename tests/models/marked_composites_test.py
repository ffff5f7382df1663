"""Composites that a model marks itself, with StableHLOCompositeBuilder."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import time

import pytest
import torch
import torch.nn.functional as F
from judged_engines import assert_same, assert_same_everywhere, verified_by_jaxlib
from torch import nn
from torch.export import Dim

import torchere
from torchere.errors import CaptureError, InvalidArgumentError
from torchere.experimental import xla_marker
from torchere.experimental.mark_pattern_utils import StableHLOCompositeBuilder

COMPOSITE = re.compile(r'stablehlo\.composite "([^"]+)" (.*?) \{(.*)\} : \((.*)\) -> (.*)')


def composites(text: str) -> list[tuple[str, int, int, str]]:
    """(name, number of operands, number of results, attributes) of each, in order."""
    found = []
    for name, operands, attributes, _, results in COMPOSITE.findall(text):
        count = len(operands.split(","))
        found.append((name, count, results.count("tensor<"), attributes))
    return found


def implementations(text: str) -> list[str]:
    return re.findall(r"func\.func private @(\S+?)\(", text)


def body(text: str, function: str) -> str:
    return text.split(f"@{function}(", 1)[1].split("func.func", 1)[0]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.projections = nn.ModuleList(nn.Linear(16, 16, bias=False) for _ in range(3))
        self.b = StableHLOCompositeBuilder("test.sdpa", {"scale": 0.25, "other_attr": "val"})

    def forward(self, x):
        q, k, v = self.b.mark_inputs(*(projection(x) for projection in self.projections))
        out = F.scaled_dot_product_attention(q, k, v, scale=0.25)
        return self.b.mark_outputs(out) + x


def values(*shape: int) -> torch.Tensor:
    count = torch.Size(shape).numel()
    return torch.sin(torch.arange(count, dtype=torch.float32) * 1.7).reshape(shape)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dynamic_shapes", [None, ({0: Dim("batch"), 1: Dim("length")},)])
def test_attention_as_in_pytorch_xlas_guide(strict, dynamic_shapes, tmp_path):
    model = Attention()
    exported = torch.export.export(model, (values(2, 5, 16),), dynamic_shapes=dynamic_shapes, strict=strict)
    program = torchere.stablehlo.exported_program_to_stablehlo(exported)
    text = program.get_stablehlo_text()
    attributes = 'composite_attributes = {other_attr = "val", scale = 2.500000e-01 : f32}, '
    assert composites(text) == [("test.sdpa", 3, 1, attributes + "decomposition = @test.sdpa.impl")]
    assert implementations(text) == ["test.sdpa.impl"]
    assert "stablehlo.exponential" in body(text, "test.sdpa.impl")
    assert "stablehlo.exponential" not in body(text, "main")
    calls = [(values(2, 5, 16),)] + ([(values(3, 2, 16),)] if dynamic_shapes else [])
    assert_same_everywhere(program, model, calls, tmp_path / "saved")


def as_module(function):
    return type("Model", (nn.Module,), {"forward": function})()


def export(function, *inputs, **options):
    return torchere.export(as_module(function), inputs, **options)


def test_attributes_of_every_type():
    attributes = {
        "int": -3,
        "float": 2.3,
        "inf": float("inf"),
        "yes": True,
        "text": 'a "b"\n',
        "ints": [1, 2, 3],
        "floats": [1.0, 1.5],
        "bools": (True, False),
        "texts": ["a", "b"],
        "nested": [[1], ["x"]],
        "empty": [],
    }

    def forward(self, x):
        b = StableHLOCompositeBuilder("test.op", attributes)
        return b.mark_outputs(b.mark_inputs(x) + 1)

    program = export(forward, values(3))
    text = program.get_stablehlo_text()
    (found,) = re.findall(r"composite_attributes = \{(.*)\}, decomposition", text)
    assert found == (
        "bools = dense<[true, false]> : tensor<2xi1>, empty = [], float = 2.300000e+00 : f32, "
        "floats = dense<[1.000000e+00, 1.500000e+00]> : tensor<2xf32>, inf = 0x7F800000 : f32, "
        "int = -3 : i64, ints = dense<[1, 2, 3]> : tensor<3xi64>, "
        'nested = [dense<1> : tensor<1xi64>, ["x"]], text = "a \\22b\\22\\0A", texts = ["a", "b"], yes = true'
    )
    assert verified_by_jaxlib(text)


class Forms:
    """Each form of a composite: forward, its inputs, and [(name, operands, results)] of the composites."""

    @staticmethod
    def several_inputs_and_outputs(self, x, y):
        b = StableHLOCompositeBuilder("test.several")
        x, y = b.mark_inputs(x, y)
        first, second, third = b.mark_outputs(x + y, x - y, x)
        return first * second + third

    @staticmethod
    def several_of_one_name(self, x, y):
        for scale in (1.0, 2.0, 3.0):
            b = StableHLOCompositeBuilder("test.scaled", {"scale": scale})
            x = b.mark_outputs(b.mark_inputs(x) * scale) + y
        return x

    @staticmethod
    def one_builder_several_times(self, x, y):
        b = StableHLOCompositeBuilder("test.again")
        for _ in range(2):
            x, z = b.mark_inputs(x, y)
            x = b.mark_outputs(x.sin() + z)
        return x

    @staticmethod
    def nested(self, x, y):
        outer = StableHLOCompositeBuilder("test.outer")
        inner = StableHLOCompositeBuilder("test.inner")
        x, z = outer.mark_inputs(x, y)
        h = inner.mark_outputs(inner.mark_inputs(x * 2).cos())
        return outer.mark_outputs(h + z + x)

    @staticmethod
    def nested_with_one_builder(self, x, y):
        b = StableHLOCompositeBuilder("test.twice")
        x = b.mark_inputs(x)
        z = b.mark_outputs(b.mark_inputs(x * 2).cos())
        return b.mark_outputs(z + x) + y

    @staticmethod
    def nested_without_work_between(self, x, y):
        outer = StableHLOCompositeBuilder("test.outer")
        inner = StableHLOCompositeBuilder("test.inner")
        x = inner.mark_inputs(outer.mark_inputs(x))
        return outer.mark_outputs(inner.mark_outputs(x * y))

    @staticmethod
    def ends_in_another_order(self, x, y):
        first = StableHLOCompositeBuilder("test.first")
        second = StableHLOCompositeBuilder("test.second")
        x = second.mark_inputs(first.mark_inputs(x))
        return second.mark_outputs(first.mark_outputs(x * y))

    @staticmethod
    def captured_and_read_twice(self, x, y):
        mask = x > y
        b = StableHLOCompositeBuilder("test.masked")
        z = b.mark_inputs(x)
        return b.mark_outputs(torch.where(mask, z, y)) + mask

    @staticmethod
    def an_input_that_is_not_read(self, x, y):
        b = StableHLOCompositeBuilder("test.unread")
        x, y = b.mark_inputs(x, y)
        return b.mark_outputs(x + 1)

    @staticmethod
    def an_output_that_is_not_read(self, x, y):
        b = StableHLOCompositeBuilder("test.unread")
        x, y = b.mark_inputs(x, y)
        out, _ = b.mark_outputs(x + 1, y.sum())
        return out

    @staticmethod
    def a_tensor_marked_twice(self, x, y):
        b = StableHLOCompositeBuilder("test.twice")
        x, z = b.mark_inputs(x, x)
        out = x * z
        return b.mark_outputs(out, out)

    @staticmethod
    def an_output_that_is_an_input(self, x, y):
        b = StableHLOCompositeBuilder("test.identity")
        return b.mark_outputs(b.mark_inputs(x)) + y

    @staticmethod
    def read_outside(self, x, y):
        b = StableHLOCompositeBuilder("test.leaking")
        z = b.mark_inputs(x)
        hidden, kept = z.sin(), z * 3
        return b.mark_outputs(hidden + y), hidden, kept

    @staticmethod
    def lists_inside_and_outside(self, x, y):
        first, second = x.split([1, 2], 1)
        b = StableHLOCompositeBuilder("test.lists")
        z = b.mark_inputs(second)
        largest, places = z.max(1)
        return b.mark_outputs(largest + first[:, 0]), places

    @staticmethod
    def in_place_after_marks(self, x, y):
        b = StableHLOCompositeBuilder("test.in_place")
        z = b.mark_inputs(x)
        z.add_(1)
        out = b.mark_outputs(z)
        out.mul_(2)
        z[0] = 7
        return out, z, x

    @staticmethod
    def views_across_marks(self, x, y):
        row = x[0]
        b = StableHLOCompositeBuilder("test.views")
        z = b.mark_inputs(row)
        x[0, 1] = 5
        out = b.mark_outputs(z + x[0])
        x.zero_()
        return out, row

    @staticmethod
    def branches_and_loops(self, x, y):
        b = StableHLOCompositeBuilder("test.flow", {"n": 1})

        def then(x, y):
            inner = StableHLOCompositeBuilder("test.branch")
            return inner.mark_outputs(inner.mark_inputs(x) * y)

        z = b.mark_inputs(x)
        z = torch.cond(z.sum() > 0, then, lambda x, y: x - y, (z, y))
        return b.mark_outputs(z * 2)

    @staticmethod
    def numbers_that_are_read_from_tensors(self, x, y):
        number = y[0, 0].item()
        b = StableHLOCompositeBuilder("test.numbers")
        z = b.mark_inputs(x)
        own = z[0, 1].item()
        return b.mark_outputs(z * (number * 2) + own), own * 3


EXPECTED = {
    "several_inputs_and_outputs": [("test.several", 2, 3)],
    "several_of_one_name": [("test.scaled", 1, 1)] * 3,
    "one_builder_several_times": [("test.again", 2, 1)] * 2,
    "nested": [("test.outer", 2, 1), ("test.inner", 1, 1)],
    "nested_with_one_builder": [("test.twice", 1, 1), ("test.twice", 1, 1)],
    "nested_without_work_between": [("test.outer", 2, 1), ("test.inner", 2, 1)],
    "ends_in_another_order": [("test.second", 3, 1), ("test.first", 2, 1)],
    "captured_and_read_twice": [("test.masked", 3, 1)],
    "an_input_that_is_not_read": [("test.unread", 2, 1)],
    "an_output_that_is_not_read": [("test.unread", 2, 2)],
    "a_tensor_marked_twice": [("test.twice", 2, 2)],
    "an_output_that_is_an_input": [("test.identity", 1, 1)],
    "read_outside": [("test.leaking", 2, 2)],
    "lists_inside_and_outside": [("test.lists", 2, 2)],
    "in_place_after_marks": [("test.in_place", 1, 2)],
    "views_across_marks": [("test.views", 2, 2)],
    "branches_and_loops": [("test.flow", 2, 1), ("test.branch", 2, 1)],
    "numbers_that_are_read_from_tensors": [("test.numbers", 2, 2)],
}


@pytest.mark.parametrize("form", EXPECTED)
def test_each_form(form, tmp_path):
    module = as_module(getattr(Forms, form))
    inputs = (values(2, 3), values(2, 3).cos())
    program = torchere.export(module, tuple(tensor.clone() for tensor in inputs))
    text = program.get_stablehlo_text()
    assert [found[:3] for found in composites(text)] == EXPECTED[form]
    assert len(implementations(text)) == len(EXPECTED[form])
    program.save(tmp_path / "saved")
    loaded = torchere.load(tmp_path / "saved")
    assert verified_by_jaxlib(text)
    expected_inputs = tuple(tensor.clone() for tensor in inputs)
    expected = module(*expected_inputs)
    for run in (program, loaded):
        given = tuple(tensor.clone() for tensor in inputs)
        assert_same(run(*given), expected)
        assert_same(given, expected_inputs)


def test_functions_of_one_name_are_numbered():
    text = export(Forms.several_of_one_name, values(2, 3), values(2, 3)).get_stablehlo_text()
    assert implementations(text) == ["test.scaled.impl", "test.scaled.impl_0", "test.scaled.impl_1"]
    for scale, function in (("1", ""), ("2", "_0"), ("3", "_1")):
        assert f"scale = {scale}.000000e+00 : f32}}, decomposition = @test.scaled.impl{function}}}" in text


class WithState(nn.Module):
    """Parameters marked and not; a buffer written inside; one written beside what is computed."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.linear = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("cache", torch.zeros(3, 4))
        self.b = StableHLOCompositeBuilder("test.state")

    def forward(self, x, place):
        weight, x = self.b.mark_inputs(self.linear.weight, x)
        h = self.norm(F.linear(x, weight, self.linear.bias))
        self.total.add_(h.detach().abs().sum(0))
        self.cache.index_copy_(0, place, h[:1].detach())
        out = self.b.mark_outputs(h + self.cache.sum(0))
        return out * self.total


@pytest.mark.parametrize("training", [True, False])
def test_parameters_and_writes_to_buffers(training, tmp_path):
    module = WithState().train(training)
    inputs = (values(5, 4), torch.tensor([1]))
    program = torchere.export(copy.deepcopy(module), inputs)
    text = program.get_stablehlo_text()
    ((name, _, _, _),) = composites(text)
    assert name == "test.state"
    assert "stablehlo.composite" in body(text, "main")
    assert "stablehlo.dot_general" not in body(text, "main")
    assert verified_by_jaxlib(text)
    program.save(tmp_path / "saved")
    loaded = torchere.load(tmp_path / "saved")
    with torch.no_grad():
        for place in (0, 2):
            inputs = (values(5, 4) * (place + 1), torch.tensor([place]))
            expected = module(*inputs)
            assert_same(program(*inputs), expected)
            assert_same(loaded(*inputs), expected)
    for buffer, value in module.named_buffers():
        torch.testing.assert_close(torch.as_tensor(program.state_dict()[buffer]), value, atol=1e-5, rtol=1e-5)


def test_random_numbers_are_those_drawn_without_marks():
    def plain(self, x):
        return F.dropout(torch.rand_like(x) + F.dropout(x, 0.5), 0.25)

    def marked(self, x):
        b = StableHLOCompositeBuilder("test.random")
        noise = torch.rand_like(x)
        x = b.mark_inputs(x)
        return F.dropout(noise + b.mark_outputs(F.dropout(x, 0.5)), 0.25)

    programs = [export(forward, values(4, 5)) for forward in (plain, marked)]
    for _ in range(2):
        first, second = (program(values(4, 5)) for program in programs)
        assert torch.equal(first, second)
    assert [found[:3] for found in composites(programs[1].get_stablehlo_text())] == [("test.random", 2, 2)]


def test_sizes_that_no_operand_has_are_passed(tmp_path):
    def forward(self, x, y):
        b = StableHLOCompositeBuilder("test.sizes")
        z = b.mark_inputs(x)
        return b.mark_outputs(z[:, None].expand(-1, y.shape[0] * 2).sum(0) + z.shape[0])

    module = as_module(forward)
    dims = ({0: Dim("n")}, {0: Dim("m")})
    program = torchere.export(module, (values(3), values(4)), dynamic_shapes=dims)
    text = program.get_stablehlo_text()
    assert [found[:3] for found in composites(text)] == [("test.sizes", 2, 1)]
    assert "get_dimension_size %arg0" in body(text, "test.sizes.impl")
    calls = [(values(3), values(4)), (values(2), values(7)), (values(5), values(1))]
    assert_same_everywhere(program, module, calls, tmp_path / "saved")


def test_gradients_pass_marks():
    x = values(3).requires_grad_()
    (
        Attention()(values(1, 2, 16)).sum() + torch.ops.xla.mark_tensor(x * 2, "a.b", 0, "0", True).sum()
    ).backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))


def test_marks_outlive_decomposition_and_torchs_own_format(tmp_path):
    model = Attention()
    exported = torch.export.export(model, (values(2, 5, 16),)).run_decompositions()
    torch.export.save(exported, tmp_path / "model.pt2")
    program = torchere.export(torch.export.load(tmp_path / "model.pt2"))
    assert [found[:3] for found in composites(program.get_stablehlo_text())] == [("test.sdpa", 3, 1)]
    with torch.no_grad():
        assert_same(program(values(2, 5, 16)), model(values(2, 5, 16)))


def marks(self, x, y):
    mark = torch.ops.xla.mark_tensor
    x = mark(x, "test.p", pos=0, id="0", is_input=True)
    y = mark(y, "test.p", pos=1, id="0", is_input=True)
    attr = xla_marker.serialize_composite_attr({"scale": 2})
    first = mark(x + y, "test.p", pos=0, id="0", is_input=False, attr=attr)
    return first, mark(x * y, "test.p", pos=1, id="0", is_input=False, attr=attr)


def test_the_op_itself():
    program = export(marks, values(2), values(2) + 1)
    (found,) = composites(program.get_stablehlo_text())
    attributes = "composite_attributes = {scale = 2 : i64}, decomposition = @test.p.impl"
    assert found == ("test.p", 2, 2, attributes)


class Wrong:
    """What is refused, each with its error."""

    @staticmethod
    def no_outputs(self, x):
        return StableHLOCompositeBuilder("test.wrong").mark_inputs(x) + 1

    @staticmethod
    def no_inputs(self, x):
        return StableHLOCompositeBuilder("test.wrong").mark_outputs(x + 1)

    @staticmethod
    def a_cycle(self, x):
        mark = torch.ops.xla.mark_tensor
        z = mark(x, "test.wrong", 0, "0", True)
        out = mark(z + 1, "test.wrong", 0, "0", False)
        other = mark(out * 2, "test.wrong", 1, "0", True)
        return mark(other + z, "test.wrong", 1, "0", False)

    @staticmethod
    def a_gap(self, x):
        mark = torch.ops.xla.mark_tensor
        return mark(mark(x, "test.wrong", 1, "0", True) + 1, "test.wrong", 0, "0", False)

    @staticmethod
    def no_namespace(self, x):
        b = StableHLOCompositeBuilder("wrong")
        return b.mark_outputs(b.mark_inputs(x) + 1)

    @staticmethod
    def in_another_graph(self, x):
        b = StableHLOCompositeBuilder("test.wrong")
        x = b.mark_inputs(x)
        return torch.cond(x.sum() > 0, lambda x: b.mark_outputs(x + 1), lambda x: x - 1, (x,))

    @staticmethod
    def an_attribute(self, x):
        mark = torch.ops.xla.mark_tensor
        z = mark(x, "test.wrong", 0, "0", True)
        return mark(z + 1, "test.wrong", 0, "0", False, '{"bad": null}')


ERRORS = {
    "no_outputs": "[test.wrong] the composite's outputs are never marked: got 1 marked input, expected "
    "mark_outputs() of the same builder in the same graph; at ",
    "no_inputs": "[test.wrong] an output of the composite is marked, and no input: got a mark of output 0, "
    "expected mark_inputs() before mark_outputs(); at ",
    "a_cycle": "[test.wrong] a cycle: output 0 of the composite is read by 'mul' before all its inputs and "
    "outputs are marked; expected one call of mark_inputs() and, after it, one of mark_outputs(); at ",
    "a_gap": "[test.wrong] input 0 of the composite is not marked: got a mark of input 1; at ",
    "no_namespace": "[wrong] the composite's name: got 'wrong', expected a name in a namespace, such as "
    "'my_namespace.my_op'; at ",
    "in_another_graph": "[test.wrong] an output of the composite is marked, and no input: got a mark of "
    "output 0, expected mark_inputs() before mark_outputs(); at ",
    "an_attribute": "[test.wrong] attribute 'bad' of the composite has an unsupported type: got null, "
    "expected int, float, str, bool or a list of them; at ",
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_name_the_composite_and_the_line(case):
    with pytest.raises(InvalidArgumentError) as caught:
        export(getattr(Wrong, case), values(3))
    message = str(caught.value)
    if case == "in_another_graph":  # which of the two graphs is reported is not said
        assert message.startswith("[test.wrong] ")
    else:
        assert message.startswith(ERRORS[case])
    assert "marked_composites_test.py:" in message


def test_an_attribute_that_no_composite_holds_is_refused_where_it_is_given():
    message = (
        "[test.op] attribute 'mask' of the composite has an unsupported type: got tensor([1]) of type "
        "Tensor, expected int, float, str, bool or a list of them"
    )
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        StableHLOCompositeBuilder("test.op", {"mask": torch.tensor([1])})

    def forward(self, x):
        return StableHLOCompositeBuilder("test.op", {"mask": x}).mark_inputs(x)

    with pytest.raises((CaptureError, InvalidArgumentError), match="attribute 'mask' of the composite"):
        export(forward, values(1))


def test_only_tensors_are_marked():
    with pytest.raises(ValueError, match=re.escape("[test.op] input 1 of the composite: got int, expected")):
        StableHLOCompositeBuilder("test.op").mark_inputs(values(1), 2)


def test_deep_models_take_time_by_their_size():
    def layers(count):
        def forward(self, x):
            mask = x > 0
            for _ in range(count):
                b = StableHLOCompositeBuilder("test.layer")
                z, y = b.mark_inputs(x, x * 2)
                x = b.mark_outputs(torch.where(mask, z.sin(), y))
            return x

        exported = torch.export.export(as_module(forward), (values(2),))
        begin = time.process_time()
        program = torchere.export(exported)
        return time.process_time() - begin, program

    layers(10)
    small, _ = layers(20)
    large, program = layers(200)
    assert large < 10 * 3 * max(small, 0.01)
    assert program.get_stablehlo_text().count("stablehlo.composite ") == 200


def test_inspect_lists_them(tmp_path):
    export(Forms.several_of_one_name, values(2, 3), values(2, 3)).save(tmp_path / "saved")
    command = [sys.executable, "-m", "torchere", "inspect", str(tmp_path / "saved")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "composites" in shown
    assert re.search(r"1\s+test\.scaled\s+scale = 1\.000000e\+00 : f32", shown)
    shown = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    (function,) = json.loads(shown)["functions"]
    assert function["composites"][0] == {
        "name": "test.scaled",
        "attributes": "scale = 1.000000e+00 : f32",
        "count": 1,
    }


def test_older_versions_of_stablehlo_get_calls(tmp_path):
    program = export(Forms.nested, values(2, 3), values(2, 3), target_version="0.18.0")
    program.save(tmp_path / "saved")
    assert_same(
        torchere.load(tmp_path / "saved")(values(2, 3), values(2, 3)), program(values(2, 3), values(2, 3))
    )
