// QR factors, and products of the reflectors that they are stored as.
#include "lowering/householder.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// Q [..., m, k] and R [..., k, n]; [..., m, m] and [..., m, n] when complete; R alone in mode "r".
Result<Values> qr(Context &cx, const Args &args) {
  std::string mode = args.string("mode");
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return cx.invalid("unknown mode: got '{}', expected reduced, complete or r", mode);
  mlir::Value self = args.tensor("A");
  DType dtype = Context::dtype(self);
  Dims batch = batchOf(cx, self);
  Reflectors reflectors = factorQr(toMatrices(cx, self));
  Dims shape = cx.shape(reflectors.packed);
  Dim count = mode == "complete" ? shape[1] : cx.minimum(shape[1], shape[2]);
  Elements r = upperTriangle({cx, cx.sliceAxis(reflectors.packed, 1, 0, count)});
  if (mode == "r")
    return Values{cx.full(0.0, dtype, {Dim(0)}), fromMatrices(cx, r, batch)};
  Elements q =
      applyReflectors(reflectors, identity(cx, {shape[0], shape[1], count}, dtype), /*isAdjoint=*/false);
  return Values{fromMatrices(cx, q, batch), fromMatrices(cx, r, batch)};
}

Result<Values> geqrf(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dims batch = batchOf(cx, self);
  Reflectors reflectors = factorQr(toMatrices(cx, self));
  return Values{fromMatrices(cx, reflectors.packed, batch), fromMatrices(cx, reflectors.tau, batch)};
}

Reflectors reflectorsOf(Context &cx, mlir::Value packed, mlir::Value tau) {
  Dims shape = cx.shape(tau);
  Dim count = shape.pop_back_val();
  return {toMatrices(cx, packed), {cx, cx.reshape(tau, {cx.product(shape), count})}};
}

/// The first columns of the product of all reflectors, as many as there are of these.
mlir::Value householderProduct(Context &cx, const Args &args) {
  mlir::Value packed = args.tensor("input");
  Reflectors reflectors = reflectorsOf(cx, packed, args.tensor("tau"));
  Elements ones = identity(cx, cx.shape(reflectors.packed), Context::dtype(packed));
  return fromMatrices(cx, applyReflectors(reflectors, ones, /*isAdjoint=*/false), batchOf(cx, packed));
}

/// Q C, Q^H C, C Q or C Q^H.
mlir::Value ormqr(Context &cx, const Args &args) {
  mlir::Value other = args.tensor("input3");
  Reflectors reflectors = reflectorsOf(cx, args.tensor("self"), args.tensor("input2"));
  bool isLeft = args.boolean("left");
  Elements matrices = toMatrices(cx, other);
  bool isAdjoint = args.boolean("transpose") == isLeft; // C Q is (Q^H C^H)^H
  Elements product = applyReflectors(reflectors, isLeft ? matrices : adjoint(matrices), isAdjoint);
  return fromMatrices(cx, isLeft ? product : adjoint(product), batchOf(cx, other));
}

} // namespace

void addQr(OpTable &table) {
  table.add("aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", qr);
  table.add("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)", geqrf);
  table.add("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor", householderProduct);
  table.add("aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) "
            "-> Tensor",
            ormqr);
}

} // namespace torchere::lowering
