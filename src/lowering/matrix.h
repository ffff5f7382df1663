// Batches of matrices, [batch, rows, columns], as factorizations and solvers take them: their parts by masks,
// so that a step of a loop is the same for every size, none included.
#pragma once

#include "lowering/elements.h"

namespace torchere::lowering {

/// [..., rows, columns] with the leading dimensions made one; these repeated to others before that.
Elements toMatrices(Context &cx, mlir::Value value);
Elements broadcastMatrices(Context &cx, mlir::Value value, llvm::ArrayRef<Dim> batch);
/// The converse, for any number of dimensions after the first.
mlir::Value fromMatrices(Context &cx, mlir::Value value, llvm::ArrayRef<Dim> batch);
/// The leading dimensions: all but two of a tensor of matrices, or but `own` of the op's first result.
Dims batchOf(Context &cx, mlir::Value matrices);
Dims resultBatch(Context &cx, size_t own);
bool hasNoElements(llvm::ArrayRef<Dim> shape);

// ---- numbers: of complex ones the real part, the conjugate and the magnitude, which real ones have as well
double epsilonOf(DType dtype);
Elements realPart(const Elements &value);
Elements conjugate(const Elements &value);
Elements magnitude(const Elements &value);
/// The numbers of another tensor, complex if this one's are.
Elements convertedLike(const Elements &value, const Elements &other);
/// value where it is greater than zero and finite, elsewhere one: what can be divided by.
Elements scaleOf(const Elements &value);

// ---- places
/// The row (column) of each element, as i32. Of vectors, [batch, n], the place.
Elements rowsOf(Context &cx, mlir::Value matrices);
Elements columnsOf(Context &cx, mlir::Value matrices);
Elements placesOf(Context &cx, mlir::Value vectors);
/// A vector of each matrix, [batch, rows] or [batch, columns], for each element of its row (column).
Elements byRow(const Elements &vectors, const Elements &like);
Elements byColumn(const Elements &vectors, const Elements &like);
/// A number of each matrix, [batch], or one number, for all elements.
Elements everywhere(const Elements &numbers, const Elements &like);

/// Sums (the greatest) along an axis, which goes.
Elements sumAlong(const Elements &value, int64_t axis);
Elements greatestAlong(const Elements &value, llvm::ArrayRef<int64_t> axes);
/// The elements that the mask has, one at most along the axis, which goes; zero where it has none.
Elements takeAlong(const Elements &value, const Elements &mask, int64_t axis);
/// The diagonals: [batch, min(rows, columns)].
Elements diagonalOf(const Elements &matrices);
/// Ones on the diagonals, in matrices of this shape.
Elements identity(Context &cx, llvm::ArrayRef<Dim> shape, DType dtype);

// ---- matrices
/// The conjugate transposes.
Elements adjoint(const Elements &matrices);
Elements product(const Elements &lhs, const Elements &rhs);
/// Keeps what lies on the diagonal and below (above), and `offset` diagonals away from it.
Elements lowerTriangle(const Elements &matrices, int64_t offset = 0);
Elements upperTriangle(const Elements &matrices, int64_t offset = 0);
/// Row `index[b, i]` of matrix b, for each i; the index is i32.
Elements gatherRows(const Elements &matrices, const Elements &index);

struct Triangle {
  bool isLower = true;
  bool isUnit = false; ///< ones on the diagonal, whatever is there
  stablehlo::Transpose transpose = stablehlo::Transpose::NO_TRANSPOSE;
  bool isLeft = true;
};
/// X with op(triangles) X = right, or X op(triangles) = right. The other triangle is not read.
Elements solveTriangles(const Elements &triangles, const Elements &right, const Triangle &kind);

} // namespace torchere::lowering
