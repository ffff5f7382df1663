// Lays convolutions, and what lies between them, out in blocks of channels. One walk over the function: each
// op whose operands are there in blocks becomes an op on blocks, beside a planar result for those who want
// that. What nobody wants is erased at the end, so that conversions are left at the borders of such islands.
#include "base/log.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/gathered_slices.h"
#include "cpu/frontend/fusion/islands.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/splats.h"
#include "passes/simplify/dead_code.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// What computes elements of f32 (or bools of them) from the same elements of its operands.
bool isElementwiseOnBlocks(Operation *op) {
  bool isKnown =
      isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::ClampOp, stablehlo::CompareOp, stablehlo::DivOp,
          stablehlo::ExpOp, stablehlo::Expm1Op, stablehlo::FloorOp, stablehlo::LogOp, stablehlo::Log1pOp,
          stablehlo::LogisticOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp, stablehlo::NegOp,
          stablehlo::PowOp, stablehlo::RsqrtOp, stablehlo::SelectOp, stablehlo::SqrtOp, stablehlo::SubtractOp,
          stablehlo::TanhOp>(op) ||
      isKernelCall(op, "silu") || isKernelCall(op, "gelu") || isKernelCall(op, "gelu_tanh");
  return isKnown && llvm::all_of(op->getOperandTypes(), [](Type type) {
           Type element = getElementTypeOrSelf(type);
           return element.isF32() || element.isInteger(1);
         });
}

/// Over as many dimensions as an image, a row or a volume has beside items and channels.
bool isOverSpace(stablehlo::ReduceOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto count = static_cast<int64_t>(op.getDimensions().size());
  return type && count >= 1 && count <= 3 && type.getRank() == count + 2;
}

} // namespace

int64_t Islands::run() {
  int64_t gradients = 0;
  function.walk([&](Operation *op) { gradients += weightGradientOf(op) ? 1 : 0; });
  if (!convolutions.chains.empty() || gradients > 0) {
    for (auto &[end, chain] : convolutions.chains)
      if (chain.residual)
        wanted.insert(chain.residual->get());
    findWanted(function.getBody().front());
    visit(function.getBody().front());
  }
  return static_cast<int64_t>(convolutions.chains.size()) + gradients;
}

void Islands::findWanted(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      for (Region &region : op.getRegions())
        findWanted(region.front());
    bool isKernel = convolutions.calls.contains(&op) || isa<stablehlo::ReduceWindowOp>(op);
    if (auto reduction = dyn_cast<stablehlo::ReduceOp>(op))
      isKernel = isOverSpace(reduction);
    bool isWanted = llvm::any_of(op.getResults(), [&](Value result) { return wanted.contains(result); });
    bool passesOn = isElementwiseOnBlocks(&op) || isKernelCall(&op, "norm") ||
                    isKernelCall(&op, "interpolation") ||
                    isa<stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp, stablehlo::ReshapeOp,
                        stablehlo::SliceOp, stablehlo::TransposeOp>(op);
    if (isKernel || (isWanted && isa<stablehlo::GatherOp>(op)))
      wanted.insert(op.getOperand(0));
    else if (weightGradientOf(&op))
      wanted.insert(op.operand_begin(), op.operand_end());
    else if (std::optional<GroupNorm> norm = groupNormOf(&op))
      wanted.insert(norm->input);
    else if (isWanted && passesOn)
      wanted.insert(op.operand_begin(), op.operand_end());
  }
}

void Islands::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto chain = convolutions.chains.find(&op); chain != convolutions.chains.end())
      rewriteConvolution(chain->second);
    else if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      for (Region &region : op.getRegions())
        visit(region.front());
    else
      rewrite(&op);
  }
}

void Islands::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  if (std::optional<WeightGradient> gradient = weightGradientOf(op))
    rewriteWeightGradient(cast<stablehlo::ConvolutionOp>(op), *gradient);
  else if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    rewriteTranspose(transpose);
  else if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    rewriteReshape(reshape);
  else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    rewriteBroadcast(broadcast);
  else if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
    rewriteSlice(slice);
  else if (auto concatenation = dyn_cast<stablehlo::ConcatenateOp>(op))
    rewriteConcatenation(concatenation);
  else if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
    rewritePooling(window);
  else if (auto reduction = dyn_cast<stablehlo::ReduceOp>(op))
    rewriteSpace(reduction);
  else if (isKernelCall(op, "norm"))
    rewriteNorm(op);
  else if (isKernelCall(op, "interpolation"))
    rewriteInterpolation(op, kernelInteger(op, "axis"), SmallVector<Value>(op->getOperands()));
  else if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
    rewriteGather(gather);
  else if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    rewritePad(pad);
  else
    rewriteElementwise(op);
}

