// Ops whose result shape is computed by the program: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/convolution_shape.h"
#include "stablehlo/dialect.h"
#include "stablehlo/gather_shape.h"
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
  if (failed(reporter.sameElements("C1", "operand", getOperand(), "result", getResult())) ||
      failed(reporter.size("C2", "broadcast_dimensions", dimensions.size(), operand.getRank())) ||
      failed(reporter.inRange("C3", "broadcast_dimensions", dimensions, result.getRank())) ||
      failed(reporter.unique("C4", "broadcast_dimensions", dimensions)))
    return failure();
  for (auto [index, dimension] : llvm::enumerate(dimensions)) {
    int64_t size = operand.getDimSize(index);
    if (size != 1 && !mayEqual(size, result.getDimSize(dimension)))
      return reporter.violation("C5", "operand dimension ", index, " of size ", size,
                                " cannot be broadcast to result dimension ", dimension, " of size ",
                                result.getDimSize(dimension));
  }
  if (failed(reporter.length("C7", "output_dimensions", getOutputDimensions(), result.getRank())))
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
  auto sizes = cast<RankedTensorType>(adaptor.getSliceSizes().getType());
  if (sizes.getRank() != 1)
    return reporter.violation("C20", "rank of slice_sizes: got ", sizes.getRank(), ", expected 1");
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
  return success();
}

//===- dynamic_reshape ----------------------------------------------------===//

LogicalResult DynamicReshapeOp::verify() {
  Reporter reporter(*this);
  auto operand = getOperand().getType();
  auto result = getType();
  if (failed(reporter.sameElements("C1", "operand", getOperand(), "result", getResult())))
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
  SmallVector<int64_t> shape(operand.getShape());
  DenseIntElementsAttr size;
  bool isConstant = matchPattern(adaptor.getSize(), m_Constant(&size));
  shape[dimension] = isConstant ? (*size.begin()).getSExtValue() : ShapedType::kDynamic;
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
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
  return success();
}

} // namespace torchere::stablehlo
