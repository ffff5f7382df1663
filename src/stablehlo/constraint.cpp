// Implements the checks that many constraints share.
#include "stablehlo/constraint.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace torchere::stablehlo {

LogicalResult Reporter::inRange(StringRef constraint, StringRef name, ArrayRef<int64_t> dimensions,
                                int64_t rank) const {
  for (int64_t dimension : dimensions)
    if (dimension < 0 || dimension >= rank)
      return violation(constraint, name, " out of range: got ", dimension, ", expected it in [0, ", rank,
                       ")");
  return success();
}

LogicalResult Reporter::unique(StringRef constraint, StringRef name, ArrayRef<int64_t> dimensions) const {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dimension : dimensions)
    if (!seen.insert(dimension).second)
      return violation(constraint, name, " not unique: ", dimension, " occurs twice");
  return success();
}

LogicalResult Reporter::sorted(StringRef constraint, StringRef name, ArrayRef<int64_t> dimensions) const {
  if (llvm::is_sorted(dimensions))
    return success();
  return violation(constraint, name, " not sorted");
}

LogicalResult Reporter::size(StringRef constraint, StringRef name, int64_t got, int64_t expected) const {
  if (got == expected)
    return success();
  return violation(constraint, name, " has the wrong number of elements: got ", got, ", expected ", expected);
}

LogicalResult Reporter::length(StringRef constraint, StringRef name, Value value, int64_t expected) const {
  int64_t got = cast<ShapedType>(value.getType()).getDimSize(0);
  return isKnown(got) ? size(constraint, name, got, expected) : success();
}

LogicalResult Reporter::sameElements(StringRef constraint, StringRef leftName, Value left,
                                     StringRef rightName, Value right) const {
  Type leftElement = getElementTypeOrSelf(left), rightElement = getElementTypeOrSelf(right);
  if (leftElement == rightElement)
    return success();
  return violation(constraint, "element types of ", leftName, " and ", rightName, " differ: got ",
                   leftElement, " and ", rightElement);
}

LogicalResult Reporter::atLeast(StringRef constraint, StringRef name, ArrayRef<int64_t> values,
                                int64_t least) const {
  for (int64_t value : values)
    if (value < least)
      return violation(constraint, name, " too small: got ", value, ", expected at least ", least);
  return success();
}

} // namespace torchere::stablehlo
