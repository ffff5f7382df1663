// Finds attention whose mask only hides later keys: the kernel counts, instead of reading a mask, and leaves
// out what nobody sees.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Masks of more elements are not compared one by one.
constexpr int64_t maxConstantMask = int64_t(1) << 20;

/// The dimension of the op's operand that is this one of its result. None if it has none, or for another op.
std::optional<int64_t> dimensionBefore(Operation *op, int64_t dimension) {
  if (!isa<stablehlo::TransposeOp, stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op))
    return std::nullopt;
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return transpose.getPermutation()[static_cast<size_t>(dimension)];
  ArrayRef<int64_t> from = dimensionsOf(op->getOperand(0)), to = dimensionsOf(op->getResult(0));
  auto at = [](ArrayRef<int64_t> sizes, int64_t index) { return sizes[static_cast<size_t>(index)]; };
  if (auto spread = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    ArrayRef<int64_t> dimensions = spread.getBroadcastDimensions();
    auto found = llvm::find(dimensions, dimension);
    int64_t index = found - dimensions.begin();
    return found == dimensions.end() || at(from, index) != at(to, dimension) ? std::nullopt
                                                                             : std::optional(index);
  }
  // Others may be split or joined in front of it and behind it.
  auto elementsBehind = [](ArrayRef<int64_t> sizes, size_t index) {
    return ShapedType::getNumElements(sizes.drop_front(index + 1));
  };
  for (auto [index, size] : llvm::enumerate(from))
    if (size > 1 && size == at(to, dimension) &&
        elementsBehind(from, index) == elementsBehind(to, static_cast<size_t>(dimension)))
      return static_cast<int64_t>(index);
  return std::nullopt;
}

/// c, if each element is its index along the dimension, plus c.
std::optional<int64_t> offsetOfIndices(mlir::Value value, int64_t dimension) {
  Operation *op = value.getDefiningOp();
  Type element = getElementTypeOrSelf(value.getType());
  if (!op || !element.isSignlessInteger() || element.getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return static_cast<int64_t>(iota.getIotaDimension()) == dimension ? std::optional<int64_t>(0)
                                                                      : std::nullopt;
  if (isa<stablehlo::ConvertOp>(op))
    return offsetOfIndices(op->getOperand(0), dimension);
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op)) {
    bool isSum = isa<stablehlo::AddOp>(op), isRight = integerOf(op->getOperand(1)).has_value();
    std::optional<int64_t> shift = integerOf(op->getOperand(isRight ? 1 : 0));
    std::optional<int64_t> offset = shift && (isSum || isRight)
                                        ? offsetOfIndices(op->getOperand(isRight ? 0 : 1), dimension)
                                        : std::nullopt;
    return offset ? std::optional(*offset + (isSum ? *shift : -*shift)) : std::nullopt;
  }
  std::optional<int64_t> before = dimensionBefore(op, dimension);
  return before ? offsetOfIndices(op->getOperand(0), *before) : std::nullopt;
}

/// c, if element (query, key) of a constant is whether key <= query + c.
std::optional<int64_t> offsetOfConstant(DenseElementsAttr elements, int64_t query, int64_t key) {
  ArrayRef<int64_t> shape = cast<ShapedType>(elements.getType()).getShape();
  if (elements.getNumElements() > maxConstantMask || elements.isSplat())
    return std::nullopt;
  auto strideOf = [&](int64_t dimension) {
    int64_t stride = 1;
    for (int64_t size : shape.drop_front(static_cast<size_t>(dimension) + 1))
      stride *= size;
    return stride;
  };
  int64_t queryStride = strideOf(query), keyStride = strideOf(key), index = 0;
  int64_t queries = shape[static_cast<size_t>(query)], keys = shape[static_cast<size_t>(key)], seen = 0;
  SmallVector<bool> values(elements.getValues<bool>());
  while (seen < keys && values[static_cast<size_t>(seen * keyStride)])
    ++seen;
  for (bool value : values) {
    int64_t i = index / queryStride % queries, j = index / keyStride % keys;
    if (value != (j < i + seen))
      return std::nullopt;
    ++index;
  }
  return seen - 1;
}

