"""The exporter: the shape of the functions it writes, and what it says when it cannot."""

from __future__ import annotations

import json
import re

import pytest
import torch

import torchere
from torchere import _core
from torchere.capture import capture
from torchere.errors import Error
from torchere.expansion import Expander

LOWERED = {name for name, _ in _core.operators()}


def functional(module, args, **keywords):
    """The program as it is lowered."""
    exported = torch.export.export(module.eval(), args, **keywords)
    program = capture(exported, expander=Expander(LOWERED))
    _core.functionalize(program)
    return program


def lower(module, args, *, inline_constant_bytes=None, **keywords):
    options = {} if inline_constant_bytes is None else {"inline_constant_bytes": inline_constant_bytes}
    return _core.export_program(functional(module, args, **keywords), **options)


def argument_types(text):
    return re.findall(r"%arg\d+: (tensor<[^>]*>)", text.splitlines()[1])


class Ordered(torch.nn.Module):
    """A user input, a constant, a buffer and a parameter, read in this order; one of each is not read."""

    def __init__(self):
        super().__init__()
        self.register_buffer("buffer", torch.ones(3))
        self.register_buffer("unread_buffer", torch.ones(33))
        self.parameter = torch.nn.Parameter(torch.ones(4, 1))
        self.unread_parameter = torch.nn.Parameter(torch.ones(44))
        self.constant = torch.arange(200.0).reshape(200, 1, 1)

    def forward(self, x, unread):
        return (x + self.constant) * self.buffer + self.parameter


def test_arguments_are_parameters_buffers_constants_then_inputs_that_are_read():
    exported = lower(Ordered(), (torch.ones(1, 3), torch.ones(7)))
    assert argument_types(exported.text()) == [
        "tensor<4x1xf32>",
        "tensor<3xf32>",
        "tensor<200x1x1xf32>",
        "tensor<1x3xf32>",
    ]


def test_a_small_constant_is_part_of_the_module():
    exported = lower(Ordered(), (torch.ones(1, 3), torch.ones(7)), inline_constant_bytes=800)
    assert argument_types(exported.text()) == ["tensor<4x1xf32>", "tensor<3xf32>", "tensor<1x3xf32>"]
    assert "1.990000e+02" in exported.text() or 'stablehlo.constant dense<"0x' in exported.text()


