// Distances of pairs of rows, and their gradients.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/vector_norm.h"

#include <cmath>

namespace torchere::lowering {

namespace {

/// Rows [..., P, M] and [..., R, M] beside each other: [..., P, R, M].
struct Crossed {
  Elements left, right;
};

Crossed crossed(Context &cx, const Args &args, llvm::ArrayRef<Dim> distances, DType dtype) {
  mlir::Value left = args.tensor("x1"), right = args.tensor("x2");
  Dims pairs(distances);
  pairs.push_back(cx.shape(left).back());
  auto spread = [&](mlir::Value value, int64_t fromEnd) {
    Dims shape = cx.shape(value);
    shape.insert(shape.end() - fromEnd, Dim(1));
    return cx.broadcastTo(cx.reshape(cx.convert(value, dtype), shape), pairs);
  };
  return {{cx, spread(left, 1)}, {cx, spread(right, 2)}};
}

/// The distance of each pair of rows. The differences are taken as they are, not from a product of matrices,
/// which would cancel for close rows.
mlir::Value pairDistances(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  Crossed rows = crossed(cx, args, type.shape, computeType(type.dtype));
  auto last = static_cast<int64_t>(type.shape.size());
  return cx.convert(normOf(cx, abs(rows.left - rows.right), args.floating("p"), {last}), type.dtype);
}

/// The rows of each pair i < j, in the order (0, 1), (0, 2), ..., (1, 2), ...
struct RowPairs {
  mlir::Value first, second; ///< [count], i64
};

/// Of pair k, row i is the last one with i * (2 * rows - i - 1) / 2 <= k: the root of a square.
RowPairs rowPairs(Context &cx, Dim rows, Dim count) {
  Elements pair(cx, cx.iota({count}, DType::F64, 0));
  Elements n(cx, cx.broadcastTo(cx.sizeTensor(rows, DType::F64), {count}));
  Elements half = n - 0.5;
  auto startOf = [&](const Elements &row) { return row * (n * 2.0 - row - 1.0) / 2.0; };
  Elements first = floor(half - sqrt(maximum(half * half - pair * 2.0 - 1.0, 0.0)));
  first = (startOf(first) > pair).select(first - 1.0, first);
  first = (startOf(first + 1.0) <= pair).select(first + 1.0, first);
  Elements second = pair - startOf(first) + first + 1.0;
  return {cx.convert(first, DType::I64), cx.convert(second, DType::I64)};
}

/// The distances of all pairs of rows.
mlir::Value ownDistances(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value self = cx.convert(args.tensor("self"), computeType(type.dtype));
  RowPairs pairs = rowPairs(cx, cx.size(self, 0), type.shape[0]);
  Elements first(cx, gatherSlices(cx, self, slicesAlong(cx, pairs.first, 0)));
  Elements second(cx, gatherSlices(cx, self, slicesAlong(cx, pairs.second, 0)));
  return cx.convert(normOf(cx, abs(first - second), args.floating("p"), {1}), type.dtype);
}

/// How a distance changes with a difference that it is made of; distances of 0 give 0.
Elements slopeOf(const Elements &difference, const Elements &distance, double p) {
  Elements sign = difference.apply<stablehlo::SignOp>();
  Elements zero = difference.constant(0.0);
  if (p == 0.0)
    return zero;
  if (p == 1.0)
    return sign;
  if (std::isinf(p))
    return equal(abs(difference), distance).select(sign, zero);
  Elements isZero = equal(distance, 0.0);
  if (p < 1.0)
    isZero = either(isZero, equal(difference, 0.0));
  Elements slope =
      p == 2.0 ? difference / distance : sign * power(abs(difference), p - 1.0) / power(distance, p - 1.0);
  return isZero.select(zero, slope);
}

/// To the rows of x1.
mlir::Value pairDistancesBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  mlir::Value distances = args.tensor("cdist");
  Dims pairs = cx.shape(distances);
  Crossed rows = crossed(cx, args, pairs, compute);
  auto last = static_cast<int64_t>(pairs.size());
  auto beside = [&](mlir::Value value) {
    return rows.left.with(cx.spread(cx.convert(value, compute), rows.left, {last}));
  };
  Elements slope = slopeOf(rows.left - rows.right, beside(distances), args.floating("p"));
  mlir::Value terms = beside(args.tensor("grad")) * slope;
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(terms, cx.constant(0.0, compute), {last - 1});
  return cx.convert(cx.reshape(sum, type.shape), type.dtype);
}

/// To both rows of each pair.
mlir::Value ownDistancesBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  mlir::Value distances = args.tensor("pdist");
  RowPairs pairs = rowPairs(cx, cx.size(self, 0), cx.size(distances, 0));
  Elements first(cx, gatherSlices(cx, self, slicesAlong(cx, pairs.first, 0)));
  Elements second(cx, gatherSlices(cx, self, slicesAlong(cx, pairs.second, 0)));
  auto beside = [&](mlir::Value value) {
    return first.with(cx.spread(cx.convert(value, compute), first, {1}));
  };
  Elements terms =
      beside(args.tensor("grad")) * slopeOf(first - second, beside(distances), args.floating("p"));
  mlir::Value sum = cx.fullLike(0.0, self);
  sum = scatterSlices(cx, sum, slicesAlong(cx, pairs.first, 0), terms, combineUpdate<stablehlo::AddOp>);
  sum = scatterSlices(cx, sum, slicesAlong(cx, pairs.second, 0), -terms, combineUpdate<stablehlo::AddOp>);
  return cx.convert(sum, type.dtype);
}

} // namespace

void addDistance(OpTable &table) {
  table.add("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
            pairDistances);
  table.add("aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
            pairDistancesBackward);
  table.add("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", ownDistances);
  table.add("aten::_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
            ownDistancesBackward);
}

} // namespace torchere::lowering
