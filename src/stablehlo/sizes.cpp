// Implements the arithmetic on sizes.
#include "stablehlo/sizes.h"

using namespace mlir;

namespace torchere::stablehlo {

std::optional<int64_t> elementCount(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape) {
    std::optional<int64_t> product = narrowSize(static_cast<WideSize>(count) * size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

LogicalResult verifySameCount(const Reporter &reporter, StringRef constraint, RankedTensorType operand,
                              RankedTensorType result) {
  if (!operand.hasStaticShape() || !result.hasStaticShape() || operand.getShape() == result.getShape())
    return success();
  std::optional<int64_t> left = elementCount(operand.getShape()), right = elementCount(result.getShape());
  if (!left || !right)
    return reporter.violation(constraint, "numbers of elements: ", left ? result : operand,
                              " has more than 2^63 - 1");
  if (*left != *right)
    return reporter.violation(constraint, "numbers of elements differ: operand has ", *left, ", result has ",
                              *right);
  return success();
}

} // namespace torchere::stablehlo
