"""Kernels of custom calls that the user registers, compiled against XLA's own headers: on the engine, on the
interpreter's plugin and on XLA's; and through JAX, on the engine."""

from __future__ import annotations

import ctypes
import re
import subprocess

import pytest
import torch
from engine_test import LIBRARY, run
from torch import nn
from torch.export import Dim
from torch.library import Library, impl

import torchere
from torchere import _core, plugins
from torchere.errors import AlreadyExistsError, Error, InvalidArgumentError
from torchere.experimental.stablehlo_custom_call import stablehlo_custom_call

jax_ffi = pytest.importorskip("jax.ffi")

SOURCE = r"""
#include "xla/ffi/api/ffi.h"

#include <atomic>
#include <cstring>
#include <map>
#include <string>

namespace ffi = xla::ffi;
using ffi::AnyBuffer;
using ffi::Error;
using ffi::Result;

// Copies a buffer of any type, and gives its type, its rank and its sizes.
static Error copied(AnyBuffer x, Result<AnyBuffer> y, ffi::ResultBuffer<ffi::S64> about) {
  std::memcpy(y->untyped_data(), x.untyped_data(), x.size_bytes());
  int64_t *values = about->typed_data();
  *values++ = static_cast<int64_t>(x.element_type());
  *values++ = x.dimensions().size();
  for (int64_t size : x.dimensions())
    *values++ = size;
  return Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Copied, copied, ffi::Ffi::Bind().Arg<AnyBuffer>().Ret<AnyBuffer>()
                              .Ret<ffi::Buffer<ffi::S64>>());

// How far the operand is from where wide loads may begin.
static Error placed(AnyBuffer x, ffi::ResultBuffer<ffi::S64> rest) {
  rest->typed_data()[0] = reinterpret_cast<uintptr_t>(x.untyped_data()) % 16;
  return Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Placed, placed, ffi::Ffi::Bind().Arg<AnyBuffer>().Ret<ffi::Buffer<ffi::S64>>());

// Writes all its attributes as text.
static Error told(ffi::Dictionary attributes, ffi::ResultBuffer<ffi::U8> text) {
  auto inner = attributes.get<ffi::Dictionary>("inner");
  auto numbers = attributes.get<ffi::Span<const int64_t>>("numbers");
  auto floats = attributes.get<ffi::Span<const float>>("floats");
  std::string line = std::string(*attributes.get<std::string_view>("name")) + " " +
                     std::to_string(*attributes.get<int64_t>("count")) + " " +
                     std::to_string(*attributes.get<float>("factor")) + " " +
                     (*attributes.get<bool>("flag") ? "yes" : "no") + " " +
                     std::to_string(*inner->get<int32_t>("small")) + " " +
                     std::to_string(*inner->get<double>("wide"));
  for (int64_t number : *numbers)
    line += " " + std::to_string(number);
  for (float number : *floats)
    line += " " + std::to_string(number);
  for (size_t i = 0; i < text->element_count(); ++i)
    text->typed_data()[i] = i < line.size() ? line[i] : 0;
  return Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Told, told, ffi::Ffi::Bind().Attrs().Ret<ffi::Buffer<ffi::U8>>());

static Error refused(int64_t code, ffi::Buffer<ffi::F32>, ffi::ResultBuffer<ffi::F32>) {
  return Error(static_cast<ffi::ErrorCode>(code), "no such luck");
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Refused, refused, ffi::Ffi::Bind().Attr<int64_t>("code")
                              .Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// Counts its calls in the memory of an operand, which is its result's as well.
static Error counted(ffi::Buffer<ffi::S32> x, ffi::ResultBuffer<ffi::S32> y) {
  if (x.untyped_data() != y->untyped_data())
    return Error::Internal("not in place");
  for (size_t i = 0; i < y->element_count(); ++i)
    y->typed_data()[i] += 1;
  return Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Counted, counted, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::S32>>()
                              .Ret<ffi::Buffer<ffi::S32>>());

static std::atomic<int> calls = 0;
extern "C" int calls_of_effect() { return calls; }
static Error effect(ffi::Buffer<ffi::F32> x) {
  calls += static_cast<int>(x.typed_data()[0]);
  return Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Effect, effect, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>());

// Squares in tasks; done when the last is.
static ffi::Future squared(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  ffi::CountDownPromise promise(x.element_count());
  ffi::Future future(promise);
  for (size_t i = 0; i < x.element_count(); ++i)
    pool.Schedule([from = x.typed_data() + i, to = y->typed_data() + i, promise]() mutable {
      *to = *from * *from;
      promise.CountDown();
    });
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Squared, squared, ffi::Ffi::Bind().Ctx<ffi::ThreadPool>()
                              .Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// A state that the call site keeps.
struct Steps {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  int64_t step, value;
};
ffi::TypeId Steps::id = {};
ffi::TypeInfo Steps::info = ffi::MakeTypeInfo<Steps>();
extern "C" void *steps_id() { return &Steps::id; }
extern "C" void *steps_info() { return &Steps::info; }
static ffi::ErrorOr<std::unique_ptr<Steps>> begun(int64_t step) {
  if (step == 0)
    return ffi::Unexpected(Error::InvalidArgument("a step of 0"));
  return std::make_unique<Steps>(Steps{step, 0});
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Begun, begun, ffi::Ffi::BindInstantiate().Attr<int64_t>("step"));
static Error stepped(Steps *steps, ffi::ResultBuffer<ffi::S64> y) {
  y->typed_data()[0] = steps->value += steps->step;
  return Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Stepped, stepped, ffi::Ffi::Bind().Ctx<ffi::State<Steps>>()
                              .Ret<ffi::Buffer<ffi::S64>>());
"""


