// Ops that repeat, rotate and regroup elements: repeat, roll, unfold and its adjoint, pixel shuffles.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <numeric>

namespace torchere::lowering {

namespace {

/// Repeats each dimension as `repeats` says; leading dimensions may be new.
mlir::Value repeatTensor(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dims repeats = args.dims("repeats");
  Dims shape = cx.shape(self);
  shape.insert(shape.begin(), repeats.size() - shape.size(), Dim(1));
  Dims spread;
  Integers own;
  for (size_t i = 0; i < shape.size(); ++i) {
    spread.append({repeats[i], shape[i]});
    own.push_back(static_cast<int64_t>(2 * i + 1));
  }
  mlir::Value value = cx.broadcastInDim(cx.reshape(self, shape), spread, own);
  return cx.reshape(value, cx.resultType().shape);
}

/// `a` modulo `b` as in Python; `b` is positive, or 0 if there is nothing to roll.
Dim modulo(Context &cx, Dim a, Dim b) {
  b = cx.maximum(b, 1);
  if (a.isConstant() && b.isConstant())
    return ((a.constant() % b.constant()) + b.constant()) % b.constant();
  auto remainder = [&](Dim dividend) {
    return Dim::computed(cx.elementwise<stablehlo::RemOp>({cx.sizeTensor(dividend), cx.sizeTensor(b)}));
  };
  return remainder(cx.add(remainder(a), b));
}

/// Elements that leave at the end re-enter at the start.
mlir::Value rollAxis(Context &cx, mlir::Value value, int64_t axis, Dim shift) {
  Dims shape = cx.shape(value);
  Dim start = modulo(cx, cx.subtract(0, shift), shape[axis]);
  if (start.is(0))
    return value;
  mlir::Value rolled = cx.concatenate(
      {cx.sliceAxis(value, axis, start, shape[axis]), cx.sliceAxis(value, axis, 0, start)}, axis);
  return cx.withShape(rolled, shape);
}

Result<mlir::Value> roll(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dims shifts = args.dims("shifts");
  Integers dims = args.integers("dims");
  if (dims.empty()) {
    mlir::Value flat = cx.reshape(self, {cx.product(cx.shape(self))});
    return cx.reshape(rollAxis(cx, flat, 0, shifts[0]), cx.shape(self));
  }
  TORCHERE_ASSIGN(Integers axes, cx.axes(dims, Context::rank(self)));
  if (axes.size() != shifts.size())
    return cx.invalid("shifts and dims differ in number: got {} and {}", shifts.size(), axes.size());
  if (Context::rank(self) == 0)
    return self;
  for (auto [axis, shift] : llvm::zip(axes, shifts))
    self = rollAxis(cx, self, axis, shift);
  return self;
}

/// Where the elements of windows stand along an axis: [number, size], window i from i * step on.
mlir::Value placesInWindows(Context &cx, Dim number, Dim size, int64_t step) {
  Dims windows = {number, size};
  mlir::Value start = cx.iota(windows, DType::I64, 0);
  start = cx.elementwise<stablehlo::MulOp>({start, cx.fullLike(step, start)});
  return cx.elementwise<stablehlo::AddOp>({start, cx.iota(windows, DType::I64, 1)});
}

/// The order of dimensions in which the one at `from` has moved to `to`.
Integers movedAxis(int64_t rank, int64_t from, int64_t to) {
  Integers permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return permutation;
}

/// Windows along a dimension, which becomes their number; what they hold comes last.
Result<mlir::Value> unfold(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  const Dims &shape = cx.resultType().shape;
  if (Context::rank(self) == 0)
    return cx.broadcastTo(self, shape);
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dimension"), Context::rank(self)));
  mlir::Value places = placesInWindows(cx, shape[axis], shape.back(), args.integer("step"));
  mlir::Value taken = gatherSlices(cx, self, slicesAlong(cx, places, axis)); // [..., number, size, ...]
  int64_t rank = Context::rank(taken);
  return cx.transpose(taken, movedAxis(rank, axis + 1, rank - 1));
}

/// More pieces than this are scattered.
constexpr int64_t mostPieces = 16;

/// Windows [..., number, size] that begin `step` apart, added where they overlap: [..., number * step ...] of
/// `length` elements. Each is cut into pieces of one step, of which the last ones of all windows are beside
/// each other, and so on: what windows add comes in their order.
mlir::Value overlapped(Context &cx, mlir::Value windows, int64_t step, int64_t length) {
  Dims shape = cx.shape(windows);
  int64_t size = shape.pop_back_val().constant(), number = shape.pop_back_val().constant();
  int64_t pieces = (size + step - 1) / step, whole = (number + pieces - 1) * step;
  auto rank = static_cast<int64_t>(shape.size()) + 2;
  mlir::Value zero = cx.constant(int64_t{0}, Context::dtype(windows)), sum;
  auto padLast = [&](mlir::Value value, int64_t low, int64_t high) {
    int64_t count = Context::rank(value);
    Dims before(count, Dim(0)), after(count, Dim(0));
    before.back() = low;
    after.back() = high;
    return cx.pad(value, zero, before, after, Integers(count, 0));
  };
  for (int64_t piece = pieces - 1; piece >= 0; --piece) {
    int64_t begin = piece * step, end = std::min(size, begin + step);
    mlir::Value part = padLast(cx.sliceAxis(windows, rank - 1, begin, end), 0, begin + step - end);
    Dims row = shape;
    row.push_back(number * step);
    part = padLast(cx.reshape(part, row), begin, whole - begin - number * step);
    sum = sum ? cx.elementwise<stablehlo::AddOp>({sum, part}) : part;
  }
  return whole < length ? padLast(sum, 0, length - whole) : cx.sliceAxis(sum, rank - 2, 0, length);
}

/// Each element of a tensor of `input_sizes` is the sum of what windows along `dim` hold of it: the
/// overlapped sum of the frames of an inverse short-time Fourier transform.
Result<mlir::Value> unfoldBackward(Context &cx, const Args &args) {
  mlir::Value windows = args.tensor("grad_in");
  const TensorType &type = cx.resultType();
  auto rank = static_cast<int64_t>(type.shape.size());
  if (rank == 0)
    return cx.reshape(windows, {});
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), rank));
  Dims shape = cx.shape(windows);
  Dim number = shape[axis], size = shape.back();
  shape = type.shape; // windows may stand for those of a whole batch
  shape[axis] = number;
  shape.push_back(size);
  int64_t step = args.integer("step");
  bool isStatic = llvm::all_of(shape, [](const Dim &each) { return each.isConstant() && !each.is(0); }) &&
                  type.shape[axis].isConstant();
  if (isStatic && size.constant() <= mostPieces * step) {
    mlir::Value last = cx.broadcastTo(windows, shape); // whose windows become the last dimension but one
    mlir::Value sum = overlapped(cx, cx.transpose(last, movedAxis(rank + 1, axis, rank - 1)), step,
                                 type.shape[axis].constant());
    return cx.transpose(sum, movedAxis(rank, rank - 1, axis));
  }
  mlir::Value places = placesInWindows(cx, number, size, step);
  mlir::Value updates = cx.transpose(cx.broadcastTo(windows, shape), movedAxis(rank + 1, rank, axis + 1));
  mlir::Value zeros = cx.full(int64_t{0}, type.dtype, type.shape);
  return scatterSlices(cx, zeros, slicesAlong(cx, places, axis), updates, combineUpdate<stablehlo::AddOp>);
}

