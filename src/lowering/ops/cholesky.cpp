// Cholesky factors, and systems of equations with triangular matrices.
#include "lowering/matrix.h"
#include "lowering/op_table.h"
#include "lowering/region.h"

#include <limits>

namespace torchere::lowering {

namespace {

constexpr auto transposedKind = stablehlo::Transpose::TRANSPOSE;
constexpr auto conjugated = stablehlo::Transpose::ADJOINT;

// ---- factors

/// One column of the factor, and its square taken from what lies behind.
Values choleskyStep(const Elements &step, const Elements &matrices, const Elements &info) {
  Context &cx = matrices.maker();
  Elements rows = rowsOf(cx, matrices), columns = columnsOf(cx, matrices), k = everywhere(step, rows);
  Elements column = takeAlong(matrices, equal(columns, k), 2);
  Elements places = placesOf(cx, column), at = everywhere(step, places);
  Elements pivot = realPart(takeAlong(column, equal(places, at), 1));
  Elements isPositive = pivot > 0.0;
  Elements root = convertedLike(sqrt(isPositive.select(pivot, 1.0)), column);
  Elements below = (places > at).select(column / everywhere(root, column), 0.0);
  Elements factor = equal(places, at).select(everywhere(root, below), below);
  Elements updated = matrices - byRow(below, matrices) * byColumn(conjugate(below), matrices);
  Elements number = everywhere(step, info) + info.constant(int64_t{1});
  Elements isFirst =
      both(equal(info, info.constant(int64_t{0})), equal(isPositive, isPositive.constant(false)));
  return {equal(columns, k).select(byRow(factor, matrices), (columns > k).select(updated, matrices)),
          isFirst.select(number, info)};
}

struct Factor {
  Elements matrices; ///< NaN where there is no factor
  Elements info;     ///< [batch], i32: the first leading minor, from 1, that is not positive definite, or 0
};

/// Of Hermitian matrices, of which one triangle is read: the factor is that triangle.
Factor factorCholesky(const Elements &matrices, bool isUpper) {
  Context &cx = matrices.maker();
  Elements lower = lowerTriangle(isUpper ? adjoint(matrices) : matrices);
  Dims shape = cx.shape(lower);
  Values state = {lower, cx.full(int64_t{0}, DType::I32, {shape[0]})};
  auto body = [&](mlir::Value step, const Values &now) {
    return choleskyStep({cx, step}, {cx, now[0]}, {cx, now[1]});
  };
  Values done = repeatTimes(cx, cx.sizeTensor(shape[1], DType::I32), state, body, "cholesky");
  Elements info(cx, done[1]);
  Elements factor(cx, done[0]);
  Elements isWrong = everywhere(notEqual(info, info.constant(int64_t{0})), factor);
  factor = lowerTriangle(isWrong.select(nan, factor));
  return {isUpper ? adjoint(factor) : factor, info};
}

Factor factorOf(Context &cx, mlir::Value value, bool isUpper) {
  return factorCholesky(toMatrices(cx, value), isUpper);
}

Result<Values> choleskyWithInfo(Context &cx, const Args &args) {
  Dims batch = batchOf(cx, args.tensor("self"));
  Factor factor = factorOf(cx, args.tensor("self"), args.boolean("upper"));
  return Values{fromMatrices(cx, factor.matrices, batch), fromMatrices(cx, factor.info, batch)};
}

mlir::Value cholesky(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Factor factor = factorOf(cx, self, args.boolean("upper"));
  return fromMatrices(cx, factor.matrices, batchOf(cx, self));
}

// ---- systems of equations

mlir::Value solveTriangular(Context &cx, const Args &args) {
  Dims batch = resultBatch(cx, 2);
  Triangle kind{.isLower = !args.boolean("upper"),
                .isUnit = args.boolean("unitriangular"),
                .isLeft = args.boolean("left")};
  Elements solution = solveTriangles(broadcastMatrices(cx, args.tensor("self"), batch),
                                     broadcastMatrices(cx, args.tensor("B"), batch), kind);
  return fromMatrices(cx, solution, batch);
}

/// The second result is the matrices themselves, repeated for what they are solved for.
Result<Values> triangularSolve(Context &cx, const Args &args) {
  Dims batch = resultBatch(cx, 2);
  Triangle kind{.isLower = !args.boolean("upper"), .isUnit = args.boolean("unitriangular")};
  if (args.boolean("transpose"))
    kind.transpose = transposedKind;
  Elements triangles = broadcastMatrices(cx, args.tensor("A"), batch);
  Elements solution = solveTriangles(triangles, broadcastMatrices(cx, args.tensor("self"), batch), kind);
  return Values{fromMatrices(cx, solution, batch), fromMatrices(cx, triangles, batch)};
}

/// X with L L^H X = right, or U^H U X = right.
Elements solveCholesky(const Elements &factors, const Elements &right, bool isUpper) {
  Triangle first{.isLower = !isUpper}, second{.isLower = !isUpper};
  (isUpper ? first : second).transpose = conjugated;
  return solveTriangles(factors, solveTriangles(factors, right, first), second);
}

mlir::Value choleskySolve(Context &cx, const Args &args) {
  Dims batch = resultBatch(cx, 2);
  Elements factors = broadcastMatrices(cx, args.tensor("input2"), batch);
  Elements right = broadcastMatrices(cx, args.tensor("self"), batch);
  return fromMatrices(cx, solveCholesky(factors, right, args.boolean("upper")), batch);
}

/// [batch], i32: the first zero on the diagonal, from 1, or 0.
Elements firstZero(const Elements &matrices) {
  Context &cx = matrices.maker();
  Elements diagonal = diagonalOf(matrices);
  Elements numbers(cx, cx.iota(cx.shape(diagonal), DType::I32, 1));
  Elements none = numbers.constant(int64_t{std::numeric_limits<int32_t>::max()});
  Elements isZero = equal(diagonal, diagonal.constant(0.0));
  mlir::Value first = cx.reduceWith<stablehlo::MinOp>(
      isZero.select(numbers, none), cx.constant(int64_t{std::numeric_limits<int32_t>::max()}, DType::I32),
      {1});
  Elements place(cx, first), zero = place.constant(int64_t{0});
  Elements isThere = place < place.constant(int64_t{std::numeric_limits<int32_t>::max()});
  return isThere.select(place + place.constant(int64_t{1}), zero);
}

/// With codes where two results are asked for.
Result<Values> choleskyInverse(Context &cx, const Args &args) {
  Elements factors = toMatrices(cx, args.tensor("self"));
  Elements ones = identity(cx, cx.shape(factors), Context::dtype(factors));
  Dims batch = resultBatch(cx, 2);
  Values results = {fromMatrices(cx, solveCholesky(factors, ones, args.boolean("upper")), batch)};
  if (cx.resultCount() > 1)
    results.push_back(fromMatrices(cx, firstZero(factors), batch));
  return results;
}

} // namespace

void addCholesky(OpTable &table) {
  table.add("aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
            "-> (Tensor L, Tensor info)",
            choleskyWithInfo);
  table.add("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", cholesky);
  table.add("aten::cholesky(Tensor self, bool upper=False) -> Tensor", cholesky);
  table.add("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", choleskySolve);
  table.add("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", choleskyInverse);
  table.add("aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
            "bool unitriangular=False) -> Tensor",
            solveTriangular);
  table.add("aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
            "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
            triangularSolve);
}

} // namespace torchere::lowering
