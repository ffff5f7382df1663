// Ops that address a tensor's memory by strides. The tensor counts as contiguous: functionalization brings
// others to the order of their memory.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <optional>

namespace torchere::lowering {

namespace {

mlir::Value flatten(Context &cx, mlir::Value value) {
  return cx.reshape(value, {cx.product(cx.shape(value))});
}

/// Whether the strides are those of a contiguous tensor of the shape.
bool isContiguous(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> strides) {
  std::optional<int64_t> expected = 1; // not known outside of a dynamic size
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i].is(1))
      continue;
    if (!expected || !strides[i].is(*expected))
      return false;
    expected = shape[i].isConstant() ? std::optional(*expected * shape[i].constant()) : std::nullopt;
  }
  return true;
}

/// The place of each element in the memory: offset + sum of index * stride.
mlir::Value placesOf(Context &cx, const Args &args, llvm::ArrayRef<Dim> shape) {
  Dims strides = args.dims("stride");
  mlir::Value places = cx.broadcastTo(cx.sizeTensor(args.optionalDim("storage_offset").value_or(0)), shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    mlir::Value stride = cx.broadcastTo(cx.sizeTensor(strides[axis]), shape);
    mlir::Value steps =
        cx.elementwise<stablehlo::MulOp>({cx.iota(shape, DType::I64, static_cast<int64_t>(axis)), stride});
    places = cx.elementwise<stablehlo::AddOp>({places, steps});
  }
  return places;
}

/// Places outside of the tensor are other tensors' memory, of which the program knows nothing.
Status checkPlaces(Context &cx, const Args &args) {
  Dims sizes = args.dims("size"), strides = args.dims("stride");
  if (sizes.size() != strides.size())
    return cx.invalid("sizes and strides differ in number: got {} and {}", sizes.size(), strides.size());
  Dim last = args.optionalDim("storage_offset").value_or(0),
      count = cx.product(cx.shape(args.tensor("self")));
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis].is(0) || !sizes[axis].isConstant() || !strides[axis].isConstant())
      return {};
    last = cx.add(last, cx.multiply(cx.subtract(sizes[axis], 1), strides[axis]));
  }
  if (last.isConstant() && count.isConstant() && last.constant() >= count.constant())
    return cx.invalid("reaches outside of the tensor: got element {}, expected below {}", last.constant(),
                      count.constant());
  return {};
}

Result<mlir::Value> asStrided(Context &cx, const Args &args) {
  TORCHERE_TRY(checkPlaces(cx, args));
  mlir::Value memory = flatten(cx, args.tensor("self"));
  const Dims &shape = cx.resultType().shape;
  Dim offset = args.optionalDim("storage_offset").value_or(0);
  if (offset.isConstant() && isContiguous(shape, args.dims("stride"))) {
    mlir::Value row = cx.sliceAxis(memory, 0, offset, cx.add(offset, cx.product(shape)));
    return cx.reshape(row, shape);
  }
  return gatherSlices(cx, memory, slicesAlong(cx, placesOf(cx, args, shape), 0));
}

Result<mlir::Value> asStridedScatter(Context &cx, const Args &args) {
  TORCHERE_TRY(checkPlaces(cx, args));
  mlir::Value self = args.tensor("self"), source = args.tensor("src");
  mlir::Value places = flatten(cx, placesOf(cx, args, cx.shape(source)));
  mlir::Value updates = flatten(cx, cx.convert(source, Context::dtype(self)));
  mlir::Value memory = scatterSlices(cx, flatten(cx, self), slicesAlong(cx, places, 0), updates, takeUpdate);
  return cx.reshape(memory, cx.resultType().shape);
}

} // namespace

void addStrided(OpTable &table) {
  table.add("aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) "
            "-> Tensor(a)",
            asStrided);
  table.add("aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
            "SymInt? storage_offset=None) -> Tensor",
            asStridedScatter);
}

} // namespace torchere::lowering
