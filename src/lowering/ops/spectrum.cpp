// Eigenvalues of Hermitian matrices, singular values, pseudoinverses.
#include "lowering/jacobi.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// The Hermitian matrices whose lower (upper) triangle this is.
Elements hermitian(const Elements &matrices, bool isUpper) {
  Context &cx = matrices.maker();
  Elements strict = isUpper ? upperTriangle(matrices, 1) : lowerTriangle(matrices, -1);
  Elements isDiagonal = equal(rowsOf(cx, matrices), columnsOf(cx, matrices));
  return isDiagonal.select(convertedLike(realPart(matrices), matrices), strict + adjoint(strict));
}

Result<Values> eigh(Context &cx, const Args &args) {
  std::string triangle = args.string("UPLO");
  bool isUpper = triangle == "U" || triangle == "u";
  if (!isUpper && triangle != "L" && triangle != "l")
    return cx.invalid("unknown triangle: got UPLO='{}', expected L or U", triangle);
  mlir::Value self = args.tensor("A");
  Dims batch = batchOf(cx, self);
  Elements matrices = hermitian(toMatrices(cx, self), isUpper);
  if (!args.boolean("compute_v"))
    return Values{fromMatrices(cx, eigenvalues(matrices), batch),
                  cx.full(0.0, Context::dtype(self), {Dim(0)})};
  EigenDecomposition found = eigenDecomposition(matrices);
  return Values{fromMatrices(cx, found.values, batch), fromMatrices(cx, found.vectors, batch)};
}

Result<Values> svd(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("A");
  Dims batch = batchOf(cx, self);
  Elements matrices = toMatrices(cx, self);
  if (!args.boolean("compute_uv")) {
    mlir::Value nothing = cx.full(0.0, Context::dtype(self), {Dim(0)});
    return Values{nothing, fromMatrices(cx, singularValues(matrices), batch), nothing};
  }
  SingularValueDecomposition found = singularValueDecomposition(matrices, args.boolean("full_matrices"));
  return Values{fromMatrices(cx, found.u, batch), fromMatrices(cx, found.values, batch),
                fromMatrices(cx, found.vh, batch)};
}

/// A tolerance for each matrix, [batch]: the greater of `atol` and `rtol` times the greatest value. Without
/// `rtol` it is what rounding makes of a value, unless there is an `atol`.
Elements toleranceOf(const Args &args, const Elements &greatest, const Elements &matrices) {
  Context &cx = greatest.maker();
  Dims shape = cx.shape(matrices), batch = resultBatch(cx, 2);
  DType real = Context::dtype(greatest);
  auto given = [&](mlir::Value tolerance) {
    return Elements(cx, cx.reshape(cx.broadcastTo(cx.convert(tolerance, real), batch), cx.shape(greatest)));
  };
  auto atol = args.optionalTensor("atol"), rtol = args.optionalTensor("rtol");
  Elements absolute = atol ? given(*atol) : greatest.constant(0.0);
  if (rtol)
    return maximum(absolute, given(*rtol) * greatest);
  Elements length(cx, cx.sizeTensor(cx.maximum(shape[1], shape[2]), real));
  Elements relative = everywhere(length, greatest) * epsilonOf(real) * greatest;
  return atol ? (absolute > 0.0).select(absolute, relative) : relative;
}

/// One over the values whose magnitude is above the tolerance, and zero for the others.
Elements invert(const Elements &values, const Elements &tolerance) {
  Elements counts = abs(values) > everywhere(tolerance, values);
  return counts.select(1.0 / counts.select(values, 1.0), 0.0);
}

mlir::Value pseudoinverse(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Elements matrices = toMatrices(cx, self);
  if (hasNoElements(cx.shape(self)))
    return cx.full(0.0, Context::dtype(self), cx.resultType().shape);
  Dims batch = batchOf(cx, self);
  if (args.boolean("hermitian")) {
    EigenDecomposition found = eigenDecomposition(hermitian(matrices, /*isUpper=*/false));
    Elements tolerance = toleranceOf(args, greatestAlong(abs(found.values), {1}), matrices);
    Elements inverted = convertedLike(invert(found.values, tolerance), matrices);
    return fromMatrices(
        cx, product(found.vectors * byColumn(inverted, found.vectors), adjoint(found.vectors)), batch);
  }
  SingularValueDecomposition found = singularValueDecomposition(matrices, /*isFull=*/false);
  Elements tolerance = toleranceOf(args, greatestAlong(found.values, {1}), matrices);
  Elements inverted = convertedLike(invert(found.values, tolerance), matrices);
  Elements v = adjoint(found.vh);
  return fromMatrices(cx, product(v * byColumn(inverted, v), adjoint(found.u)), batch);
}

} // namespace

void addSpectrum(OpTable &table) {
  table.add("aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) "
            "-> (Tensor eigenvalues, Tensor eigenvectors)",
            eigh);
  table.add(
      "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) "
      "-> (Tensor U, Tensor S, Tensor Vh)",
      svd);
  table.add("aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
            "bool hermitian=False) -> Tensor",
            pseudoinverse);
}

} // namespace torchere::lowering
