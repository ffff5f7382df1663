// Ops whose results have as many elements as data says: those that a mask selects, and repeated elements.
#include "lowering/elementwise.h"
#include "lowering/index_list.h"
#include "lowering/op_table.h"
#include "lowering/scan.h"
#include "lowering/selection.h"

namespace torchere::lowering {

namespace {

/// One row of coordinates for each place.
mlir::Value asRows(Context &cx, mlir::Value places, llvm::ArrayRef<Dim> shape) {
  Dim count = cx.size(places, 0);
  if (shape.empty())
    return cx.full(int64_t{0}, DType::I64, {count, 0});
  Values columns = coordinatesOf(cx, places, shape);
  for (mlir::Value &column : columns)
    column = cx.reshape(column, {count, 1});
  return cx.concatenate(columns, 1);
}

mlir::Value nonzero(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return asRows(cx, placesOfSet(cx, flattened(cx, cx.convert(self, DType::Bool))), cx.shape(self));
}

/// The coordinates by dimension, of which a scalar has one.
Values nonzeroByDimension(Context &cx, mlir::Value self) {
  Dims shape = cx.shape(self);
  if (shape.empty())
    shape.push_back(1);
  return coordinatesOf(cx, placesOfSet(cx, flattened(cx, cx.convert(self, DType::Bool))), shape);
}

/// As many rows as are asked for: those beyond the elements that are not zero hold the fill value.
mlir::Value nonzeroStatic(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dims shape = cx.resultType().shape;
  Order order = setFirst(cx, flattened(cx, cx.convert(self, DType::Bool)));
  Dim size = args.dim("size"), missing = cx.maximum(cx.subtract(size, cx.size(order.places, 0)), 0);
  mlir::Value places = cx.pad(order.places, cx.constant(int64_t{0}, DType::I64), {Dim(0)}, {missing}, {0});
  mlir::Value rows = asRows(cx, cx.sliceAxis(places, 0, 0, size), cx.shape(self));
  mlir::Value isSet = cx.compare(stablehlo::ComparisonDirection::LT, cx.iota(shape, DType::I64, 0),
                                 cx.broadcastTo(order.count, shape));
  return cx.select(isSet, cx.reshape(rows, shape), cx.full(args.integer("fill_value"), DType::I64, shape));
}

mlir::Value maskedSelect(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self"), mask = args.tensor("mask");
  Dims shape = broadcastShape(cx, {self, mask});
  mlir::Value places = placesOfSet(cx, flattened(cx, cx.broadcastTo(cx.convert(mask, DType::Bool), shape)));
  mlir::Value elements = atLeastOne(cx, flattened(cx, cx.broadcastTo(self, shape)), 0);
  return gatherSlices(cx, elements, slicesAlong(cx, places, 0));
}

mlir::Value sum(Context &cx, mlir::Value value) {
  return cx.reduceWith<stablehlo::AddOp>(value, cx.constant(int64_t{0}, Context::dtype(value)), {0});
}

/// `counted[places[i]] += what[i]`, from zeros; places beyond `size` count nowhere.
mlir::Value countAt(Context &cx, mlir::Value places, mlir::Value what, Dim size) {
  return scatterSlices(cx, cx.full(int64_t{0}, Context::dtype(what), {size}), slicesAlong(cx, places, 0),
                       what, combineUpdate<stablehlo::AddOp>);
}

/// Each index as often as its element says: the number of elements that begin before a place, less one. An
/// element begins where those before it end.
mlir::Value repeatedIndices(Context &cx, mlir::Value repeats, std::optional<Dim> outputSize) {
  repeats = cx.convert(repeats, DType::I64);
  Dim total = outputSize ? *outputSize : Dim::computed(sum(cx, repeats));
  mlir::Value begins = cx.elementwise<stablehlo::SubtractOp>({partialSums(cx, repeats), repeats});
  mlir::Value ones = cx.fullLike(int64_t{1}, repeats);
  mlir::Value begun = partialSums(cx, countAt(cx, begins, ones, total));
  return cx.elementwise<stablehlo::SubtractOp>({begun, cx.fullLike(int64_t{1}, begun)});
}

mlir::Value repeatIndices(Context &cx, const Args &args) {
  return cx.convert(repeatedIndices(cx, args.tensor("repeats"), args.optionalDim("output_size")),
                    cx.resultType().dtype);
}

/// One number of repeats is that of every element.
Result<mlir::Value> repeatElements(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  std::optional<int64_t> dim = args.optionalInteger("dim");
  int64_t axis = 0;
  if (dim && Context::rank(self) > 0) {
    TORCHERE_ASSIGN(axis, cx.axis(*dim, Context::rank(self)));
  } else {
    self = flattened(cx, self);
  }
  mlir::Value repeats = cx.broadcastTo(args.tensor("repeats"), {cx.size(self, axis)});
  mlir::Value places = repeatedIndices(cx, repeats, args.optionalDim("output_size"));
  return gatherSlices(cx, atLeastOne(cx, self, axis), slicesAlong(cx, places, axis));
}

/// How often each number from 0 on occurs, or the sum of its weights.
mlir::Value binCount(Context &cx, const Args &args) {
  mlir::Value self = cx.convert(args.tensor("self"), DType::I64);
  mlir::Value least = cx.constant(int64_t{-1}, DType::I64);
  mlir::Value greatest = cx.reduceWith<stablehlo::MaxOp>(self, least, {0});
  Dim size = cx.maximum(cx.add(Dim::computed(greatest), 1), args.dim("minlength"));
  std::optional<mlir::Value> weights = args.optionalTensor("weights");
  DType dtype = cx.resultType().dtype;
  return countAt(cx, self, weights ? cx.convert(*weights, dtype) : cx.full(int64_t{1}, dtype, cx.shape(self)),
                 size);
}

} // namespace

void addDataSize(OpTable &table) {
  table.addSizedByData("aten::nonzero(Tensor self) -> Tensor", nonzero);
  table.addSizedByData("aten::argwhere(Tensor self) -> Tensor", nonzero);
  table.addSizedByData("aten::nonzero_numpy(Tensor self) -> Tensor[]", [](Context &cx, const Args &args) {
    return Result<Values>(nonzeroByDimension(cx, args.tensor("self")));
  });
  table.addSizedByData("aten::where(Tensor condition) -> Tensor[]", [](Context &cx, const Args &args) {
    return Result<Values>(nonzeroByDimension(cx, args.tensor("condition")));
  });
  table.add("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", nonzeroStatic);
  table.addSizedByData("aten::masked_select(Tensor self, Tensor mask) -> Tensor", maskedSelect);
  table.addSizedByData(
      "aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", repeatIndices);
  table.addSizedByData("aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
                       "SymInt? output_size=None) -> Tensor",
                       repeatElements);
  table.addSizedByData("aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
                       binCount);
}

} // namespace torchere::lowering
