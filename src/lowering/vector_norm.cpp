// Implements norms of vectors.
#include "lowering/vector_norm.h"

#include <cmath>

namespace torchere::lowering {

static Elements ofSum(Context &cx, mlir::Value terms, llvm::ArrayRef<int64_t> axes) {
  return {cx, cx.reduceWith<stablehlo::AddOp>(terms, cx.constant(0.0, Context::dtype(terms)), axes)};
}

mlir::Value normOf(Context &cx, const Elements &magnitude, double p, llvm::ArrayRef<int64_t> axes) {
  mlir::Value value = magnitude;
  mlir::Type element = Context::elementType(value);
  if (p == 0.0)
    return ofSum(cx, notEqual(magnitude, magnitude.constant(0.0)).select(magnitude.constant(1.0), 0.0), axes);
  if (p == 1.0)
    return ofSum(cx, value, axes);
  if (p == 2.0)
    return sqrt(ofSum(cx, magnitude * magnitude, axes));
  if (std::isinf(p))
    return p > 0 ? cx.reduceWith<stablehlo::MaxOp>(value, cx.constant(0.0, element), axes)
                 : cx.reduceWith<stablehlo::MinOp>(value, cx.highest(element), axes);
  Elements sum = ofSum(cx, power(magnitude, p), axes);
  return power(sum, 1.0 / p);
}

} // namespace torchere::lowering
