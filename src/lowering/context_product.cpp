// Context: matrix products, which read their operands in place, looking through transposes and repetitions.
#include "lowering/context.h"

#include <algorithm>
#include <numeric>

namespace torchere::lowering {

namespace {

/// Replaces an operand that is a transpose with its batch dimensions in place by the transpose's own operand,
/// which is contracted along another axis. This saves an op, and a cache of keys need not be laid out again.
void readThroughTranspose(mlir::Value &value, int64_t batch, int64_t &axis) {
  auto transpose = value.getDefiningOp<stablehlo::TransposeOp>();
  if (!transpose)
    return;
  Integers kept(transpose.getPermutation());
  kept.erase(kept.begin() + axis);
  if (!llvm::is_sorted(kept) || !llvm::equal(llvm::ArrayRef(kept).take_front(batch), llvm::seq(batch)))
    return;
  axis = transpose.getPermutation()[axis];
  value = transpose.getOperand();
}

/// A value that is repeated along one axis only.
struct Repetition {
  mlir::Value source;
  Dims shape; ///< of the source, at the rank of the repeated value
  Dim count;  ///< how often each element is repeated, consecutively
};

/// Whether `shape` is `grouped` with dimensions `axis` and `axis` + 1 merged.
bool joins(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> grouped, int64_t axis) {
  const Dim &outer = grouped[axis], &inner = grouped[axis + 1];
  return outer.isConstant() && inner.isConstant() && shape[axis].is(outer.constant() * inner.constant()) &&
         shape.take_front(axis) == grouped.take_front(axis) &&
         shape.drop_front(axis + 1) == grouped.drop_front(axis + 2);
}

/// Recognizes a value that is repeated along `axis`: a broadcast of size 1, or a broadcast along an axis of
/// its own that is then merged into `axis`, which is how a key head is shared by several query heads.
std::optional<Repetition> repetitionOf(Context &cx, mlir::Value value, int64_t axis) {
  mlir::Operation *reshape = value.getDefiningOp();
  bool isReshape = isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(reshape);
  mlir::Value repeated = isReshape ? reshape->getOperand(0) : value;
  mlir::Operation *broadcast = repeated.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(broadcast))
    return std::nullopt;
  Dims shape = cx.shape(value), grouped = cx.shape(repeated);
  if (isReshape && (grouped.size() != shape.size() + 1 || !joins(shape, grouped, axis)))
    return std::nullopt;
  Repetition repetition;
  repetition.source = broadcast->getOperand(0);
  int64_t repeatedAxis = isReshape ? axis + 1 : axis;
  Dims spread(grouped.size(), Dim(1));
  llvm::ArrayRef<int64_t> places =
      broadcast->getAttrOfType<mlir::DenseI64ArrayAttr>("broadcast_dimensions").asArrayRef();
  for (auto [index, size] : llvm::enumerate(cx.shape(repetition.source)))
    spread[places[index]] = size;
  repetition.count = std::exchange(grouped[repeatedAxis], Dim(1));
  if (!llvm::is_sorted(places) || spread != grouped)
    return std::nullopt;
  if (isReshape)
    grouped.erase(grouped.begin() + repeatedAxis);
  repetition.shape = std::move(grouped);
  return repetition;
}

} // namespace

/// The product with the source of `rhs`, if `rhs` repeats one along its last batch dimension: the rows of lhs
/// that meet the same matrix are grouped into a single one. Null if that is not possible.
mlir::Value Context::groupedProduct(mlir::Value lhs, mlir::Value rhs, int64_t batch, int64_t lhsAxis,
                                    int64_t rhsAxis) {
  if (batch == 0 || rank(lhs) != batch + 2 || lhsAxis != batch + 1)
    return {};
  auto repetition = repetitionOf(*this, rhs, batch - 1);
  if (!repetition)
    return {};
  Dims left = shape(lhs), rows = left;
  rows[batch - 1] = repetition->shape[batch - 1];
  rows[batch] = multiply(left[batch], repetition->count);
  mlir::Value product =
      dotGeneral(reshape(lhs, rows), reshape(repetition->source, repetition->shape), batch, lhsAxis, rhsAxis);
  Dims dims(left.begin(), left.begin() + batch + 1);
  Dims made = shape(product);
  dims.append(made.begin() + batch + 1, made.end());
  return reshape(product, dims);
}

mlir::Value Context::dotGeneral(mlir::Value lhs, mlir::Value rhs, int64_t batch, int64_t lhsAxis,
                                int64_t rhsAxis) {
  readThroughTranspose(lhs, batch, lhsAxis);
  readThroughTranspose(rhs, batch, rhsAxis);
  if (mlir::Value product = groupedProduct(lhs, rhs, batch, lhsAxis, rhsAxis))
    return product;
  Dims left = shape(lhs);
  Dims right = shape(rhs);
  Dims dims(left.begin(), left.begin() + batch);
  for (int64_t i = batch; i < rank(lhs); ++i)
    if (i != lhsAxis)
      dims.push_back(left[i]);
  for (int64_t i = batch; i < rank(rhs); ++i)
    if (i != rhsAxis)
      dims.push_back(right[i]);
  Integers batchAxes(batch);
  std::iota(batchAxes.begin(), batchAxes.end(), 0);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(opBuilder.getContext(), batchAxes, batchAxes,
                                                         {lhsAxis}, {rhsAxis});
  return withShape(create<stablehlo::DotGeneralOp>(tensorType(dims, elementType(lhs)), {lhs, rhs},
                                                   {attribute("dot_dimension_numbers", numbers)}),
                   dims);
}

} // namespace torchere::lowering
