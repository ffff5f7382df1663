// Batches of matrices: numbers, places, parts and triangles.
#include "lowering/matrix.h"

#include "lowering/complex.h"
#include "lowering/placement.h"
#include "lowering/region.h"

#include <limits>

namespace torchere::lowering {

namespace {

Elements iotaAlong(Context &cx, mlir::Value like, int64_t axis) {
  return {cx, cx.iota(cx.shape(like), DType::I32, axis)};
}

bool isComplex(mlir::Value value) {
  return dtypeInfo(Context::dtype(value)).isComplex;
}

} // namespace

Elements toMatrices(Context &cx, mlir::Value value) {
  Dims shape = cx.shape(value);
  llvm::ArrayRef<Dim> dims = shape;
  Dims flat = {cx.product(dims.drop_back(2))};
  llvm::append_range(flat, dims.take_back(2));
  return {cx, cx.reshape(value, flat)};
}

Elements broadcastMatrices(Context &cx, mlir::Value value, llvm::ArrayRef<Dim> batch) {
  Dims shape(batch.begin(), batch.end());
  Dims own = cx.shape(value);
  shape.append(own.end() - 2, own.end());
  return toMatrices(cx, cx.broadcastTo(value, shape));
}

mlir::Value fromMatrices(Context &cx, mlir::Value value, llvm::ArrayRef<Dim> batch) {
  Dims shape(batch.begin(), batch.end());
  Dims flat = cx.shape(value);
  shape.append(flat.begin() + 1, flat.end());
  return cx.reshape(value, shape);
}

Dims batchOf(Context &cx, mlir::Value matrices) {
  Dims shape = cx.shape(matrices);
  shape.pop_back_n(2);
  return shape;
}

Dims resultBatch(Context &cx, size_t own) {
  Dims batch = cx.resultType().shape;
  batch.pop_back_n(own);
  return batch;
}

bool hasNoElements(llvm::ArrayRef<Dim> shape) {
  return llvm::any_of(shape, [](const Dim &dim) { return dim.is(0); });
}

// ---- numbers

double epsilonOf(DType dtype) {
  return partType(dtype) == DType::F32 ? std::numeric_limits<float>::epsilon()
                                       : std::numeric_limits<double>::epsilon();
}

Elements realPart(const Elements &value) {
  return isComplex(value) ? value.with(realPart(value.maker(), value)) : value;
}

Elements conjugate(const Elements &value) {
  if (!isComplex(value))
    return value;
  Context &cx = value.maker();
  return value.with(complexOf(cx, realPart(value), -value.with(imaginaryPart(cx, value))));
}

Elements magnitude(const Elements &value) {
  return value.with(magnitude(value.maker(), value));
}

Elements convertedLike(const Elements &value, const Elements &other) {
  return value.with(value.maker().convert(value, Context::dtype(other)));
}

Elements scaleOf(const Elements &value) {
  Elements usable = both(value > 0.0, value < std::numeric_limits<double>::infinity());
  return usable.select(value, 1.0);
}

// ---- places

Elements rowsOf(Context &cx, mlir::Value matrices) {
  return iotaAlong(cx, matrices, 1);
}

Elements columnsOf(Context &cx, mlir::Value matrices) {
  return iotaAlong(cx, matrices, 2);
}

Elements placesOf(Context &cx, mlir::Value vectors) {
  return iotaAlong(cx, vectors, 1);
}

Elements byRow(const Elements &vectors, const Elements &like) {
  return like.with(like.maker().spread(vectors, like, {2}));
}

Elements byColumn(const Elements &vectors, const Elements &like) {
  return like.with(like.maker().spread(vectors, like, {1}));
}

Elements everywhere(const Elements &numbers, const Elements &like) {
  Integers axes;
  for (int64_t axis = Context::rank(numbers); axis < Context::rank(like); ++axis)
    axes.push_back(axis);
  return like.with(like.maker().spread(numbers, like, axes));
}

Elements sumAlong(const Elements &value, int64_t axis) {
  Context &cx = value.maker();
  mlir::Value zero = cx.constant(int64_t{0}, Context::dtype(value));
  return value.with(cx.reduceWith<stablehlo::AddOp>(value, zero, {axis}));
}

Elements greatestAlong(const Elements &value, llvm::ArrayRef<int64_t> axes) {
  Context &cx = value.maker();
  return value.with(cx.reduceWith<stablehlo::MaxOp>(value, cx.lowest(Context::elementType(value)), axes));
}

Elements takeAlong(const Elements &value, const Elements &mask, int64_t axis) {
  return sumAlong(mask.select(value, 0.0), axis);
}

Elements diagonalOf(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  Elements isOn = equal(rowsOf(cx, matrices), columnsOf(cx, matrices));
  Elements byColumns = takeAlong(matrices, isOn, 1);
  return matrices.with(cx.sliceAxis(byColumns, 1, 0, cx.minimum(shape[1], shape[2])));
}

Elements identity(Context &cx, llvm::ArrayRef<Dim> shape, DType dtype) {
  Elements zeros(cx, cx.full(0.0, dtype, shape));
  return equal(rowsOf(cx, zeros), columnsOf(cx, zeros)).select(1.0, zeros);
}

// ---- matrices

Elements adjoint(const Elements &matrices) {
  return conjugate(matrices.with(matrices.maker().transpose(matrices, {0, 2, 1})));
}

Elements product(const Elements &lhs, const Elements &rhs) {
  return lhs.with(lhs.maker().dotGeneral(lhs, rhs, /*batch=*/1, /*lhsAxis=*/2, /*rhsAxis=*/1));
}

Elements lowerTriangle(const Elements &matrices, int64_t offset) {
  Context &cx = matrices.maker();
  Elements row = rowsOf(cx, matrices), column = columnsOf(cx, matrices);
  return (column <= row + row.constant(offset)).select(matrices, 0.0);
}

Elements upperTriangle(const Elements &matrices, int64_t offset) {
  Context &cx = matrices.maker();
  Elements row = rowsOf(cx, matrices), column = columnsOf(cx, matrices);
  return (column >= row + row.constant(offset)).select(matrices, 0.0);
}

Elements gatherRows(const Elements &matrices, const Elements &index) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  shape[1] = cx.size(index, 1);
  if (hasNoElements(cx.shape(matrices)) || hasNoElements(shape)) // there is nothing to gather from
    return matrices.with(cx.full(0.0, Context::dtype(matrices), shape));
  // Converted before it is repeated, so that a compiler need not store what is repeated.
  mlir::Value spread = cx.broadcastInDim(cx.convert(index, DType::I64), shape, {0, 1});
  return matrices.with(gatherSlices(cx, matrices, elementsAlong(cx, spread, 1)));
}

Elements solveTriangles(const Elements &triangles, const Elements &right, const Triangle &kind) {
  Context &cx = right.maker();
  mlir::Builder &builder = cx.builder();
  auto transpose = stablehlo::TransposeAttr::get(builder.getContext(), kind.transpose);
  mlir::Value solution = cx.create<stablehlo::TriangularSolveOp>(
      mlir::Value(right).getType(), {triangles, right},
      {cx.attribute("left_side", builder.getBoolAttr(kind.isLeft)),
       cx.attribute("lower", builder.getBoolAttr(kind.isLower)),
       cx.attribute("unit_diagonal", builder.getBoolAttr(kind.isUnit)),
       cx.attribute("transpose_a", transpose)});
  return right.with(cx.withShape(solution, cx.shape(right)));
}

} // namespace torchere::lowering
