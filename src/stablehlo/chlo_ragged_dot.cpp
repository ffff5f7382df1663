// The verifier of CHLO's ragged_dot.
#include "stablehlo/chlo_dialect.h"
#include "stablehlo/dot_shape.h"

using namespace mlir;

namespace torchere::chlo {

using stablehlo::Reporter;

namespace {

using Shape = SmallVector<int64_t>;

/// The dimensions of lhs that group_sizes has before its last one: those outside of the ragged one and of its
/// role or of the batch.
Shape groupPrefix(RankedTensorType lhs, RaggedDotDimensionNumbersAttr numbers) {
  int64_t ragged = numbers.getLhsRaggedDimensions().front();
  ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getLhsContractingDimensions();
  Shape prefix(batching.begin(), llvm::find(batching, ragged));
  if (llvm::is_contained(batching, ragged))
    return prefix;
  if (llvm::is_contained(contracting, ragged)) {
    prefix.append(contracting.begin(), llvm::find(contracting, ragged));
    return prefix;
  }
  for (int64_t dimension = 0; dimension < ragged; ++dimension)
    if (!llvm::is_contained(batching, dimension) && !llvm::is_contained(contracting, dimension))
      prefix.push_back(dimension);
  return prefix;
}

/// group_sizes has one dimension, or those of groupPrefix before it.
LogicalResult verifyGroupSizes(const Reporter &reporter, RankedTensorType groups, RankedTensorType lhs,
                               RaggedDotDimensionNumbersAttr numbers) {
  if (groups.getRank() == 1)
    return success();
  Shape prefix = groupPrefix(lhs, numbers);
  if (failed(reporter.size("", "shape of group_sizes", groups.getRank(), prefix.size() + 1)))
    return failure();
  for (auto [index, dimension] : llvm::enumerate(prefix))
    if (!stablehlo::mayEqual(groups.getDimSize(index), lhs.getDimSize(dimension)))
      return reporter.violation("", "dimension ", index, " of group_sizes has the wrong size: got ",
                                groups.getDimSize(index), ", expected ", lhs.getDimSize(dimension), " as in ",
                                "dimension ", dimension, " of lhs");
  return success();
}

LogicalResult verifyGroupDimensions(const Reporter &reporter, RankedTensorType rhs, int64_t groups,
                                    bool isFree, RaggedDotDimensionNumbersAttr numbers) {
  ArrayRef<int64_t> dimensions = numbers.getRhsGroupDimensions();
  if (failed(reporter.size("", "rhs_group_dimensions", dimensions.size(), isFree ? 1 : 0)) ||
      failed(reporter.inRange("", "rhs_group_dimensions", dimensions, rhs.getRank())))
    return failure();
  for (int64_t dimension : dimensions) {
    if (llvm::is_contained(numbers.getRhsBatchingDimensions(), dimension) ||
        llvm::is_contained(numbers.getRhsContractingDimensions(), dimension))
      return reporter.violation("", "rhs dimension ", dimension, " has two roles, one is that of the group");
    if (!stablehlo::mayEqual(rhs.getDimSize(dimension), groups))
      return reporter.violation("", "rhs has the wrong number of groups: got ", rhs.getDimSize(dimension),
                                ", expected ", groups, " as in group_sizes");
  }
  return success();
}

/// Where the group's dimension of rhs stands among the dimensions that dot_general would give.
int64_t groupPosition(RankedTensorType lhs, RaggedDotDimensionNumbersAttr numbers) {
  int64_t position = lhs.getRank() - numbers.getLhsContractingDimensions().size();
  for (int64_t dimension = 0; dimension < numbers.getRhsGroupDimensions().front(); ++dimension)
    if (!llvm::is_contained(numbers.getRhsBatchingDimensions(), dimension) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), dimension))
      ++position;
  return position;
}

} // namespace

LogicalResult RaggedDotOp::verify() {
  Reporter reporter(*this);
  RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), groups = getGroupSizes().getType();
  FailureOr<Shape> shape = stablehlo::inferDot(
      reporter, lhs, rhs,
      stablehlo::DotDimensionNumbersAttr::get(
          getContext(), numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
          numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()));
  if (failed(shape) ||
      failed(reporter.size("", "lhs_ragged_dimensions", numbers.getLhsRaggedDimensions().size(), 1)) ||
      failed(reporter.inRange("", "lhs_ragged_dimensions", numbers.getLhsRaggedDimensions(), lhs.getRank())))
    return failure();
  if (groups.getRank() == 0)
    return reporter.violation("", "group_sizes is a scalar, expected at least one dimension");
  if (failed(verifyGroupSizes(reporter, groups, lhs, numbers)))
    return failure();
  int64_t ragged = numbers.getLhsRaggedDimensions().front();
  bool isContracting = llvm::is_contained(numbers.getLhsContractingDimensions(), ragged);
  bool isFree = !isContracting && !llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged);
  if (failed(verifyGroupDimensions(reporter, rhs, groups.getShape().back(), isFree, numbers)))
    return failure();
  if (isFree)
    shape->erase(shape->begin() + groupPosition(lhs, numbers));
  if (isContracting)
    shape->insert(shape->begin(), groups.getShape().back());
  if (failed(verifyCompatibleShape(*shape, getType().getShape())))
    return reporter.violation("", "result has the wrong shape: got ", getType(), ", expected ",
                              getType().clone(*shape));
  if (std::optional<ArrayAttr> precision = getPrecisionConfig())
    if (!precision->empty())
      return reporter.size("", "precision_config", precision->size(), 2);
  return success();
}

} // namespace torchere::chlo
