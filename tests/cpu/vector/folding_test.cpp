// Folds, scatters and sorts by vector programs against plain loops.
#include "../kernels/test_values.h"
#include "cpu/vector/folding.h"
#include "cpu/vector/line_sort.h"
#include "cpu/vector/scatter_fold.h"
#include "cpu/vector/window_scatter.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace torchere::cpu {
namespace {

using Value = VectorBuilder::Value;

/// The greater of two values with its index; of equals the lower index.
VectorProgram greaterWithIndex() {
  VectorBuilder b;
  Value value = b.input(DType::F32), index = b.input(DType::I32), other = b.input(DType::F32),
        otherIndex = b.input(DType::I32);
  Value isGreater = b.apply(VectorOp::Greater, value, other);
  Value isEarlier = b.apply(VectorOp::And, b.apply(VectorOp::Equal, value, other),
                            b.apply(VectorOp::Less, index, otherIndex));
  Value stays = b.apply(VectorOp::Or, isGreater, isEarlier);
  b.output(b.apply(VectorOp::Select, stays, value, other), DType::F32);
  b.output(b.apply(VectorOp::Select, stays, index, otherIndex), DType::I32);
  return *b.finish();
}

class Folds : public EveryIsa {
protected:
  /// Of the last dimension, or with `across` of the first, of a contiguous matrix.
  std::vector<int32_t> greatest(const std::vector<float> &values, int64_t rows, int64_t columns,
                                bool across) {
    std::vector<int32_t> indices(values.size());
    for (size_t i = 0; i < indices.size(); ++i)
      indices[i] = static_cast<int32_t>(across ? int64_t(i) / columns : int64_t(i) % columns);
    VectorProgram program = greaterWithIndex();
    int64_t outputs = across ? columns : rows;
    std::vector<float> most(outputs);
    std::vector<int32_t> places(outputs);
    float lowest = -INFINITY;
    int32_t none = std::numeric_limits<int32_t>::max();
    FoldArgs args;
    args.program = &program;
    args.rank = args.windowRank = 1;
    args.dims[0] = outputs;
    args.windowDims[0] = across ? rows : columns;
    FoldOperand operand;
    operand.inputStrides[0] = across ? 1 : columns;
    operand.windowStrides[0] = across ? columns : 1;
    operand.outputStrides[0] = 1;
    operand.input = values.data();
    operand.initial = &lowest;
    operand.output = most.data();
    args.operands.push_back(operand);
    operand.type = DType::I32;
    operand.input = indices.data();
    operand.initial = &none;
    operand.output = places.data();
    args.operands.push_back(operand);
    fold(context, args);
    return places;
  }
};

TEST_P(Folds, PlacesOfTheGreatest) {
  for (auto [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 5000}, {700, 33}, {1, 30011}}) {
    auto values = randomFloats(rows * columns);
    for (float &value : values) // some are equal
      value = std::round(value * 50);
    for (bool across : {false, true}) {
      auto places = greatest(values, rows, columns, across);
      for (size_t i = 0; i < places.size(); ++i) {
        int64_t count = across ? rows : columns, best = 0;
        auto at = [&](int64_t j) { return across ? values[j * columns + i] : values[i * columns + j]; };
        for (int64_t j = 1; j < count; ++j)
          if (at(j) > at(best))
            best = j;
        ASSERT_EQ(places[i], best) << rows << " " << columns << across;
      }
    }
  }
}

/// A function that is not commutative: the last element that is not zero.
VectorProgram lastNotZero() {
  VectorBuilder b;
  Value joined = b.input(DType::I16), element = b.input(DType::I16), limit = b.input(DType::I16);
  Value isZero = b.apply(VectorOp::Equal, element, limit);
  b.output(b.apply(VectorOp::Select, isZero, joined, element), DType::I16);
  return *b.finish();
}

TEST_P(Folds, KeepTheOrderAndTakeCaptures) {
  std::vector<int16_t> input(40000, 0);
  input[10] = 3;
  input[39000] = 7;
  input[39001] = 8;
  VectorProgram program = lastNotZero();
  int16_t initial = -1, zero = 0, result = 0;
  FoldArgs args;
  args.program = &program;
  args.captures = {&zero};
  args.captureTypes = {DType::I16};
  args.windowRank = 2;
  args.windowDims[0] = 400;
  args.windowDims[1] = 100;
  FoldOperand operand;
  operand.type = DType::I16;
  operand.input = input.data();
  operand.initial = &initial;
  operand.output = &result;
  operand.windowStrides[0] = 100;
  operand.windowStrides[1] = 1;
  args.operands.push_back(operand);
  fold(context, args);
  EXPECT_EQ(result, 8);
}

