// LU factors, systems of equations, inverses and determinants.
#include "lowering/lu.h"
#include "lowering/op_table.h"

#include <limits>

namespace torchere::lowering {

namespace {

/// The triangles of packed factors: L, [batch, m, k] with its ones, and U, [batch, k, n].
std::pair<Elements, Elements> unpack(const Elements &packed) {
  Context &cx = packed.maker();
  Dims shape = cx.shape(packed);
  Dim count = cx.minimum(shape[1], shape[2]);
  Elements lower(cx, cx.sliceAxis(packed, 2, 0, count));
  Elements isDiagonal = equal(rowsOf(cx, lower), columnsOf(cx, lower));
  return {isDiagonal.select(1.0, lowerTriangle(lower)),
          upperTriangle({cx, cx.sliceAxis(packed, 1, 0, count)})};
}

/// P of A = P L U: [batch, m, m].
Elements permutationMatrices(const Elements &permutation, DType dtype) {
  Context &cx = permutation.maker();
  Dims shape = cx.shape(permutation);
  Elements zeros(cx, cx.full(0.0, dtype, {shape[0], shape[1], shape[1]}));
  return equal(rowsOf(cx, zeros), byColumn(permutation, zeros)).select(1.0, zeros);
}

/// What torch gives for what it was not asked for.
mlir::Value nothing(Context &cx, DType dtype) {
  return cx.full(0.0, dtype, {Dim(0)});
}

Result<LuFactors> factorsOf(Context &cx, const Args &args, const Elements &matrices) {
  if (!args.boolean("pivot"))
    return cx.unimplemented("factors without pivoting are not supported: got pivot=False, expected True");
  return factorLu(matrices);
}

/// linalg_lu_factor and linalg_lu_factor_ex.
Result<Values> luFactor(Context &cx, const Args &args) {
  mlir::Value matrices = args.tensor("A");
  Dims batch = batchOf(cx, matrices);
  TORCHERE_ASSIGN(LuFactors factors, factorsOf(cx, args, toMatrices(cx, matrices)));
  Values results = {fromMatrices(cx, factors.packed, batch), fromMatrices(cx, factors.pivots, batch),
                    fromMatrices(cx, factors.info, batch)};
  results.resize(cx.resultCount());
  return results;
}

Result<Values> lu(Context &cx, const Args &args) {
  mlir::Value matrices = args.tensor("A");
  Dims batch = batchOf(cx, matrices);
  TORCHERE_ASSIGN(LuFactors factors, factorsOf(cx, args, toMatrices(cx, matrices)));
  auto [lower, upper] = unpack(factors.packed);
  Elements permutation = permutationMatrices(factors.permutation, Context::dtype(matrices));
  return Values{fromMatrices(cx, permutation, batch), fromMatrices(cx, lower, batch),
                fromMatrices(cx, upper, batch)};
}

/// The pivots of a batch as [batch, count].
Elements toVectors(Context &cx, mlir::Value value) {
  Dims shape = cx.shape(value);
  Dim count = shape.pop_back_val();
  return {cx, cx.reshape(value, {cx.product(shape), count})};
}

Result<Values> luUnpack(Context &cx, const Args &args) {
  mlir::Value data = args.tensor("LU_data");
  DType dtype = Context::dtype(data);
  Dims batch = batchOf(cx, data);
  Values results(3, nothing(cx, dtype));
  Elements packed = toMatrices(cx, data);
  if (args.boolean("unpack_pivots")) {
    Elements permutation = permutationOf(toVectors(cx, args.tensor("LU_pivots")), cx.size(packed, 1));
    results[0] = fromMatrices(cx, permutationMatrices(permutation, dtype), batch);
  }
  if (args.boolean("unpack_data")) {
    auto [lower, upper] = unpack(packed);
    results[1] = fromMatrices(cx, lower, batch);
    results[2] = fromMatrices(cx, upper, batch);
  }
  return results;
}

/// X with op(A) X = right or, when it is not on the left, X op(A) = right; op is the adjoint, or nothing.
Elements solveFactored(const Elements &packed, const Elements &permutation, const Elements &right,
                       bool isLeft, bool isAdjoint) {
  if (isLeft)
    return solveLu(packed, permutation, right, isAdjoint);
  return adjoint(solveLu(packed, permutation, adjoint(right), !isAdjoint));
}

/// The permutation repeated to leading dimensions, as [batch, rows].
Elements broadcastVectors(Context &cx, mlir::Value value, llvm::ArrayRef<Dim> batch) {
  Dims shape(batch.begin(), batch.end());
  shape.push_back(cx.shape(value).back());
  return toVectors(cx, cx.broadcastTo(value, shape));
}

mlir::Value luSolve(Context &cx, const Args &args) {
  Dims batch = resultBatch(cx, 2);
  Elements packed = broadcastMatrices(cx, args.tensor("LU"), batch);
  Elements pivots = broadcastVectors(cx, args.tensor("pivots"), batch);
  Elements right = broadcastMatrices(cx, args.tensor("B"), batch);
  Elements solution = solveFactored(packed, permutationOf(pivots, cx.size(packed, 1)), right,
                                    args.boolean("left"), args.boolean("adjoint"));
  return fromMatrices(cx, solution, batch);
}

/// The factors that torch takes to solve with A and for its determinant: those of the transposes of real
/// matrices, which in its memory are columns first. What computes a gradient reads them so.
struct System {
  LuFactors factors;
  bool isAdjoint; ///< whether these are of the adjoints