@pytest.fixture(scope="session")  # a process registers one library's kernels
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.cpp").write_text(SOURCE)
    path = folder / "kernels.so"
    command = ["c++", "-std=c++17", "-shared", "-fPIC", "-I", jax_ffi.include_dir(), "-o", str(path)]
    subprocess.run([*command, str(folder / "kernels.cpp")], check=True)
    return path


class On:
    """One plugin, with the kernels of the library."""

    def __init__(self, name, library):
        self.name = name
        self.client = plugins.client(name)
        for symbol in ("Copied", "Placed", "Told", "Refused", "Counted", "Effect", "Squared"):
            torchere.register_kernel(f"kernels.{symbol}", library, symbol, plugin=name)

    def export(self, function, *args, **options):
        module = type("Model", (nn.Module,), {"forward": lambda self, *inputs: function(*inputs)})()
        program = torchere.export(module, args, **options)
        program._session = _core.Session(self.client, program._core_bundle)
        return program


#: By plugin. A process registers the kernels once, however often the fixture is set up.
PLUGINS: dict[str, On] = {}


@pytest.fixture(scope="module", params=["torchere_cpu", "interpreter", "cpu"])
def on(request, library):
    if request.param not in PLUGINS:
        PLUGINS[request.param] = On(request.param, library)
    return PLUGINS[request.param]


def call(target, operands, shapes, dtypes, config="{}", **options):
    return stablehlo_custom_call(operands, f"kernels.{target}", shapes, dtypes, False, config, 4, **options)


#: By torch's type, the number of XLA's.
TYPES = {
    torch.bool: 1,
    torch.int8: 2,
    torch.int16: 3,
    torch.int32: 4,
    torch.int64: 5,
    torch.uint8: 6,
    torch.uint16: 7,
    torch.uint32: 8,
    torch.uint64: 9,
    torch.float16: 10,
    torch.float32: 11,
    torch.float64: 12,
    torch.complex64: 15,
    torch.bfloat16: 16,
    torch.complex128: 18,
    torch.float8_e5m2: 19,
    torch.float8_e4m3fn: 20,
}