TEST_P(Folds, RunningKeepsEachElement) {
  std::vector<int16_t> input = {0, 4, 0, 0, 5, 0, 0, 0, 9, 0}, output(10);
  VectorProgram program = lastNotZero();
  int16_t initial = -1, zero = 0;
  FoldArgs args;
  args.program = &program;
  args.captures = {&zero};
  args.captureTypes = {DType::I16};
  args.running = true;
  args.rank = args.windowRank = 1;
  args.dims[0] = 2;
  args.windowDims[0] = 5;
  FoldOperand operand;
  operand.type = DType::I16;
  operand.input = input.data();
  operand.initial = &initial;
  operand.output = output.data();
  operand.inputStrides[0] = operand.outputStrides[0] = 5;
  operand.windowStrides[0] = 1;
  args.operands.push_back(operand);
  fold(context, args);
  EXPECT_EQ(output, (std::vector<int16_t>{-1, 4, 4, 4, 5, -1, -1, -1, 9, 9}));
}

/// x * 2 + update
VectorProgram doubledAndAdded(DType type) {
  VectorBuilder b;
  Value old = b.input(type), update = b.input(type);
  b.output(b.convert(b.apply(VectorOp::Add, b.apply(VectorOp::Add, old, old), update), type), type);
  return *b.finish();
}

TEST_P(Folds, ScattersByAFunction) {
  VectorProgram program = doubledAndAdded(DType::F16);
  std::vector<uint16_t> tensor(6, f16OfFloat(1)), updates;
  for (float x : {1, 2, 3, 4, 5, 6})
    updates.push_back(f16OfFloat(x));
  std::vector<int32_t> rows = {1, 1, 9};
  ScatterFoldArgs args;
  args.program = &program;
  args.operands.push_back({DType::F16, tensor.data(), updates.data()});
  IndexedSlices &slices = args.slices;
  slices.rank = 2;
  slices.dims[0] = 3;
  slices.dims[1] = slices.sizes[1] = 2;
  slices.strides[0] = 2;
  slices.strides[1] = slices.sliceStrides[1] = 1;
  slices.sizes[0] = 1;
  slices.batchRank = 1;
  slices.batchDims[0] = 3;
  slices.batchStrides[0] = 2;
  slices.indexStrides[0] = 1;
  slices.batchTarget[0] = -1;
  slices.components = 1;
  slices.indexType = DType::I32;
  slices.indices = rows.data();
  scatterFold(context, args);
  std::vector<uint16_t> expected(6, f16OfFloat(1));
  expected[2] = f16OfFloat((1 * 2 + 1) * 2 + 3);
  expected[3] = f16OfFloat((1 * 2 + 2) * 2 + 4);
  EXPECT_EQ(tensor, expected);
}

TEST_P(Folds, SelectsAndScatters) {
  VectorBuilder greater, sum;
  Value a = greater.input(DType::F32), b = greater.input(DType::F32);
  greater.output(greater.apply(VectorOp::GreaterEqual, a, b), DType::Bool);
  a = sum.input(DType::F32), b = sum.input(DType::F32);
  sum.output(sum.apply(VectorOp::Add, a, b), DType::F32);
  VectorProgram select = *greater.finish(), scatter = *sum.finish();
  // Two planes of one row; windows of 3 with a stride of 2 and padding.
  std::vector<float> operand = {1, 5, 2, 2, 3, 9, 8, 7, 6, 5}, source = {1, 2, 3, 10, 20, 30}, result(10);
  float initial = 0.5f;
  WindowScatterArgs args;
  args.select = &select;
  args.scatter = &scatter;
  args.rank = 2;
  args.dims[0] = args.sourceDims[0] = 2;
  args.windowDims[0] = args.windowStrides[0] = 1;
  args.dims[1] = 5;
  args.sourceDims[1] = 3;
  args.windowDims[1] = 3;
  args.windowStrides[1] = 2;
  args.padding[1] = 1;
  args.operand = operand.data();
  args.source = source.data();
  args.initial = &initial;
  args.result = result.data();
  selectAndScatter(context, args);
  EXPECT_EQ(result, (std::vector<float>{0.5f, 3.5f, 0.5f, 0.5f, 3.5f, 10.5f, 20.5f, 0.5f, 30.5f, 0.5f}));
}

