"""The user's own ops: calls stated field by field, kernels for key XLA, and registered lowerings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.library import Library, impl

import torchere
from torchere.errors import AlreadyExistsError, CaptureError, Error, InvalidArgumentError, UnimplementedError
from torchere.experimental.stablehlo_custom_call import (
    extract_custom_call_outputs_shape_dtype,
    place_to_device,
    place_to_host,
    stablehlo_custom_call,
)
from torchere.interpreter import interpret
from torchere.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo

LIBRARY = Library("custom_ops_test", "DEF")
ROOT = Path(__file__).resolve().parents[2]


def define(schema: str, fake=torch.empty_like, eager=None, xla=None):
    """An op of the tests' own."""
    LIBRARY.define(schema)
    name = schema.partition("(")[0]
    impl(LIBRARY, name, "Meta")(fake)
    if eager:
        impl(LIBRARY, name, "CPU")(eager)
    if xla:
        impl(LIBRARY, name, "XLA")(xla)
    return getattr(torch.ops.custom_ops_test, name)


def as_module(function):
    return type("Model", (nn.Module,), {"forward": lambda self, *inputs: function(*inputs)})()


def verified_by_jaxlib(text: str) -> bool:
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.verify()


def text_of(function, *inputs, **options) -> str:
    text = torchere.export(as_module(function), inputs, **options).get_stablehlo_text()
    assert verified_by_jaxlib(text)
    return text


@pytest.mark.parametrize("strict", [False, True])
def test_a_call_has_just_the_fields_that_are_stated(strict):
    def forward(x):
        first, second = stablehlo_custom_call(
            (x, x), "two", [x.shape, (2,)], [torch.float32, torch.int32], False, "config", 2, {"a": "b"}
        )
        return first, second

    assert (
        "stablehlo.custom_call @two(%arg0, %arg0) {api_version = 2 : i32, backend_config = "
        '"config", mhlo.frontend_attributes = {a = "b"}} : (tensor<3x3xf32>, tensor<3x3xf32>) -> '
        "(tensor<3x3xf32>, tensor<2xi32>)"
    ) in text_of(forward, torch.randn(3, 3), strict=strict)


def test_the_defaults():
    text = text_of(lambda x: stablehlo_custom_call([x], "one", [x.shape], [x.dtype]), torch.randn(3))
    assert 'custom_call @one(%arg0) {api_version = 0 : i32, backend_config = ""} :' in text


def test_calls_with_an_effect_stay_where_nothing_reads_them():
    def forward(x):
        stablehlo_custom_call([x], "effect", [x.shape], [x.dtype], has_side_effect=True)
        stablehlo_custom_call([x], "no_results", [], [], True)
        stablehlo_custom_call([x], "dropped", [x.shape], [x.dtype])
        return x + 1

    text = text_of(forward, torch.randn(3))
    assert "custom_call @effect(%arg0)" in text
    assert "custom_call @no_results(%arg0)" in text
    assert "has_side_effect = true} : (tensor<3xf32>) -> ()" in text
    assert "dropped" not in text


def test_the_attributes_of_a_typed_call():
    def forward(x):
        config = '{"k": 2, "s": "t", "f": 1.5, "b": true}'
        return stablehlo_custom_call([x], "typed", [x.shape], [x.dtype], False, config, 4)

    assert (
        '{api_version = 4 : i32, backend_config = {b = true, f = 1.500000e+00 : f32, k = 2 : i64, s = "t"}}'
    ) in text_of(forward, torch.randn(3))


def test_fields_that_no_call_has():
    def call(*fields):
        return lambda x: stablehlo_custom_call([x], "target", [x.shape], [x.dtype], False, *fields)

    for fields, message in (
        (("", 7), "[stablehlo_custom_call] api_version of 'target': got 7, expected 0 to 4"),
        (
            ("x", 4),
            "[stablehlo_custom_call] backend_config of 'target', whose api_version is 4: got x",
        ),
    ):
        with pytest.raises(InvalidArgumentError, match=re.escape(message)):
            torchere.export(as_module(call(*fields)), (torch.randn(3),))
    message = "[stablehlo_custom_call] 'target' is called in eager mode"
    with pytest.raises(UnimplementedError, match=re.escape(message)):
        call()(torch.randn(3))