  explicit System(const Elements &matrices)
      : factors(factorLu(isReal(matrices) ? adjoint(matrices) : matrices)), isAdjoint(isReal(matrices)) {}

  static bool isReal(mlir::Value value) { return !dtypeInfo(Context::dtype(value)).isComplex; }
};

/// The tensor of each matrix, [batch, ...], where the matrix has an inverse; NaN elsewhere.
Elements nanWhereSingular(const Elements &value, const Elements &info) {
  Elements isSingular = everywhere(notEqual(info, info.constant(int64_t{0})), value);
  return isSingular.select(std::numeric_limits<double>::quiet_NaN(), value);
}

/// Whether the right-hand sides are vectors, by torch's rule.
bool areVectors(Context &cx, mlir::Value matrices, mlir::Value right) {
  if (Context::rank(right) == 1)
    return true;
  Dims expected = cx.shape(matrices);
  expected.pop_back();
  return expected == cx.shape(right);
}

/// linalg_solve, and _linalg_solve_ex with the factors, the pivots and info.
Result<Values> solve(Context &cx, const Args &args) {
  mlir::Value matrices = args.tensor("A"), right = args.tensor("B");
  bool isVector = areVectors(cx, matrices, right);
  Dims own = batchOf(cx, matrices), batch = resultBatch(cx, isVector ? 1 : 2);
  if (isVector) {
    Dims column = cx.shape(right);
    column.push_back(Dim(1));
    right = cx.reshape(right, column);
  }
  System system(toMatrices(cx, matrices));
  const LuFactors &factors = system.factors;
  Elements packed = broadcastMatrices(cx, fromMatrices(cx, factors.packed, own), batch);
  Elements permutation = broadcastVectors(cx, fromMatrices(cx, factors.permutation, own), batch);
  mlir::Value spreadInfo = cx.broadcastTo(fromMatrices(cx, factors.info, own), batch);
  Elements info(cx, cx.reshape(spreadInfo, {cx.product(batch)}));
  Elements solution = solveFactored(packed, permutation, broadcastMatrices(cx, right, batch),
                                    args.boolean("left"), system.isAdjoint);
  solution = nanWhereSingular(solution, info);
  Values results = {cx.reshape(solution, cx.resultType().shape), fromMatrices(cx, factors.packed, own),
                    fromMatrices(cx, factors.pivots, own), fromMatrices(cx, factors.info, own)};
  results.resize(cx.resultCount());
  return results;
}

struct Inverses {
  Elements matrices; ///< NaN where there is none
  Elements info;     ///< [batch]
};

Inverses invert(const Elements &matrices) {
  Context &cx = matrices.maker();
  System system(matrices);
  const LuFactors &factors = system.factors;
  Elements ones = identity(cx, cx.shape(matrices), Context::dtype(matrices));
  Elements solution = solveLu(factors.packed, factors.permutation, ones, system.isAdjoint);
  return {nanWhereSingular(solution, factors.info), factors.info};
}

/// linalg_inv, and linalg_inv_ex with info.
Result<Values> inverse(Context &cx, const Args &args) {
  mlir::Value value = args.tensor("A");
  Dims batch = batchOf(cx, value);
  Inverses inverses = invert(toMatrices(cx, value));
  Values results = {fromMatrices(cx, inverses.matrices, batch), fromMatrices(cx, inverses.info, batch)};
  results.resize(cx.resultCount());
  return results;
}

/// The first `ind` dimensions as rows of one matrix, the others as its columns. With its code, 0-d, where two
/// results are asked for.
Result<Values> tensorInverse(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dims shape = cx.shape(self);
  int64_t count = args.integer("ind");
  if (count < 1 || count > Context::rank(self))
    return cx.invalid("ind is out of range: got {}, expected 1 to {}", count, Context::rank(self));
  Dim rows = cx.product(llvm::ArrayRef(shape).take_front(count));
  Elements matrix(cx, cx.reshape(self, {Dim(1), rows, rows}));
  Inverses inverse = invert(matrix);
  Values results = {cx.reshape(inverse.matrices, cx.resultType().shape), cx.reshape(inverse.info, {})};
  results.resize(cx.resultCount());
  return results;
}

/// The sign of the permutation that the exchanges make: [batch].
Elements signOf(const Elements &pivots, DType dtype) {
  Context &cx = pivots.maker();
  Elements one = pivots.constant(int64_t{1});
  Elements isExchange = notEqual(pivots, placesOf(cx, pivots) + one);
  Elements count = sumAlong(isExchange.select(one, pivots.constant(int64_t{0})), 1);
  Elements isOdd =
      equal(count.apply<stablehlo::AndOp>(count.constant(int64_t{1})), count.constant(int64_t{1}));
  Elements ones(cx, cx.full(1.0, dtype, cx.shape(count)));
  return isOdd.select(-1.0, ones);
}

Elements multiplyAlong(const Elements &vectors) {
  Context &cx = vectors.maker();
  return {cx, cx.reduceWith<stablehlo::MulOp>(vectors, cx.constant(1.0, Context::dtype(vectors)), {1})};
}

Result<Values> determinant(Context &cx, const Args &args) {
  mlir::Value value = args.tensor("A");
  Dims batch = batchOf(cx, value);
  LuFactors factors = System(toMatrices(cx, value)).factors;
  Elements diagonal = diagonalOf(factors.packed);
  Elements result = multiplyAlong(diagonal) * signOf(factors.pivots, Context::dtype(diagonal));
  return Values{fromMatrices(cx, result, batch), fromMatrices(cx, factors.packed, batch),
                fromMatrices(cx, factors.pivots, batch)};
}

/// The sign, a number of magnitude one or zero, and the logarithm of the magnitude.
Result<Values> logDeterminant(Context &cx, const Args &args) {
  mlir::Value value = args.tensor("A");
  Dims batch = batchOf(cx, value);
  LuFactors factors = System(toMatrices(cx, value)).factors;
  Elements diagonal = diagonalOf(factors.packed);
  Elements size = magnitude(diagonal);
  Elements sign = multiplyAlong(diagonal.apply<stablehlo::SignOp>());
  sign = sign * signOf(factors.pivots, Context::dtype(diagonal));
  return Values{fromMatrices(cx, sign, batch), fromMatrices(cx, sumAlong(log(size), 1), batch),
                fromMatrices(cx, factors.packed, batch), fromMatrices(cx, factors.pivots, batch)};
}

} // namespace

void addSystems(OpTable &table) {
  table.add("aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
            "-> (Tensor LU, Tensor pivots, Tensor info)",
            luFactor);
  table.add("aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", luFactor);
  table.add("aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", lu);
  table.add(
      "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
      "-> (Tensor P, Tensor L, Tensor U)",
      luUnpack);
  table.add(
      "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) "
      "-> Tensor",
      luSolve);
  table.add("aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
            "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
            solve);
  table.add("aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", solve);
  table.add("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
            inverse);
  table.add("aten::linalg_inv(Tensor A) -> Tensor", inverse);
  table.add("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensorInverse);
  table.add("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", determinant);
  table.add("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
            logDeterminant);
}

} // namespace torchere::lowering
