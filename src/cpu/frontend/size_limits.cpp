// Implements checkSizes().
#include "cpu/frontend/size_limits.h"

#include "cpu/plan/limits.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

using namespace mlir;

namespace torchere::cpu {
namespace {

constexpr llvm::StringLiteral windowSizes[] = {"window_dimensions", "window_strides",    "padding",
                                               "edge_padding_low",  "edge_padding_high", "interior_padding"};
constexpr llvm::StringLiteral dilations[] = {"base_dilations", "window_dilations", "lhs_dilation",
                                             "rhs_dilation", "interior_padding"};
constexpr int64_t mostDilated = int64_t(1) << 61;

/// Of the numbers' magnitudes; 0 of another attribute.
int64_t largestOf(Attribute attribute) {
  int64_t largest = 0;
  auto take = [&](int64_t number) { // the least number has no magnitude
    largest = std::max(largest, number < 0 ? -(number + 1) : number);
  };
  if (auto array = dyn_cast_if_present<DenseI64ArrayAttr>(attribute))
    llvm::for_each(array.asArrayRef(), take);
  else if (auto elements = dyn_cast_if_present<DenseIntElementsAttr>(attribute);
           elements && elements.getElementType().isInteger(64))
    llvm::for_each(elements.getValues<int64_t>(), take);
  return largest;
}

bool isWithin(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || !tensor.hasStaticShape() || boundedProduct(tensor.getShape()) >= 0;
}

bool hasWindowsWithin(Operation *op) {
  int64_t size = 1; // of what is dilated
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t dimension : tensor.getShape())
        size = std::max(size, dimension);
  for (llvm::StringLiteral name : windowSizes) {
    int64_t largest = largestOf(op->getAttr(name));
    if (largest >= mostElements)
      return false;
    size = std::max(size, largest);
  }
  return llvm::all_of(
      dilations, [&](llvm::StringLiteral name) { return largestOf(op->getAttr(name)) < mostDilated / size; });
}

/// A slice without elements has none for the result: the specification's formula, and jaxlib's verifier, let
/// one be read that is beside the operand.
bool hasElementsToTake(Operation *op) {
  auto gather = dyn_cast<stablehlo::GatherOp>(op);
  if (!gather || llvm::is_contained(gather.getType().getShape(), 0))
    return true;
  return !llvm::is_contained(gather.getSliceSizes(), 0);
}

} // namespace

Status checkSizes(func::FuncOp function) {
  Operation *found = nullptr;
  function.walk([&](Operation *op) {
    bool hasBlocksWithin = llvm::all_of(op->getRegions(), [](Region &region) {
      return region.empty() || llvm::all_of(region.getArgumentTypes(), isWithin);
    });
    if (hasBlocksWithin && llvm::all_of(op->getResultTypes(), isWithin) && hasWindowsWithin(op) &&
        hasElementsToTake(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  if (!found)
    return {};
  if (!hasElementsToTake(found))
    return fail(ErrorCode::Unimplemented, "elements of {} from slices without elements",
                found->getName().getStringRef().str());
  return fail(ErrorCode::Unimplemented, "sizes of {} of {} and more", found->getName().getStringRef().str(),
              mostElements);
}

} // namespace torchere::cpu
