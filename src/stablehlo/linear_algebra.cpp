// Contractions: verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/convolution_shape.h"
#include "stablehlo/dialect.h"
#include "stablehlo/dot_shape.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/linear_algebra.cpp.inc"

namespace torchere::stablehlo {

void addLinearAlgebraOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/linear_algebra.cpp.inc"
      >();
}

//===- dot_general --------------------------------------------------------===//

LogicalResult DotGeneralOp::verify() {
  Reporter reporter(*this);
  FailureOr<SmallVector<int64_t>> shape = inferDotGeneral(*this);
  if (failed(shape))
    return failure();
  if (std::optional<ArrayAttr> precision = getPrecisionConfig())
    if (!precision->empty() && failed(reporter.size("C11", "precision_config", precision->size(), 2)))
      return failure();
  if (failed(verifyCompatibleShape(*shape, getType().getShape())))
    return reporter.violation("C12", "result has the wrong shape: got ", getType(), ", expected ",
                              getType().clone(*shape));
  Type lhs = getLhs().getType().getElementType(), rhs = getRhs().getType().getElementType();
  if (isFloat(lhs) != isFloat(rhs) || isComplex(lhs) != isComplex(rhs))
    return reporter.violation("C13", "element types of lhs and rhs differ in kind: got ", lhs, " and ", rhs);
  return success();
}

//===- convolution --------------------------------------------------------===//

LogicalResult ConvolutionOp::verify() {
  ConvolutionShape convolution = describeConvolution(*this);
  convolution.padding = getPaddingAttr();
  return verifyConvolution(Reporter(*this), convolution, getType());
}

} // namespace torchere::stablehlo
