// Padding by a number or by the elements at hand, mirrored or repeated, and the gradients of that.
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

/// Padding counts from the last dimension: (left, right, top, bottom, ...).
std::vector<Amounts> amountsOf(const Args &args, int64_t rank) {
  std::vector<Amounts> amounts;
  Dims padding = args.dims(args.has("padding") ? "padding" : "pad");
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
using BorderOf = mlir::Value (*)(Context &, mlir::Value, int64_t axis, Dim count, bool isLow);

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

/// The borders are made of the value as it was, or of what is left of it.
template <BorderOf border, bool isOfWhole = true> mlir::Value padded(Context &cx, const Args &args) {
  mlir::Value value = args.tensor("self");
  for (const Amounts &amounts : amountsOf(args, Context::rank(value))) {
    Values parts;
    Dim low = cx.maximum(amounts.low, 0), high = cx.maximum(amounts.high, 0);
    mlir::Value left = cut(cx, value, amounts), source = isOfWhole ? value : left;
    if (!low.is(0))
      parts.push_back(border(cx, source, amounts.axis, low, true));
    parts.push_back(left);
    if (!high.is(0))
      parts.push_back(border(cx, source, amounts.axis, high, false));
    value = cx.concatenate(parts, amounts.axis);
  }
  return cx.reshape(value, cx.resultType().shape);
}

/// The elements at the other end.
mlir::Value otherEnd(Context &cx, mlir::Value value, int64_t axis, Dim count, bool isLow) {
  Dim size = cx.size(value, axis);
  return cx.sliceAxis(value, axis, isLow ? cx.subtract(size, count) : Dim(0), isLow ? size : count);
}

mlir::Value paddedWith(Context &cx, const Args &args, mlir::Value value, mlir::Value padding) {
  size_t rank = Context::rank(value);
  Dims low(rank, Dim(0)), high(rank, Dim(0));
  for (const Amounts &amounts : amountsOf(args, static_cast<int64_t>(rank))) {
    low[amounts.axis] = amounts.low;
    high[amounts.axis] = amounts.high;
  }
  return cx.pad(value, padding, low, high, Integers(rank, 0));
}

Result<mlir::Value> padByMode(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  std::string mode = args.string("mode");
  if (mode == "constant")
    return paddedWith(cx, args, self,
                      cx.constant(args.optionalFloating("value").value_or(0), Context::dtype(self)));
  if (mode == "reflect")
    return padded<mirrorImage>(cx, args);
  if (mode == "replicate")
    return padded<repetition>(cx, args);
  if (mode != "circular")
    return cx.invalid("unknown mode: got '{}', expected constant, reflect, replicate or circular", mode);
  return padded<otherEnd, /*isOfWhole=*/false>(cx, args);
}

mlir::Value padByNumber(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return paddedWith(cx, args, self, numberOperand(cx, args, "value", Context::dtype(self)));
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
  table.add("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
            padByMode);
  table.add("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", padByNumber);
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
