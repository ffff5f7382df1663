// The exponential of a matrix, by scaling and squaring.
#include "lowering/matrix.h"
#include "lowering/op_table.h"
#include "lowering/region.h"

#include <limits>

namespace torchere::lowering {

namespace {

/// Matrices halved until their norms are at most one, where the series needs few terms.
struct Scaled {
  Elements matrices;
  Elements halvings; ///< [batch], i32
};

/// The greatest sum of a column's magnitudes: [batch].
Elements normOf(const Elements &matrices) {
  return greatestAlong(sumAlong(magnitude(matrices), 1), {1});
}

Scaled halve(const Elements &matrices) {
  Context &cx = matrices.maker();
  Elements norms = normOf(matrices);
  auto isLarge = [](const Elements &norm) {
    return both(norm > 1.0, norm < std::numeric_limits<double>::infinity());
  };
  auto condition = [&](mlir::ValueRange now) {
    Elements large = isLarge({cx, now[1]});
    return Values{cx.reduceWith<stablehlo::OrOp>(large, cx.constant(false, DType::Bool), {0})};
  };
  auto body = [&](mlir::ValueRange now) {
    Elements matrix(cx, now[0]), norm(cx, now[1]), count(cx, now[2]);
    Elements large = isLarge(norm);
    return Values{everywhere(large, matrix).select(matrix * 0.5, matrix), large.select(norm * 0.5, norm),
                  large.select(count + count.constant(int64_t{1}), count)};
  };
  Values state = {matrices, norms, cx.full(int64_t{0}, DType::I32, cx.shape(norms))};
  Values done = repeatWhile(cx, state, condition, body);
  return {{cx, done[0]}, {cx, done[2]}};
}

/// The Taylor polynomial of degree 20: what follows is below 1e-19 for a norm of one. Terms in groups of
/// four, by Horner's scheme over the fourth power.
Elements series(const Elements &x) {
  Context &cx = x.maker();
  double coefficients[21] = {1.0};
  for (int i = 1; i <= 20; ++i)
    coefficients[i] = coefficients[i - 1] / i;
  Elements ones = identity(cx, cx.shape(x), Context::dtype(x));
  Elements square = product(x, x), cube = product(square, x), fourth = product(square, square);
  auto group = [&](int start) {
    return ones * coefficients[start] + x * coefficients[start + 1] + square * coefficients[start + 2] +
           cube * coefficients[start + 3];
  };
  Elements sum = group(16) + fourth * coefficients[20];
  for (int start = 12; start >= 0; start -= 4)
    sum = group(start) + product(sum, fourth);
  return sum;
}

mlir::Value matrixExponential(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Scaled scaled = halve(toMatrices(cx, self));
  Values state = {series(scaled.matrices), scaled.halvings};
  mlir::Value most = greatestAlong(scaled.halvings, {0});
  Values done = repeatTimes(cx, most, state, [&](mlir::Value number, const Values &now) {
    Elements step(cx, number), matrix(cx, now[0]), count(cx, now[1]);
    Elements isDue = everywhere(everywhere(step, count) < count, matrix);
    return Values{isDue.select(product(matrix, matrix), matrix), count};
  });
  return fromMatrices(cx, done[0], batchOf(cx, self));
}

} // namespace

void addMatrixExponential(OpTable &table) {
  table.add("aten::linalg_matrix_exp(Tensor self) -> Tensor", matrixExponential);
}

} // namespace torchere::lowering
