// Slices, concatenations, pads and reversals that are no-ops or can be merged.
#include "passes/simplify/patterns.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Dimensions = SmallVector<int64_t>;

bool isEmpty(RankedTensorType type) {
  return type.hasStaticShape() && type.getNumElements() == 0;
}

//===- slice --------------------------------------------------------------===//

SliceOp createSlice(SliceOp op, OpBuilder &builder, Value operand, ArrayRef<int64_t> starts,
                    ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) {
  return SliceOp::create(builder, op.getLoc(), op.getType(), operand, builder.getDenseI64ArrayAttr(starts),
                         builder.getDenseI64ArrayAttr(limits), builder.getDenseI64ArrayAttr(strides));
}

/// slice(slice(x)) = slice(x).
Value mergeSlices(SliceOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner || !op.getType().hasStaticShape() || isEmpty(op.getType()))
    return {};
  Dimensions starts, limits, strides;
  for (auto [index, size] : llvm::enumerate(op.getType().getShape())) {
    int64_t innerStride = inner.getStrides()[index];
    starts.push_back(inner.getStartIndices()[index] + op.getStartIndices()[index] * innerStride);
    strides.push_back(op.getStrides()[index] * innerStride);
    limits.push_back(starts.back() + (size - 1) * strides.back() + 1);
  }
  return createSlice(op, builder, inner.getOperand(), starts, limits, strides);
}

/// slice(concatenate(x, y, ...)) = slice(y), if it reads a single operand.
Value sliceConcatenate(SliceOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ConcatenateOp>();
  if (!inner || !op.getType().hasStaticShape() || isEmpty(op.getType()))
    return {};
  int64_t axis = inner.getDimension();
  int64_t first = op.getStartIndices()[axis];
  int64_t last = first + (op.getType().getDimSize(axis) - 1) * op.getStrides()[axis];
  int64_t offset = 0;
  for (Value input : inner.getInputs()) {
    int64_t size = typeOf(input).getDimSize(axis);
    if (!isKnown(size))
      return {};
    if (first >= offset && last < offset + size) {
      Dimensions starts(op.getStartIndices()), limits(op.getLimitIndices());
      starts[axis] -= offset;
      limits[axis] = std::min(limits[axis] - offset, size);
      return createSlice(op, builder, input, starts, limits, op.getStrides());
    }
    offset += size;
  }
  return {};
}

/// The value of a scalar integer constant.
std::optional<int64_t> constantIndex(Value value) {
  DenseIntElementsAttr constant = constantInteger(value);
  if (!constant || constant.getNumElements() != 1)
    return std::nullopt;
  APInt bits = constant.getSplatValue<APInt>();
  if (constant.getElementType().isUnsignedInteger())
    return bits.getActiveBits() < 64 ? std::optional<int64_t>(bits.getZExtValue()) : std::nullopt;
  return bits.getSExtValue();
}

/// Where a slice of these sizes begins, by indices that are constants; nothing of others.
std::optional<Dimensions> constantStarts(ValueRange indices, RankedTensorType operand,
                                         ArrayRef<int64_t> sizes) {
  Dimensions starts;
  for (auto [index, start] : llvm::enumerate(indices)) {
    std::optional<int64_t> value = constantIndex(start);
    if (!value)
      return std::nullopt;
    starts.push_back(std::clamp<int64_t>(*value, 0, operand.getDimSize(index) - sizes[index]));
  }
  return starts;
}

/// A dynamic_slice of the full operand is the operand; with constant indices it is a slice.
Value simplifyDynamicSlice(DynamicSliceOp op, OpBuilder &builder) {
  RankedTensorType operand = typeOf(op.getOperand());
  if (!operand.hasStaticShape() || !op.getType().hasStaticShape())
    return {};
  if (llvm::equal(op.getSliceSizes(), operand.getShape()))
    return op.getOperand();
  std::optional<Dimensions> starts = constantStarts(op.getStartIndices(), operand, op.getSliceSizes());
  if (!starts)
    return {};
  Dimensions limits;
  for (auto [start, size] : llvm::zip_equal(*starts, op.getSliceSizes()))
    limits.push_back(start + size);
  return SliceOp::create(builder, op.getLoc(), op.getType(), op.getOperand(),
                         builder.getDenseI64ArrayAttr(*starts), builder.getDenseI64ArrayAttr(limits),
                         builder.getDenseI64ArrayAttr(Dimensions(starts->size(), 1)));
}

