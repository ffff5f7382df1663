// Padding by the elements at hand, mirrored or repeated, and the gradients of it.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <vector>

namespace torchere::lowering {

namespace {

/// What comes before and after an axis; where it is negative, so much is cut off.
struct Amounts {
  int64_t axis;
  Dim low, high;
};

/// `padding` counts from the last dimension: (left, right, top, bottom, ...).
std::vector<Amounts> amountsOf(const Args &args, int64_t rank) {
  std::vector<Amounts> amounts;
  Dims padding = args.dims("padding");
  for (size_t i = 0; i + 1 < padding.size(); i += 2)
    amounts.push_back({rank - 1 - static_cast<int64_t>(i / 2), padding[i], padding[i + 1]});
  return amounts;
}

mlir::Value reversed(Context &cx, mlir::Value value, int64_t axis) {
  return cx.withShape(
      cx.create<stablehlo::ReverseOp>(value.getType(), value, {cx.integersAttribute("dimensions", {axis})}),
      cx.shape(value));
}

/// The value without what negative amounts cut off.
mlir::Value cut(Context &cx, mlir::Value value, const Amounts &amounts) {
  Dim size = cx.size(value, amounts.axis);
  Dim start = cx.maximum(cx.subtract(0, amounts.low), 0);
  Dim end = cx.subtract(size, cx.maximum(cx.subtract(0, amounts.high), 0));
  return cx.sliceAxis(value, amounts.axis, start, end);
}

/// Makes what goes before and after the value.
using Border = mlir::Value (*)(Context &, mlir::Value, int64_t axis, Dim count, bool isLow);

/// The `count` elements next to the outermost one, which itself is not repeated.
mlir::Value mirrorImage(Context &cx, mlir::Value value, int64_t axis, Dim count, bool isLow) {
  Dim size = cx.size(value, axis);
  Dim start = isLow ? Dim(1) : cx.subtract(cx.subtract(size, 1), count);
  return reversed(cx, cx.sliceAxis(value, axis, start, cx.add(start, count)), axis);
}

mlir::Value outermost(Context &cx, mlir::Value value, int64_t axis, bool isLow) {
  Dim size = cx.size(value, axis);
  return cx.sliceAxis(value, axis, isLow ? Dim(0) : cx.subtract(size, 1), isLow ? Dim(1) : size);
}

mlir::Value repetition(Context &cx, mlir::Value value, int64_t axis, Dim count, bool isLow) {
  Dims shape = cx.shape(value);
  shape[axis] = count;
  return cx.broadcastTo(outermost(cx, value, axis, isLow), shape);
}

template <Border border> mlir::Value padded(Context &cx, const Args &args) {
  mlir::Value value = args.tensor("self");
  for (const Amounts &amounts : amountsOf(args, Context::rank(value))) {
    Values parts;
    Dim low = cx.maximum(amounts.low, 0), high = cx.maximum(amounts.high, 0);
    if (!low.is(0))
      parts.push_back(border(cx, value, amounts.axis, low, true));
    parts.push_back(cut(cx, value, amounts));
    if (!high.is(0))
      parts.push_back(border(cx, value, amounts.axis, high, false));
    value = cx.concatenate(parts, amounts.axis);
  }
  return cx.reshape(value, cx.resultType().shape);
}

/// Zeros around a value along an axis; negative amounts cut.
mlir::Value zerosAround(Context &cx, mlir::Value value, int64_t axis, Dim low, Dim high) {
  size_t rank = Context::rank(value);
  Dims before(rank, Dim(0)), after(rank, Dim(0));
  before[axis] = low;
  after[axis] = high;
  mlir::Value zero = cx.constant(0.0, Context::dtype(value));
  return cx.pad(value, zero, before, after, Integers(rank, 0));
}

/// Gives what a border has taken back to a tensor of `size` along the axis, elsewhere zero.
using BorderGradient = mlir::Value (*)(Context &, mlir::Value, int64_t axis, Dim size, bool isLow);

mlir::Value giveToMirrored(Context &cx, mlir::Value border, int64_t axis, Dim size, bool isLow) {
  Dim rest = cx.subtract(cx.subtract(size, 1), cx.size(border, axis));
  border = reversed(cx, border, axis);
  return zerosAround(cx, border, axis, isLow ? Dim(1) : rest, isLow ? rest : Dim(1));
}

mlir::Value giveToOutermost(Context &cx, mlir::Value border, int64_t axis, Dim size, bool isLow) {
  Dims kept = cx.reducedShape(cx.shape(border), {axis}, /*keep=*/true);
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(border, cx.constant(0.0, Context::dtype(border)), {axis});
  Dim rest = cx.subtract(size, 1);
  return zerosAround(cx, cx.reshape(sum, kept), axis, isLow ? Dim(0) : rest, isLow ? rest : Dim(0));
}

template <BorderGradient give> mlir::Value paddedBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value gradient = cx.convert(args.tensor("grad_output"), computeType(type.dtype));
  for (const Amounts &amounts : amountsOf(args, Context::rank(gradient))) {
    int64_t axis = amounts.axis;
    Dim size = type.shape[axis], whole = cx.size(gradient, axis);
    Dim low = cx.maximum(amounts.low, 0), high = cx.maximum(amounts.high, 0);
    mlir::Value sum =
        zerosAround(cx, gradient, axis, cx.subtract(0, amounts.low), cx.subtract(0, amounts.high));
    auto addBorder = [&](Dim from, Dim to, bool isLow) {
      mlir::Value part = give(cx, cx.sliceAxis(gradient, axis, from, to), axis, size, isLow);
      sum = cx.elementwise<stablehlo::AddOp>({sum, part});
    };
    if (!low.is(0))
      addBorder(0, low, true);
    if (!high.is(0))
      addBorder(cx.subtract(whole, high), whole, false);
    gradient = sum;
  }
  return cx.convert(cx.reshape(gradient, type.shape), type.dtype);
}

} // namespace

void addPadding(OpTable &table) {
  for (int rank = 1; rank <= 3; ++rank) {
    std::string amounts = fmt::format("SymInt[{}] padding", 2 * rank);
    auto add = [&](std::string_view kind, auto forward, auto backward) {
      table.add(fmt::format("aten::{}_pad{}d(Tensor self, {}) -> Tensor", kind, rank, amounts), forward);
      table.add(fmt::format("aten::{}_pad{}d_backward(Tensor grad_output, Tensor self, {}) -> Tensor", kind,
                            rank, amounts),
                backward);
    };
    add("reflection", padded<mirrorImage>, paddedBackward<giveToMirrored>);
    add("replication", padded<repetition>, paddedBackward<giveToOutermost>);
  }
}

} // namespace torchere::lowering