BlockedValue Islands::find(Value planar, Operation *user) const {
  BlockedValue found = twins.lookup(planar);
  return found && found.value.getParentRegion()->isAncestor(user->getParentRegion()) ? found : BlockedValue();
}

/// For a kernel; made if it is not there.
BlockedValue Islands::operandFor(Value planar, const PlanarOrder &order, Operation *user) {
  BlockedValue found = find(planar, user);
  if (!found || found.order != order || !found.type().getElementType().isF32()) {
    found = blocked.toBlocked(planar, order, wantedHalo(planar));
    twins[planar] = found;
  }
  if (!found.hasZeroLanes) {
    found.value = blocked.withZeroLanes(blocked.interior(found), found.channels);
    found.halo = {};
    found.hasZeroLanes = true;
    twins[planar] = found;
  }
  return found;
}

/// Whether the planes of the blocks that pixels of a convolution of 1x1 are summed over lie a multiple of
/// 32 KiB apart, and are many: so they share sets of the second cache, which then does not keep them for the
/// next outputs.
static bool sharesSets(const ConvolutionPlan &plan) {
  constexpr int64_t kSetsBytes = 32768, kFewChannels = 256;
  const ConvolutionShape &shape = plan.shape;
  int64_t planeBytes = shape.inputHeight * shape.inputWidth * floatLanes(plan.isa) * int64_t(sizeof(float));
  return shape.kernel[0] * shape.kernel[1] == 1 && shape.groups == 1 && shape.inputChannels >= kFewChannels &&
         planeBytes % kSetsBytes == 0;
}

/// The widest halo that a convolution wants of the value, or one that moves planes to other sets.
Halo Islands::wantedHalo(Value planar) const {
  Halo halo;
  for (OpOperand &use : planar.getUses())
    if (auto call = convolutions.calls.find(use.getOwner());
        call != convolutions.calls.end() && use.getOperandNumber() == 0 && !call->second.isDilated()) {
      ConvolutionPlan plan = call->second.plan(blocked.isa());
      halo = widest(halo, plan.inputHalo());
      halo = sharesSets(plan) ? widest(halo, {1, 1}) : halo;
    } else if (std::optional<WeightGradient> gradient = weightGradientOf(use.getOwner());
               gradient && use.getOperandNumber() == 0) {
      halo = widest(halo, gradient->args.inputHalo());
    } else if (isa<stablehlo::TransposeOp>(use.getOwner()) ||
               (isa<stablehlo::ConcatenateOp, stablehlo::SliceOp>(use.getOwner()) &&
                wanted.contains(use.getOwner()->getResult(0))))
      halo = widest(halo, wantedHalo(use.getOwner()->getResult(0)));
  return halo;
}

void Islands::replace(Operation *op, const BlockedValue &value) {
  Value result = op->getResult(0);
  Value planar = blocked.toPlanar(value, tensorTypeOf(result));
  result.replaceAllUsesWith(planar);
  twins[planar] = value;
}

void Islands::rewriteConvolution(const ConvolutionChain &chain) {
  builder.setInsertionPoint(chain.end);
  stablehlo::ConvolutionOp op = chain.convolution;
  ConvolutionCall call = convolutions.calls.lookup(op);
  call.isPlanar = call.isPlanar && !find(op.getLhs(), chain.end);
  SmallVector<Value> operands{op.getLhs()};
  if (!call.isPlanar) {
    BlockedValue input = operandFor(op.getLhs(), call.inputOrder, chain.end);
    if (call.isDilated())
      input = createUpsampling(op.getLoc(), input, call.inputDilation, call.plan(blocked.isa()).inputHalo(),
                               /*fillsZeros=*/true);
    operands[0] = input.value;
    call.inputHalo = input.halo;
  }
  FoldedChannels folded = foldChannels(builder, chain);
  operands.push_back(folded.weights);
  call.hasBias = static_cast<bool>(folded.bias);
  if (call.hasBias)
    operands.push_back(blocked.paddedVector(folded.bias));
  call.hasResidual = chain.residual != nullptr;
  if (call.hasResidual) {
    BlockedValue residual = operandFor(chain.residual->get(), chain.residualOrder, chain.end);
    operands.push_back(residual.value);
    call.residualHalo = residual.halo;
  }
  call.addsResidualLast = chain.addsResidualLast;
  call.hasSlopes = static_cast<bool>(folded.slopes);
  call.hasFactors = static_cast<bool>(folded.factors);
  for (Value channels : {folded.slopes, folded.factors, folded.shifts})
    if (channels)
      operands.push_back(blocked.paddedVector(channels));
  call.activation = chain.activation;
  call.outputHalo = wantedHalo(chain.end->getResult(0));
  RankedTensorType planar = tensorTypeOf(op->getResult(0));
  RankedTensorType type =
      blocked.typeOf(sizesOf(planar, call.outputOrder), call.outputHalo, planar.getElementType());
  Operation *made =
      createKernelCall(builder, op.getLoc(), "convolution", type, operands, attributesOf(builder, call));
  replace(chain.end, {made->getResult(0), call.shape.outputChannels, call.outputHalo, chain.order, true,
                      false, call.shape.depth.output});
}

