// The folds that ops name: "sum", "amax".
#pragma once

#include "lowering/args.h"
#include "lowering/context.h"

namespace torchere::lowering {

/// How two numbers become one, and the number that changes none.
struct NamedFold {
  mlir::Value (*body)(mlir::OpBuilder &, mlir::Location, mlir::ValueRange);
  mlir::Value neutral; ///< of no dimensions
};

/// The fold that the op's argument "reduce" names, one of `names`, of elements of a type. That of a mean is
/// the sum.
Result<NamedFold> namedFold(Context &cx, const Args &args, llvm::ArrayRef<llvm::StringRef> names,
                            mlir::Type element);

} // namespace torchere::lowering
