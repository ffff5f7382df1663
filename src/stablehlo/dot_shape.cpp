// Implements the shape rule of dot_general, by the numbers of its constraints.
#include "stablehlo/dot_shape.h"

using namespace mlir;

namespace torchere::stablehlo {

namespace {

struct DotSide {
  StringRef name;
  RankedTensorType type;
  ArrayRef<int64_t> batching;
  ArrayRef<int64_t> contracting;

  SmallVector<int64_t> roles() const {
    SmallVector<int64_t> all(batching);
    llvm::append_range(all, contracting);
    return all;
  }
};

/// Constraints of one operand's dimension numbers; the numbers are those of uniqueness and of the ranges.
LogicalResult verifyDotSide(const Reporter &reporter, const DotSide &side, StringRef unique,
                            StringRef batchingRange, StringRef contractingRange) {
  int64_t rank = side.type.getRank();
  std::string batching = (side.name + "_batching_dimensions").str();
  std::string contracting = (side.name + "_contracting_dimensions").str();
  return failure(failed(reporter.unique(unique, (side.name + " dimensions").str(), side.roles())) ||
                 failed(reporter.inRange(batchingRange, batching, side.batching, rank)) ||
                 failed(reporter.inRange(contractingRange, contracting, side.contracting, rank)));
}

LogicalResult verifyDotSizes(const Reporter &reporter, StringRef constraint, StringRef kind,
                             const DotSide &lhs, ArrayRef<int64_t> lhsDims, const DotSide &rhs,
                             ArrayRef<int64_t> rhsDims) {
  for (auto [left, right] : llvm::zip(lhsDims, rhsDims))
    if (!mayEqual(lhs.type.getDimSize(left), rhs.type.getDimSize(right)))
      return reporter.violation(constraint, kind, " dimensions differ in size: lhs dimension ", left, " has ",
                                lhs.type.getDimSize(left), ", rhs dimension ", right, " has ",
                                rhs.type.getDimSize(right));
  return success();
}

/// The result's shape: batch dimensions, then lhs's and rhs's remaining ones.
SmallVector<int64_t> dotShape(const DotSide &lhs, const DotSide &rhs) {
  SmallVector<int64_t> shape;
  for (auto [left, right] : llvm::zip(lhs.batching, rhs.batching)) {
    int64_t size = lhs.type.getDimSize(left);
    shape.push_back(isKnown(size) ? size : rhs.type.getDimSize(right));
  }
  for (const DotSide *side : {&lhs, &rhs})
    for (auto [index, size] : llvm::enumerate(side->type.getShape()))
      if (!llvm::is_contained(side->roles(), static_cast<int64_t>(index)))
        shape.push_back(size);
  return shape;
}

} // namespace

FailureOr<SmallVector<int64_t>> inferDot(const Reporter &reporter, RankedTensorType lhsType,
                                         RankedTensorType rhsType, DotDimensionNumbersAttr numbers) {
  DotSide lhs{"lhs", lhsType, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()};
  DotSide rhs{"rhs", rhsType, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions()};
  if (failed(reporter.size("C1", "rhs_batching_dimensions", rhs.batching.size(), lhs.batching.size())) ||
      failed(reporter.size("C2", "rhs_contracting_dimensions", rhs.contracting.size(),
                           lhs.contracting.size())) ||
      failed(verifyDotSide(reporter, lhs, "C3", "C5", "C6")) ||
      failed(verifyDotSide(reporter, rhs, "C4", "C7", "C8")) ||
      failed(verifyDotSizes(reporter, "C9", "batching", lhs, lhs.batching, rhs, rhs.batching)) ||
      failed(verifyDotSizes(reporter, "C10", "contracting", lhs, lhs.contracting, rhs, rhs.contracting)))
    return failure();
  return dotShape(lhs, rhs);
}

FailureOr<SmallVector<int64_t>> inferDotGeneral(DotGeneralOp op) {
  return inferDot(Reporter(op), op.getLhs().getType(), op.getRhs().getType(), op.getDotDimensionNumbers());
}

} // namespace torchere::stablehlo