/// A dynamic_update_slice of the full operand is the update; an empty one is the operand.
Value simplifyDynamicUpdateSlice(DynamicUpdateSliceOp op, OpBuilder &) {
  RankedTensorType update = typeOf(op.getUpdate());
  if (isEmpty(update))
    return op.getOperand();
  return update.hasStaticShape() && update == typeOf(op.getOperand()) ? Value(op.getUpdate()) : Value();
}

/// Where a dynamic_update_slice of constant indices writes; nothing of others.
std::optional<Dimensions> startsOf(DynamicUpdateSliceOp op) {
  RankedTensorType operand = typeOf(op.getOperand()), update = typeOf(op.getUpdate());
  if (!operand.hasStaticShape() || !update.hasStaticShape())
    return std::nullopt;
  return constantStarts(op.getStartIndices(), operand, update.getShape());
}

/// Whether slices alone read the value, and what was written into copies of it: `budget` is for all of these.
bool isReadBySlices(Value value, int64_t &budget) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (--budget < 0 || isa<SliceOp>(use.getOwner()))
      return budget >= 0;
    auto update = dyn_cast<DynamicUpdateSliceOp>(use.getOwner());
    return update && use.getOperandNumber() == 0 && isReadBySlices(update, budget);
  });
}

/// slice(dynamic_update_slice(x, y)) = slice(x) or slice(y), if it reads one of them alone: an in-place op on
/// each of several parts of a tensor. Else, who reads an old part would keep what is written from being
/// written in place: so slices have to be all that reads the tensor.
Value sliceUpdated(SliceOp op, OpBuilder &builder) {
  constexpr int64_t mostUses = 256;
  if (!op.getType().hasStaticShape() || isEmpty(op.getType()))
    return {};
  Value from = op.getOperand();
  for (int64_t budget = mostUses; auto update = from.getDefiningOp<DynamicUpdateSliceOp>();) {
    std::optional<Dimensions> places = isSimplifiable(update) ? startsOf(update) : std::nullopt;
    if (!places || !isReadBySlices(update, budget))
      return {};
    bool isWithin = true, isApart = false;
    Dimensions starts, limits;
    for (auto [index, place] : llvm::enumerate(*places)) {
      int64_t size = typeOf(update.getUpdate()).getDimSize(index),
              first = op.getStartIndices()[index] - place,
              last = first + (op.getType().getDimSize(index) - 1) * op.getStrides()[index];
      isWithin &= first >= 0 && last < size;
      isApart |= last < 0 || first >= size;
      starts.push_back(first);
      limits.push_back(last + 1);
    }
    if (isWithin)
      return createSlice(op, builder, update.getUpdate(), starts, limits, op.getStrides());
    if (!isApart)
      return {};
    from = update.getOperand();
  }
  return from == op.getOperand()
             ? Value()
             : createSlice(op, builder, from, op.getStartIndices(), op.getLimitIndices(), op.getStrides());
}

//===- concatenate --------------------------------------------------------===//

/// Whether two slices of one value lie side by side along an axis and agree elsewhere.
bool areAdjacent(SliceOp left, SliceOp right, int64_t axis) {
  auto isOne = [](int64_t stride) { return stride == 1; };
  if (left.getOperand() != right.getOperand() || !llvm::all_of(left.getStrides(), isOne) ||
      !llvm::all_of(right.getStrides(), isOne) ||
      left.getLimitIndices()[axis] != right.getStartIndices()[axis])
    return false;
  for (size_t i = 0; i < left.getStrides().size(); ++i)
    if (static_cast<int64_t>(i) != axis && (left.getStartIndices()[i] != right.getStartIndices()[i] ||
                                            left.getLimitIndices()[i] != right.getLimitIndices()[i]))
      return false;
  return true;
}

