"""Options of an export: numbers as arguments, metadata, assertions of shapes. The form of the module."""

from __future__ import annotations

import json
import re

import pytest
import torch
from torch import nn
from torch.export import Dim

import torchere
from torchere import _core
from torchere.stablehlo import StableHLOExportOptions, VariableType, exported_program_to_stablehlo


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def capture(function, *args, **options):
    module = function if isinstance(function, nn.Module) else Function(function)
    return torch.export.export(module, args, **options)


def lower(function, *args, **options):
    return exported_program_to_stablehlo(capture(function, *args), StableHLOExportOptions(**options))


def constant_arguments(program):
    (function,) = program._bundle.stablehlo_funcs
    kinds = [location.type_ for location in function.meta.input_locations]
    return [
        signature
        for kind, signature in zip(kinds, function.meta.input_signature, strict=True)
        if kind is VariableType.CONSTANT
    ]


X = torch.tensor([[-1.5, 0.25, 3.0], [2.0, -0.0, 7.0]])


# ---- Python numbers


def test_numbers_are_arguments_but_for_0_and_1():
    program = lower(lambda x: (x - 5) * 1 + 0 + (x - 1), X, inline_all_constant=False)
    text = program.get_stablehlo_text()
    assert re.search(r"%arg0: tensor<f32>, %arg1: tensor<2x3xf32>", text)
    assert "dense<5.000000e+00>" not in text and "dense<1.000000e+00>" in text
    (constant,) = program._bundle.additional_constants
    assert (constant.shape, constant.dtype.name, float(constant)) == ((), "float32", 5.0)
    assert torch.equal(program(X), (X - 5) * 1 + 0 + (X - 1))
    inlined = lower(lambda x: x - 5 - 1, X).get_stablehlo_text()
    assert "dense<5.000000e+00>" in inlined and "tensor<f32>" not in inlined


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda x: torch.clamp(x, -2.0, 2.5), [-2.0, 2.5]),
        (lambda x: x.masked_fill(x > 0.5, -3.0), [0.5, -3.0]),
        (lambda x: torch.where(x > 0, x, 9.0), [9.0]),
        (lambda x: torch.full_like(x, 4.0) + x, [4.0]),
        (lambda x: torch.add(x, x, alpha=3), [3.0]),
        (lambda x: nn.functional.leaky_relu(x, 0.125), [0.125]),
        (lambda x: nn.functional.elu(x, 2.0), [2.0]),
        (lambda x: torch.addmm(x, x[:, :2], x, beta=0.5, alpha=2.0), [2.0, 0.5]),
        (lambda x: x.to(torch.bfloat16) * 1.5 + x.double() / 1.5, [1.5, 1.5]),
        (lambda x: (x * 7, x + 7, x.long() * 7), [7.0, 7]),
    ],
    ids=["clamp", "masked_fill", "where", "full", "alpha", "leaky_relu", "elu", "addmm", "dtypes", "shared"],
)
def test_numbers_of_all_kinds_of_ops_are_arguments(function, values):
    program = lower(function, X, inline_all_constant=False)
    constants = program._bundle.additional_constants
    assert [torch.as_tensor(constant).item() for constant in constants] == values
    assert all(signature.shape == [] for signature in constant_arguments(program))
    expected = function(X)
    torch.testing.assert_close(program(X), expected, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_numbers_in_branches_and_composites(tmp_path):
    class Model(nn.Module):
        def forward(self, x):
            y = torch.cond(x.sum() > 2, lambda x: x * 3, lambda x: x - 4, (x,))
            return nn.functional.gelu(y) * 6

    options = {"inline_all_constant": False}
    program = lower(Model(), X, **options)
    assert sorted(float(value) for value in program._bundle.additional_constants) == [2, 3, 4, 6]
    program.save(tmp_path / "numbers")
    loaded = torchere.load(tmp_path / "numbers")
    for x in (X, -X):
        torch.testing.assert_close(loaded(x), Model()(x))
    exported = _core.export_program(
        torchere.export(Model(), (X,)).program, composites={"gelu"}, inline_numbers=False
    )
    text = exported.text()
    assert 'stablehlo.composite "aten.gelu"' in text and "dense<5.000000e-01>" in text
    assert "dense<6.000000e+00>" not in text


def test_numbers_that_are_sizes_or_exponents_stay():
    program = lower(lambda x: x.reshape(3, 2).sum(1) ** 2 + torch.arange(3), X, inline_all_constant=False)
    assert constant_arguments(program) == []
    assert torch.equal(program(X), X.reshape(3, 2).sum(1) ** 2 + torch.arange(3))


# ---- the module's form


def text_of(function, *args):
    return torchere.export(function, args).get_stablehlo_text()


def test_main_is_public(tmp_path):
    program = torchere.export(Function(torch.sin), (X,))
    assert "func.func public @main(%arg0: tensor<2x3xf32>)" in program.get_stablehlo_text()
    program.save(tmp_path / "sine")
    loaded = torchere.load(tmp_path / "sine")
    assert loaded.get_stablehlo_text() == program.get_stablehlo_text()
    bytecode = program.get_stablehlo_bytecode(target_version="1.0.0")
    assert "func.func public @main(" in _core.deserialize_portable_artifact(bytecode).text()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 + 3,
        lambda x: torch.where(x > 1, x, -1.0),
        lambda x: torch.clamp(x, 2, 3),
        lambda x: nn.functional.leaky_relu(x, 0.5),
        lambda x: x / torch.tensor(3),
        lambda x: torch.full((2, 3), 4.0) + x,
        lambda x: x.mean(1, keepdim=True) + nn.functional.softplus(x),
    ],
    ids=["arithmetic", "where", "clamp", "leaky_relu", "tensor", "full", "mean"],
)
def test_a_number_is_one_splat_constant(function):
    text = torchere.export(Function(function), (X,)).get_stablehlo_text()
    constants = set(re.findall(r"(%\w+) = stablehlo.constant", text))
    for operand in re.findall(r"broadcast_in_dim (%\w+),", text):
        assert operand not in constants, text


