// Max and average pooling over the last one, two or three dimensions.
#include "lowering/pooling.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

template <size_t spatialRank> mlir::Value maxPool(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  const Dims &shape = cx.resultType().shape;
  return poolWith<stablehlo::MaxOp>(cx, self, cx.lowest(Context::elementType(self)),
                                    poolingOf(cx, args, spatialRank, cx.shape(self), shape), shape);
}

/// The flat index of each element within the spatial dimensions.
mlir::Value flatPlaces(Context &cx, llvm::ArrayRef<Dim> shape, size_t spatialRank) {
  Dims spatial(shape.end() - spatialRank, shape.end());
  mlir::Value flat = cx.iota({cx.product(spatial)}, DType::I64, 0);
  return cx.broadcastTo(cx.reshape(flat, spatial), shape);
}

/// Whether a later element of a window replaces the current one: the larger, the last NaN, the first of
/// equals.
mlir::Value replaces(Context &cx, mlir::ValueRange operands) {
  mlir::Value best = operands[0], bestPlace = operands[1], value = operands[2], place = operands[3];
  auto both = [&](mlir::Value a, mlir::Value b) { return cx.elementwise<stablehlo::AndOp>({a, b}); };
  auto either = [&](mlir::Value a, mlir::Value b) { return cx.elementwise<stablehlo::OrOp>({a, b}); };
  mlir::Value earlier = cx.compare(Direction::LT, place, bestPlace);
  mlir::Value result =
      either(cx.compare(Direction::GT, value, best), both(cx.compare(Direction::EQ, value, best), earlier));
  if (!dtypeInfo(Context::dtype(value)).isFloatingPoint)
    return result;
  mlir::Value isNan = cx.compare(Direction::NE, value, value);
  mlir::Value wasNumber = cx.compare(Direction::EQ, best, best);
  mlir::Value later = cx.compare(Direction::GT, place, bestPlace);
  return either(result, both(isNan, either(wasNumber, later)));
}

template <size_t spatialRank> Values maxPoolWithIndices(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Pooling pooling = poolingOf(cx, args, spatialRank, cx.shape(self), cx.resultType().shape);
  mlir::Value places = flatPlaces(cx, cx.shape(self), spatialRank);
  mlir::Value lowest = cx.lowest(Context::elementType(self));
  mlir::Value nowhere = cx.highest(Context::elementType(places));
  Values padded = {extended(cx, self, lowest, pooling.extra), extended(cx, places, nowhere, pooling.extra)};
  return reduceWindows(cx, padded, {lowest, nowhere}, pooling.window, cx.resultType().shape,
                       [&](mlir::ValueRange operands) {
                         mlir::Value choice = replaces(cx, operands);
                         return Values{cx.select(choice, operands[2], operands[0]),
                                       cx.select(choice, operands[3], operands[1])};
                       });
}

template <size_t spatialRank> mlir::Value avgPool(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value self = cx.convert(args.tensor("self"), computeType(type.dtype));
  Pooling pooling = poolingOf(cx, args, spatialRank, cx.shape(self), type.shape);
  mlir::Value zero = cx.constant(0.0, Context::dtype(self));
  mlir::Value sum = poolWith<stablehlo::AddOp>(cx, self, zero, pooling, type.shape);
  mlir::Value divisor = averageDivisor(cx, args, self, pooling, type.shape);
  return cx.convert(cx.elementwise<stablehlo::DivOp>({sum, divisor}), type.dtype);
}

} // namespace

void addPooling(OpTable &table) {
  table.add("aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
            "int[1] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool<1>);
  table.add("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
            "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool<2>);
  table.add("aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
            "int[3] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool<3>);
  table.add("aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], "
            "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
            maxPoolWithIndices<2>);
  table.add("aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], "
            "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
            maxPoolWithIndices<3>);
  table.add("aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
            avgPool<1>);
  table.add("aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
            avgPool<2>);
  table.add("aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
            avgPool<3>);
}

} // namespace torchere::lowering