def test_dynamic_sizes_and_the_results_of_a_node():
    def forward(x):
        return stablehlo_custom_call([x], "dynamic", [(x.shape[0], 2)], [torch.int8])

    text = text_of(forward, torch.randn(3, 3), dynamic_shapes=(({0: Dim("n")},),))
    assert "indices_of_shape_operands = dense<1> : tensor<1xi64>" in text
    assert ": (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x2xi8>" in text
    exported = torch.export.export(as_module(forward), (torch.randn(3, 3),))
    (node,) = exported.graph.find_nodes(
        op="call_function", target=torch.ops.xla.stablehlo_custom_call.default
    )
    assert extract_custom_call_outputs_shape_dtype(node) == (((3, 2),), (torch.int8,))


def test_places():
    x = torch.randn(3, requires_grad=True)
    (place_to_device(place_to_host(x) * 2)).sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))

    def forward(x):
        return torch.ops.xla.place_to_device(torch.ops.xla.place_to_host(x) * 2)

    text = text_of(forward, torch.randn(3))
    for place in ("pinned_host", "device"):
        assert re.search(
            r"custom_call @annotate_device_placement\(%\w+\) \{api_version = 0 : i32, backend_config = \"\", "
            rf'has_side_effect = true, mhlo.frontend_attributes = \{{_xla_buffer_placement = "{place}"\}}\}}',
            text,
        )


@pytest.mark.usefixtures("on_engine_and_xla")
def test_places_run_at_every_size():
    module = as_module(lambda x: place_to_device(place_to_host(x.sin()) * 2))
    program = torchere.export(module, (torch.randn(3),), dynamic_shapes=(({0: Dim("n")},),))
    for count in (3, 5):
        x = torch.randn(count)
        torch.testing.assert_close(program(x), module(x))


def test_a_namespace_whose_ops_are_kept():
    op = define("kept(Tensor x, int n) -> Tensor", lambda x, n: torch.empty_like(x))
    options = torchere.stablehlo.StableHLOExportOptions()
    options.custom_ops_allowed_in_graph.add("custom_ops_test")
    exported = torch.export.export(as_module(lambda x: op(x.sin(), 3)), (torch.randn(3),))
    text = torchere.stablehlo.exported_program_to_stablehlo(exported, options).get_stablehlo_text()
    assert re.search(
        r"stablehlo\.custom_call @custom_ops_test\.kept\.default\(%\w+\) "
        r"\{backend_config = \"\{\\22n\\22:3\}\"",
        text,
    )


def test_a_kernel_for_key_xla_is_traced():
    def kernel(x, scale):
        call = stablehlo_custom_call((x + 1,), "kernel", [x.shape[1:]], [torch.int8], True, "config", 1)
        return call * scale

    op = define(
        "traced(Tensor x, int scale) -> Tensor",
        lambda x, scale: torch.empty(x.shape[1:], dtype=torch.int8, device="meta"),
        xla=kernel,
    )
    text = text_of(lambda x: torch.cos(op(torch.sin(x), 3)), torch.randn(3, 3))
    assert re.search(
        r'custom_call @kernel\(%\w+\) \{backend_config = "config", has_side_effect = true\} : '
        r"\(tensor<3x3xf32>\) -> tensor<3xi8>",
        text,
    )


def test_a_kernel_for_key_xla_made_of_torchs_ops_runs():
    op = define(
        "softplus2(Tensor x) -> Tensor",
        eager=lambda x: (1 + x.exp()).log(),
        xla=lambda x: torch.nn.functional.softplus(x),
    )
    module = as_module(lambda x: op(x) * 2)
    x = torch.randn(4)
    torch.testing.assert_close(torchere.export(module, (x,))(x), module(x))


def test_a_kernel_for_key_xla_that_fails_is_named():
    def kernel(x):
        raise ValueError("no such thing")

    op = define("failing(Tensor x) -> Tensor", xla=kernel)
    message = "[custom_ops_test.failing.default] its kernel for key XLA failed: no such thing"
    with pytest.raises(CaptureError, match=re.escape(message)):
        torchere.export(as_module(op), (torch.randn(3),))


