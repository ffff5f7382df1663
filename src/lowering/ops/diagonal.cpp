// Diagonals and triangles of matrices.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Keeps the elements whose column compares in this way with row + diagonal, and clears the others.
template <Direction direction> mlir::Value triangle(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dims shape = cx.shape(self);
  Dims matrix(shape.end() - 2, shape.end());
  mlir::Value row = cx.iota(matrix, DType::I64, 0);
  mlir::Value column = cx.iota(matrix, DType::I64, 1);
  mlir::Value diagonal = cx.broadcastTo(cx.sizeTensor(args.dim("diagonal")), matrix);
  mlir::Value keeps = cx.compare(direction, column, cx.elementwise<stablehlo::AddOp>({row, diagonal}));
  return cx.select(cx.broadcastTo(keeps, shape), self, cx.fullLike(int64_t{0}, self));
}

/// The elements [i + below, i + above] of the two axes, which come last in the slices' shape.
Result<Placement> diagonalPlacement(Context &cx, const Args &args, mlir::Value self, Dim length) {
  TORCHERE_ASSIGN(int64_t first, cx.axis(args.integer("dim1"), Context::rank(self)));
  TORCHERE_ASSIGN(int64_t second, cx.axis(args.integer("dim2"), Context::rank(self)));
  if (first == second)
    return cx.invalid("dim1 and dim2 are the same: got {}", first);
  int64_t offset = args.integer("offset");
  mlir::Value steps = cx.iota({length, Dim(1)}, DType::I64, 0);
  auto from = [&](int64_t start) {
    return cx.elementwise<stablehlo::AddOp>({steps, cx.fullLike(start, steps)});
  };
  Values columns = {from(std::max<int64_t>(-offset, 0)), from(std::max<int64_t>(offset, 0))};
  if (first > second) // axes must be ascending
    std::swap(columns[0], columns[1]);
  return Placement{cx.concatenate(columns, 1),
                   {std::min(first, second), std::max(first, second)},
                   Context::rank(self) - 2};
}

Result<mlir::Value> diagonal(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Placement placement, diagonalPlacement(cx, args, self, cx.resultType().shape.back()));
  return gatherSlices(cx, self, placement);
}

Result<mlir::Value> diagonalScatter(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value source = args.tensor("src");
  TORCHERE_ASSIGN(Placement placement, diagonalPlacement(cx, args, self, cx.shape(source).back()));
  return scatterSlices(cx, self, placement, cx.convert(source, Context::dtype(self)), takeUpdate);
}

} // namespace

void addDiagonal(OpTable &table) {
  table.add("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor", triangle<Direction::LE>);
  table.add("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor", triangle<Direction::GE>);
  table.add("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", diagonal);
  table.add("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
            diagonalScatter);
}

} // namespace torchere::lowering
