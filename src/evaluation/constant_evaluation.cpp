// Implements the evaluation of ops on constants.
#include "evaluation/constant_evaluation.h"

#include "evaluation/element_moves.h"
#include "evaluation/scalar_functions.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/sizes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::evaluation {

namespace {

/// A tensor of booleans, integers or (where allowed) floats with a known shape and nothing else to know.
bool isEvaluable(Type type, const EvaluationLimits &limits) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding())
    return false;
  std::optional<ElementFormat> format = ElementFormat::of(tensor.getElementType());
  return format && (limits.floats || !format->isFloat());
}

/// Of a splat, it may be beyond any number.
int64_t countElements(ShapedType type) {
  return elementCount(type.getShape()).value_or(std::numeric_limits<int64_t>::max());
}

bool isWithin(ShapedType type, const EvaluationLimits &limits) {
  return countElements(type) <= limits.elements;
}

Elements read(DenseElementsAttr constant, bool isSplat) {
  bool isFloat = isa<FloatType>(constant.getElementType());
  if (isSplat)
    return {isFloat ? constant.getSplatValue<APFloat>().bitcastToAPInt() : constant.getSplatValue<APInt>()};
  if (!isFloat)
    return Elements(constant.getValues<APInt>());
  return Elements(llvm::map_range(constant.getValues<APFloat>(),
                                  [](const APFloat &value) { return value.bitcastToAPInt(); }));
}

/// One element makes a splat.
DenseElementsAttr write(RankedTensorType type, const Elements &elements) {
  auto floatType = dyn_cast<FloatType>(type.getElementType());
  if (!floatType)
    return DenseElementsAttr::get(type, elements);
  SmallVector<APFloat> numbers(llvm::map_range(
      elements, [&](const APInt &bits) { return APFloat(floatType.getFloatSemantics(), bits); }));
  return DenseElementsAttr::get(type, numbers);
}

/// Elements of a scalar or a full tensor, at a position of the result.
const APInt &at(const Elements &elements, size_t index) {
  return elements.size() == 1 ? elements[0] : elements[index];
}

std::optional<Elements> mapUnary(Operation *op, const Elements &operand) {
  UnaryFunction function = unaryFunction(op);
  if (!function)
    return std::nullopt;
  Elements elements;
  for (const APInt &value : operand) {
    std::optional<APInt> result = function(value);
    if (!result)
      return std::nullopt;
    elements.push_back(*result);
  }
  return elements;
}

std::optional<Elements> mapBinary(Operation *op, const Elements &lhs, const Elements &rhs) {
  if (lhs.size() != rhs.size() || op->getOperand(0).getType() != op->getOperand(1).getType())
    return std::nullopt;
  BinaryFunction function = binaryFunction(op);
  if (!function)
    return std::nullopt;
  Elements elements;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    std::optional<APInt> result = function(left, right);
    if (!result)
      return std::nullopt;
    elements.push_back(*result);
  }
  return elements;
}

Elements select(ArrayRef<Elements> operands) {
  Elements elements;
  for (size_t i = 0; i < operands[1].size(); ++i)
    elements.push_back(at(operands[0], i).isZero() ? operands[2][i] : operands[1][i]);
  return elements;
}

Elements clamp(ClampOp op, ArrayRef<Elements> operands) {
  ElementFormat format = *ElementFormat::of(elementType(op.getType()));
  Elements elements;
  for (auto [i, value] : llvm::enumerate(operands[1])) {
    const APInt &low = at(operands[0], i), &high = at(operands[2], i);
    const APInt &raised = isLess(format, value, low) ? low : value;
    elements.push_back(isLess(format, high, raised) ? high : raised);
  }
  return elements;
}