def test_a_lowering_in_torchs_functions(tmp_path):
    op = define(
        "scaled(Tensor x, Tensor[] others, float by=2.) -> (Tensor, Tensor)",
        lambda x, others, by=2.0: (torch.empty_like(x), torch.empty_like(x)),
        eager=lambda x, others, by=2.0: (x * by, x + sum(others)),
    )

    def lowering(x, others, by=2.0):
        return x * by, x + sum(others)

    schema = "custom_ops_test::scaled(Tensor x, Tensor[] others, float by=2.0) -> (Tensor, Tensor)"
    torchere.register_lowering(schema, lowering)
    module = as_module(lambda x, y: op(x, [y, y + 1], 3.0))
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    program = torchere.export(module, (x, y), dynamic_shapes=(({0: Dim("n")}, {0: Dim("n")}),))
    program.save(tmp_path / "saved")
    for inputs in ((x, y), (torch.randn(4, 3), torch.randn(4, 3))):
        torch.testing.assert_close(program(*inputs), module(*inputs))
        torch.testing.assert_close(torchere.load(tmp_path / "saved")(*inputs), module(*inputs))
    with pytest.raises(AlreadyExistsError, match="a lowering of the op is registered already"):
        torchere.register_lowering(schema, lowering)
    torchere.register_lowering(schema, lambda x, others, by: (x, x), replace=True)
    assert torch.equal(torchere.export(module, (x, y))(x, y)[0], x)


def type_of(tensor) -> str:
    sizes = ["?" if isinstance(size, torch.SymInt) else str(size) for size in tensor.shape]
    return f"tensor<{'x'.join([*sizes, 'f32'])}>"


@torch.library.custom_op("custom_ops_test::scale_all", mutates_args=("x", "others"))
def scale_all(x: torch.Tensor, others: list[torch.Tensor], factor: float) -> torch.Tensor:
    return written_twice(x, others, factor)


@scale_all.register_fake
def scale_all_types(x, others, factor):
    return torch.empty_like(x)


@torch.library.custom_op("custom_ops_test::put", mutates_args=("x",))
def put(x: torch.Tensor, y: torch.Tensor) -> None:
    x.copy_(y)


def written_twice(x, others, factor):
    x.mul_(factor)
    for other in others:
        other.add_(x.sum())
    return x + 1


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.zeros(4, 3))

    def forward(self, x, y):
        copy = y.clone()
        result = scale_all(x[1:], [copy, self.held], 2.0)
        put(self.held[0], result[0] * 3)
        put(y, copy)
        return copy, result


def writer_inputs():
    return torch.arange(12.0).reshape(4, 3), torch.ones(2, 2)


def decompositions_of_writers():
    return {
        torch.ops.custom_ops_test.scale_all.default: written_twice,
        torch.ops.custom_ops_test.put.default: lambda x, y: (x.copy_(y), None)[1],
    }


@pytest.mark.parametrize("is_decomposed", [False, True])
def test_ops_that_write(is_decomposed):
    exported = torch.export.export(Writer(), writer_inputs())
    if is_decomposed:
        exported = exported.run_decompositions()
        assert "auto_functionalized" in str(exported.graph)
    program = torchere.export(exported, decompositions=decompositions_of_writers())
    model, inputs, expected = Writer(), writer_inputs(), writer_inputs()
    for _ in range(2):
        torch.testing.assert_close(program(*inputs), model(*expected))
        torch.testing.assert_close(inputs, expected)
    torch.testing.assert_close(program.state_dict()["held"], model.held)


def test_a_registered_lowering_of_an_op_that_writes_and_gives_nothing():
    schema = "custom_ops_test::registered_put(Tensor(a!) x, Tensor y) -> ()"
    op = define(schema.removeprefix("custom_ops_test::"), lambda x, y: None)
    torchere.register_lowering(schema, lambda x, y: (x.copy_(y + 1), None)[1])
    module, x = as_module(lambda x: (op(x, x * 2), x + 0)[1]), torch.ones(3)
    for exported in (
        torch.export.export(module, (x,)),
        torch.export.export(module, (x,)).run_decompositions(),
    ):
        assert torch.equal(torchere.export(exported)(torch.ones(3)), torch.full((3,), 3.0))
        kept = StableHLOExportOptions(custom_ops_allowed_in_graph={"custom_ops_test"})
        assert "custom_call" not in exported_program_to_stablehlo(exported, kept).get_stablehlo_text()
    text = "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) { return }"
    torchere.register_lowering(schema, lambda x, y: text, replace=True)
    with pytest.raises(CaptureError, match=r"lowering failed: text for an op that writes to its arguments"):
        torchere.export(module, (x,))


