// Batch normalization and its gradient: inference.
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/batch_norm.cpp.inc"

namespace torchere::stablehlo {

void addBatchNormOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/batch_norm.cpp.inc"
      >();
}

namespace {

/// An operand with one element a feature, and the number of the constraint on its size.
struct FeatureVector {
  StringRef name;
  Value value;
  StringRef sizeConstraint;
};

/// (C1), (C2) and the sizes of the vectors. The type of a vector with one element a feature.
FailureOr<RankedTensorType> inferFeatures(const Reporter &reporter, Value operand, int64_t featureIndex,
                                          ArrayRef<FeatureVector> vectors) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (failed(reporter.inRange("C1", "feature_index", featureIndex, type.getRank())))
    return failure();
  int64_t features = type.getDimSize(featureIndex);
  for (const FeatureVector &vector : vectors) {
    auto vectorType = cast<RankedTensorType>(vector.value.getType());
    if (failed(reporter.sameElements("C2", "operand", operand, vector.name, vector.value)))
      return failure();
    int64_t size = vectorType.getDimSize(0);
    if (!mayEqual(size, features))
      return reporter.violation(vector.sizeConstraint, "size of ", vector.name, ": got ", size, ", expected ",
                                features);
    if (!isKnown(features))
      features = size;
  }
  return RankedTensorType::get({features}, type.getElementType());
}

} // namespace

LogicalResult BatchNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  Value operand = adaptor.getOperand(), gradOutput = adaptor.getGradOutput();
  FailureOr<RankedTensorType> features = inferFeatures(reporter, operand, adaptor.getFeatureIndex(),
                                                       {{"scale", adaptor.getScale(), "C5"},
                                                        {"mean", adaptor.getMean(), "C4"},
                                                        {"variance", adaptor.getVariance(), "C4"}});
  if (failed(features) || failed(reporter.sameElements("C2", "operand", operand, "grad_output", gradOutput)))
    return failure();
  if (failed(verifyCompatibleShape(operand.getType(), gradOutput.getType())))
    return reporter.violation("C3", "shapes of operand and grad_output differ: got ", operand.getType(),
                              " and ", gradOutput.getType());
  types.append({operand.getType(), *features, *features});
  return success();
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                     Adaptor adaptor, SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> features =
      inferFeatures(Reporter(location, getOperationName()), adaptor.getOperand(), adaptor.getFeatureIndex(),
                    {{"scale", adaptor.getScale(), "C3"},
                     {"offset", adaptor.getOffset(), "C4"},
                     {"mean", adaptor.getMean(), "C5"},
                     {"variance", adaptor.getVariance(), "C6"}});
  if (failed(features))
    return failure();
  types.push_back(adaptor.getOperand().getType());
  return success();
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> features =
      inferFeatures(Reporter(location, getOperationName()), adaptor.getOperand(), adaptor.getFeatureIndex(),
                    {{"scale", adaptor.getScale(), "C3"}, {"offset", adaptor.getOffset(), "C4"}});
  if (failed(features))
    return failure();
  types.append({adaptor.getOperand().getType(), *features, *features});
  return success();
}

} // namespace torchere::stablehlo
