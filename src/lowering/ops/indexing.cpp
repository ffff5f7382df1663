// Ops that pick elements by index tensors.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

/// Takes whole slices of `value` along `axis`, one for each element of `indices`; the indices' shape takes
/// the place of the axis.
Result<mlir::Value> takeSlices(Context &cx, mlir::Value value, mlir::Value indices, int64_t axis) {
  mlir::MLIRContext *context = cx.builder().getContext();
  Dims shape = cx.shape(value);
  Dims indexShape = cx.shape(indices);
  int64_t rank = Context::rank(value);
  int64_t indexRank = Context::rank(indices);
  Integers offsets;
  for (int64_t i = 0; i < rank - 1; ++i)
    offsets.push_back(i < axis ? i : i + indexRank);
  Dims result(shape.begin(), shape.begin() + axis);
  result.append(indexShape);
  result.append(shape.begin() + axis + 1, shape.end());
  Dims sizes = shape;
  sizes[axis] = 1;
  auto numbers =
      stablehlo::GatherDimensionNumbersAttr::get(context, offsets, /*collapsedSliceDims=*/{axis},
                                                 /*operandBatchingDims=*/{}, /*startIndicesBatchingDims=*/{},
                                                 /*startIndexMap=*/{axis}, /*indexVectorDim=*/indexRank);
  mlir::Type type = cx.tensorType(result, Context::elementType(value));
  mlir::NamedAttribute dimensionNumbers = cx.attribute("dimension_numbers", numbers);
  mlir::NamedAttribute sorted = cx.attribute("indices_are_sorted", cx.builder().getBoolAttr(false));
  bool isStatic = std::all_of(sizes.begin(), sizes.end(), [](const Dim &dim) { return dim.isConstant(); });
  if (!isStatic)
    return cx.withShape(cx.create<stablehlo::DynamicGatherOp>(type, {value, indices, cx.shapeTensor(sizes)},
                                                              {dimensionNumbers, sorted}),
                        result);
  Integers sliceSizes;
  for (const Dim &dim : sizes)
    sliceSizes.push_back(dim.constant());
  return cx.withShape(cx.create<stablehlo::GatherOp>(
                          type, {value, indices},
                          {dimensionNumbers, cx.integersAttribute("slice_sizes", sliceSizes), sorted}),
                      result);
}

Result<mlir::Value> embedding(Context &cx, const Args &args) {
  return takeSlices(cx, args.tensor("weight"), args.tensor("indices"), 0);
}

Result<mlir::Value> indexSelect(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value index = args.tensor("index");
  if (Context::rank(self) == 0)
    return cx.broadcastTo(self, cx.resultType().shape);
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(index) == 0)
    index = cx.reshape(index, {Dim(1)});
  return takeSlices(cx, self, index, axis);
}

} // namespace

void addIndexing(OpTable &table) {
  table.add(
      "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
      "bool sparse=False) -> Tensor",
      embedding);
  table.add("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", indexSelect);
}

} // namespace torchere::lowering
