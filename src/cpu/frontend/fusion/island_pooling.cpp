// Pooling, and means and maxima over all pixels, of tensors in blocks of channels.
#include "cpu/frontend/fusion/islands.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Whether the region combines its two arguments by this op.
template <class Op> bool bodyIs(Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return false;
  auto op = dyn_cast<Op>(block.front());
  Value first = block.getArgument(0), second = block.getArgument(1);
  return op && block.getTerminator()->getOperands() == op->getResults() &&
         ((op->getOperand(0) == first && op->getOperand(1) == second) ||
          (op->getOperand(0) == second && op->getOperand(1) == first));
}

/// The op that alone uses a sum and divides it by this number; null if there is none.
Operation *meanOf(Value sum, int64_t count) {
  if (!sum.hasOneUse())
    return nullptr;
  Operation *user = *sum.getUsers().begin();
  auto number = static_cast<double>(count);
  if (auto quotient = dyn_cast<stablehlo::DivOp>(user))
    return quotient.getLhs() == sum && splatNumber(quotient.getRhs()) == number ? user : nullptr;
  if (auto product = dyn_cast<stablehlo::MulOp>(user)) {
    std::optional<double> factor = splatNumber(product.getLhs() == sum ? product.getRhs() : product.getLhs());
    return factor && std::abs(*factor * number - 1) < 1e-7 ? user : nullptr;
  }
  return nullptr;
}

/// The op that alone uses the sums of windows and divides each by the taps that meet the input, which the
/// same windows of ones count; null if there is none.
Operation *meanOfTaps(stablehlo::ReduceWindowOp sums) {
  Value sum = sums->getResult(0);
  auto quotient = sum.hasOneUse() ? dyn_cast<stablehlo::DivOp>(*sum.getUsers().begin()) : nullptr;
  if (!quotient || quotient.getLhs() != sum)
    return nullptr;
  auto count = quotient.getRhs().getDefiningOp<stablehlo::ReduceWindowOp>();
  bool counts = count && count.getInputs().size() == 1 && splatNumber(count.getInputs()[0]) == 1.0 &&
                splatNumber(count.getInitValues()[0]) == 0.0 && bodyIs<stablehlo::AddOp>(count.getBody()) &&
                count->getAttrDictionary() == sums->getAttrDictionary() &&
                count.getInputs()[0].getType() == sums.getInputs()[0].getType();
  return counts ? quotient.getOperation() : nullptr;
}

/// Whether the kernel takes a window of these sizes.
bool isPoolable(int64_t height, int64_t width, int64_t depth) {
  return std::max({height, width, depth}) <= mostWindow && height * width * depth <= mostPooledTaps;
}

/// What a window does in N, C, H, W and D; an absent list, and an absent dimension, are all `value`.
SmallVector<int64_t, 5> windowInOrder(std::optional<ArrayRef<int64_t>> list, const PlanarOrder &order,
                                      int64_t value) {
  SmallVector<int64_t, 5> ordered;
  for (int64_t dimension : order)
    ordered.push_back(list && dimension >= 0 ? (*list)[static_cast<size_t>(dimension)] : value);
  return ordered;
}

} // namespace

/// `window`: its sizes, strides, padding before the first pixel, and dilations, each along height and width.
Operation *Islands::createPooling(Location location, RankedTensorType type, const BlockedValue &input,
                                  ArrayRef<int64_t> window, const DepthWindow &depth, PoolingKind kind,
                                  const Halo &halo) {
  return createKernelCall(
      builder, location, "pool", type, input.value,
      {builder.getNamedAttr("window", builder.getDenseI64ArrayAttr(window)), depthAttribute(builder, depth),
       haloAttribute(builder, {input.halo, halo}),
       builder.getNamedAttr("channels", builder.getI64IntegerAttr(input.channels)),
       builder.getNamedAttr("mean", builder.getBoolAttr(kind != PoolingKind::Maximum)),
       builder.getNamedAttr("count_padding", builder.getBoolAttr(kind != PoolingKind::MeanOfTaps))});
}

