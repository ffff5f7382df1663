// Implements the shape rules of convolutions, by the numbers of the constraints of `convolution`.
#include "stablehlo/convolution_shape.h"

#include "stablehlo/quantized_types.h"

using namespace mlir;

namespace torchere::stablehlo {

namespace {

/// The dimensions of one tensor must be a permutation of [0, rank).
LogicalResult verifyRoles(const Reporter &reporter, StringRef tensor, int64_t rank, int64_t first,
                          int64_t second, ArrayRef<int64_t> spatial, StringRef count, StringRef roles) {
  std::string name = (tensor + "_spatial_dimensions").str();
  if (failed(reporter.size(count, name, spatial.size(), rank - 2)))
    return failure();
  SmallVector<int64_t> all{first, second};
  llvm::append_range(all, spatial);
  name = (tensor + " dimensions").str();
  return failure(failed(reporter.unique(roles, name, all)) ||
                 failed(reporter.inRange(roles, name, all, rank)));
}

LogicalResult verifyNumbers(const Reporter &reporter, const ConvolutionShape &convolution) {
  ConvDimensionNumbersAttr numbers = convolution.numbers;
  int64_t rank = convolution.lhs.getRank();
  return failure(failed(verifyRoles(reporter, "input", rank, numbers.getInputBatchDimension(),
                                    numbers.getInputFeatureDimension(), numbers.getInputSpatialDimensions(),
                                    "C12", "C13")) ||
                 failed(verifyRoles(reporter, "kernel", rank, numbers.getKernelInputFeatureDimension(),
                                    numbers.getKernelOutputFeatureDimension(),
                                    numbers.getKernelSpatialDimensions(), "C17", "C18")) ||
                 failed(verifyRoles(reporter, "output", rank, numbers.getOutputBatchDimension(),
                                    numbers.getOutputFeatureDimension(), numbers.getOutputSpatialDimensions(),
                                    "C19", "C20")));
}

LogicalResult verifyDivisible(const Reporter &reporter, StringRef constraint, StringRef what, int64_t size,
                              StringRef by, int64_t count) {
  if (!isKnown(size) || size % count == 0)
    return success();
  return reporter.violation(constraint, what, " is not a multiple of ", by, ": got ", size, " and ", count);
}

LogicalResult verifyGroups(const Reporter &reporter, const ConvolutionShape &convolution) {
  ConvDimensionNumbersAttr numbers = convolution.numbers;
  int64_t featureGroups = convolution.featureGroupCount, batchGroups = convolution.batchGroupCount;
  if (failed(reporter.atLeast("C21", "feature_group_count", featureGroups, 1)) ||
      failed(reporter.atLeast("C22", "batch_group_count", batchGroups, 1)))
    return failure();
  if (featureGroups != 1 && batchGroups != 1)
    return reporter.violation("C23", "feature_group_count and batch_group_count both exceed 1: got ",
                              featureGroups, " and ", batchGroups);
  int64_t batch = convolution.lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t inputFeatures = convolution.lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t kernelInput = convolution.rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t kernelOutput = convolution.rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (failed(verifyDivisible(reporter, "C10", "size of the input batch dimension", batch, "batch_group_count",
                             batchGroups)) ||
      failed(verifyDivisible(reporter, "C11", "size of the input feature dimension", inputFeatures,
                             "feature_group_count", featureGroups)))
    return failure();
  if (isKnown(inputFeatures) && !mayEqual(kernelInput, inputFeatures / featureGroups))
    return reporter.violation("C14", "size of the kernel input feature dimension: got ", kernelInput,
                              ", expected ", inputFeatures / featureGroups);
  return failure(failed(verifyDivisible(reporter, "C15", "size of the kernel output feature dimension",
                                        kernelOutput, "batch_group_count", batchGroups)) ||
                 failed(verifyDivisible(reporter, "C16", "size of the kernel output feature dimension",
                                        kernelOutput, "feature_group_count", featureGroups)));
}

} // namespace

FailureOr<SmallVector<int64_t>> inferConvolution(const Reporter &reporter,
                                                 const ConvolutionShape &convolution) {
  int64_t rank = convolution.lhs.getRank();
  if (rank != convolution.rhs.getRank() || rank < 2)
    return reporter.violation("C1", "ranks of lhs and rhs: got ", convolution.lhs, " and ", convolution.rhs,
                              ", expected the same of at least 2");
  if (failed(verifyNumbers(reporter, convolution)) || failed(verifyGroups(reporter, convolution)))
    return failure();
  ConvDimensionNumbersAttr numbers = convolution.numbers;
  SmallVector<int64_t> kernel;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    kernel.push_back(convolution.rhs.getDimSize(dimension));
  for (int64_t size : kernel)
    if (isKnown(size) && failed(reporter.atLeast("", "kernel's spatial size", size, 1)))
      return failure();
  WindowAttributes attributes;
  attributes.arrays = {
      {"window_strides", convolution.strides, &WindowDimension::stride, "C2", "C3"},
      {"lhs_dilation", convolution.lhsDilation, &WindowDimension::baseDilation, "C5", "C6"},
      {"rhs_dilation", convolution.rhsDilation, &WindowDimension::windowDilation, "C7", "C8"}};
  attributes.padding = convolution.padding;
  attributes.paddingConstraint = "C4";
  FailureOr<SmallVector<WindowDimension>> window = joinWindow(reporter, kernel, attributes);
  if (failed(window))
    return failure();
  if (convolution.reversal &&
      failed(reporter.size("C9", "window_reversal", convolution.reversal->size(), rank - 2)))
    return failure();
  if (convolution.precision && !convolution.precision->empty() &&
      failed(reporter.size("C24", "precision_config", convolution.precision->size(), 2)))
    return failure();
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  int64_t batch = convolution.lhs.getDimSize(numbers.getInputBatchDimension());
  shape[numbers.getOutputBatchDimension()] = isKnown(batch) ? batch / convolution.batchGroupCount : batch;
  shape[numbers.getOutputFeatureDimension()] =
      convolution.rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (!convolution.paddingKnown)
    return shape;
  SmallVector<int64_t> spatial;
  for (int64_t dimension : numbers.getInputSpatialDimensions())
    spatial.push_back(convolution.lhs.getDimSize(dimension));
  FailureOr<SmallVector<int64_t>> positions = inferPositions(reporter, "C25", spatial, *window);
  if (failed(positions))
    return failure();
  for (auto [dimension, count] : llvm::zip(numbers.getOutputSpatialDimensions(), *positions))
    shape[dimension] = count;
  return shape;
}

static LogicalResult verifyQuantizedConvolution(const Reporter &reporter, const ConvolutionShape &convolution,
                                                Type result) {
  Type lhs = convolution.lhs.getElementType(), rhs = convolution.rhs.getElementType();
  auto verifyDimension = [&](StringRef constraint, StringRef name, Type type, int64_t expected) {
    std::optional<int64_t> dimension = quantizedDimension(type);
    if (!dimension || *dimension == expected)
      return success();
    return reporter.violation(constraint, "quantized dimension of ", name, ": got ", *dimension,
                              ", expected ", expected, ", that of its output features");
  };
  ContractionConstraints constraints{"C28", "C31", "C32", "C33", "C34"};
  return failure(
      failed(verifyQuantizedContraction(reporter, constraints, lhs, rhs, result)) ||
      failed(verifyDimension("C29", "rhs", rhs, convolution.numbers.getKernelOutputFeatureDimension())) ||
      failed(verifyDimension("C30", "result", result, convolution.numbers.getOutputFeatureDimension())));
}

LogicalResult verifyConvolution(const Reporter &reporter, const ConvolutionShape &convolution,
                                RankedTensorType result) {
  FailureOr<SmallVector<int64_t>> shape = inferConvolution(reporter, convolution);
  if (failed(shape))
    return failure();
  // The result may have other elements, which XLA accumulates in.
  Type lhs = convolution.lhs.getElementType(), rhs = convolution.rhs.getElementType();
  if (lhs != rhs && !isQuantized(lhs) && !isQuantized(rhs))
    return reporter.violation("C27", "element types of lhs and rhs differ: got ", lhs, " and ", rhs);
  if (result.getRank() != convolution.lhs.getRank())
    return reporter.violation("C26", "rank of the result: got ", result.getRank(), ", expected ",
                              convolution.lhs.getRank());
  if (failed(verifyCompatibleShape(*shape, result.getShape())))
    return reporter.violation("C25", "result has the wrong shape: got ", result, ", expected ",
                              result.clone(*shape));
  return verifyQuantizedConvolution(reporter, convolution, result.getElementType());
}

} // namespace torchere::stablehlo