@pytest.mark.parametrize("is_decomposed", [False, True])
def test_ops_that_write_and_have_no_lowering_are_listed(is_decomposed):
    other = define(f"without_lowering_{int(is_decomposed)}(Tensor x) -> Tensor")

    def forward(x, y):
        put(y, x[:2, :2])
        return other(x) + y.sum()

    exported = torch.export.export(as_module(forward), writer_inputs())
    if is_decomposed:
        exported = exported.run_decompositions()
    with pytest.raises(UnimplementedError) as caught:
        torchere.export(exported)
    text = str(caught.value)
    assert text.startswith(
        "[export] 2 ops of this program cannot be lowered yet:\n  custom_ops_test.put.default "
        "(which writes to its arguments): 1 use, first at custom_ops_test.py:"
    )
    assert f"\n  {other.default}: 1 use" in text
    assert "\n  to do: write them with ops that `torchere ops` lists, or decompose them: " in text
    kept = StableHLOExportOptions(custom_ops_allowed_in_graph={"custom_ops_test"})
    with pytest.raises(
        UnimplementedError, match=r"1 op of this program .*\n  custom_ops_test.put.default"
    ) as caught:
        exported_program_to_stablehlo(exported, kept)
    assert "decompositions={op: function})" in str(caught.value)
    assert "custom_ops_allowed_in_graph" not in str(caught.value)
    explained = torchere.explain(as_module(forward), writer_inputs())
    keeps = {op.op: "custom_ops_allowed_in_graph" in op.advice for op in explained.missing_ops}
    assert keeps == {"custom_ops_test.put.default": False, str(other.default): True}


def test_a_lowering_in_stablehlo(tmp_path):
    op = define("cubed(Tensor x, str how) -> Tensor", lambda x, how: torch.empty_like(x), lambda x, how: x**3)
    seen = []

    def lowering(x, how):
        seen.append(how)
        type_ = type_of(x)
        return f"""
          func.func @cube(%x: {type_}) -> {type_} {{
            %0 = stablehlo.multiply %x, %x : {type_}
            %1 = stablehlo.multiply %0, %x : {type_}
            return %1 : {type_}
          }}"""

    torchere.register_lowering("custom_ops_test::cubed(Tensor x, str how) -> Tensor", lowering)
    module = as_module(lambda x: op(x, "fast") + op(x + 1, "fast"))
    for dims in (None, (({0: Dim("n")},),)):
        program = torchere.export(module, (torch.randn(3, 2),), dynamic_shapes=dims)
        text = program.get_stablehlo_text()
        assert verified_by_jaxlib(text)
        assert text.count("call @custom_ops_test.cubed(") == 2
        assert text.count("func.func private @custom_ops_test.cubed(") == 1
        program.save(tmp_path / str(dims is None))
        for x in [torch.randn(3, 2)] + ([torch.randn(5, 2)] if dims else []):
            torch.testing.assert_close(program(x), module(x))
            torch.testing.assert_close(torchere.load(tmp_path / str(dims is None))(x), module(x))
            (got,) = interpret(text, x.numpy())
            torch.testing.assert_close(torch.as_tensor(got), module(x))
    assert set(seen) == {"fast"}


MODULE = """
module @several {
  func.func private @half(%x: tensor<2xf32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0.5> : tensor<2xf32>
    %0 = stablehlo.multiply %x, %c : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = func.call @half(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.add %0, %y : tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
}"""