/// What is selected by size and added, which has a kernel, beside the same with a zero subtracted, which has
/// not.
TEST_P(Folds, SelectsBySizeAsByAProgram) {
  for (VectorOp order : {VectorOp::GreaterEqual, VectorOp::LessEqual}) {
    auto programs = [&](bool isPlain) {
      VectorBuilder choice, sum;
      Value a = choice.input(DType::F32), b = choice.input(DType::F32);
      choice.output(choice.apply(order, a, b), DType::Bool);
      a = sum.input(DType::F32), b = sum.input(DType::F32);
      Value added = isPlain ? b : sum.apply(VectorOp::Subtract, b, sum.constant(DType::F32, 0));
      sum.output(sum.apply(VectorOp::Add, a, added), DType::F32);
      return std::pair(*choice.finish(), *sum.finish());
    };
    WindowScatterArgs args;
    args.rank = 4;
    const int64_t dims[] = {2, 3, 11, 12}, source[] = {2, 3, 6, 5}, window[] = {1, 1, 3, 4},
                  strides[] = {1, 1, 2, 2}, padding[] = {0, 0, 1, 0};
    std::copy_n(dims, 4, args.dims);
    std::copy_n(source, 4, args.sourceDims);
    std::copy_n(window, 4, args.windowDims);
    std::copy_n(strides, 4, args.windowStrides);
    std::copy_n(padding, 4, args.padding);
    auto operand = randomFloats(2 * 3 * 11 * 12), added = randomFloats(2 * 3 * 6 * 5, 2);
    for (size_t i = 0; i < operand.size(); ++i)
      operand[i] = i % 17 == 3 ? NAN : std::round(operand[i] * 4);
    float initial = 0.25f;
    args.operand = operand.data();
    args.source = added.data();
    args.initial = &initial;
    std::vector<float> results[2];
    for (bool isPlain : {true, false}) {
      auto [select, scatter] = programs(isPlain);
      args.select = &select;
      args.scatter = &scatter;
      results[isPlain].resize(operand.size());
      args.result = results[isPlain].data();
      selectAndScatter(context, args);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

class Sorts : public EveryIsa {};

/// Lines along the first dimension, which are strided; the second operand follows.
TEST_P(Sorts, LinesOfTwoOperands) {
  int64_t length = 300, lines = 7;
  auto values = randomFloats(length * lines);
  for (float &value : values)
    value = std::round(value * 20);
  std::vector<int32_t> places(values.size()), sortedPlaces(values.size());
  std::vector<float> sorted(values.size());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int32_t>(int64_t(i) / lines);
  SortPlan plan;
  SortColumn column;
  column.key = {DType::F32, FloatOrder::NanLast, true};
  plan.columns.push_back(std::move(column));
  LineSortArgs args;
  args.plan = &plan;
  args.rank = 2;
  args.dims[0] = length;
  args.dims[1] = lines;
  SortOperand first, second;
  first.inputStrides[0] = first.outputStrides[0] = lines;
  first.inputStrides[1] = first.outputStrides[1] = 1;
  second = first;
  first.input = values.data();
  first.output = sorted.data();
  second.input = places.data();
  second.output = sortedPlaces.data();
  args.operands = {first, second};
  for (int64_t leading : {length, length / 2, length / 10, int64_t(1), int64_t(0)}) {
    std::fill(sortedPlaces.begin(), sortedPlaces.end(), -1);
    args.leading = leading;
    sortLines(context, args);
    for (int64_t line = 0; line < lines; ++line) {
      std::vector<int32_t> expected(length);
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
        return values[a * lines + line] > values[b * lines + line];
      });
      for (int64_t i = 0; i < length; ++i) {
        ASSERT_EQ(sortedPlaces[i * lines + line], i < leading ? expected[i] : -1);
        if (i < leading) {
          ASSERT_EQ(sorted[i * lines + line], values[expected[i] * lines + line]);
        }
      }
    }
  }
}

/// A comparator that no key stands for, and one whose key is computed.
TEST_P(Sorts, ByPrograms) {
  std::vector<int32_t> line = {5, -3, 3, 8, -8, 1}, sorted(6);
  VectorBuilder absolute, comparator;
  absolute.output(absolute.apply(VectorOp::Abs, absolute.input(DType::I32)), DType::I32);
  Value a = comparator.input(DType::I32), b = comparator.input(DType::I32);
  Value less = comparator.apply(VectorOp::Less, comparator.apply(VectorOp::Abs, a),
                                comparator.apply(VectorOp::Abs, b));
  comparator.output(less, DType::Bool);
  LineSortArgs args;
  args.rank = 1;
  args.dims[0] = args.leading = 6;
  SortOperand operand;
  operand.input = line.data();
  operand.output = sorted.data();
  operand.inputStrides[0] = operand.outputStrides[0] = 1;
  args.operands = {operand};
  SortPlan byComparator, byKey;
  byComparator.comparator = *comparator.finish();
  SortColumn column;
  column.key = {DType::I32, FloatOrder::Total, false};
  column.program = *absolute.finish();
  byKey.columns.push_back(std::move(column));
  for (const SortPlan *plan : {&byComparator, &byKey}) {
    std::fill(sorted.begin(), sorted.end(), 0);
    args.plan = plan;
    sortLines(context, args);
    EXPECT_EQ(sorted, (std::vector<int32_t>{1, -3, 3, 5, 8, -8}));
  }
}

TORCHERE_EVERY_ISA(Folds);
TORCHERE_EVERY_ISA(Sorts);

} // namespace
} // namespace torchere::cpu
