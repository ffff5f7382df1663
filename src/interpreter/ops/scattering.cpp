// scatter: combines slices at computed indices with updates.
#include "interpreter/gather.h"
#include "interpreter/reducer.h"
#include "stablehlo/dialect.h"

namespace torchere::interpreter {

namespace {

/// Updates outside the operand are skipped.
Result<Values> scatter(const Call &call) {
  size_t count = (call.operandCount() - 1) / 2;
  const Tensor &indices = call.operand(count);
  auto numbers = call.attribute<stablehlo::ScatterDimensionNumbersAttr>("scatter_dimension_numbers");
  SliceDimensions dimensions = {
      Index(numbers.getUpdateWindowDims()),         Index(numbers.getInsertedWindowDims()),
      Index(numbers.getInputBatchingDims()),        Index(numbers.getScatterIndicesBatchingDims()),
      Index(numbers.getScatterDimsToOperandDims()), numbers.getIndexVectorDim()};
  Reducer reducer(call, 0);
  TORCHERE_ASSIGN(std::vector<ElementType> types, reducer.types());
  std::vector<Tensor> results, updates = tensorOperands(call, count + 1, count);
  for (size_t input = 0; input < count; ++input) {
    TORCHERE_ASSIGN(Tensor result, Tensor::create(types[input], call.operand(input).shape()));
    for (int64_t position = 0; position < result.count(); ++position)
      result.set(position, convert(call.operand(input).at(position), types[input]));
    results.push_back(std::move(result));
  }
  const Index &shape = results[0].shape();
  SlicePlaces places(dimensions, indices, results[0].rank());
  Status status;
  Index target, offset;
  std::vector<Element> values(count);
  forEachIndex(updates[0].shape(), [&](IndexView index, int64_t position) {
    if (!status)
      return;
    places.start(index, target);
    places.offset(index, offset);
    bool isInside = true;
    for (size_t dimension = 0; dimension < shape.size(); ++dimension)
      isInside &= !__builtin_add_overflow(target[dimension], offset[dimension], &target[dimension]) &&
                  target[dimension] >= 0 && target[dimension] < shape[dimension];
    if (!isInside)
      return;
    for (size_t input = 0; input < count; ++input)
      values[input] = updates[input].at(position);
    status = reducer.combine(results, flatten(target, shape), values);
  });
  TORCHERE_TRY(status);
  return toValues(std::move(results));
}

} // namespace

void addScattering(EvaluationTable &table) {
  table.add("stablehlo.scatter", scatter);
}

} // namespace torchere::interpreter
