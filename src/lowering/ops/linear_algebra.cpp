// Matrix products and linear layers.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>
#include <utility>

namespace torchere::lowering {

namespace {

mlir::Value matrixProduct(Context &cx, mlir::Value lhs, mlir::Value rhs) {
  return cx.dotGeneral(lhs, rhs, /*batch=*/0, /*lhsAxis=*/1, /*rhsAxis=*/0);
}

mlir::Value mm(Context &cx, const Args &args) {
  return matrixProduct(cx, args.tensor("self"), args.tensor("mat2"));
}

/// Of bytes, in the 32 bits of the result.
mlir::Value integerProduct(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  return matrixProduct(cx, cx.convert(args.tensor("self"), dtype), cx.convert(args.tensor("mat2"), dtype));
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
    return cx.elementwise<stablehlo::MulOp>({value, cx.programNumberLike(factor, value)});
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

mlir::Value addmv(Context &cx, const Args &args) {
  return addToProduct(cx, args, cx.dotGeneral(args.tensor("mat"), args.tensor("vec"), /*batch=*/0, 1, 0));
}

/// The sum of all the products.
mlir::Value addbmm(Context &cx, const Args &args) {
  mlir::Value products = cx.dotGeneral(args.tensor("batch1"), args.tensor("batch2"), /*batch=*/1,
                                       /*lhsAxis=*/2, /*rhsAxis=*/1);
  DType dtype = cx.resultType().dtype;
  return addToProduct(cx, args,
                      cx.reduceWith<stablehlo::AddOp>(products, cx.constant(int64_t{0}, dtype), {0}));
}

mlir::Value baddbmm(Context &cx, const Args &args) {
  return addToProduct(cx, args,
                      cx.dotGeneral(args.tensor("batch1"), args.tensor("batch2"), /*batch=*/1, /*lhsAxis=*/2,
                                    /*rhsAxis=*/1));
}

/// A scale of one number, or one for each row or column of the product.
Result<mlir::Value> scaleOf(Context &cx, const Args &args, std::string_view name, mlir::Value product,
                            int64_t axis) {
  mlir::Value scale = args.tensor(name);
  Dims shape = cx.shape(scale);
  if (llvm::all_of(shape, [](const Dim &dim) { return dim.is(1); }))
    return cx.broadcastTo(cx.reshape(scale, {}), cx.shape(product));
  bool isVector = shape.size() == 2 && shape[1 - axis].is(1) && shape[axis] == cx.size(product, axis);
  if (!isVector)
    return cx.unimplemented("{} is neither one number nor one for each {}: its blocks are not supported",
                            name, axis == 0 ? "row" : "column");
  return cx.broadcastTo(scale, cx.shape(product));
}

/// A product of float8 matrices in float32, scaled.
Result<mlir::Value> scaledProduct(Context &cx, const Args &args) {
  if (!args.isNone("scale_result"))
    return cx.unimplemented("scale_result is not supported: expected none");
  mlir::Value product = matrixProduct(cx, cx.convert(args.tensor("self"), DType::F32),
                                      cx.convert(args.tensor("mat2"), DType::F32));
  TORCHERE_ASSIGN(mlir::Value rows, scaleOf(cx, args, "scale_a", product, 0));
  TORCHERE_ASSIGN(mlir::Value columns, scaleOf(cx, args, "scale_b", product, 1));
  product = cx.elementwise<stablehlo::MulOp>({product, cx.elementwise<stablehlo::MulOp>({rows, columns})});
  if (auto bias = args.optionalTensor("bias"))
    product = cx.elementwise<stablehlo::AddOp>(
        {product, cx.broadcastTo(cx.convert(*bias, DType::F32), cx.shape(product))});
  return cx.convert(product, cx.resultType().dtype);
}

/// Floats with a weight [out, in] of bytes, in float32; each result is scaled by its output's number.
mlir::Value scaledByteProduct(Context &cx, const Args &args) {
  mlir::Value product = cx.dotGeneral(cx.convert(args.tensor("self"), DType::F32),
                                      cx.convert(args.tensor("mat2"), DType::F32), /*batch=*/0, 1, 1);
  mlir::Value scales = cx.broadcastTo(cx.convert(args.tensor("scales"), DType::F32), cx.shape(product));
  return cx.convert(cx.elementwise<stablehlo::MulOp>({product, scales}), cx.resultType().dtype);
}

/// input [..., in] with weight [out, in] (or [in]) gives [..., out] (or [...]).
mlir::Value linear(Context &cx, const Args &args) {
  mlir::Value input = args.tensor("input");
  mlir::Value weight = args.tensor("weight");
  mlir::Value result =
      cx.dotGeneral(input, weight, /*batch=*/0, Context::rank(input) - 1, Context::rank(weight) - 1);
  if (auto bias = args.optionalTensor("bias"))
    result = cx.elementwise<stablehlo::AddOp>({result, cx.broadcastTo(*bias, cx.shape(result))});
  return result;
}

/// Three tensors with dimensions of size 1 put in where the lists say, multiplied and summed.
Result<mlir::Value> trilinear(Context &cx, const Args &args) {
  DType compute = computeType(cx.resultType().dtype);
  Integers summed = args.integers("sumdim");
  Values factors;
  Dims all;
  for (auto [name, places] :
       {std::pair("i1", "expand1"), std::pair("i2", "expand2"), std::pair("i3", "expand3")}) {
    mlir::Value value = cx.convert(args.tensor(name), compute);
    Dims shape = cx.shape(value);
    Integers added = args.integers(places);
    auto rank = static_cast<int64_t>(shape.size() + added.size());
    TORCHERE_ASSIGN(Integers axes, cx.axes(added, rank));
    llvm::sort(axes);
    for (int64_t axis : axes)
      shape.insert(shape.begin() + axis, Dim(1));
    all.resize(shape.size(), Dim(1));
    for (size_t i = 0; i < shape.size(); ++i)
      if (all[i].is(1))
        all[i] = shape[i];
    factors.push_back(cx.reshape(value, shape));
  }
  mlir::Value product;
  for (mlir::Value factor : factors) {
    factor = cx.broadcastTo(factor, all);
    product = product ? cx.elementwise<stablehlo::MulOp>({product, factor}) : factor;
  }
  TORCHERE_ASSIGN(Integers axes, cx.axes(summed, static_cast<int64_t>(all.size())));
  if (!axes.empty())
    product = cx.reduceWith<stablehlo::AddOp>(product, cx.constant(int64_t{0}, compute), axes);
  return cx.convert(product, cx.resultType().dtype);
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
  table.add("aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, "
            "int[] sumdim, int unroll_dim=1) -> Tensor",
            trilinear);
  table.add("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", integerProduct);
  table.add("aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
            "Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
            scaledProduct);
  table.add("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
            scaledByteProduct);
  table.add("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            addmv);
  table.add(
      "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      addbmm);
  table.add("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear);
  table.add("aten::matmul(Tensor self, Tensor other) -> Tensor", matmul);
}

} // namespace torchere::lowering
