// Attention whose keys serve several heads, as a product of each key head with the queries of all its heads.
#pragma once

#include "stablehlo/dialect.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

/// The two products of such attention, made ones of all heads with keys and values that are repeated: the
/// form in which attention is found.
class GroupedHeads {
public:
  /// None unless softmax is of heads whose queries the products take together.
  static std::optional<GroupedHeads> spread(mlir::Operation *softmax);
  /// Where that is not fused, nothing is to be repeated.
  void undo();

private:
  struct Product {
    stablehlo::DotGeneralOp dot;
    mlir::Value few; ///< its right factor, not repeated
  };
  mlir::Value put(stablehlo::DotGeneralOp dot, mlir::Value left, mlir::Type result, int64_t count);

  llvm::SmallVector<Product, 2> products;
};

} // namespace torchere::cpu
