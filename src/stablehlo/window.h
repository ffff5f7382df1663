// Windows that slide over a tensor: their attributes and the size of what they produce. For convolution and
// reduce_window.
#pragma once

#include "stablehlo/constraint.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace torchere::stablehlo {

/// A window's extent along one dimension. The defaults leave the base as it is.
struct WindowDimension {
  int64_t size = 1; ///< may be unknown
  int64_t stride = 1;
  int64_t paddingLow = 0; ///< negative padding cuts elements off
  int64_t paddingHigh = 0;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;
};

/// The numbers of positions of the window over a tensor of the sizes `base`, dimension by dimension; unknown
/// where either size is. Reports a number that is no int64_t.
llvm::FailureOr<llvm::SmallVector<int64_t>> inferPositions(const Reporter &reporter,
                                                           llvm::StringRef constraint,
                                                           llvm::ArrayRef<int64_t> base,
                                                           llvm::ArrayRef<WindowDimension> window);

/// The optional attributes of a window and the numbers of their constraints.
struct WindowAttributes {
  struct Array {
    llvm::StringRef name;
    std::optional<llvm::ArrayRef<int64_t>> values;
    int64_t WindowDimension::*field;
    llvm::StringRef sizeConstraint;
    llvm::StringRef positiveConstraint;
  };
  llvm::SmallVector<Array> arrays;
  mlir::DenseIntElementsAttr padding;
  llvm::StringRef paddingConstraint;
};

/// Checks the attributes of a window whose sizes are given, and joins them.
llvm::FailureOr<llvm::SmallVector<WindowDimension>>
joinWindow(const Reporter &reporter, llvm::ArrayRef<int64_t> sizes, const WindowAttributes &attributes);

} // namespace torchere::stablehlo