def test_with_dynamic_sizes_a_number_is_broadcast():
    exported = torch.export.export(Function(lambda x: x * 2), (X,), dynamic_shapes=(({0: Dim("n")},),))
    program = exported_program_to_stablehlo(exported)
    assert "dynamic_broadcast_in_dim" in program.get_stablehlo_text()
    assert torch.equal(program(X), X * 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.add(x, x, alpha=1),
        lambda x: torch.sub(x, x, alpha=1.0),
        lambda x: torch.rsub(x, 2.0),
        lambda x: torch.addmm(x[0], x[:, :2], x, beta=1, alpha=1),
        lambda x: x * 1 + 1.0 * x + x.long() * 1,
        lambda x: nn.functional.elu(x),
        lambda x: nn.functional.celu(x),
        lambda x: torch.nn.functional.softplus(x),
        lambda x: torch.baddbmm(x[None], x[None, :, :2], x[None]),
    ],
    ids=["add", "sub", "rsub", "addmm", "mul", "elu", "celu", "softplus", "baddbmm"],
)
def test_nothing_is_multiplied_by_1(function):
    program = torchere.export(Function(function), (X,))
    assert "stablehlo.multiply" not in program.get_stablehlo_text()
    torch.testing.assert_close(program(X), function(X))


def test_factors_of_1_keep_what_is_special():
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-40])
    result = torchere.export(Function(lambda x: x * 1.0), (special,))(special)
    assert torch.equal(result.view(torch.int32), special.view(torch.int32))
    value = torch.tensor([complex(float("inf"), 1.0)])
    program = torchere.export(Function(lambda x: x * (1 + 0j)), (value,))
    assert "stablehlo.multiply" in program.get_stablehlo_text()  # it makes NaN of infinity


# ---- metadata


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = self.fc1(x)
        x.add_(1)
        return torch.relu(self.fc2(x))


def metadata_of(text, op):
    """The JSON in the locations of one kind of op, in order."""
    found = re.findall(rf'= {op} .* loc\("((?:[^"\\]|\\.)*)"', text)
    return [json.loads(item.replace(r"\22", '"').replace(r"\\", "\\")) for item in found]