/// A maximum, or a sum that is divided by the size of the window.
void Islands::rewritePooling(stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1)
    return;
  BlockedValue input = find(op.getInputs()[0], op);
  RankedTensorType planar = tensorTypeOf(op->getResult(0));
  if (!input || !input.type().getElementType().isF32() || input.order[3] < 0)
    return;
  auto kernel = windowInOrder(op.getWindowDimensions(), input.order, 1);
  auto strides = windowInOrder(op.getWindowStrides(), input.order, 1);
  auto dilations = windowInOrder(op.getWindowDilations(), input.order, 1);
  SmallVector<int64_t> low(5), high(5);
  if (auto padding = op->getAttrOfType<DenseIntElementsAttr>("padding"))
    for (auto [i, value] : llvm::enumerate(padding.getValues<APInt>()))
      (i % 2 == 0 ? low : high)[i / 2] = value.getSExtValue();
  auto lows = windowInOrder(low, input.order, 0), highs = windowInOrder(high, input.order, 0);
  auto bases = windowInOrder(op.getBaseDilations(), input.order, 1);
  bool isInPlanes = kernel[0] == 1 && kernel[1] == 1 && strides[0] == 1 && strides[1] == 1 && lows[0] == 0 &&
                    lows[1] == 0 && highs[0] == 0 && highs[1] == 0 &&
                    llvm::all_of(bases, [](int64_t base) { return base == 1; }) &&
                    llvm::all_of(low, [](int64_t size) { return size >= 0; });
  std::optional<double> initial = splatNumber(op.getInitValues()[0]);
  if (!isInPlanes || !initial || !isPoolable(kernel[2], kernel[3], kernel[4]))
    return;
  Operation *end = op;
  bool isMean = bodyIs<stablehlo::AddOp>(op.getBody()) && *initial == 0;
  PoolingKind kind = isMean ? PoolingKind::Mean : PoolingKind::Maximum;
  if (isMean) {
    end = meanOf(op->getResult(0), kernel[2] * kernel[3] * kernel[4]);
    if (!end && (end = meanOfTaps(op)))
      kind = PoolingKind::MeanOfTaps;
    if (!end && kernel[2] * kernel[3] * kernel[4] == 1) // pixels that lie apart
      end = op;
  } else if (!bodyIs<stablehlo::MaxOp>(op.getBody()) || *initial != -HUGE_VAL)
    end = nullptr;
  if (!end)
    return;
  SmallVector<int64_t, 5> sizes = sizesOf(planar, input.order);
  DepthWindow depth{input.depth, sizes[4], kernel[4], strides[4], lows[4], dilations[4]};
  Halo halo = wantedHalo(end->getResult(0));
  SmallVector<int64_t> window{kernel[2], kernel[3], strides[2],   strides[3],
                              lows[2],   lows[3],   dilations[2], dilations[3]};
  builder.setInsertionPoint(end);
  Operation *call = createPooling(op.getLoc(), blocked.typeOf(sizes, halo, planar.getElementType()), input,
                                  window, depth, kind, halo);
  replace(end, {call->getResult(0), input.channels, halo, input.order, true, false, depth.output});
}

/// The mean over all pixels, or the maximum.
void Islands::rewriteSpace(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return;
  BlockedValue input = find(op.getInputs()[0], op);
  if (!input || !input.type().getElementType().isF32() || input.order[0] > input.order[1])
    return;
  SmallVector<int64_t, 3> space;
  for (int64_t dimension : {input.order[2], input.order[3], input.order[4]})
    if (dimension >= 0)
      space.push_back(dimension);
  if (space.empty() || space.size() != op.getDimensions().size() ||
      !llvm::all_of(space,
                    [&](int64_t dimension) { return llvm::is_contained(op.getDimensions(), dimension); }))
    return;
  std::optional<double> initial = splatNumber(op.getInitValues()[0]);
  Operation *end = meanOf(op->getResult(0), input.height() * input.width() * input.depth);
  bool isMean = bodyIs<stablehlo::AddOp>(op.getBody()) && initial == 0.0 && end;
  bool isMaximum = bodyIs<stablehlo::MaxOp>(op.getBody()) && initial == -HUGE_VAL &&
                   isPoolable(input.height(), input.width(), input.depth);
  if (!isMean && !isMaximum)
    return;
  if (isMaximum)
    end = op;
  RankedTensorType type = blocked.typeOf({input.batch(), input.channels, 1, 1, 1}, {},
                                         tensorTypeOf(op->getResult(0)).getElementType());
  builder.setInsertionPoint(end);
  Operation *call =
      isMaximum
          ? createPooling(op.getLoc(), type, input, {input.height(), input.width(), 1, 1, 0, 0, 1, 1},
                          {input.depth, 1, input.depth, 1, 0, 1}, PoolingKind::Maximum)
          : createKernelCall(builder, op.getLoc(), "global_average", type, input.value,
                             {haloAttribute(builder, input.halo),
                              builder.getNamedAttr("channels", builder.getI64IntegerAttr(input.channels))});
  replace(end, {call->getResult(0), input.channels, {}, {0, 1, -1, -1, -1}});
}

} // namespace torchere::cpu