def test_operands_and_results_of_all_types(on):
    dtypes = list(TYPES)

    def function(*operands):
        results = []
        for x in operands:
            results += call("Copied", [x], [x.shape, (4,)], [x.dtype, torch.int64])
        return results

    given = [torch.randint(0, 2, (3, 5)).to(dtype) for dtype in dtypes]
    results = on.export(function, *given)(*given)
    for i, dtype in enumerate(dtypes):
        copied, about = results[2 * i : 2 * i + 2]
        assert copied.dtype == dtype
        assert torch.equal(copied.view(torch.uint8), given[i].view(torch.uint8)), dtype
        assert about.tolist() == [TYPES[dtype], 2, 3, 5]


def test_views_are_dense_and_empty_ones_have_no_elements(on):
    def function(x):
        transposed, about = call("Copied", [x.T], [(4, 3), (4,)], [x.dtype, torch.int64])
        empty, about_empty = call("Copied", [x[:0]], [(0, 4), (4,)], [x.dtype, torch.int64])
        return transposed + 1, about, empty, about_empty

    x = torch.randn(3, 4)
    transposed, about, empty, about_empty = on.export(function, x)(x)
    assert torch.equal(transposed, x.T + 1)
    assert about.tolist() == [11, 2, 4, 3]
    assert empty.shape == (0, 4)
    assert about_empty.tolist() == [11, 2, 0, 4]


def test_operands_are_aligned(on):
    def function(x):
        return [call("Placed", [part], [(1,)], [torch.int64]) for part in (x, x[1:], x.double()[3:])]

    x = torch.randn(40)
    assert [rest.item() for rest in on.export(function, x)(x)] == [0, 0, 0]


LIBRARY_OF_OPS = Library("kernels_test", "DEF")


def written(name, arguments, results, text):
    """An op of the tests' own that is lowered to this StableHLO; `results` gives its results' shapes."""
    LIBRARY_OF_OPS.define(f"{name}({arguments}) -> Tensor")
    impl(LIBRARY_OF_OPS, name, "Meta")(results)
    torchere.register_lowering(f"kernels_test::{name}({arguments}) -> Tensor", lambda *inputs: text)
    return getattr(torch.ops.kernels_test, name)


TOLD = written(
    "told",
    "Tensor x",
    lambda x: torch.empty(80, dtype=torch.uint8, device="meta"),
    """func.func @told(%x: tensor<f32>) -> tensor<80xui8> {
      %0 = stablehlo.custom_call @kernels.Told() {api_version = 4 : i32, backend_config = {
        name = "kernel", count = 3 : i64, factor = 2.5 : f32, flag = true,
        inner = {small = -7 : i32, wide = 0.5 : f64},
        numbers = array<i64: 1, 2, 3>, floats = dense<[0.5, 1.5]> : tensor<2xf32>
      }} : () -> tensor<80xui8>
      return %0 : tensor<80xui8>
    }""",
)


def test_attributes_of_all_kinds(on):
    x = torch.zeros(())
    text = bytes(on.export(TOLD, x)(x).tolist()).rstrip(b"\0").decode()
    assert text == "kernel 3 2.500000 yes -7 0.500000 1 2 3 0.500000 1.500000"


COUNTED = written(
    "counted",
    "Tensor x",
    lambda x: torch.empty_like(x),
    """func.func @counted(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
      %0 = stablehlo.custom_call @kernels.Counted(%x) {api_version = 4 : i32, output_operand_aliases = [
        #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0,
          operand_tuple_indices = []>]} : (tensor<2x3xi32>) -> tensor<2x3xi32>
      return %0 : tensor<2x3xi32>
    }""",
)


def test_results_in_the_memory_of_operands(on):
    """The operand is needed as well, or the program's argument, or nothing else's."""
    x = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    program = on.export(lambda x: (COUNTED(x), COUNTED(COUNTED(x * 2)), COUNTED(x) - x), x)
    for _ in range(3):
        one, two, difference = program(x)
        assert torch.equal(one, x + 1)
        assert torch.equal(two, x * 2 + 2)
        assert torch.equal(difference, torch.ones_like(x))
    assert torch.equal(x, torch.arange(6, dtype=torch.int32).reshape(2, 3))


