// Norms of tensors in blocks of channels: over the channels of each pixel, and over groups of channels.
#include "cpu/frontend/fusion/islands.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

/// Over the channels of each pixel.
bool Islands::rewriteChannelNorm(Operation *op) {
  BlockedValue input = find(op->getOperand(0), op);
  RankedTensorType planar = tensorTypeOf(op->getResult(0));
  int64_t columns = rowLengthOf(op);
  if (!wanted.contains(op->getResult(0)) || !input || !input.type().getElementType().isF32() ||
      columns != input.channels || input.order[1] + 1 != planar.getRank() || !input.hasZeroLanes)
    return false;
  SmallVector<Value> operands{input.value};
  for (Value factor : llvm::drop_begin(op->getOperands()))
    operands.push_back(blocked.paddedVector(blocked.reshaped(factor, {columns})));
  Halo halo = wantedHalo(op->getResult(0));
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr("columns", builder.getI64IntegerAttr(columns)),
                                         haloAttribute(builder, {input.halo, halo})};
  for (StringRef name : {"epsilon", "subtract_mean", "has_scale"})
    attributes.push_back(builder.getNamedAttr(name, kernelAttribute(op, name)));
  Operation *call =
      createKernelCall(builder, op->getLoc(), "channel_norm",
                       blocked.typeOf(input.sizes(), halo, planar.getElementType()), operands, attributes);
  replace(op, {call->getResult(0), columns, halo, input.order, true, false, input.depth});
  return true;
}

/// The op that alone uses the value, in its block.
static Operation *onlyUserInBlock(Value value) {
  Operation *user = value.hasOneUse() ? *value.getUsers().begin() : nullptr;
  return user && user->getBlock() == value.getParentBlock() ? user : nullptr;
}

/// Takes what follows: one factor of each channel, one sum, an activation.
static void followGroupNorm(GroupNorm &norm, const llvm::DenseSet<Operation *> &taken) {
  using ChannelOp = ConvolutionChain::ChannelOp;
  for (;;) {
    Value value = norm.end->getResult(0);
    Operation *user = onlyUserInBlock(value);
    if (!user || user->getNumResults() != 1 || user->getResult(0).getType() != value.getType() ||
        taken.contains(user))
      return;
    if (std::optional<Activation> activation = activationOf(user, value)) {
      norm.activation = *activation;
      norm.end = user;
      return;
    }
    std::optional<ConvolutionChain::ChannelStep> step = channelStepOf(user, value, 1);
    if (step && step->op == ChannelOp::Multiply && !norm.scale && !norm.bias)
      norm.scale = step->operand;
    else if (step && step->op == ChannelOp::Add && !norm.bias)
      norm.bias = step->operand;
    else
      return;
    norm.end = user;
  }
}

/// A norm of rows, each of which is a group's channels with all their pixels. Mostly the rows are a reshape
/// of N x C x space, and their norm is brought back to that shape.
std::optional<GroupNorm> Islands::groupNormOf(Operation *op) const {
  if (!isKernelCall(op, "norm") || op->getNumOperands() != 1 || !kernelFlag(op, "subtract_mean"))
    return std::nullopt;
  GroupNorm norm;
  norm.input = op->getOperand(0);
  norm.end = op;
  auto reshape = norm.input.getDefiningOp<stablehlo::ReshapeOp>();
  if (reshape) {
    norm.input = reshape.getOperand();
    norm.end = onlyUserInBlock(op->getResult(0));
    if (!isa_and_present<stablehlo::ReshapeOp>(norm.end) ||
        norm.end->getResult(0).getType() != norm.input.getType())
      return std::nullopt;
  }
  RankedTensorType type = tensorTypeOf(norm.input);
  int64_t rank = type.getRank(), row = rowLengthOf(op);
  if (rank < 3 || rank > 5 || !type.getElementType().isF32() || type.getNumElements() == 0)
    return std::nullopt;
  int64_t item = type.getNumElements() / type.getDimSize(0), pixels = item / type.getDimSize(1);
  auto trailing = kernelInteger(op, "trailing");
  bool isOfPlanes = reshape || trailing == rank - 1 || (trailing == rank - 2 && trailing > 1);
  if (!isOfPlanes || row % pixels != 0 || item % row != 0)
    return std::nullopt;
  norm.groups = item / row;
  followGroupNorm(norm, convolutions.taken);
  return norm;
}

/// Of N x C x space.
static PlanarOrder orderOfRank(int64_t rank) {
  return rank == 3   ? PlanarOrder{0, 1, -1, 2, -1}
         : rank == 4 ? PlanarOrder{0, 1, 2, 3, -1}
                     : PlanarOrder{0, 1, 3, 4, 2};
}

void Islands::rewriteNorm(Operation *op) {
  std::optional<GroupNorm> norm = rewriteChannelNorm(op) ? std::nullopt : groupNormOf(op);
  if (!norm)
    return;
  BlockedValue input = find(norm->input, op);
  if (!input && wanted.contains(norm->end->getResult(0))) { // so that the norm takes what follows it
    input = blocked.toBlocked(norm->input, orderOfRank(tensorTypeOf(norm->input).getRank()), {});
    twins[norm->input] = input;
  }
  if (!input || !input.type().getElementType().isF32() || input.isRepeated || input.order[0] != 0 ||
      input.order[1] != 1)
    return;
  builder.setInsertionPoint(norm->end);
  SmallVector<Value> operands{input.value};
  for (OpOperand *factors : {norm->scale, norm->bias})
    if (factors)
      operands.push_back(channelVectorOf(builder, factors->get(), 1));
  Halo halo = wantedHalo(norm->end->getResult(0));
  auto integer = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  Operation *call = createKernelCall(
      builder, op->getLoc(), "group_norm", blocked.typeOf(input.sizes(), halo, builder.getF32Type()),
      operands,
      {integer("channels", input.channels), integer("groups", norm->groups), integer("depth", input.depth),
       integer("activation", static_cast<int64_t>(norm->activation)),
       builder.getNamedAttr("has_scale", builder.getBoolAttr(norm->scale != nullptr)),
       builder.getNamedAttr("epsilon", kernelAttribute(op, "epsilon")),
       haloAttribute(builder, {input.halo, halo})});
  replace(norm->end, {call->getResult(0), input.channels, halo, input.order, true, false, input.depth});
}

} // namespace torchere::cpu
