// Ops that apply a scalar computation: reductions, windowed or not, and map.
#include "interpreter/reducer.h"
#include "interpreter/sliding_window.h"

namespace torchere::interpreter {

namespace {

void loadAll(std::vector<Element> &elements, std::span<const Tensor> tensors, int64_t position) {
  elements.clear();
  for (const Tensor &tensor : tensors)
    elements.push_back(tensor.at(position));
}

Result<Values> reduce(const Call &call) {
  size_t count = call.operandCount() / 2;
  std::vector<Tensor> inputs = tensorOperands(call, 0, count), initial = tensorOperands(call, count, count);
  Index reduced = call.integers("dimensions"), shape;
  std::vector<size_t> kept;
  for (size_t dimension = 0; dimension < inputs[0].shape().size(); ++dimension)
    if (!llvm::is_contained(reduced, static_cast<int64_t>(dimension))) {
      kept.push_back(dimension);
      shape.push_back(inputs[0].shape()[dimension]);
    }
  Reducer reducer(call, 0);
  TORCHERE_ASSIGN(std::vector<ElementType> types, reducer.types());
  TORCHERE_ASSIGN(std::vector<Tensor> results, makeAccumulators(shape, types, initial));
  Status status;
  Index target(kept.size());
  std::vector<Element> values;
  forEachIndex(inputs[0].shape(), [&](IndexView index, int64_t position) {
    if (!status)
      return;
    for (size_t dimension = 0; dimension < kept.size(); ++dimension)
      target[dimension] = index[kept[dimension]];
    loadAll(values, inputs, position);
    status = reducer.combine(results, flatten(target, shape), values);
  });
  TORCHERE_TRY(status);
  return toValues(std::move(results));
}

SlidingWindow windowOf(const Call &call) {
  Index sizes = call.integers("window_dimensions");
  size_t rank = sizes.size();
  return {.sizes = sizes,
          .strides = call.integers("window_strides", rank, 1),
          .padding = call.integers("padding", 2 * rank, 0),
          .baseDilations = call.integers("base_dilations", rank, 1),
          .windowDilations = call.integers("window_dilations", rank, 1)};
}

/// The results of windows that each hold one element more than the one before: that one's, and the element,
/// in the order in which each window alone would take its elements.
Status reduceRunning(const Reducer &reducer, const std::vector<Tensor> &inputs, size_t axis,
                     std::vector<Tensor> &results) {
  const Index &shape = inputs[0].shape();
  int64_t step = 1;
  for (size_t dimension = axis + 1; dimension < shape.size(); ++dimension)
    step *= shape[dimension];
  Status status;
  std::vector<Element> values;
  forEachIndex(shape, [&](IndexView index, int64_t position) {
    if (!status)
      return;
    if (index[axis] > 0)
      for (Tensor &result : results)
        result.set(position, result.at(position - step));
    loadAll(values, inputs, position);
    status = reducer.combine(results, position, values);
  });
  return status;
}

Result<Values> reduceWindow(const Call &call) {
  size_t count = call.operandCount() / 2;
  std::vector<Tensor> inputs = tensorOperands(call, 0, count), initial = tensorOperands(call, count, count);
  SlidingWindow window = windowOf(call);
  Reducer reducer(call, 0);
  TORCHERE_ASSIGN(std::vector<ElementType> types, reducer.types());
  Index shape = window.positions(inputs[0].shape());
  TORCHERE_ASSIGN(std::vector<Tensor> results, makeAccumulators(shape, types, initial));
  if (std::optional<size_t> axis = window.runsAlong(inputs[0].shape())) {
    TORCHERE_TRY(reduceRunning(reducer, inputs, *axis, results));
    return toValues(std::move(results));
  }
  Status status;
  Index source(shape.size());
  std::vector<Element> values;
  // Padding counts as the initial value, which the accumulator already holds.
  forEachIndex(shape, [&](IndexView index, int64_t position) {
    forEachIndex(window.sizes, [&](IndexView offset, int64_t) {
      if (!status || !window.locate(inputs[0].shape(), index, offset, source))
        return;
      loadAll(values, inputs, flatten(source, inputs[0].shape()));
      status = reducer.combine(results, position, values);
    });
  });
  TORCHERE_TRY(status);
  return toValues(std::move(results));
}

/// The position in the operand of the element that the `select` region picks in a window; -1 if the window
/// lies entirely in the padding.
Result<int64_t> selectInWindow(const Reducer &select, const SlidingWindow &window, const Tensor &operand,
                               IndexView index) {
  int64_t picked = -1;
  Status status;
  Index source(index.size());
  forEachIndex(window.sizes, [&](IndexView offset, int64_t) {
    if (!status || !window.locate(operand.shape(), index, offset, source))
      return;
    int64_t position = flatten(source, operand.shape());
    if (picked < 0) {
      picked = position;
      return;
    }
    auto isBetter = select.run(std::array{operand.at(picked), operand.at(position)});
    if (!isBetter)
      status = tl::unexpected<Error>(std::move(isBetter).error());
    else if (!(*isBetter)[0].asBool())
      picked = position;
  });
  TORCHERE_TRY(status);
  return picked;
}

/// Each element of source goes to the position picked in its window.
Result<Values> selectAndScatter(const Call &call) {
  const Tensor &operand = call.operand(0), &source = call.operand(1);
  SlidingWindow window = windowOf(call);
  size_t rank = operand.shape().size();
  if (window.sizes.empty() && rank != 0) { // the attribute is optional: the window is one element
    window.sizes.assign(rank, 1);
    window.strides = call.integers("window_strides", rank, 1);
    window.padding = call.integers("padding", 2 * rank, 0);
    window.baseDilations.assign(rank, 1);
    window.windowDilations.assign(rank, 1);
  }
  Reducer select(call, 0), scatter(call, 1);
  TORCHERE_ASSIGN(std::vector<ElementType> types, scatter.types());
  TORCHERE_ASSIGN(std::vector<Tensor> results,
                  makeAccumulators(operand.shape(), types, tensorOperands(call, 2, 1)));
  Status status;
  forEachIndex(source.shape(), [&](IndexView index, int64_t position) {
    if (!status)
      return;
    auto picked = selectInWindow(select, window, operand, index);
    if (!picked)
      status = tl::unexpected<Error>(std::move(picked).error());
    else if (*picked >= 0)
      status = scatter.combine(results, *picked, std::array{source.at(position)});
  });
  TORCHERE_TRY(status);
  return toValues(std::move(results));
}

Result<Values> map(const Call &call) {
  std::vector<Tensor> inputs = tensorOperands(call, 0, call.operandCount());
  Reducer computation(call, 0);
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, inputs[0].shape()));
  std::vector<Element> arguments;
  for (int64_t position = 0; position < result.count(); ++position) {
    loadAll(arguments, inputs, position);
    TORCHERE_ASSIGN(std::vector<Element> values, computation.run(arguments));
    result.set(position, values[0]);
  }
  return Values{std::move(result)};
}

} // namespace

void addReduction(EvaluationTable &table) {
  table.add("stablehlo.map", map);
  table.add("stablehlo.reduce", reduce);
  table.add("stablehlo.reduce_window", reduceWindow);
  table.add("stablehlo.select_and_scatter", selectAndScatter);
}

} // namespace torchere::interpreter