@pytest.mark.parametrize("strict", [False, True])
def test_metadata_has_torchs_keys_beside_ours(strict):
    exported = torch.export.export(Perceptron(), (torch.rand(2, 4),), strict=strict)
    program = exported_program_to_stablehlo(exported, StableHLOExportOptions(export_node_metadata=True))
    first, second = metadata_of(program.get_stablehlo_text(), "stablehlo.dot_general")
    assert first["name"] == "linear" and second["name"] == "linear_1"
    assert first["op"] == "aten.linear.default"
    assert first["module_stack"][-1] == ["fc1", "torch.nn.modules.linear.Linear"]
    assert "x = self.fc1(x)" in first["stack_trace"]
    frames = [frame.split(",") for frame in first["nn_module_stack"].split(";")]
    assert [frame[1:] for frame in frames][1] == ["fc1", "torch.nn.modules.linear.Linear"]
    assert first["torch_fn"] == "linear_1;builtin_function_or_method.linear"
    expected = "linear,torch.nn.modules.linear.Linear" if strict else None
    assert first["source_fn_stack"] == (expected or "linear_1,builtin_function_or_method.linear")
    # In place, which has become a value.
    items = metadata_of(program.get_stablehlo_text(), "stablehlo.add")
    (added, *_) = [item for item in items if "add" in item["op"]]
    assert added["op"] == "aten.add.Tensor" and "nn_module_stack" in added and "torch_fn" in added


def test_metadata_agrees_with_torchs_serializer():
    from torch._export.serde.serialize import GraphModuleSerializer

    exported = torch.export.export(Perceptron(), (torch.rand(2, 4),), strict=True)
    program = exported_program_to_stablehlo(exported, StableHLOExportOptions(export_node_metadata=True))
    serializer = GraphModuleSerializer(exported.graph_signature, exported.module_call_graph)
    theirs = {node.name: serializer.serialize_metadata(node) for node in exported.graph.nodes}
    compared = 0
    for ours in metadata_of(program.get_stablehlo_text(), r"stablehlo\.\w+"):
        for key in ("nn_module_stack", "torch_fn", "source_fn_stack", "stack_trace"):
            if ours["name"] in theirs and key in theirs[ours["name"]]:
                assert ours[key] == theirs[ours["name"]][key]
                compared += 1
    assert compared > 10


def test_metadata_of_expanded_calls_is_the_calls():
    exported = capture(lambda x: torch.nn.functional.huber_loss(x, x + 1), X)
    program = exported_program_to_stablehlo(exported, StableHLOExportOptions(export_node_metadata=True))
    items = metadata_of(program.get_stablehlo_text(), r"stablehlo\.\w+")
    assert items and all("nn_module_stack" in item for item in items)
    assert any("huber_loss" in item["torch_fn"] for item in items)


def test_located_text_is_read_again(tmp_path):
    options = StableHLOExportOptions(export_node_metadata=True)
    program = exported_program_to_stablehlo(capture(Perceptron(), torch.rand(2, 4)), options)
    program.save(tmp_path / "located")
    (tmp_path / "located/functions/forward.bytecode").unlink()
    (tmp_path / "located/manifest.json").unlink()
    loaded = torchere.load(tmp_path / "located")
    assert loaded.get_stablehlo_text() == program.get_stablehlo_text()
    x = torch.rand(2, 4)
    torch.testing.assert_close(loaded(x), program(x))


# ---- write_mlir_debuginfo


def test_debug_information_names_the_op_before_it():
    from torchere.experimental.xla_mlir_debuginfo import write_mlir_debuginfo

    class Model(nn.Module):
        def forward(self, x, y):
            x = x + y
            x = torch.ops.xla.write_mlir_debuginfo(x, "MY_ADD")
            x = write_mlir_debuginfo(x - y, 'a "quoted" name')
            return x, write_mlir_debuginfo(y, "of no op")

    x, y = torch.rand(10), torch.rand(10)
    program = exported_program_to_stablehlo(torch.export.export(Model(), (x, y)))
    text = program.get_stablehlo_text()
    assert re.search(r'stablehlo.add.+"MY_ADD"', text)
    assert re.search(r'stablehlo.subtract.+"a \\22quoted\\22 name"', text)
    assert "of no op" not in text
    assert (
        _core.deserialize_portable_artifact(program.get_stablehlo_bytecode())
        .text(with_locations=True)
        .count("MY_ADD")
    )
    torch.testing.assert_close(program(x, y), Model()(x, y))


def test_debug_information_in_eager_is_the_tensor_with_its_gradient():
    import torchere.experimental.xla_mlir_debuginfo  # noqa: F401

    x = torch.rand(3, requires_grad=True)
    y = torch.ops.xla.write_mlir_debuginfo(x * 2, "twice")
    y.sum().backward()
    assert torch.equal(y, x * 2) and torch.equal(x.grad, torch.full((3,), 2.0))