/// The same blocks, of other dimensions.
void Islands::rewriteTranspose(stablehlo::TransposeOp op) {
  BlockedValue value = find(op.getOperand(), op);
  if (!value)
    return;
  value.order = transposedOrder(value.order, op.getPermutation());
  if (value.type().getElementType().isF32())
    replace(op, value);
  else
    twins[op->getResult(0)] = value;
}

/// Of one pixel: N x C, with dimensions of size 1 or without.
void Islands::rewriteReshape(stablehlo::ReshapeOp op) {
  if (std::optional<RepeatedElements> repeated = repeatedElementsOf(op))
    return rewriteUpsampling(op, *repeated);
  if (rewriteShuffle(op))
    return;
  BlockedValue value = find(op.getOperand(), op);
  if (!value || !value.isPixel() || value.order[0] > value.order[1])
    return;
  ArrayRef<int64_t> shape = tensorTypeOf(op->getResult(0)).getShape();
  SmallVector<int64_t> ones(shape.size(), 1);
  auto is = [&](size_t channelDimension) {
    if (channelDimension >= shape.size())
      return false;
    SmallVector<int64_t> expected(ones);
    expected[0] = value.batch();
    expected[channelDimension] = value.channels;
    return shape == ArrayRef(expected);
  };
  if (shape.size() == 2 && is(1))
    value.order = {0, 1, -1, -1, -1};
  else if (shape.size() == 3 && is(1))
    value.order = {0, 1, -1, 2, -1};
  else if (shape.size() == 3 && is(2))
    value.order = {0, 2, -1, 1, -1};
  else if (shape.size() == 4 && is(1))
    value.order = {0, 1, 2, 3, -1};
  else if (shape.size() == 4 && is(3))
    value.order = {0, 3, 1, 2, -1};
  else if (shape.size() == 5 && is(1))
    value.order = {0, 1, 3, 4, 2};
  else if (shape.size() == 5 && is(4))
    value.order = {0, 4, 2, 3, 1};
  else
    return;
  twins[op->getResult(0)] = value;
}

BlockedValue Islands::createUpsampling(Location location, const BlockedValue &input,
                                       ArrayRef<int64_t> factors, const Halo &halo, bool fillsZeros) {
  SmallVector<int64_t, 5> sizes = input.sizes();
  sizes[2] *= factors[0];
  sizes[3] *= factors[1];
  Operation *call = createKernelCall(
      builder, location, "upsample", blocked.typeOf(sizes, halo, input.type().getElementType()), input.value,
      {builder.getNamedAttr("factors", builder.getDenseI64ArrayAttr(factors)),
       builder.getNamedAttr("zeros", builder.getBoolAttr(fillsZeros)),
       haloAttribute(builder, {input.halo, halo}),
       builder.getNamedAttr("channels", builder.getI64IntegerAttr(input.channels))});
  return {call->getResult(0), input.channels, halo, input.order, true, false, input.depth};
}

/// Pixels that are repeated along height and width.
void Islands::rewriteUpsampling(stablehlo::ReshapeOp op, const RepeatedElements &repeated) {
  BlockedValue input = find(repeated.source, op);
  if (!wanted.contains(op->getResult(0)) || !input || !input.type().getElementType().isF32())
    return;
  int64_t factors[5];
  for (auto [i, dimension] : llvm::enumerate(input.order))
    factors[i] = dimension < 0 ? 1 : repeated.counts[static_cast<size_t>(dimension)];
  if (factors[0] != 1 || factors[1] != 1 || factors[4] != 1)
    return;
  replace(op, createUpsampling(op.getLoc(), input, {factors[2], factors[3]}, wantedHalo(op->getResult(0))));
}

