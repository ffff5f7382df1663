// Ops that make tensors of numbers and numbers of tensors, and conversions of dtype.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/spacing.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

template <int value> mlir::Value filled(Context &cx, const Args &) {
  return cx.full(int64_t{value}, cx.resultType().dtype, cx.resultType().shape);
}

mlir::Value fullOf(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  std::string_view name = args.has("fill_value") ? "fill_value" : "value";
  return cx.broadcastTo(numberOperand(cx, args, name, type.dtype), type.shape);
}

/// A copy over a whole tensor, of which only the shape and the dtype matter.
mlir::Value copied(Context &cx, const Args &args) {
  return toResultShape(cx, args.tensor("src"), cx.resultType().dtype);
}

mlir::Value scalarTensor(Context &cx, const Args &args) {
  return numberOperand(cx, args, "s", cx.resultType().dtype);
}

/// The only element of a tensor.
mlir::Value element(Context &cx, const Args &args) {
  return cx.convert(cx.reshape(args.tensor("self"), {}), cx.resultType().dtype);
}

/// start + i * step, computed as torch does: in float64 for floats, in the dtype itself for integers.
mlir::Value arange(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType compute = dtypeInfo(type.dtype).isFloatingPoint ? DType::F64 : type.dtype;
  mlir::Value index = cx.iota(type.shape, compute, 0);
  auto operand = [&](std::string_view name) {
    return cx.broadcastTo(numberOperand(cx, args, name, compute), type.shape);
  };
  mlir::Value scaled = index;
  if (args.has("step") && (args.isTensor("step") || toDouble(args.scalar("step")) != 1.0))
    scaled = cx.elementwise<stablehlo::MulOp>({index, operand("step")});
  if (args.has("start") && (args.isTensor("start") || toDouble(args.scalar("start")) != 0.0))
    scaled = cx.elementwise<stablehlo::AddOp>({operand("start"), scaled});
  return cx.convert(scaled, type.dtype);
}

/// Evenly spaced numbers, for integers computed in float64.
mlir::Value linspace(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  const DTypeInfo &info = dtypeInfo(type.dtype);
  DType compute = info.isFloatingPoint || info.isComplex ? computeType(type.dtype) : DType::F64;
  auto end = [&](std::string_view name) {
    return cx.convert(numberOperand(cx, args, name, type.dtype), compute);
  };
  return cx.convert(evenlySpaced(cx, end("start"), end("end"), args.integer("steps")), type.dtype);
}

/// Ones where the row is the column.
mlir::Value eye(Context &cx, const Args &) {
  const TensorType &type = cx.resultType();
  mlir::Value isDiagonal = cx.compare(stablehlo::ComparisonDirection::EQ, cx.iota(type.shape, DType::I64, 0),
                                      cx.iota(type.shape, DType::I64, 1));
  return cx.convert(isDiagonal, type.dtype);
}

mlir::Value toResultDtype(Context &cx, const Args &args) {
  return cx.convert(args.tensor("self"), cx.resultType().dtype);
}

} // namespace

#define TORCHERE_TENSOR_OPTIONS                                                                              \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

void addCreation(OpTable &table) {
  table.add("aten::zeros(SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", filled<0>);
  // What torch does not give memory: tangents of constants in forward derivatives.
  table.add("aten::_efficientzerotensor(SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", filled<0>);
  table.add("aten::ones(SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", filled<1>);
  table.add("aten::zeros_like(Tensor self, *, " TORCHERE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) "
            "-> Tensor",
            filled<0>);
  table.add("aten::ones_like(Tensor self, *, " TORCHERE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) "
            "-> Tensor",
            filled<1>);
  table.add("aten::full(SymInt[] size, Scalar fill_value, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", fullOf);
  table.add("aten::full_like(Tensor self, Scalar fill_value, *, " TORCHERE_TENSOR_OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            fullOf);
  table.add("aten::new_zeros(Tensor self, SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor",
            filled<0>);
  table.add("aten::new_ones(Tensor self, SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor",
            filled<1>);
  table.add("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, " TORCHERE_TENSOR_OPTIONS
            ") -> Tensor",
            fullOf);
  // Contents that torch leaves uninitialized are 0.
  table.add("aten::empty.memory_format(SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            filled<0>);
  table.add("aten::empty_strided(SymInt[] size, SymInt[] stride, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor",
            filled<0>);
  table.add("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, " TORCHERE_TENSOR_OPTIONS
            ") -> Tensor",
            filled<0>);
  table.add("aten::empty_like(Tensor self, *, " TORCHERE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) "
            "-> Tensor",
            filled<0>);
  table.add("aten::new_empty(Tensor self, SymInt[] size, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor",
            filled<0>);
  table.add("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, " TORCHERE_TENSOR_OPTIONS
            ") -> Tensor",
            filled<0>);
  table.add("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", fullOf);
  table.add("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", fullOf);
  table.add("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copied);
  table.add("aten::item(Tensor self) -> Scalar", element);
  table.add("aten::_local_scalar_dense(Tensor self) -> Scalar", element);
  table.add("aten::scalar_tensor(Scalar s, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", scalarTensor);
  table.add("aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, " TORCHERE_TENSOR_OPTIONS
            ") -> Tensor",
            arange);
  table.add("aten::arange(Scalar end, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", arange);
  table.add("aten::arange.start(Scalar start, Scalar end, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", arange);
  table.add("aten::range(Scalar start, Scalar end, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", arange);
  table.add("aten::range.step(Scalar start, Scalar end, Scalar step=1, *, " TORCHERE_TENSOR_OPTIONS
            ") -> Tensor",
            arange);
  table.add("aten::linspace(Scalar start, Scalar end, int steps, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor",
            linspace);
  table.add("aten::eye(SymInt n, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", eye);
  table.add("aten::eye.m(SymInt n, SymInt m, *, " TORCHERE_TENSOR_OPTIONS ") -> Tensor", eye);
  table.add("aten::_to_copy(Tensor self, *, " TORCHERE_TENSOR_OPTIONS
            ", bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
            toResultDtype);
}

} // namespace torchere::lowering
