// Ops whose result shape is computed by the program: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/bounds.h"
#include "stablehlo/broadcast_shape.h"
#include "stablehlo/constraint.h"
#include "stablehlo/convolution_shape.h"
#include "stablehlo/dialect.h"
#include "stablehlo/gather_shape.h"
#include "stablehlo/quantized_types.h"
#include "stablehlo/sizes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/dynamism.cpp.inc"

namespace torchere::stablehlo {

void addDynamismOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/dynamism.cpp.inc"
      >();
}

//===- dynamic_broadcast_in_dim -------------------------------------------===//

LogicalResult DynamicBroadcastInDimOp::verify() {
  Reporter reporter(*this);
  auto operand = getOperand().getType();
  auto result = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (failed(verifyBroadcast(reporter, operand, result, dimensions)) ||
      failed(reporter.length("C7", "output_dimensions", getOutputDimensions(), result.getRank())))
    return failure();
  ArrayRef<int64_t> expanding = getKnownExpandingDimensions().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> nonexpanding = getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>());
  SmallVector<int64_t> known(expanding);
  llvm::append_range(known, nonexpanding);
  int64_t rank = operand.getRank();
  return failure(
      failed(reporter.unique("C8", "known_expanding_dimensions and known_nonexpanding_dimensions", known)) ||
      failed(reporter.inRange("C9", "known_expanding_dimensions", expanding, rank)) ||
      failed(reporter.inRange("C10", "known_nonexpanding_dimensions", nonexpanding, rank)));
}

//===- dynamic_conv -------------------------------------------------------===//

LogicalResult DynamicConvOp::verify() {
  Reporter reporter(*this);
  int64_t spatial = getLhs().getType().getRank() - 2;
  if (failed(verifyCompatibleShape(getPadding().getType().getShape(), {spatial, 2})))
    return reporter.violation("C4", "padding has the wrong shape: got ", getPadding().getType(),
                              ", expected tensor<", spatial, "x2xi64>");
  ConvolutionShape convolution = describeConvolution(*this);
  convolution.paddingKnown = false;
  return verifyConvolution(reporter, convolution, getType());
}

//===- dynamic_gather -----------------------------------------------------===//

LogicalResult DynamicGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (failed(reporter.length("C20", "slice_sizes", adaptor.getSliceSizes(), operand.getRank())))
    return failure();
  GatherShape gather{operand, cast<RankedTensorType>(adaptor.getStartIndices().getType()),
                     adaptor.getDimensionNumbers(),
                     SmallVector<int64_t>(operand.getRank(), ShapedType::kDynamic)};
  DenseIntElementsAttr constant;
  if (matchPattern(adaptor.getSliceSizes(), m_Constant(&constant)) &&
      constant.getNumElements() == operand.getRank())
    for (auto [size, value] : llvm::zip(gather.sliceSizes, constant.getValues<APInt>()))
      size = value.getSExtValue();
  FailureOr<RankedTensorType> type = inferGather(reporter, gather);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

//===- dynamic_iota -------------------------------------------------------===//

LogicalResult DynamicIotaOp::verify() {
  Reporter reporter(*this);
  int64_t dimension = getIotaDimension();
  return failure(failed(reporter.inRange("C1", "iota_dimension", dimension, getType().getRank())) ||
                 failed(reporter.length("C2", "output_shape", getOutputShape(), getType().getRank())));
}

/// Vectors that each say something of every dimension come in one type.
static LogicalResult verifySameTypes(const Reporter &reporter, StringRef names, ValueRange vectors) {
  if (llvm::all_equal(vectors.getTypes()))
    return success();
  return reporter.violation("", "types of ", names, " differ: got ", vectors.getTypes());
}

//===- dynamic_pad --------------------------------------------------------===//

LogicalResult DynamicPadOp::verify() {
  Reporter reporter(*this);
  int64_t rank = getOperand().getType().getRank();
  if (failed(reporter.sameElements("C1", "operand", getOperand(), "result", getResult())) ||
      failed(reporter.sameElements("C1", "padding_value", getPaddingValue(), "result", getResult())) ||
      failed(reporter.length("C2", "edge_padding_low", getEdgePaddingLow(), rank)) ||
      failed(reporter.length("C2", "edge_padding_high", getEdgePaddingHigh(), rank)) ||
      failed(reporter.length("C2", "interior_padding", getInteriorPadding(), rank)))
    return failure();
  if (getType().getRank() != rank)
    return reporter.violation("C4", "ranks of operand and result differ: got ", rank, " and ",
                              getType().getRank());
  return verifySameTypes(reporter, "edge_padding_low, edge_padding_high and interior_padding",
                         getOperands().drop_front(2));
}

//===- dynamic_reshape ----------------------------------------------------===//

LogicalResult DynamicReshapeOp::verify() {
  Reporter reporter(*this);
  auto operand = getOperand().getType();
  auto result = getType();
  if (failed(verifyMovedElements(reporter, "C1", operand, result)) ||
      failed(verifyReshapedScales(reporter, "C3", operand, result)))
    return failure();
  if (failed(verifySameCount(reporter, "C2", operand, result)))
    return failure();
  return reporter.length("C4", "output_shape", getOutputShape(), result.getRank());
}

//===- set_dimension_size -------------------------------------------------===//

LogicalResult SetDimensionSizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t dimension = adaptor.getDimension();
  if (failed(Reporter(location, getOperationName()).inRange("", "dimension", dimension, operand.getRank())))
    return failure();
  // The size that the dimension has already changes nothing; of another it is the bound.
  DenseIntElementsAttr constant;
  bool isConstant = matchPattern(adaptor.getSize(), m_Constant(&constant));
  int64_t size = operand.getDimSize(dimension);
  if (isConstant && (*constant.begin()).getSExtValue() == size) {
    types.push_back(operand);
    return success();
  }
  SmallVector<int64_t> shape(operand.getShape()), bounds = boundsOf(operand);
  shape[dimension] = ShapedType::kDynamic;
  if (isKnown(size))
    bounds[dimension] = size;
  types.push_back(withShape(operand, shape, bounds));
  return success();
}

//===- real_dynamic_slice -------------------------------------------------===//

LogicalResult RealDynamicSliceOp::verify() {
  Reporter reporter(*this);
  int64_t rank = getOperand().getType().getRank();
  if (failed(reporter.sameElements("", "operand", getOperand(), "result", getResult())) ||
      failed(reporter.length("", "start_indices", getStartIndices(), rank)) ||
      failed(reporter.length("", "limit_indices", getLimitIndices(), rank)) ||
      failed(reporter.length("", "strides", getStrides(), rank)))
    return failure();
  if (getType().getRank() != rank)
    return reporter.violation("", "ranks of operand and result differ: got ", rank, " and ",
                              getType().getRank());
  return verifySameTypes(reporter, "start_indices, limit_indices and strides", getOperands().drop_front());
}

} // namespace torchere::stablehlo