/// Zeros between pixels, and as many behind the last ones.
void Islands::rewritePad(stablehlo::PadOp op) {
  BlockedValue input = find(op.getOperand(), op);
  if (!wanted.contains(op->getResult(0)) || !input || !input.type().getElementType().isF32() ||
      splatNumber(op.getPaddingValue()) != 0.0 || !isAll(op.getEdgePaddingLow(), 0) ||
      op.getEdgePaddingHigh() != op.getInteriorPadding())
    return;
  SmallVector<int64_t, 2> factors{1, 1};
  for (auto [dimension, zeros] : llvm::enumerate(op.getInteriorPadding())) {
    auto place = llvm::find(input.order, static_cast<int64_t>(dimension)) - input.order.begin();
    if (zeros == 0)
      continue;
    if (place != 2 && place != 3)
      return;
    factors[static_cast<size_t>(place) - 2] = zeros + 1;
  }
  replace(op,
          createUpsampling(op.getLoc(), input, factors, wantedHalo(op->getResult(0)), /*fillsZeros=*/true));
}

/// Along the height or the width: of whole pixels, without a halo. The op's operands are the input, then the
/// places and the weights of each tap.
void Islands::rewriteInterpolation(Operation *op, int64_t axis, SmallVector<Value> operands) {
  BlockedValue value = find(op->getOperand(0), op);
  if (!wanted.contains(op->getResult(0)) || !value || !value.type().getElementType().isF32() ||
      value.isRepeated)
    return;
  int64_t place = llvm::find(value.order, axis) - value.order.begin();
  if (place != 2 && place != 3)
    return;
  RankedTensorType planar = tensorTypeOf(op->getResult(0));
  operands[0] = blocked.interior(value);
  Operation *call =
      createKernelCall(builder, op->getLoc(), "interpolation",
                       blocked.typeOf(sizesOf(planar, value.order), {}, planar.getElementType()), operands,
                       {builder.getNamedAttr("axis", builder.getI64IntegerAttr(place))});
  // A weight that is not finite makes NaN of a zero.
  bool hasZeroLanes = value.channels % blocked.lanes() == 0;
  replace(op, {call->getResult(0), value.channels, {}, value.order, hasZeroLanes, false, value.depth});
}

/// Rows or columns of pixels, as resampling to the nearest has them: an interpolation of one tap.
void Islands::rewriteGather(stablehlo::GatherOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  int64_t axis = type && type.hasStaticShape() && type.getElementType().isF32() ? sliceAxis(op) : -1;
  if (axis < 0 || type.getNumElements() == 0 || !wanted.contains(op->getResult(0)))
    return;
  Value ones = splatOf(builder, op.getLoc(), type.clone({type.getDimSize(static_cast<unsigned>(axis))}), 1);
  rewriteInterpolation(op, axis, {op.getOperand(), op.getStartIndices(), ones});
}

/// Of one pixel to all: a gate of channels.
void Islands::rewriteBroadcast(stablehlo::BroadcastInDimOp op) {
  BlockedValue value = find(op.getOperand(), op);
  RankedTensorType type = tensorTypeOf(op->getResult(0));
  if (!value || !value.isPixel() || type.getRank() < 3 || type.getRank() > 5)
    return;
  ArrayRef<int64_t> to = op.getBroadcastDimensions();
  PlanarOrder order{-1, -1, -1, -1, -1};
  for (size_t i = 0; i < order.size(); ++i)
    if (value.order[i] >= 0)
      order[i] = to[static_cast<size_t>(value.order[i])];
  // What is left, in this order: of a tensor in three dimensions, its depth first.
  SmallVector<size_t, 3> places{4, 2, 3};
  places.erase(places.begin(), places.begin() + (5 - type.getRank()));
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (!llvm::is_contained(order, dimension))
      order[*llvm::find_if(places, [&](size_t place) { return order[place] < 0; })] = dimension;
  SmallVector<int64_t, 5> sizes = sizesOf(type, order);
  if (sizes[0] == value.batch() && sizes[1] == value.channels)
    twins[op->getResult(0)] = blocked.spreadPixel(value, sizes, order);
}