/// The union of two adjacent slices; null if they are not adjacent.
Value joinSlices(Value left, Value right, int64_t axis, OpBuilder &builder, Location location) {
  auto first = left.getDefiningOp<SliceOp>(), second = right.getDefiningOp<SliceOp>();
  if (!first || !second || !first.getType().hasStaticShape() || !second.getType().hasStaticShape() ||
      !areAdjacent(first, second, axis))
    return {};
  Dimensions limits(first.getLimitIndices()), shape(first.getType().getShape());
  limits[axis] = second.getLimitIndices()[axis];
  shape[axis] += second.getType().getDimSize(axis);
  return SliceOp::create(builder, location, first.getType().clone(shape), first.getOperand(),
                         first.getStartIndicesAttr(), builder.getDenseI64ArrayAttr(limits),
                         first.getStridesAttr());
}

/// Drops empty inputs, flattens concatenations along the same axis, merges adjacent slices; a single input is
/// the result.
Value simplifyConcatenate(ConcatenateOp op, OpBuilder &builder) {
  int64_t axis = op.getDimension();
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatenateOp>();
    if (inner && static_cast<int64_t>(inner.getDimension()) == axis && inner->hasOneUse() &&
        isSimplifiable(inner))
      llvm::append_range(inputs, inner.getInputs());
    else if (typeOf(input).getDimSize(axis) != 0)
      inputs.push_back(input);
  }
  bool isChanged = inputs.size() != op.getInputs().size() || !llvm::equal(inputs, op.getInputs());
  SmallVector<Value> joined;
  for (Value input : inputs) {
    Value both = joined.empty() ? Value() : joinSlices(joined.back(), input, axis, builder, op.getLoc());
    if (both)
      joined.back() = both;
    else
      joined.push_back(input);
  }
  if (joined.size() == 1 && joined.front().getType() == op.getType())
    return joined.front();
  if (joined.empty() || (!isChanged && joined.size() == inputs.size()))
    return {};
  return ConcatenateOp::create(builder, op.getLoc(), op.getType(), joined, op.getDimension());
}

//===- pad, reverse -------------------------------------------------------===//

/// A pad by zero.
Value dropPad(PadOp op, OpBuilder &) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  bool isNothing = llvm::all_of(op.getEdgePaddingLow(), isZero) &&
                   llvm::all_of(op.getEdgePaddingHigh(), isZero) &&
                   llvm::all_of(op.getInteriorPadding(), isZero);
  return isNothing ? op.getOperand() : Value();
}

/// reverse(reverse(x)) = x, and dimensions of size 1 need no reversal.
Value simplifyReverse(ReverseOp op, OpBuilder &builder) {
  if (auto inner = op.getOperand().getDefiningOp<ReverseOp>()) {
    Dimensions outer(op.getDimensions()), before(inner.getDimensions());
    llvm::sort(outer);
    llvm::sort(before);
    if (outer == before)
      return inner.getOperand();
  }
  Dimensions dimensions;
  llvm::copy_if(op.getDimensions(), std::back_inserter(dimensions),
                [&](int64_t dimension) { return typeOf(op.getOperand()).getDimSize(dimension) != 1; });
  if (dimensions.empty())
    return op.getOperand();
  if (dimensions.size() == op.getDimensions().size())
    return {};
  return ReverseOp::create(builder, op.getLoc(), op.getType(), op.getOperand(),
                           builder.getDenseI64ArrayAttr(dimensions));
}

} // namespace

void addSlicingSimplifications(RewritePatternSet &patterns) {
  addSimplifications<SliceOp, SliceOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp, ConcatenateOp, PadOp,
                     ReverseOp>(patterns, mergeSlices, sliceConcatenate, sliceUpdated, simplifyDynamicSlice,
                                simplifyDynamicUpdateSlice, simplifyConcatenate, dropPad, simplifyReverse);
}

} // namespace torchere::passes
