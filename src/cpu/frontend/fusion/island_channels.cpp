// Slices, concatenations and shuffles of the channels of tensors that lie in blocks of these.
#include "cpu/frontend/fusion/islands.h"
#include "cpu/frontend/fusion/kernel_call.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;

namespace torchere::cpu {

/// A tensor that is itself such a choice is not read: what it was chosen from is. So a concatenation that is
/// shuffled and sliced is copied once.
BlockedValue Islands::channelsOf(Location location, ArrayRef<BlockedValue> inputs, ArrayRef<int64_t> channels,
                                 const Halo &halo) {
  SmallVector<Value> operands;
  SmallVector<Halo> halos;
  SmallVector<int64_t> counts;  // channels of the operands
  SmallVector<int64_t> sources; // the place among these of each channel of the inputs
  int64_t total = 0;
  auto add = [&](Value value, const Halo &own, int64_t count) {
    operands.push_back(value);
    halos.push_back(own);
    counts.push_back(count);
    total += count;
  };
  for (const BlockedValue &input : inputs) {
    Operation *op = input.value.getDefiningOp();
    int64_t first = total;
    if (!isKernelCall(op, "choose_channels")) {
      add(input.value, input.halo, input.channels);
      for (int64_t channel = 0; channel < input.channels; ++channel)
        sources.push_back(first + channel);
      continue;
    }
    for (auto [i, count] : llvm::enumerate(kernelIntegers(op, "inputs")))
      add(op->getOperand(static_cast<unsigned>(i)), haloIn(op, i), count);
    for (int64_t channel : kernelIntegers(op, "channels"))
      sources.push_back(first + channel);
  }
  if (static_cast<int64_t>(operands.size()) > kMostChosenInputs)
    return {};
  SmallVector<int64_t> chosen;
  for (int64_t channel : channels)
    chosen.push_back(sources[static_cast<size_t>(channel)]);
  halos.push_back(halo);
  SmallVector<int64_t, 5> sizes = inputs.front().sizes();
  sizes[1] = static_cast<int64_t>(channels.size());
  Operation *call = createKernelCall(builder, location, "choose_channels",
                                     blocked.typeOf(sizes, halo, builder.getF32Type()), operands,
                                     {builder.getNamedAttr("inputs", builder.getDenseI64ArrayAttr(counts)),
                                      builder.getNamedAttr("channels", builder.getDenseI64ArrayAttr(chosen)),
                                      haloAttribute(builder, halos)});
  return {call->getResult(0), sizes[1], halo, inputs.front().order, true, false, inputs.front().depth};
}

/// Of channels: a half that gates the other, or a branch of its own. Whole blocks stay where they lie.
void Islands::rewriteSlice(stablehlo::SliceOp op) {
  BlockedValue value = find(op.getOperand(), op);
  if (!wanted.contains(op->getResult(0)) || !value || !value.type().getElementType().isF32() ||
      value.isRepeated || value.order[1] < 0)
    return;
  RankedTensorType from = tensorTypeOf(op.getOperand()), to = tensorTypeOf(op->getResult(0));
  auto channels = static_cast<size_t>(value.order[1]);
  SmallVector<int64_t> shape(from.getShape());
  shape[channels] = to.getDimSize(static_cast<unsigned>(channels));
  int64_t begin = op.getStartIndices()[channels], end = op.getLimitIndices()[channels];
  int64_t step = op.getStrides()[channels], lanes = blocked.lanes();
  if (ArrayRef(shape) != to.getShape() || shape[channels] == 0)
    return;
  if (step != 1 || begin % lanes != 0 || (end % lanes != 0 && end != value.channels)) {
    SmallVector<int64_t> chosen;
    for (int64_t channel = begin; channel < end; channel += step)
      chosen.push_back(channel);
    if (BlockedValue part = channelsOf(op.getLoc(), value, chosen, wantedHalo(op->getResult(0))))
      replace(op, part);
    return;
  }
  RankedTensorType type = value.type();
  SmallVector<int64_t> starts(5), ends(type.getShape()), strides(5, 1), blocks(type.getShape());
  starts[1] = begin / lanes;
  ends[1] = (end + lanes - 1) / lanes;
  blocks[1] = ends[1] - starts[1];
  value.value =
      stablehlo::SliceOp::create(builder, op.getLoc(), type.clone(blocks), value.value,
                                 builder.getDenseI64ArrayAttr(starts), builder.getDenseI64ArrayAttr(ends),
                                 builder.getDenseI64ArrayAttr(strides))
          ->getResult(0);
  value.channels = end - begin;
  replace(op, value);
}

/// Of channels. Whole blocks, but for the last tensor's, may be computed in their place.
void Islands::rewriteConcatenation(stablehlo::ConcatenateOp op) {
  if (!wanted.contains(op->getResult(0)))
    return;
  SmallVector<BlockedValue> parts;
  BlockedValue last;
  int64_t channels = 0;
  bool isOfBlocks = true;
  Halo halo = wantedHalo(op->getResult(0));
  for (Value operand : op.getOperands()) {
    BlockedValue part = find(operand, op);
    if (!part || !part.type().getElementType().isF32() ||
        part.order[1] != static_cast<int64_t>(op.getDimension()) || (last && part.order != last.order))
      return;
    isOfBlocks &= channels % blocked.lanes() == 0;
    parts.push_back(part);
    channels += part.channels;
    last = part;
  }
  if (!isOfBlocks) {
    SmallVector<int64_t> all(static_cast<size_t>(channels));
    std::iota(all.begin(), all.end(), 0);
    if (BlockedValue whole = channelsOf(op.getLoc(), parts, all, halo))
      replace(op, whole);
    return;
  }
  // With their halos, which make that of the whole.
  if (llvm::any_of(parts, [&](const BlockedValue &part) { return part.halo != halo; }))
    halo = {};
  SmallVector<Value> values;
  for (const BlockedValue &part : parts)
    values.push_back(halo == Halo() ? blocked.interior(part) : part.value);
  SmallVector<int64_t> shape(tensorTypeOf(values.front()).getShape());
  shape[1] = 0;
  for (Value value : values)
    shape[1] += tensorTypeOf(value).getDimSize(1);
  Value whole =
      stablehlo::ConcatenateOp::create(builder, op.getLoc(), tensorTypeOf(values.front()).clone(shape),
                                       values, builder.getI64IntegerAttr(1))
          ->getResult(0);
  replace(op, {whole, channels, halo, last.order, last.hasZeroLanes, false, last.depth});
}

/// The first of two dimensions that channels are made of becomes the second.
bool Islands::rewriteShuffle(stablehlo::ReshapeOp op) {
  auto transpose = op.getOperand().getDefiningOp<stablehlo::TransposeOp>();
  auto split = transpose ? transpose.getOperand().getDefiningOp<stablehlo::ReshapeOp>() : nullptr;
  BlockedValue value = split ? find(split.getOperand(), op) : BlockedValue();
  if (!value || !value.type().getElementType().isF32() || value.isRepeated || value.order[0] != 0 ||
      value.order[1] != 1 || !wanted.contains(op->getResult(0)) ||
      op->getResult(0).getType() != split.getOperand().getType())
    return false;
  ArrayRef<int64_t> parts = tensorTypeOf(split->getResult(0)).getShape();
  SmallVector<int64_t> swapped(parts.size());
  std::iota(swapped.begin(), swapped.end(), 0);
  if (parts.size() < 4 || parts[0] != value.batch() || parts[1] * parts[2] != value.channels)
    return false;
  std::swap(swapped[1], swapped[2]);
  if (transpose.getPermutation() != ArrayRef(swapped))
    return false;
  SmallVector<int64_t> channels;
  for (int64_t inner = 0; inner < parts[2]; ++inner)
    for (int64_t outer = 0; outer < parts[1]; ++outer)
      channels.push_back(outer * parts[2] + inner);
  BlockedValue shuffled = channelsOf(op.getLoc(), value, channels, wantedHalo(op->getResult(0)));
  if (shuffled)
    replace(op, shuffled);
  return static_cast<bool>(shuffled);
}

} // namespace torchere::cpu
