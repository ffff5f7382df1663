// Implements convolution.
#include "interpreter/convolution.h"

#include "base/memory_share.h"
#include "interpreter/accumulation.h"
#include "interpreter/sliding_window.h"
#include "stablehlo/dialect.h"

namespace torchere::interpreter {

namespace {

/// The tensors of a convolution, with the sizes and roles of their dimensions.
struct Convolution {
  const Tensor &lhs;
  const Tensor &rhs;
  stablehlo::ConvDimensionNumbersAttr numbers;
  SlidingWindow window;
  Index reversal;
  int64_t featureGroups;
  int64_t batchGroups;

  Index spatialSizes() const {
    Index sizes;
    for (int64_t dimension : numbers.getInputSpatialDimensions())
      sizes.push_back(lhs.shape()[dimension]);
    return sizes;
  }
  int64_t outputFeatures() const { return rhs.shape()[numbers.getKernelOutputFeatureDimension()]; }
  int64_t kernelFeatures() const { return rhs.shape()[numbers.getKernelInputFeatureDimension()]; }
  /// The result's batch size.
  int64_t batches() const { return lhs.shape()[numbers.getInputBatchDimension()] / batchGroups; }
};

Convolution describe(const Call &call, const Index &padding) {
  auto numbers = call.attribute<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers");
  const Tensor &rhs = call.operand(1);
  size_t rank = numbers.getKernelSpatialDimensions().size();
  Index sizes;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    sizes.push_back(rhs.shape()[dimension]);
  return {.lhs = call.operand(0),
          .rhs = rhs,
          .numbers = numbers,
          .window = {.sizes = std::move(sizes),
                     .strides = call.integers("window_strides", rank, 1),
                     .padding = padding,
                     .baseDilations = call.integers("lhs_dilation", rank, 1),
                     .windowDilations = call.integers("rhs_dilation", rank, 1)},
          .reversal = call.integers("window_reversal", rank, 0),
          .featureGroups = call.integer("feature_group_count"),
          .batchGroups = call.integer("batch_group_count")};
}

Index resultShape(const Convolution &convolution) {
  auto numbers = convolution.numbers;
  Index shape(convolution.lhs.shape().size());
  shape[numbers.getOutputBatchDimension()] = convolution.batches();
  shape[numbers.getOutputFeatureDimension()] = convolution.outputFeatures();
  Index positions = convolution.window.positions(convolution.spatialSizes());
  for (auto [dimension, size] : llvm::zip_equal(numbers.getOutputSpatialDimensions(), positions))
    shape[dimension] = size;
  return shape;
}

/// The position of elements in padding or in the gaps of a dilation, which are zeros.
constexpr int64_t nowhere = -1;

/// Calls `visit(lhs position or nowhere, rhs position)` for each pair of elements whose product contributes
/// to the result at `index`. Padding contributes as well: a zero times an infinity is NaN.
template <class Visit> void forEachPair(const Convolution &convolution, IndexView index, Visit visit) {
  auto numbers = convolution.numbers;
  int64_t feature = index[numbers.getOutputFeatureDimension()];
  int64_t features = convolution.outputFeatures(), kernelFeatures = convolution.kernelFeatures();
  int64_t featureGroup = feature / (features / convolution.featureGroups);
  int64_t batchGroup = feature / (features / convolution.batchGroups);
  const Index &lhsShape = convolution.lhs.shape(), &rhsShape = convolution.rhs.shape();
  Index place, from, spatial = convolution.spatialSizes(), left(lhsShape.size()), right(rhsShape.size());
  for (int64_t dimension : numbers.getOutputSpatialDimensions())
    place.push_back(index[dimension]);
  from.resize(place.size());
  left[numbers.getInputBatchDimension()] =
      batchGroup * convolution.batches() + index[numbers.getOutputBatchDimension()];
  right[numbers.getKernelOutputFeatureDimension()] = feature;
  forEachIndex(convolution.window.sizes, [&](IndexView offset, int64_t) {
    bool isPadding = !convolution.window.locate(spatial, place, offset, from);
    for (size_t dimension = 0; dimension < offset.size(); ++dimension) {
      left[numbers.getInputSpatialDimensions()[dimension]] = from[dimension];
      right[numbers.getKernelSpatialDimensions()[dimension]] =
          convolution.reversal[dimension] ? convolution.window.sizes[dimension] - 1 - offset[dimension]
                                          : offset[dimension];
    }
    for (int64_t channel = 0; channel < kernelFeatures; ++channel) {
      left[numbers.getInputFeatureDimension()] = featureGroup * kernelFeatures + channel;
      right[numbers.getKernelInputFeatureDimension()] = channel;
      visit(isPadding ? nowhere : flatten(left, lhsShape), flatten(right, rhsShape));
    }
  });
}

} // namespace

Result<Values> convolve(const Call &call, const Index &padding) {
  Convolution convolution = describe(call, padding);
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, resultShape(convolution)));
  int64_t count = convolution.lhs.count() + convolution.rhs.count();
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(count, sizeof(std::complex<double>)));
  withNumber(type, [&](auto zero) {
    auto left = numbersOf<decltype(zero)>(convolution.lhs, type);
    auto right = numbersOf<decltype(zero)>(convolution.rhs, type);
    forEachIndex(result.shape(), [&](IndexView index, int64_t position) {
      auto sum = zero;
      forEachPair(convolution, index, [&](int64_t from, int64_t by) {
        addProduct(sum, from == nowhere ? zero : left[from], right[by]);
      });
      result.set(position, elementOf(type, sum));
    });
  });
  return Values{std::move(result)};
}

} // namespace torchere::interpreter
