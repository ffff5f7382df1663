// Slices that a gather takes in even steps, as frames of sound are taken: where they lie follows from their
// places, so that they are a view and no indices are stored.
#include "cpu/frontend/fusion/affine_places.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The components of the indices, each as what tells the places of all.
std::optional<SmallVector<AffinePlaces>> componentsOf(stablehlo::GatherOp gather) {
  stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  mlir::Value indices = gather->getOperand(1);
  auto vector = static_cast<size_t>(numbers.getIndexVectorDim());
  size_t count = numbers.getStartIndexMap().size();
  SmallVector<AffinePlaces> components;
  auto joined = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  if (joined && joined.getDimension() == vector && joined->getNumOperands() == count) {
    for (mlir::Value operand : joined->getOperands()) {
      std::optional<AffinePlaces> places = affinePlacesOf(operand);
      if (!places)
        return std::nullopt;
      components.push_back(*std::move(places));
    }
    return components;
  }
  std::optional<AffinePlaces> places = affinePlacesOf(indices);
  if (!places)
    return std::nullopt;
  int64_t step = vector < places->steps.size() ? std::exchange(places->steps[vector], 0) : 0;
  for (size_t i = 0; i < count; ++i, places->start += step)
    components.push_back(*places);
  return components;
}

/// By dimension of the indices: the dimension of the result, or -1 for that of components.
SmallVector<int64_t> batchDimensionsOf(stablehlo::GatherOp gather) {
  stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  SmallVector<int64_t> dimensions(dimensionsOf(gather->getOperand(1)).size(), -1);
  int64_t next = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (static_cast<int64_t>(d) == numbers.getIndexVectorDim())
      continue;
    while (llvm::is_contained(numbers.getOffsetDims(), next))
      ++next;
    dimensions[d] = next++;
  }
  return dimensions;
}

/// Where slices begin, and how far in each dimension of the tensor a step along one of the result goes:
/// [result][tensor]. False where an index might have to be moved into the tensor.
bool placesOfSlices(stablehlo::GatherOp gather, SmallVector<int64_t> &starts, SmallVector<int64_t> &steps) {
  std::optional<SmallVector<AffinePlaces>> components = componentsOf(gather);
  if (!components)
    return false;
  stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  ArrayRef<int64_t> tensor = dimensionsOf(gather->getOperand(0)), result = dimensionsOf(gather.getResult());
  SmallVector<int64_t> batch(dimensionsOf(gather->getOperand(1))), places = batchDimensionsOf(gather);
  const size_t rank = tensor.size();
  starts.assign(rank, 0);
  steps.assign(result.size() * rank, 0);
  size_t nextWindow = 0;
  for (size_t d = 0; d < rank; ++d)
    if (auto at = static_cast<int64_t>(d); !llvm::is_contained(numbers.getCollapsedSliceDims(), at) &&
                                           !llvm::is_contained(numbers.getOperandBatchingDims(), at))
      steps[static_cast<size_t>(numbers.getOffsetDims()[nextWindow++]) * rank + d] = 1;
  if (auto vector = static_cast<size_t>(numbers.getIndexVectorDim()); vector < batch.size())
    batch[vector] = 1;
  for (auto [component, target] : llvm::zip_equal(*components, numbers.getStartIndexMap())) {
    auto d = static_cast<size_t>(target);
    if (component.least(batch) < 0 || component.greatest(batch) > tensor[d] - gather.getSliceSizes()[d])
      return false;
    starts[d] = component.start;
    for (size_t i = 0; i < batch.size(); ++i)
      if (component.steps[i] != 0)
        steps[static_cast<size_t>(places[i]) * rank + d] = component.steps[i];
  }
  for (auto [ofTensor, ofIndices] :
       llvm::zip_equal(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims()))
    steps[static_cast<size_t>(places[static_cast<size_t>(ofIndices)]) * rank +
          static_cast<size_t>(ofTensor)] = 1;
  return true;
}

bool fuseGather(stablehlo::GatherOp gather) {
  auto tensor = cast<RankedTensorType>(gather->getOperand(0).getType());
  auto result = cast<RankedTensorType>(gather.getResult().getType());
  SmallVector<int64_t> starts, steps;
  if (!tensor.hasStaticShape() || !result.hasStaticShape() || result.getNumElements() == 0 ||
      !placesOfSlices(gather, starts, steps))
    return false;
  OpBuilder builder(gather);
  auto call = createKernelCall(builder, gather.getLoc(), "even_slices", result, gather->getOperand(0),
                               {builder.getNamedAttr("starts", builder.getDenseI64ArrayAttr(starts)),
                                builder.getNamedAttr("steps", builder.getDenseI64ArrayAttr(steps))});
  gather.getResult().replaceAllUsesWith(call->getResult(0));
  gather->erase();
  return true;
}

} // namespace

int64_t fuseEvenSlices(func::FuncOp function) {
  SmallVector<stablehlo::GatherOp> gathers;
  function.walk([&](stablehlo::GatherOp op) { gathers.push_back(op); });
  return llvm::count_if(gathers, fuseGather);
}

} // namespace torchere::cpu