# ---- assertions of shapes


class Shaped(nn.Module):
    def forward(self, x, y, n=None):
        return x.sum() + y.sum() if n is None else x.sum() * n


def shaped(**options):
    batch = Dim("batch", min=2, max=64)
    shapes = ({0: batch, 1: 8 * Dim("groups", max=4)}, {1: batch}, None)
    return torchere.export(
        Shaped(), (torch.ones(4, 16), torch.ones(3, 4), None), dynamic_shapes=shapes, **options
    )


def test_shapes_are_asserted_when_asked():
    assert "shape_assertion" not in shaped().get_stablehlo_text()
    program = shaped(shape_assertions=True)
    text = program.get_stablehlo_text()
    messages = re.findall(r'custom_call @shape_assertion\(.*error_message = "([^"]*)"', text)
    assert set(messages) >= {
        "[batch] out of range: got {0}, expected at least 2",
        "[batch] out of range: got {0}, expected at most 64",
        "[groups] out of range: got {0}, expected at most 4",
        "[x] dimension 1 has the wrong size: got {0}, expected {1}, which is 8*groups",
        "[y] dimension 1 has the wrong size: got {0}, expected {1}, which is batch",
    }
    for rows, columns in ((4, 16), (64, 32), (2, 24)):
        assert program(torch.ones(rows, columns), torch.ones(3, rows), None) == rows * columns + 3 * rows


REFUSED = [
    ((65, 16), (3, 65), "[batch] out of range: got 65, expected at most 64"),
    ((1, 16), (3, 1), "[batch] out of range: got 1, expected at least 2"),
    ((4, 40), (3, 4), "[groups] out of range: got 5, expected at most 4"),
    ((4, 12), (3, 4), "[x] dimension 1 has the wrong size: got 12, expected 8, which is 8*groups"),
    ((4, 16), (3, 5), "[y] dimension 1 has the wrong size: got 5, expected 4, which is batch"),
]


def asserted():
    bytecode = shaped(shape_assertions=True).get_stablehlo_bytecode()
    return _core.deserialize_portable_artifact(bytecode)


def test_our_refinement_checks_the_assertions():
    module = asserted()
    module.refine_shapes([[4, 16], [3, 4]])
    assert "shape_assertion" not in module.text()
    for x, y, message in REFUSED:
        with pytest.raises(ValueError, match=re.escape(message)):
            asserted().refine_shapes([list(x), list(y)])


def test_jax_refinement_checks_the_assertions():
    from jax._src.lib import _jax
    from jaxlib.mlir import ir

    dynamic = asserted().text().replace("func.func public @main(", "func.func private @inner(")

    def refine(x, y):
        types = [f"tensor<{rows}x{columns}xf32>" for rows, columns in (x, y)]
        text = (
            dynamic.rstrip().removesuffix("}")
            + f"""
          func.func public @main(%x: {types[0]}, %y: {types[1]}) -> tensor<f32> {{
            %a = stablehlo.convert %x : ({types[0]}) -> tensor<?x?xf32>
            %b = stablehlo.convert %y : ({types[1]}) -> tensor<3x?xf32>
            %r = call @inner(%a, %b) : (tensor<?x?xf32>, tensor<3x?xf32>) -> tensor<f32>
            return %r : tensor<f32>
          }} }}"""
        )
        assert ir  # its dialects are registered
        return _jax.mlir.refine_polymorphic_shapes(
            text.encode(), enable_shape_assertions=True, validate_static_shapes=True
        )

    assert refine((4, 16), (3, 4))
    for x, y, message in REFUSED:
        with pytest.raises(Exception, match=re.escape(message)):
            refine(x, y)


def test_ints_are_not_asserted():
    """Their values are not known when shapes are."""

    class Scaled(nn.Module):
        def forward(self, x, n):
            torch._check(n < 100)
            return x * n

    exported = torch.export.export(
        Scaled(), (torch.ones(3), 5), dynamic_shapes=({0: Dim("rows", max=7)}, Dim.DYNAMIC)
    )
    program = exported_program_to_stablehlo(exported, StableHLOExportOptions(shape_assertions=True))
    assert program.get_stablehlo_text().count("shape_assertion") == 1
    assert torch.equal(program(torch.ones(4), 6), torch.full((4,), 6.0))
