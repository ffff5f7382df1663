// Reshapes, transposes and broadcasts that cancel, merge or have a cheaper form.
#include "passes/simplify/patterns.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Dimensions = SmallVector<int64_t>;

//===- reshape ------------------------------------------------------------===//

/// reshape(reshape(x)) = reshape(x), whether or not the inner shape is computed.
Value mergeReshapes(ReshapeOp op, OpBuilder &builder) {
  Operation *inner = op.getOperand().getDefiningOp();
  if (!isa_and_nonnull<ReshapeOp, DynamicReshapeOp>(inner))
    return {};
  Value source = inner->getOperand(0);
  if (source.getType() == op.getType())
    return source;
  return ReshapeOp::create(builder, op.getLoc(), op.getType(), source);
}

/// reshape(broadcast(scalar)) = broadcast(scalar).
Value reshapeBroadcast(ReshapeOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner || typeOf(inner.getOperand()).getRank() != 0)
    return {};
  return BroadcastInDimOp::create(builder, op.getLoc(), op.getType(), inner.getOperand(),
                                  builder.getDenseI64ArrayAttr({}));
}

//===- transpose ----------------------------------------------------------===//

/// transpose(transpose(x)) = transpose(x), or x.
Value mergeTransposes(TransposeOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  Dimensions permutation(llvm::map_range(
      op.getPermutation(), [&](int64_t dimension) { return inner.getPermutation()[dimension]; }));
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())) &&
      inner.getOperand().getType() == op.getType())
    return inner.getOperand();
  return TransposeOp::create(builder, op.getLoc(), op.getType(), inner.getOperand(),
                             builder.getDenseI64ArrayAttr(permutation));
}

/// A transpose that moves only dimensions of size 1 is a reshape.
Value transposeToReshape(TransposeOp op, OpBuilder &builder) {
  RankedTensorType operand = typeOf(op.getOperand());
  if (!operand.hasStaticShape() || !op.getType().hasStaticShape())
    return {};
  Dimensions kept;
  llvm::copy_if(op.getPermutation(), std::back_inserter(kept),
                [&](int64_t dimension) { return operand.getDimSize(dimension) != 1; });
  if (!llvm::is_sorted(kept))
    return {};
  return ReshapeOp::create(builder, op.getLoc(), op.getType(), op.getOperand());
}

/// transpose(broadcast(x)) = broadcast(x).
Value transposeBroadcast(TransposeOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner || !op.getType().hasStaticShape())
    return {};
  Dimensions position(op.getPermutation().size());
  for (auto [index, dimension] : llvm::enumerate(op.getPermutation()))
    position[dimension] = index;
  Dimensions dimensions(llvm::map_range(inner.getBroadcastDimensions(),
                                        [&](int64_t dimension) { return position[dimension]; }));
  return BroadcastInDimOp::create(builder, op.getLoc(), op.getType(), inner.getOperand(),
                                  builder.getDenseI64ArrayAttr(dimensions));
}

//===- broadcast_in_dim ---------------------------------------------------===//

/// broadcast(broadcast(x)) = broadcast(x).
Value mergeBroadcasts(BroadcastInDimOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner)
    return {};
  Dimensions dimensions(llvm::map_range(inner.getBroadcastDimensions(), [&](int64_t dimension) {
    return op.getBroadcastDimensions()[dimension];
  }));
  return BroadcastInDimOp::create(builder, op.getLoc(), op.getType(), inner.getOperand(),
                                  builder.getDenseI64ArrayAttr(dimensions));
}

/// The new position of each dimension of `from` if only dimensions of size 1 were inserted; else null.
std::optional<Dimensions> insertedOnes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Dimensions positions;
  for (auto [position, size] : llvm::enumerate(to)) {
    if (positions.size() < from.size() && from[positions.size()] == size)
      positions.push_back(position);
    else if (size != 1)
      return std::nullopt;
  }
  return positions.size() == from.size() ? std::optional(positions) : std::nullopt;
}

/// broadcast(reshape(x)) = broadcast(x), if the reshape only inserts dimensions of size 1.
Value broadcastReshape(BroadcastInDimOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner || !typeOf(inner.getOperand()).hasStaticShape())
    return {};
  auto positions = insertedOnes(typeOf(inner.getOperand()).getShape(), inner.getType().getShape());
  if (!positions)
    return {};
  Dimensions dimensions(
      llvm::map_range(*positions, [&](int64_t position) { return op.getBroadcastDimensions()[position]; }));
  return BroadcastInDimOp::create(builder, op.getLoc(), op.getType(), inner.getOperand(),
                                  builder.getDenseI64ArrayAttr(dimensions));
}

/// A broadcast without repetition is a reshape or a transpose.
Value broadcastToReshape(BroadcastInDimOp op, OpBuilder &builder) {
  RankedTensorType operand = typeOf(op.getOperand());
  if (!operand.hasStaticShape() || operand.getNumElements() != op.getType().getNumElements() ||
      operand.getNumElements() == 0)
    return {};
  if (llvm::is_sorted(op.getBroadcastDimensions()))
    return ReshapeOp::create(builder, op.getLoc(), op.getType(), op.getOperand());
  if (operand.getRank() != op.getType().getRank())
    return {};
  Dimensions permutation(operand.getRank());
  for (auto [index, dimension] : llvm::enumerate(op.getBroadcastDimensions()))
    permutation[dimension] = index;
  return TransposeOp::create(builder, op.getLoc(), op.getType(), op.getOperand(),
                             builder.getDenseI64ArrayAttr(permutation));
}

} // namespace

void addReshapingSimplifications(RewritePatternSet &patterns) {
  addSimplifications<ReshapeOp, ReshapeOp>(patterns, mergeReshapes, reshapeBroadcast);
  addSimplifications<TransposeOp, TransposeOp, TransposeOp>(patterns, mergeTransposes, transposeBroadcast,
                                                            transposeToReshape);
  addSimplifications<BroadcastInDimOp, BroadcastInDimOp, BroadcastInDimOp>(
      patterns, mergeBroadcasts, broadcastReshape, broadcastToReshape);
}

} // namespace torchere::passes
