// Matrix products and linear layers.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

mlir::Value matrixProduct(Context &cx, mlir::Value lhs, mlir::Value rhs) {
  return cx.dotGeneral(lhs, rhs, /*batch=*/0, /*lhsAxis=*/1, /*rhsAxis=*/0);
}

mlir::Value mm(Context &cx, const Args &args) {
  return matrixProduct(cx, args.tensor("self"), args.tensor("mat2"));
}

mlir::Value bmm(Context &cx, const Args &args) {
  return cx.dotGeneral(args.tensor("self"), args.tensor("mat2"), /*batch=*/1, /*lhsAxis=*/2, /*rhsAxis=*/1);
}

/// beta * self + alpha * product; self is not read when beta is 0, so that its NaNs do not spread.
mlir::Value addToProduct(Context &cx, const Args &args, mlir::Value product) {
  auto scaled = [&](mlir::Value value, std::string_view name) {
    Scalar factor = args.scalar(name);
    if (equals(factor, 1.0))
      return value;
    return cx.elementwise<stablehlo::MulOp>({value, cx.fullLike(factor, value)});
  };
  mlir::Value result = scaled(product, "alpha");
  if (equals(args.scalar("beta"), 0.0))
    return result;
  mlir::Value self = toResultShape(cx, scaled(args.tensor("self"), "beta"), cx.resultType().dtype);
  return cx.elementwise<stablehlo::AddOp>({self, result});
}

mlir::Value addmm(Context &cx, const Args &args) {
  return addToProduct(cx, args, matrixProduct(cx, args.tensor("mat1"), args.tensor("mat2")));
}

mlir::Value baddbmm(Context &cx, const Args &args) {
  return addToProduct(cx, args,
                      cx.dotGeneral(args.tensor("batch1"), args.tensor("batch2"), /*batch=*/1, /*lhsAxis=*/2,
                                    /*rhsAxis=*/1));
}

/// input [..., in] and weight [out, in] (or [in]) give [..., out] (or [...]).
mlir::Value linear(Context &cx, const Args &args) {
  mlir::Value input = args.tensor("input");
  mlir::Value weight = args.tensor("weight");
  mlir::Value result =
      cx.dotGeneral(input, weight, /*batch=*/0, Context::rank(input) - 1, Context::rank(weight) - 1);
  if (auto bias = args.optionalTensor("bias"))
    result = cx.elementwise<stablehlo::AddOp>({result, cx.broadcastTo(*bias, cx.shape(result))});
  return result;
}

/// torch.matmul: vectors are padded to matrices, leading dimensions broadcast.
mlir::Value matmul(Context &cx, const Args &args) {
  mlir::Value lhs = args.tensor("self");
  mlir::Value rhs = args.tensor("other");
  if (Context::rank(rhs) == 1)
    return cx.dotGeneral(lhs, rhs, /*batch=*/0, Context::rank(lhs) - 1, 0);
  if (Context::rank(rhs) == 2)
    return cx.dotGeneral(lhs, rhs, /*batch=*/0, Context::rank(lhs) - 1, 0);
  if (Context::rank(lhs) == 1) {
    Dims matrix = {Dim(1), cx.size(lhs, 0)};
    lhs = cx.reshape(lhs, matrix);
  }
  Dims left = cx.shape(lhs);
  Dims right = cx.shape(rhs);
  const Dims &result = cx.resultType().shape;
  size_t batch = std::max(left.size(), right.size()) - 2;
  Dims leftShape(result.begin(), result.begin() + batch);
  Dims rightShape = leftShape;
  leftShape.append(left.end() - 2, left.end());
  rightShape.append(right.end() - 2, right.end());
  auto batchCount = static_cast<int64_t>(batch);
  mlir::Value product = cx.dotGeneral(cx.broadcastTo(lhs, leftShape), cx.broadcastTo(rhs, rightShape),
                                      batchCount, batchCount + 1, batchCount);
  return cx.reshape(product, result);
}

} // namespace

void addLinearAlgebra(OpTable &table) {
  table.add("aten::mm(Tensor self, Tensor mat2) -> Tensor", mm);
  table.add("aten::bmm(Tensor self, Tensor mat2) -> Tensor", bmm);
  table.add("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            addmm);
  table.add(
      "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      baddbmm);
  table.add("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear);
  table.add("aten::matmul(Tensor self, Tensor other) -> Tensor", matmul);
}

} // namespace torchere::lowering
