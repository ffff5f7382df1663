// sort: sorts tensors together along one dimension.
#include "base/memory_share.h"
#include "interpreter/reducer.h"

#include <algorithm>
#include <numeric>

namespace torchere::interpreter {

namespace {

/// Sorts positions along one line of the tensors by merging, which assumes nothing about the comparator: it
/// may contradict itself, or fail.
class LineSorter {
public:
  LineSorter(const Reducer &comparator, const std::vector<Tensor> &inputs)
      : comparator(comparator), inputs(inputs) {}

  Status sort(std::span<int64_t> positions) {
    if (positions.size() < 2)
      return {};
    size_t half = positions.size() / 2;
    TORCHERE_TRY(sort(positions.first(half)));
    TORCHERE_TRY(sort(positions.subspan(half)));
    std::vector<int64_t> left(positions.begin(), positions.begin() + half),
        right(positions.begin() + half, positions.end());
    size_t fromLeft = 0, fromRight = 0;
    for (int64_t &position : positions) {
      bool takesRight = fromLeft == left.size();
      if (!takesRight && fromRight < right.size()) {
        // Equal elements keep their order: the right one is taken only if it comes first.
        TORCHERE_ASSIGN(takesRight, comesBefore(right[fromRight], left[fromLeft]));
      }
      position = takesRight ? right[fromRight++] : left[fromLeft++];
    }
    return {};
  }

private:
  Result<bool> comesBefore(int64_t lhs, int64_t rhs) {
    std::vector<Element> arguments;
    for (const Tensor &input : inputs) {
      arguments.push_back(input.at(lhs));
      arguments.push_back(input.at(rhs));
    }
    TORCHERE_ASSIGN(std::vector<Element> results, comparator.run(arguments));
    return results[0].asBool();
  }

  const Reducer &comparator;
  const std::vector<Tensor> &inputs;
};

Result<Values> sort(const Call &call) {
  std::vector<Tensor> inputs = tensorOperands(call, 0, call.operandCount()), results;
  for (const Tensor &input : inputs) {
    TORCHERE_ASSIGN(Tensor result, Tensor::create(input.type(), input.shape()));
    results.push_back(std::move(result));
  }
  const Index &shape = inputs[0].shape();
  if (shape.empty())
    return call.values();
  int64_t dimension = call.attribute("dimension") ? call.integer("dimension") : -1;
  dimension += dimension < 0 ? inputs[0].rank() : 0;
  Index lines = shape; // one element per line
  lines[dimension] = std::min<int64_t>(shape[dimension], 1);
  int64_t stride = elementCount(IndexView(shape).subspan(dimension + 1));
  Reducer comparator(call, 0);
  LineSorter sorter(comparator, inputs);
  Status status;
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(2 * shape[dimension], sizeof(int64_t)));
  std::vector<int64_t> positions(static_cast<size_t>(shape[dimension]));
  forEachIndex(lines, [&](IndexView index, int64_t) {
    int64_t first = flatten(index, shape);
    for (size_t step = 0; step < positions.size(); ++step)
      positions[step] = first + static_cast<int64_t>(step) * stride;
    if (status)
      status = sorter.sort(positions);
    for (size_t input = 0; input < inputs.size(); ++input)
      for (size_t step = 0; step < positions.size(); ++step)
        results[input].copyFrom(first + static_cast<int64_t>(step) * stride, inputs[input], positions[step]);
  });
  TORCHERE_TRY(status);
  return toValues(std::move(results));
}

} // namespace

void addSorting(EvaluationTable &table) {
  table.add("stablehlo.sort", sort);
}

} // namespace torchere::interpreter
