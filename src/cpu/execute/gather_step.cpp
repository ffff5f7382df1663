// Implements GatherStep.
#include "cpu/execute/gather_step.h"

#include "cpu/plan/limits.h"

#include <set>

namespace torchere::cpu {

Status GatherStep::run(const Frame &frame) const {
  IndexedSlices here = slices;
  here.indices = frame.at(indices);
  gatherSlices(frame.context, here, tensor.elementSize(), frame.at(tensor), frame.at(result));
  return {};
}

Status checkSlices(const PlanLimits &limits, const IndexedSlices &slices, const View &indices) {
  TORCHERE_TRY(
      expectWithin("dimensions of slices", {slices.rank, slices.batchRank, slices.components}, 0, kMaxRank));
  for (int i = 0; i < slices.rank; ++i)
    TORCHERE_TRY(expect(slices.sizes[i] >= 0 && slices.sizes[i] <= slices.dims[i],
                        "sizes of slices: got {}, expected 0 to {}", slices.sizes[i], slices.dims[i]));
  std::set<int> targets; // places are kept inside one by one, not their sums
  auto addTarget = [&](int target) {
    return expect(targets.insert(target).second, "two indices of dimension {}", target);
  };
  for (int i = 0; i < slices.components; ++i) {
    TORCHERE_TRY(expectWithin("dimensions of indices", {slices.target[i]}, 0, slices.rank - 1));
    TORCHERE_TRY(addTarget(slices.target[i]));
  }
  std::vector<DimensionStride> walked;
  for (int i = 0; i < slices.batchRank; ++i) {
    const int target = slices.batchTarget[i];
    TORCHERE_TRY(expectWithin("dimensions of indices", {target}, -1, slices.rank - 1));
    if (target >= 0) {
      TORCHERE_TRY(addTarget(target));
      TORCHERE_TRY(expect(slices.batchDims[i] <= slices.dims[target],
                          "slices along dimension {}: got {}, expected at most {}", target,
                          slices.batchDims[i], slices.dims[target]));
    }
    walked.push_back({slices.batchDims[i], slices.indexStrides[i]});
  }
  walked.push_back({slices.components, slices.componentStride});
  TORCHERE_TRY(expect(isInteger(indices.type) || isBool(indices.type), "indices: got {}",
                      elementTypeInfo(indices.type).name));
  return limits.reads(strided(indices, walked), slices.indexType);
}

View slicedTensor(const IndexedSlices &slices, const View &tensor) {
  std::vector<DimensionStride> walked;
  for (int i = 0; i < slices.rank; ++i)
    walked.push_back({slices.dims[i], slices.strides[i]});
  return strided(tensor, walked);
}

View slicesTensor(const IndexedSlices &slices, const View &tensor) {
  std::vector<DimensionStride> walked;
  for (int i = 0; i < slices.batchRank; ++i)
    walked.push_back({slices.batchDims[i], slices.batchStrides[i]});
  for (int i = 0; i < slices.rank; ++i)
    walked.push_back({slices.sizes[i], slices.sliceStrides[i]});
  return strided(tensor, walked);
}

Status GatherStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkSlices(limits, slices, indices));
  TORCHERE_TRY(limits.reads(slicedTensor(slices, tensor)));
  TORCHERE_TRY(expect(result.type == tensor.type, "elements of another type"));
  return limits.writes(slicesTensor(slices, result));
}

} // namespace torchere::cpu