def test_a_lowering_in_stablehlo_of_several_functions_and_results():
    op = define(
        "several(Tensor x, Tensor y) -> (Tensor, Tensor)",
        lambda x, y: (torch.empty_like(x), torch.empty_like(x)),
        lambda x, y: (x / 2, x / 2 + y),
    )
    torchere.register_lowering(
        "custom_ops_test::several(Tensor x, Tensor y) -> (Tensor, Tensor)", lambda x, y: MODULE
    )
    module = as_module(lambda x, y: op(y, x)[1] + 1)
    x, y = torch.randn(2), torch.randn(2)
    torch.testing.assert_close(torchere.export(module, (x, y))(x, y), module(x, y))


def test_stablehlo_that_does_not_fit():
    op = define("unfit(Tensor x) -> Tensor")
    name = "[custom_ops_test.unfit.default] the StableHLO given for the op"
    identity = "func.func @f(%x: {0}) -> {1} {{ return %x : {0} }}"
    for text, message in (
        ("no stablehlo", f"{name} is not valid: "),
        (identity.format("tensor<2xf32>", "tensor<3xf32>"), f"{name} is not valid: "),
        (
            identity.format("tensor<2xf64>", "tensor<2xf64>"),
            f"{name}: got operand 0 of type tensor<2xf64>, expected tensor<2xf32>",
        ),
        (MODULE, f"{name}: got 2 operands, expected 1"),
        ("module {}", f"{name}: expected a function @main, or only one function"),
    ):
        schema = "custom_ops_test::unfit(Tensor x) -> Tensor"
        torchere.register_lowering(schema, lambda x, text=text: text, replace=True)
        with pytest.raises(InvalidArgumentError, match=re.escape(message)) as caught:
            torchere.export(as_module(op), (torch.randn(2),))
        assert "custom_ops_test.py:" in str(caught.value)


def test_lowerings_that_cannot_be_registered():
    for schema, error, message in (
        (
            "aten::tan(Tensor self) -> Tensor",
            AlreadyExistsError,
            "[aten.tan.default] the op has a lowering already",
        ),
        ("nonsense", Error, "nonsense"),
    ):
        with pytest.raises(error, match=re.escape(message)):
            torchere.register_lowering(schema, lambda x: x)
    with pytest.raises(
        InvalidArgumentError, match=re.escape("[a.b.default] a lowering: got str, expected a function")
    ):
        torchere.register_lowering("a::b(Tensor x) -> Tensor", "text")
    op = define("other_schema(Tensor x) -> Tensor")
    torchere.register_lowering("custom_ops_test::other_schema(Tensor x, int n) -> Tensor", lambda x, n: x)
    message = "the schema that its lowering is registered with is not the op's"
    with pytest.raises(Error, match=message):
        torchere.export(as_module(op), (torch.randn(2),))


def test_a_registered_lowering_that_fails_is_named():
    op = define("raising(Tensor x) -> Tensor")
    torchere.register_lowering("custom_ops_test::raising(Tensor x) -> Tensor", lambda x: x.no_such_method())
    with pytest.raises(
        CaptureError, match=re.escape("[custom_ops_test.raising.default] its registered lowering failed")
    ):
        torchere.export(as_module(op), (torch.randn(2),))


SOURCE = r"""
#include "torchere/lowering.h"
#include <stdio.h>
#include <string.h>

static void doubled(const torchere_lowering_call *call, const torchere_lowering_reply *reply, void *data) {
  char text[1024];
  const char *type = call->operands[0];
  if (strstr(call->arguments, "\"fail\":true"))
    return reply->error(reply->context, "as asked");
  snprintf(text, sizeof text,
           "func.func @%s(%%x: %s) -> %s { %%0 = stablehlo.add %%x, %%x : %s return %%0 : %s }",
           (const char *)data, type, call->results[0], type, type);
  reply->text(reply->context, text);
}

int torchere_register_lowerings(const torchere_lowering_registry *registry) {
  return registry->add(registry->context, SCHEMA, doubled, (void *)"doubled");
}
"""