/// c, if element (query, key) is whether key <= query + c; with `isHidden`, whether it is not.
std::optional<int64_t> causalOffset(mlir::Value mask, int64_t query, int64_t key, bool isHidden) {
  using stablehlo::ComparisonDirection;
  DenseElementsAttr elements;
  if (!isHidden && matchPattern(mask, m_Constant(&elements)))
    return offsetOfConstant(elements, query, key);
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<stablehlo::NotOp>(op))
    return causalOffset(op->getOperand(0), query, key, !isHidden);
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  if (!compare) {
    std::optional<int64_t> ofQuery = dimensionBefore(op, query), ofKey = dimensionBefore(op, key);
    return ofQuery && ofKey ? causalOffset(op->getOperand(0), *ofQuery, *ofKey, isHidden) : std::nullopt;
  }
  ComparisonDirection direction = compare.getComparisonDirection();
  bool isLess = direction == ComparisonDirection::LT || direction == ComparisonDirection::LE;
  bool isStrict = direction == ComparisonDirection::LT || direction == ComparisonDirection::GT;
  if (direction == ComparisonDirection::EQ || direction == ComparisonDirection::NE)
    return std::nullopt;
  // Keys on the left of "less", or on the right of "greater"; what is hidden the other way round.
  bool keyIsLeft = isLess != isHidden;
  std::optional<int64_t> left = offsetOfIndices(compare.getLhs(), keyIsLeft ? key : query);
  std::optional<int64_t> right = offsetOfIndices(compare.getRhs(), keyIsLeft ? query : key);
  if (!left || !right)
    return std::nullopt;
  int64_t offset = keyIsLeft ? *right - *left : *left - *right;
  return isStrict != isHidden ? offset - 1 : offset;
}

/// Of a call's mask, [batch][head][query][key]: also of numbers that are added.
std::optional<int64_t> causalOffsetOf(mlir::Value mask) {
  int64_t query = 2, key = 3;
  if (getElementTypeOrSelf(mask.getType()).isInteger(1))
    return causalOffset(mask, query, key, false);
  while (Operation *op = mask.getDefiningOp()) {
    if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
      bool isHidden = isSplat(select.getOnFalse(), 0);
      std::optional<double> hidden = splatOf(isHidden ? select.getOnTrue() : select.getOnFalse());
      // Of f16 the least number stands for -inf.
      bool isHalf = getElementTypeOrSelf(select.getType()).isF16();
      if (!hidden || *hidden > (isHalf ? -65504.0 : -1e30) ||
          !isSplat(isHidden ? select.getOnFalse() : select.getOnTrue(), 0) ||
          dimensionsOf(select.getPred()).empty())
        return std::nullopt;
      std::optional<int64_t> offset = causalOffset(select.getPred(), query, key, isHidden);
      // Where a finite number hides all keys of a query, it sees all.
      return offset && (*offset >= 0 || std::isinf(*hidden)) ? offset : std::nullopt;
    }
    if (isRounding(op)) {
      mask = op->getOperand(0);
      continue;
    }
    std::optional<int64_t> ofQuery = dimensionBefore(op, query), ofKey = dimensionBefore(op, key);
    if (!ofQuery || !ofKey)
      return std::nullopt;
    query = *ofQuery;
    key = *ofKey;
    mask = op->getOperand(0);
  }
  return std::nullopt;
}

} // namespace

int64_t fuseCausalMasks(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (!isKernelCall(op, "attention") || op->getNumOperands() != 4)
      return;
    std::optional<int64_t> offset = causalOffsetOf(op->getOperand(3));
    if (!offset)
      return;
    OpBuilder builder(op);
    op->eraseOperand(3);
    NamedAttrList attributes(op->getAttrOfType<DictionaryAttr>("backend_config"));
    attributes.set("causal_offset", builder.getI64IntegerAttr(*offset));
    op->setAttr("backend_config", attributes.getDictionary(builder.getContext()));
    ++count;
  });
  return count;
}

} // namespace torchere::cpu