LAID = written(
    "laid",
    "Tensor x",
    lambda x: torch.empty_like(x),
    """func.func @laid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0, %1 = stablehlo.custom_call @kernels.Copied(%x) {api_version = 4 : i32,
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]
      } : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4xi64>)
      return %0 : tensor<2x3xf32>
    }""",
)


def test_layouts(on):
    """The kernel copies bytes: columns of the operand come out as rows."""
    x = torch.randn(2, 3)
    assert torch.equal(on.export(LAID, x)(x), x.T.reshape(2, 3))


def test_effects_in_order_and_unused_results(on, library):
    handle = ctypes.CDLL(str(library))

    def function(x):
        for factor in (1, 10):
            stablehlo_custom_call([x * factor], "kernels.Effect", [], [], True, "{}", 4)
        return x + 1

    x = torch.full((1,), 3.0)
    before = handle.calls_of_effect()
    program = on.export(function, x)
    assert handle.calls_of_effect() == before
    for calls in (1, 2):
        assert program(x).item() == 4
        assert handle.calls_of_effect() == before + 33 * calls


def test_tasks_in_other_threads(on):
    x = torch.randn(2, 50)
    program = on.export(lambda x: call("Squared", [x], [x.shape], [x.dtype]) * 2, x)
    for _ in range(5):
        torch.testing.assert_close(program(x), x * x * 2)


def test_open_sizes_and_control_flow(on):
    def function(x, n):
        def body(i, total, n):
            return i + 1, total + call("Squared", [total], [total.shape], [total.dtype])

        _, total = torch.ops.higher_order.while_loop(
            lambda i, total, n: i < n, body, (torch.zeros_like(n), x), (n,)
        )
        return total

    x, n = torch.rand(3, 2), torch.tensor(2)
    program = on.export(function, x, n, dynamic_shapes=(({0: Dim("rows")}, None),))
    for rows in (3, 5):
        x = torch.rand(rows, 2)
        expected = x + x * x
        torch.testing.assert_close(program(x, n), expected + expected * expected)


def test_errors_of_kernels(on):
    x = torch.randn(2)
    program = on.export(lambda x: call("Refused", [x], [x.shape], [x.dtype], '{"code": 9}'), x)
    with pytest.raises(Error, match="no such luck") as caught:
        program(x)
    if on.name != "cpu":  # XLA's own text has neither
        assert caught.value.code == "FAILED_PRECONDITION"
        assert "[kernels.Refused] no such luck" in str(caught.value)
    wrong = on.export(lambda x: call("Refused", [x], [x.shape], [x.dtype], '{"cod": 9}'), x)
    with pytest.raises(Error, match="cod"):
        wrong(x)


def test_targets_without_a_kernel(on):
    x = torch.randn(2)
    program = on.export(lambda x: call("Missing", [x], [x.shape], [x.dtype]), x)
    with pytest.raises(Error, match=r"kernels\.Missing") as caught:
        program(x)
    if on.name != "cpu":
        assert "[kernels.Missing] no kernel is registered for the custom call's target" in str(caught.value)
    untyped = on.export(
        lambda x: stablehlo_custom_call([x], "kernels.Squared", [x.shape], [x.dtype], False, "", 2), x
    )
    with pytest.raises(Error) as caught:
        untyped(x)
    if on.name != "cpu":
        assert "got a custom call of api_version 2, expected 4" in str(caught.value)


def test_registrations_that_are_refused(library):
    with pytest.raises(AlreadyExistsError, match="another kernel is registered for the target already"):
        for symbol in ("Copied", "Told"):
            torchere.register_kernel("kernels.twice", library, symbol, plugin="torchere_cpu")
    message = "[kernels.Copied] a kernel for another platform: got 'CUDA', expected 'Host'"
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        torchere.register_kernel("kernels.Copied", library, "Copied", plugin="torchere_cpu", platform="CUDA")


