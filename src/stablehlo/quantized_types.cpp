// Implements the constraints of quantized tensors.
#include "stablehlo/quantized_types.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;

namespace torchere::stablehlo {

using PerAxis = quant::UniformQuantizedPerAxisType;

Type withQuantizedDimension(Type element, int64_t dimension) {
  auto type = dyn_cast<PerAxis>(element);
  if (!type)
    return element;
  return PerAxis::get(type.getFlags(), type.getStorageType(), type.getExpressedType(), type.getScales(),
                      type.getZeroPoints(), dimension, type.getStorageTypeMin(), type.getStorageTypeMax());
}

LogicalResult verifyMovedElements(const Reporter &reporter, StringRef constraint, RankedTensorType operand,
                                  RankedTensorType result, bool repeats) {
  Type from = operand.getElementType(), to = result.getElementType();
  auto perAxis = dyn_cast<PerAxis>(from);
  bool isSame = from == to;
  if (perAxis && isPerAxisQuantized(to)) {
    auto target = cast<PerAxis>(to);
    PerAxis scales = repeats ? target : perAxis;
    isSame = to == PerAxis::get(perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(),
                                scales.getScales(), scales.getZeroPoints(), target.getQuantizedDimension(),
                                perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax());
  }
  if (isSame)
    return success();
  return reporter.violation(constraint, "element types of operand and result differ: got ", from, " and ",
                            to);
}

LogicalResult verifyBroadcastScales(const Reporter &reporter, StringRef constraint, RankedTensorType operand,
                                    RankedTensorType result, ArrayRef<int64_t> dimensions) {
  auto from = dyn_cast<PerAxis>(operand.getElementType());
  auto to = dyn_cast<PerAxis>(result.getElementType());
  if (!from || !to)
    return success();
  int64_t dimension = from.getQuantizedDimension();
  if (to.getQuantizedDimension() != dimensions[dimension])
    return reporter.violation(constraint, "result's quantized dimension is ", to.getQuantizedDimension(),
                              ", expected ", dimensions[dimension], ", where the operand's goes");
  if (operand.getDimSize(dimension) != 1)
    return success();
  for (auto [scale, zeroPoint] : llvm::zip(to.getScales(), to.getZeroPoints()))
    if (scale != from.getScales().front() || zeroPoint != from.getZeroPoints().front())
      return reporter.violation(constraint, "result has the scale and zero point ", std::to_string(scale),
                                ":", zeroPoint, ", expected the operand's, repeated: ",
                                std::to_string(from.getScales().front()), ":", from.getZeroPoints().front());
  return success();
}

LogicalResult verifyReshapedScales(const Reporter &reporter, StringRef constraint, RankedTensorType operand,
                                   RankedTensorType result) {
  std::optional<int64_t> from = quantizedDimension(operand.getElementType());
  std::optional<int64_t> to = quantizedDimension(result.getElementType());
  if (!from || !to || !operand.hasStaticShape() || !result.hasStaticShape())
    return success();
  auto count = [](ArrayRef<int64_t> sizes) { return ShapedType::getNumElements(sizes); };
  ArrayRef<int64_t> before = operand.getShape(), after = result.getShape();
  if (count(before.take_front(*from)) == count(after.take_front(*to)) && before[*from] == after[*to])
    return success();
  return reporter.violation(constraint, "quantized dimension ", *from, " of ", operand,
                            " does not become dimension ", *to, " of ", result);
}

static LogicalResult verifyAddAxis(const Reporter &reporter, StringRef constraint, StringRef name,
                                   Type operand, Type result) {
  std::optional<int64_t> from = quantizedDimension(operand), to = quantizedDimension(result);
  if (!from || from == to)
    return success();
  return reporter.violation(constraint, "quantized dimensions of ", name, " and result differ: got ", *from,
                            " and ", *to);
}

LogicalResult verifyQuantizedAdd(const Reporter &reporter, Type lhs, Type rhs, Type result) {
  auto all = [&](auto member) {
    auto left = cast<quant::QuantizedType>(lhs), right = cast<quant::QuantizedType>(rhs);
    auto sum = cast<quant::QuantizedType>(result);
    return (left.*member)() == (right.*member)() && (left.*member)() == (sum.*member)();
  };
  if (!isQuantized(lhs) && !isQuantized(rhs) && !isQuantized(result))
    return success();
  if (!isQuantized(lhs) || !isQuantized(rhs) || !isQuantized(result))
    return reporter.violation("C2", "some types are quantized and some are not: got ", lhs, ", ", rhs,
                              " and ", result);
  if (!all(&quant::QuantizedType::getStorageType))
    return reporter.violation("C3", "storage types differ: got ", lhs, ", ", rhs, " and ", result);
  if (!all(&quant::QuantizedType::getExpressedType))
    return reporter.violation("C4", "expressed types differ: got ", lhs, ", ", rhs, " and ", result);
  if ((isPerAxisQuantized(lhs) || isPerAxisQuantized(rhs)) != isPerAxisQuantized(result))
    return reporter.violation("C5", "result is ", result, " for operands ", lhs, " and ", rhs,
                              ", expected scales per axis when an operand has them");
  return failure(failed(verifyAddAxis(reporter, "C6", "lhs", lhs, result)) ||
                 failed(verifyAddAxis(reporter, "C7", "rhs", rhs, result)));
}

LogicalResult verifyQuantizedContraction(const Reporter &reporter, const ContractionConstraints &constraints,
                                         Type lhs, Type rhs, Type result) {
  if (!isQuantized(lhs) && !isQuantized(rhs) && !isQuantized(result))
    return success();
  auto types = [&](StringRef constraint, StringRef what) {
    return reporter.violation(constraint, what, ": got ", lhs, ", ", rhs, " and ", result);
  };
  if (isQuantized(lhs) != isQuantized(result) || !isQuantized(rhs))
    return types(constraints.isQuantized, "rhs is not quantized, or only one of lhs and result is");
  if (!isQuantized(lhs)) {
    bool isExpressed = lhs == expressedType(rhs) && lhs == result;
    return isExpressed ? success()
                       : types(constraints.hybrid, "lhs and result are not of rhs's expressed type");
  }
  auto left = cast<quant::QuantizedType>(lhs), right = cast<quant::QuantizedType>(rhs);
  if (left.getStorageType() != right.getStorageType())
    return types(constraints.storage, "storage types of lhs and rhs differ");
  if (expressedType(lhs) != expressedType(rhs) || expressedType(lhs) != expressedType(result))
    return types(constraints.expressed, "expressed types differ");
  if (isPerTensorQuantized(rhs) && !isPerTensorQuantized(result))
    return types(constraints.granularity, "result has scales per axis, and rhs has not");
  return success();
}

LogicalResult verifyZeroPoints(const Reporter &reporter, StringRef constraint, StringRef name, Type element) {
  SmallVector<int64_t> points;
  if (auto perAxis = dyn_cast<PerAxis>(element))
    llvm::append_range(points, perAxis.getZeroPoints());
  else if (auto perTensor = dyn_cast<quant::UniformQuantizedType>(element))
    points.push_back(perTensor.getZeroPoint());
  for (int64_t point : points)
    if (point != 0)
      return reporter.violation(constraint, "zero point of ", name, ": got ", point, ", expected 0");
  return success();
}

} // namespace torchere::stablehlo