def test_a_bool_constant_and_one_with_strides_keep_their_elements():
    class Constants(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = torch.tensor([True, False, True])
            self.table = torch.arange(6).reshape(2, 3).t()

        def forward(self, x):
            return torch.where(self.mask, x, 0.0), self.table + 1

    text = lower(Constants(), (torch.ones(3),)).text()
    assert "dense<[true, false, true]> : tensor<3xi1>" in text
    assert "dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>" in text


def test_sizes_are_computed_once_at_the_entry():
    class Dynamic(torch.nn.Module):
        def forward(self, x, y):
            return torch.zeros_like(x) + 1.0, x.reshape(-1) * 2.0, torch.cat([x, y]) + 3.0

    batch = torch.export.Dim("batch")
    dims = {"x": {0: batch}, "y": {0: 2 * batch}}
    text = lower(Dynamic(), (torch.ones(4, 6), torch.ones(8, 6)), dynamic_shapes=dims).text()
    assert text.count("stablehlo.get_dimension_size") == 1
    body = text.splitlines()[2:]
    first_dynamic = next(i for i, line in enumerate(body) if "dynamic_" in line)
    assert all("get_dimension_size" not in line for line in body[first_dynamic:])


def test_a_symbol_is_solved_from_a_multiple():
    class Half(torch.nn.Module):
        def forward(self, x):
            return x.reshape(-1, 2) + 1.0

    text = lower(Half(), (torch.ones(8),), dynamic_shapes={"x": {0: 2 * torch.export.Dim("half")}}).text()
    assert "tensor<?xf32>) -> tensor<?x2xf32>" in text


def test_a_size_is_an_output():
    class Size(torch.nn.Module):
        def forward(self, x):
            return x.shape[0] * 2 + 1, x + 1.0

    text = lower(Size(), (torch.ones(5),), dynamic_shapes={"x": {0: torch.export.Dim("n")}}).text()
    assert "-> (tensor<i64>, tensor<?xf32>)" in text


def test_mutated_buffers_come_first_among_the_results():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            self.steps.add_(1)
            return x * self.steps

    text = lower(Counter(), (torch.ones(2),)).text()
    assert "-> (tensor<i64>, tensor<2xf32>)" in text


def test_locations_hold_the_module_path_and_the_source_line():
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x.tanh()

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    text = lower(Outer(), (torch.ones(2),)).text(with_locations=True)
    assert re.search(r'loc\("inner"\(.*\)', text)
    assert re.search(r'exporter_test\.py":\d+', text)


def test_one_error_lists_every_op_without_a_row():
    class Missing(torch.nn.Module):
        def forward(self, x):
            a = torch.special.airy_ai(x).abs()
            b = torch.special.airy_ai(x + 1).abs()
            return a + b + torch.linalg.ldl_factor(x)[0]

    with pytest.raises(Error) as caught:
        lower(Missing(), (torch.eye(3),))
    text = str(caught.value)
    assert text.startswith("[export] 2 ops of this program cannot be lowered yet:")
    assert re.search(r"\n  aten\.special_airy_ai\.default: 2 uses, first at .*exporter_test\.py:\d+", text)
    assert re.search(r"\n  aten\.linalg_ldl_factor\.default: 1 use, first at .*exporter_test\.py:\d+", text)


def test_native_dropout_without_a_word_on_training_is_training():
    """As in eager mode; where it is evaluation, or p is 0, it is its input."""

    class Dropout(torch.nn.Module):
        def __init__(self, p, train):
            super().__init__()
            self.arguments = p, train

        def forward(self, x):
            return torch.native_dropout(x, *self.arguments)[0]

    for train in (None, True):
        assert "stablehlo.shift_left" in lower(Dropout(0.5, train), (torch.ones(3),)).text()
        assert "return %arg0" in lower(Dropout(0.0, train), (torch.ones(3),)).text()
    assert "return %arg0" in lower(Dropout(0.5, False), (torch.ones(3),)).text()


def test_an_op_that_nothing_reads_may_lack_a_row():
    class Dead(torch.nn.Module):
        def forward(self, x):
            torch.special.airy_ai(x)
            return x + 1

    assert "stablehlo.add" in lower(Dead(), (torch.eye(3),)).text()


def test_an_error_of_a_lowering_names_op_argument_and_line():
    class Mean(torch.nn.Module):
        def forward(self, x):
            index = torch.tensor([0, 0, 1])
            return x.scatter_reduce(0, index, x, reduce="mean")

    with pytest.raises(Error) as caught:
        lower(Mean(), (torch.ones(3, dtype=torch.int64),))
    assert re.fullmatch(
        r"\[aten\.scatter_reduce\.two\] the mean of integers is not supported: got int64, expected a "
        r"floating-point dtype; at .*exporter_test\.py:\d+.*",
        str(caught.value),
    )


def test_two_exports_give_the_same_text():
    def once():
        torch.manual_seed(0)
        return lower(Ordered(), (torch.ones(1, 3), torch.ones(7))).text(with_locations=True)

    assert once() == once()


@torch.library.custom_op("torchere_exporter_test::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float, others: list[torch.Tensor]) -> torch.Tensor:
    return x * factor + sum(others)


@scaled.register_fake
def _(x, factor, others):
    return torch.empty_like(x)


class Custom(torch.nn.Module):
    def forward(self, x, y):
        return torch.ops.torchere_exporter_test.scaled(x, 2.5, [y, y]) + 1.0


def test_a_custom_op_is_a_custom_call_where_its_namespace_is_allowed():
    program = functional(Custom(), (torch.ones(3), torch.ones(3)))
    with pytest.raises(Error, match=r"torchere_exporter_test\.scaled\.default: 1 use") as caught:
        _core.export_program(program)
    assert 'custom_ops_allowed_in_graph={"torchere_exporter_test"}' in str(caught.value)
    text = _core.export_program(program, custom_op_namespaces={"torchere_exporter_test"}).text()
    assert re.search(
        r"stablehlo\.custom_call @torchere_exporter_test\.scaled\.default\(%arg0, %arg1, %arg1\) "
        r'\{backend_config = "\{\\22factor\\22:2\.5\}"\} : '
        r"\(tensor<3xf32>, tensor<3xf32>, tensor<3xf32>\) -> tensor<3xf32>",
        text,
    )


def test_a_custom_op_may_be_decomposed_as_the_error_says():
    x, y = torch.randn(3), torch.randn(3)
    op = torch.ops.torchere_exporter_test.scaled.default
    decompositions = {op: lambda x, factor, others: x * factor + sum(others)}
    program = torchere.export(Custom(), (x, y), decompositions=decompositions)
    torch.testing.assert_close(program(x, y), Custom()(x, y))


def test_node_metadata_is_json_in_the_location():
    program = functional(Ordered(), (torch.ones(1, 3), torch.ones(7)))
    text = _core.export_program(program, node_metadata={}).text(with_locations=True)
    names = [json.loads(name.encode().decode("unicode_escape")) for name in metadata_names(text)]
    assert [entry["op"] for entry in names] == ["aten.add.Tensor", "aten.mul.Tensor", "aten.add.Tensor"]
    assert all("exporter_test.py" in entry["stack_trace"] for entry in names)


def metadata_names(text):
    """The NameLocs that hold JSON, unescaped from MLIR's \\22 for quotes and \\0A for ends of lines."""
    found = re.findall(r'loc\("(\{.*?\})"\(', text)
    return [re.sub(r"\\([0-9A-F]{2})", lambda code: "\\x" + code[1], name) for name in found]