JAX = """
import ctypes, sys
import jax, numpy
from jax import numpy as jnp

library = ctypes.CDLL(sys.argv[1])
for name in ("steps_id", "steps_info"):
    getattr(library, name).restype = ctypes.c_void_p

def capsule_of(address):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(address, None, None)

registration = {"type_id": capsule_of(library.steps_id()), "type_info": capsule_of(library.steps_info())}
stages = {"instantiate": jax.ffi.pycapsule(library.Begun), "execute": jax.ffi.pycapsule(library.Stepped)}
for platform in ("torchere_cpu", "cpu"):  # one before its backend is there, the other after
    if platform == "cpu":
        jax.devices()
    jax.ffi.register_ffi_type("Steps", registration, platform=platform)
    jax.ffi.register_ffi_target("Stepped", stages, platform=platform)
    for name in ("Copied", "Squared", "Refused", "Told", "Counted"):
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform=platform)

jax.config.update("jax_enable_x64", True)
f32 = jax.ShapeDtypeStruct((3, 4), jnp.float32)

@jax.jit
def function(x, n):
    squared = jax.ffi.ffi_call("Squared", f32)(x.T.reshape(3, 4)) + 1
    about = jax.ShapeDtypeStruct((4,), jnp.int64)
    copied, sizes = jax.ffi.ffi_call("Copied", (f32, about), input_layouts=[(0, 1)],
                                     output_layouts=[(0, 1), (0,)])(x)
    counted = jax.ffi.ffi_call("Counted", n, input_output_aliases={0: 0})(n)
    text = jax.ffi.ffi_call("Told", jax.ShapeDtypeStruct((80,), jnp.uint8))(
        name="jax", count=5, factor=numpy.float32(0.25), flag=False,
        inner=dict(small=numpy.int32(1), wide=2.0),
        numbers=numpy.array([7, 8]), floats=numpy.array([1.5], numpy.float32))
    return squared, copied, sizes, counted, text

stepping = jax.jit(lambda: jax.ffi.ffi_call("Stepped", jax.ShapeDtypeStruct((), jnp.int64),
                                            has_side_effect=True)(step=3))
results = {}
for platform in ("torchere_cpu", "cpu"):
    with jax.default_device(jax.devices(platform)[0]):
        x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4) / 8
        results[platform] = [numpy.asarray(value) for value in function(x, jnp.arange(3, dtype=jnp.int32))]
        results[platform] += [int(stepping()) for _ in range(3)]
        for failing in (lambda: jax.ffi.ffi_call("Refused", f32)(x, code=3),
                        lambda: jax.ffi.ffi_call("Stepped", jax.ShapeDtypeStruct((), jnp.int64))(step=0)):
            try:
                jax.jit(failing)().block_until_ready()
            except Exception as error:
                print(platform, "no such luck" in str(error), "a step of 0" in str(error))
for got, expected in zip(*results.values(), strict=True):
    numpy.testing.assert_array_equal(got, expected)
print(bytes(results["cpu"][4]).rstrip(b"\\0").decode(), results["cpu"][5:])
try:
    copied = jax.ffi.pycapsule(library.Copied)
    jax.ffi.register_ffi_target("old", copied, platform="torchere_cpu", api_version=0)
except NotImplementedError as error:
    print(error)
"""


def test_jax_registers_targets_and_types(library):
    source = JAX.replace("sys.argv[1]", repr(str(library)))
    lines, _ = run(
        source, JAX_PLATFORMS="torchere_cpu,cpu", PJRT_NAMES_AND_LIBRARY_PATHS=f"torchere_cpu:{LIBRARY}"
    )
    failures = [
        f"{platform} {how}" for platform in ("torchere_cpu", "cpu") for how in ("True False", "False True")
    ]
    assert lines[:4] == failures
    assert lines[4:] == [
        "jax 5 0.250000 no 1 2.000000 7 8 1.500000 [3, 6, 9]",
        "[old] a kernel of api_version 0: expected 1, a handler of XLA's FFI",
    ]