/// [..., C * r * r, H, W] -> [..., C, H * r, W * r].
mlir::Value pixelShuffle(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  int64_t factor = args.integer("upscale_factor");
  Dims shape = cx.shape(self);
  auto front = static_cast<int64_t>(shape.size()) - 3;
  Dims split(shape.begin(), shape.begin() + front);
  split.append({cx.floorDivide(shape[front], factor * factor), Dim(factor), Dim(factor), shape[front + 1],
                shape[front + 2]});
  Integers permutation(front + 1);
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.append({front + 3, front + 1, front + 4, front + 2});
  return cx.reshape(cx.transpose(cx.reshape(self, split), permutation), cx.resultType().shape);
}

/// [..., C, H * r, W * r] -> [..., C * r * r, H, W].
mlir::Value pixelUnshuffle(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  int64_t factor = args.integer("downscale_factor");
  Dims shape = cx.shape(self);
  auto front = static_cast<int64_t>(shape.size()) - 3;
  Dims split(shape.begin(), shape.begin() + front + 1);
  split.append({cx.floorDivide(shape[front + 1], factor), Dim(factor),
                cx.floorDivide(shape[front + 2], factor), Dim(factor)});
  Integers permutation(front + 1);
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.append({front + 2, front + 4, front + 1, front + 3});
  return cx.reshape(cx.transpose(cx.reshape(self, split), permutation), cx.resultType().shape);
}

} // namespace

void addRearrange(OpTable &table) {
  table.add("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", repeatTensor);
  table.add("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", roll);
  table.add("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfold);
  table.add(
      "aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
      unfoldBackward);
  table.add("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", pixelShuffle);
  table.add("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", pixelUnshuffle);
}

} // namespace torchere::lowering