/// Whether the op makes zeros of lanes that are zeros in the operands of which `isZero`.
static bool keepsZeros(Operation *op, ArrayRef<bool> isZero) {
  auto all = [&] { return llvm::all_of(isZero, [](bool is) { return is; }); };
  auto isFinite = [&](unsigned i) {
    std::optional<double> number = splatNumber(op->getOperand(i));
    return number && std::isfinite(*number);
  };
  if (isa<stablehlo::SelectOp>(op))
    return isZero[1] && isZero[2];
  if (isa<stablehlo::MulOp>(op))
    return all() || (isZero[0] && isFinite(1)) || (isZero[1] && isFinite(0));
  if (isa<stablehlo::DivOp>(op))
    return isZero[0] && isFinite(1) && *splatNumber(op->getOperand(1)) != 0;
  if (isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::ClampOp, stablehlo::Expm1Op, stablehlo::FloorOp,
          stablehlo::MaxOp, stablehlo::MinOp, stablehlo::NegOp, stablehlo::SqrtOp, stablehlo::SubtractOp,
          stablehlo::TanhOp>(op) ||
      isKernelCall(op))
    return all();
  return false;
}

/// The operand in blocks without a halo, in the order of `like`; null if it is not to be had.
BlockedValue Islands::elementwiseOperand(Value operand, const BlockedValue &like, Operation *user) {
  RankedTensorType type = tensorTypeOf(operand);
  SmallVector<int64_t, 5> sizes = like.sizes();
  if (BlockedValue found = find(operand, user)) {
    if (found.order != like.order)
      return {};
    found.value = blocked.interior(found);
    found.halo = {};
    return found;
  }
  BlockedValue spread{{}, like.channels, {}, like.order, false, true, like.depth};
  if (std::optional<double> number = splatNumber(operand)) {
    spread.value =
        splatOf(builder, user->getLoc(), blocked.typeOf(sizes, {}, type.getElementType()), *number);
    spread.hasZeroLanes = *number == 0;
    return spread;
  }
  auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || !type.getElementType().isF32())
    return {};
  SmallVector<int64_t> to;
  for (int64_t dimension : broadcast.getBroadcastDimensions())
    to.push_back(llvm::find(like.order, dimension) - like.order.begin());
  return blocked.spread(broadcast.getOperand(), to, sizes, like.order);
}

void Islands::rewriteElementwise(Operation *op) {
  BlockedValue like;
  if (isElementwiseOnBlocks(op) && wanted.contains(op->getResult(0)))
    for (Value operand : op->getOperands())
      if (BlockedValue found = find(operand, op); found && !found.isRepeated)
        like = found;
  if (!like)
    return;
  SmallVector<Value> operands;
  SmallVector<bool> isZero;
  for (Value operand : op->getOperands()) {
    if (tensorTypeOf(operand).getRank() == 0) {
      operands.push_back(operand);
      isZero.push_back(splatNumber(operand) == 0.0);
      continue;
    }
    BlockedValue value = elementwiseOperand(operand, like, op);
    if (!value)
      return;
    operands.push_back(value.value);
    isZero.push_back(value.hasZeroLanes);
  }
  Type element = tensorTypeOf(op->getResult(0)).getElementType();
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(blocked.typeOf(like.sizes(), {}, element));
  bool hasZeroLanes = like.channels % blocked.lanes() == 0 || keepsZeros(op, isZero);
  BlockedValue result{made->getResult(0), like.channels, {}, like.order, hasZeroLanes, false, like.depth};
  if (element.isF32())
    replace(op, result);
  else
    twins[op->getResult(0)] = result;
}

/// Tells of each kernel on blocks how often it is called.
static void logKernels(func::FuncOp function, Isa isa) {
  std::map<std::string, int64_t> counts;
  function.walk([&](stablehlo::CustomCallOp op) {
    StringRef name = op.getCallTargetName();
    if (isKernelCall(op, "convolution"))
      ++counts[describeConvolution(op, isa)];
    else if (name.consume_front(kernelPrefix))
      ++counts[name.str()];
  });
  std::string text;
  for (const auto &[name, count] : counts)
    text += fmt::format(" {}={}", name, count);
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] in blocks:{}", function.getSymName().str(), text);
}

int64_t fuseConvolutions(func::FuncOp function, Isa isa) {
  int64_t count = Islands(function, isa).run();
  if (count > 0) {
    passes::eraseDeadOps(function);
    logKernels(function, isa);
  }
  return count;
}

} // namespace torchere::cpu