std::optional<Elements> computeElements(Operation *op, ArrayRef<Elements> operands) {
  if (isa<SelectOp>(op))
    return select(operands);
  if (auto clamping = dyn_cast<ClampOp>(op)) // of floats, where NaN may stand, it is left to the run time
    return ElementFormat::of(elementType(clamping.getType()))->isFloat()
               ? std::nullopt
               : std::optional(clamp(clamping, operands));
  if (op->getNumOperands() == 2 && op->hasTrait<OpTrait::NOperands<2>::Impl>())
    if (std::optional<Elements> elements = mapBinary(op, operands[0], operands[1]))
      return elements;
  if (op->getNumOperands() == 1)
    if (std::optional<Elements> elements = mapUnary(op, operands[0]))
      return elements;
  return std::nullopt;
}

/// The only value of the result of an op all of whose operands hold one value each.
std::optional<Elements> computeSplat(Operation *op, ArrayRef<Elements> operands) {
  if (movesOneOperand(op) || (isa<ConcatenateOp, PadOp>(op) && llvm::all_equal(operands)))
    return operands[0];
  return computeElements(op, operands);
}

DenseElementsAttr dimensionSize(GetDimensionSizeOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t size = op.getOperand().getType().getDimSize(op.getDimension());
  bool fits = isKnown(size) && size <= std::numeric_limits<int32_t>::max();
  return fits ? DenseElementsAttr::get(type, static_cast<int32_t>(size)) : DenseElementsAttr();
}

/// The operands' values; nothing if one is no constant that may be computed with.
std::optional<SmallVector<DenseElementsAttr>> constantOperands(Operation *op,
                                                               const EvaluationLimits &limits) {
  SmallVector<DenseElementsAttr> constants;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr constant;
    if (!isEvaluable(operand.getType(), limits) || !matchPattern(operand, m_Constant(&constant)) ||
        constant.getType() != operand.getType())
      return std::nullopt;
    constants.push_back(constant);
  }
  return constants;
}

} // namespace

DenseIntElementsAttr constantInteger(Value value) {
  EvaluationLimits limits;
  DenseIntElementsAttr constant;
  if (!isEvaluable(value.getType(), limits) || !isWithin(cast<ShapedType>(value.getType()), limits) ||
      !matchPattern(value, m_Constant(&constant)))
    return {};
  return constant;
}

DenseElementsAttr evaluate(Operation *op, const EvaluationLimits &limits) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || isa<ConstantOp>(op) ||
      !isa_and_present<StableHLODialect>(op->getDialect()) ||
      !isEvaluable(op->getResult(0).getType(), limits))
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getElementType().isIndex()) // no op but a constant makes these
    return {};
  if (auto dimension = dyn_cast<GetDimensionSizeOp>(op))
    return dimensionSize(dimension);
  auto constants = constantOperands(op, limits);
  if (!constants)
    return {};
  auto isSplat = [](DenseElementsAttr constant) {
    return constant.isSplat() && countElements(constant.getType()) > 0;
  };
  bool areSplats = !constants->empty() && llvm::all_of(*constants, isSplat) && countElements(type) > 0;
  bool areSmall = isWithin(type, limits) && llvm::all_of(*constants, [&](DenseElementsAttr constant) {
                    return isWithin(constant.getType(), limits);
                  });
  if (!areSplats && !areSmall)
    return {};
  SmallVector<Elements> operands(
      llvm::map_range(*constants, [&](DenseElementsAttr constant) { return read(constant, areSplats); }));
  if (areSplats)
    if (std::optional<Elements> splat = computeSplat(op, operands))
      return write(type, *splat);
  if (!areSmall)
    return {};
  if (areSplats)
    for (auto [elements, constant] : llvm::zip_equal(operands, *constants))
      elements = read(constant, /*isSplat=*/false);
  std::optional<Elements> elements = moveElements(op, operands);
  if (!elements)
    elements = computeElements(op, operands);
  if (!elements || static_cast<int64_t>(elements->size()) != type.getNumElements())
    return {};
  return write(type, *elements);
}

DenseIntElementsAttr evaluateInteger(Operation *op) {
  return dyn_cast_or_null<DenseIntElementsAttr>(evaluate(op, {}));
}

} // namespace torchere::evaluation
