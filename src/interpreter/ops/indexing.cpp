// Ops that read or replace parts of a tensor.
#include "evaluation/rearrangement.h"
#include "interpreter/gather.h"

#include <algorithm>

namespace torchere::interpreter {

namespace {

Result<Values> sliceOf(const Call &call) {
  return oneResult(slice(call.operand(0), call.integers("start_indices"), call.integers("limit_indices"),
                         call.integers("strides")));
}

/// An integer as an index; values beyond any index saturate.
int64_t asIndex(const Element &element) {
  bool isHuge = isUnsigned(element.type()) && element.asSigned() < 0;
  return isHuge ? std::numeric_limits<int64_t>::max() : element.asSigned();
}

/// The scalar operands from `first` on, clamped so that a slice of the given sizes lies inside the shape.
Index clampedStart(const Call &call, size_t first, IndexView shape, IndexView sizes) {
  Index start;
  for (size_t dimension = 0; dimension < shape.size(); ++dimension)
    start.push_back(std::clamp<int64_t>(asIndex(call.operand(first + dimension).at(int64_t(0))), 0,
                                        shape[dimension] - sizes[dimension]));
  return start;
}

Result<Values> dynamicSlice(const Call &call) {
  const Tensor &operand = call.operand(0);
  Index sizes = call.integers("slice_sizes");
  Index start = clampedStart(call, 1, operand.shape(), sizes), from(sizes.size());
  return oneResult(take(operand, sizes, [&](IndexView index) {
    std::transform(index.begin(), index.end(), start.begin(), from.begin(), std::plus<>());
    return flatten(from, operand.shape());
  }));
}

Result<Values> dynamicUpdateSlice(const Call &call) {
  const Tensor &update = call.operand(1);
  TORCHERE_ASSIGN(Tensor result, call.operand(0).clone());
  Index start = clampedStart(call, 2, result.shape(), update.shape()), target(start.size());
  forEachIndex(update.shape(), [&](IndexView index, int64_t position) {
    std::transform(index.begin(), index.end(), start.begin(), target.begin(), std::plus<>());
    result.copyFrom(flatten(target, result.shape()), update, position);
  });
  return Values{std::move(result)};
}

Result<Values> gather(const Call &call) {
  return gatherBy(call, call.integers("slice_sizes"));
}

/// Slices of the operand along one dimension, at the indices; the first `batch_dims` dimensions are matched.
Result<Values> torchIndexSelect(const Call &call) {
  const Tensor &operand = call.operand(0), &indices = call.operand(1);
  auto dimension = static_cast<size_t>(call.integer("dim"));
  auto batch = static_cast<size_t>(call.integer("batch_dims"));
  const Index &sizes = operand.shape(), &indexSizes = indices.shape();
  Index shape(sizes.begin(), sizes.begin() + dimension);
  shape.insert(shape.end(), indexSizes.begin() + batch, indexSizes.end());
  shape.insert(shape.end(), sizes.begin() + dimension + 1, sizes.end());
  size_t picked = indexSizes.size() - batch; // dimensions of the result that come from the indices
  Index from, at;
  Status status;
  auto result = take(operand, shape, [&](IndexView index) {
    at.assign(index.begin(), index.begin() + batch);
    at.insert(at.end(), index.begin() + dimension, index.begin() + dimension + picked);
    from.assign(index.begin(), index.begin() + dimension);
    int64_t chosen = asIndex(indices.at(at));
    if (status && (chosen < 0 || chosen >= sizes[dimension]))
      status =
          invalidArgument("index {} is outside dimension {} of size {}", chosen, dimension, sizes[dimension]);
    from.push_back(status ? chosen : 0);
    from.insert(from.end(), index.begin() + dimension + picked, index.end());
    return flatten(from, sizes);
  });
  TORCHERE_TRY(status);
  return oneResult(std::move(result));
}

} // namespace

void addIndexing(EvaluationTable &table) {
  table.add("stablehlo.dynamic_slice", dynamicSlice);
  table.add("stablehlo.dynamic_update_slice", dynamicUpdateSlice);
  table.add("stablehlo.gather", gather);
  table.add("stablehlo.slice", sliceOf);
  table.add("stablehlo.torch_index_select", torchIndexSelect);
}

} // namespace torchere::interpreter