def compiled(folder: Path, name: str, source: str, schema: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    library = folder / f"{name}.so"
    command = ["cc", "-shared", "-fPIC", "-I", str(ROOT / "include"), f'-DSCHEMA="{schema}"']
    subprocess.run([*command, "-o", str(library), str(folder / f"{name}.c")], check=True)
    return library


def test_a_lowering_in_a_library(tmp_path):
    schema = "custom_ops_test::in_c(Tensor x, bool fail) -> Tensor"
    op = define(
        "in_c(Tensor x, bool fail) -> Tensor", lambda x, fail: torch.empty_like(x), lambda x, fail: x + x
    )
    module = as_module(lambda x: op(x.sin(), False))
    x = torch.randn(3, 2)
    with pytest.raises(UnimplementedError, match=re.escape("custom_ops_test.in_c.default: 1 use")):
        torchere.export(module, (x,))
    library = compiled(tmp_path, "in_c", SOURCE, schema)
    assert torchere.load_lowerings(library) == ["custom_ops_test.in_c.default"]
    assert torchere.load_lowerings(str(library)) == ["custom_ops_test.in_c.default"]  # once
    for dims in (None, (({0: Dim("n")},),)):
        program = torchere.export(module, (x,), dynamic_shapes=dims)
        torch.testing.assert_close(program(x), module(x))
    message = "[custom_ops_test.in_c.default] the library's lowering failed: as asked"
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        torchere.export(as_module(lambda x: op(x, True)), (x,))
    with pytest.raises(AlreadyExistsError, match="is registered already"):
        torchere.register_lowering(schema, lambda x, fail: x)


def test_libraries_that_are_none(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    silent = compiled(tmp_path, "silent", "int nothing;", "")
    wrong = compiled(tmp_path, "wrong", SOURCE, "no schema")
    taken = compiled(tmp_path, "taken", SOURCE, "aten::tan(Tensor self) -> Tensor")
    for path, message in (
        (tmp_path / "missing.so", f"[{tmp_path}/missing.so] no such library: expected the path of a file"),
        ("libm.so.6", "[libm.so.6] no such library: expected the path of a file"),
        (tmp_path / "text.so", "not a library of lowerings: "),
        (silent, "not a library of lowerings: expected the function torchere_register_lowerings"),
        (wrong, "a lowering cannot be registered: "),
        (taken, "[aten.tan.default] the op has a lowering already"),
    ):
        with pytest.raises(Error, match=re.escape(message)):
            torchere.load_lowerings(path)


KERNEL = r"""
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;

static ffi::Error scaled(float factor, int64_t offset, ffi::Buffer<ffi::F32> x,
                         ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i)
    y->typed_data()[i] = x.typed_data()[i] * factor + offset;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(Scaled, scaled, ffi::Ffi::Bind().Attr<float>("factor").Attr<int64_t>("offset")
                              .Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
"""


@pytest.mark.usefixtures("on_engine_and_xla")
def test_a_kernel_of_the_users_own(tmp_path):
    jax_ffi = pytest.importorskip("jax.ffi")
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    library = tmp_path / "kernel.so"
    command = ["c++", "-std=c++17", "-shared", "-fPIC", "-I", jax_ffi.include_dir(), "-o", str(library)]
    subprocess.run([*command, str(tmp_path / "kernel.cpp")], check=True)

    def forward(x):
        config = '{"factor": 2.5, "offset": 1}'
        y = stablehlo_custom_call([x.sin()], "custom_ops_test.scaled", [x.shape], [x.dtype], False, config, 4)
        return y * 2

    x = torch.randn(3, 2)
    program = torchere.export(as_module(forward), (x,))
    with pytest.raises(Error, match=re.escape("custom_ops_test.scaled")):
        program(x)
    torchere.register_kernel("custom_ops_test.scaled", library, "Scaled")
    torch.testing.assert_close(program(x), (x.sin() * 2.5 + 1) * 2)
    program.save(tmp_path / "saved")
    torch.testing.assert_close(torchere.load(tmp_path / "saved")(x), (x.sin() * 2.5 + 1) * 2)
    for given, message in (
        ((library, "Missing"), "no such function: got 'Missing'"),
        ((tmp_path / "missing.so", "Scaled"), "no such library: expected the path of a file"),
        (("libm.so.6", "sin"), "[libm.so.6] no such library: expected the path of a file"),
    ):
        with pytest.raises(Error, match=re.escape(message)):
            torchere.register_kernel("custom_ops_test.other", *given)
