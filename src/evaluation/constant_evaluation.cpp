// Implements the evaluation of ops on constants.
#include "evaluation/constant_evaluation.h"

#include "evaluation/constants.h"
#include "evaluation/elementwise.h"
#include "evaluation/elementwise_functions.h"
#include "evaluation/rearrangement.h"
#include "stablehlo/constraint.h"
#include "stablehlo/element_type_conversion.h"
#include "stablehlo/sizes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::evaluation {

namespace {

/// Booleans, integers or (where allowed) floats, with a static shape and no encoding.
bool isEvaluable(Type type, const EvaluationLimits &limits) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding())
    return false;
  std::optional<ElementType> element = elementTypeOf(tensor.getElementType());
  return element && !isComplex(*element) && (limits.floats || !isFloat(*element));
}

/// For a splat the count may exceed any integer.
int64_t countElements(ShapedType type) {
  return stablehlo::elementCount(type.getShape()).value_or(std::numeric_limits<int64_t>::max());
}

bool isWithin(ShapedType type, const EvaluationLimits &limits) {
  return countElements(type) <= limits.elements;
}

using Evaluated = std::optional<Tensor>;

/// A result that could not be computed, for lack of memory for example, is left to run time.
Evaluated evaluated(Result<Tensor> result) {
  return result ? Evaluated(*std::move(result)) : std::nullopt;
}

ElementType elementTypeIn(Value value) {
  return *elementTypeOf(elementType(value.getType()));
}

/// The float types that implementations compute in; narrower ones are computed in a wider type, which may
/// round twice.
bool isComputedIn(ElementType type) {
  return !isFloat(type) || type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F32 || type == ElementType::F64;
}

/// Whether every bit of the result is certain for elements of this type, or need not be.
bool isExact(Exactness exactness, ElementType type, const EvaluationLimits &limits) {
  if (limits.approximations && type == ElementType::F64)
    return true;
  switch (exactness) {
  case Exactness::Nowhere:
    return false;
  case Exactness::Integers:
    return !isFloat(type);
  case Exactness::Everywhere:
    return isComputedIn(type);
  }
  return false;
}

/// The row of an op; null if there is none.
template <class Row, size_t count> const Row *findRow(const Row (&rows)[count], Operation *op) {
  std::string_view name = op->getName().getStringRef();
  const Row *row = llvm::find_if(rows, [&](const Row &candidate) { return candidate.op == name; });
  return row == std::end(rows) ? nullptr : row;
}

Evaluated convertElements(const Tensor &operand, ElementType to) {
  if (!isComputedIn(operand.type()) || !isComputedIn(to))
    return std::nullopt;
  for (int64_t position = 0; position < operand.count(); ++position)
    if (!isConversionDefined(operand.at(position), to))
      return std::nullopt;
  return evaluated(mapElements(operand, to, [=](const Element &element) { return convert(element, to); }));
}

Evaluated mapUnary(Operation *op, const Tensor &operand, const EvaluationLimits &limits) {
  const UnaryRow *row = findRow(unaryFunctions, op);
  if (!row || !isExact(row->exactness, operand.type(), limits))
    return std::nullopt;
  return evaluated(mapElements(operand, elementTypeIn(op->getResult(0)), row->function));
}

Evaluated mapBinary(Operation *op, const Tensor &lhs, const Tensor &rhs, const EvaluationLimits &limits) {
  const BinaryRow *row = findRow(binaryFunctions, op);
  if (!row || !isExact(row->exactness, lhs.type(), limits))
    return std::nullopt;
  for (int64_t position = 0; row->isDefined && position < lhs.count(); ++position)
    if (!row->isDefined(lhs.at(position), rhs.at(position)))
      return std::nullopt;
  return evaluated(mapElements(lhs, rhs, elementTypeIn(op->getResult(0)), row->function));
}

Evaluated computeElements(Operation *op, ArrayRef<Tensor> operands, const EvaluationLimits &limits) {
  if (isa<SelectOp>(op))
    return evaluated(select(operands[0], operands[1], operands[2]));
  if (isa<ClampOp>(op)) // for floats, which may be NaN, it is left to run time
    return isFloat(operands[1].type()) ? std::nullopt
                                       : evaluated(clamp(operands[0], operands[1], operands[2]));
  if (isa<ConvertOp>(op))
    return convertElements(operands[0], elementTypeIn(op->getResult(0)));
  bool isPair = operands.size() == 2 && operands[0].type() == operands[1].type() &&
                operands[0].shape() == operands[1].shape();
  if (auto comparison = dyn_cast<CompareOp>(op))
    return isPair ? evaluated(compare(comparison, operands[0], operands[1])) : std::nullopt;
  if (isPair)
    return mapBinary(op, operands[0], operands[1], limits);
  return operands.size() == 1 ? mapUnary(op, operands[0], limits) : std::nullopt;
}

bool movesOneOperand(Operation *op) {
  return isa<ReshapeOp, BroadcastInDimOp, TransposeOp, ReverseOp, SliceOp>(op);
}

/// An iota of floats is left to run time: large indices are rounded, and the specification does not say how.
Evaluated moveElements(Operation *op, ArrayRef<Tensor> operands) {
  Index shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case([&](ReshapeOp) { return operands[0].reshaped(shape); })
      .Case([&](SliceOp slicing) {
        return evaluated(
            slice(operands[0], slicing.getStartIndices(), slicing.getLimitIndices(), slicing.getStrides()));
      })
      .Case([&](BroadcastInDimOp broadcasting) {
        return evaluated(broadcastInDim(operands[0], shape, broadcasting.getBroadcastDimensions()));
      })
      .Case([&](TransposeOp transposing) {
        return evaluated(transpose(operands[0], transposing.getPermutation()));
      })
      .Case([&](ReverseOp reversing) { return evaluated(reverse(operands[0], reversing.getDimensions())); })
      .Case([&](ConcatenateOp joining) { return evaluated(concatenate(joining.getDimension(), operands)); })
      .Case([&](PadOp padding) {
        return evaluated(pad(operands[0], operands[1], padding.getEdgePaddingLow(),
                             padding.getEdgePaddingHigh(), padding.getInteriorPadding()));
      })
      .Case([&](IotaOp counting) {
        ElementType type = elementTypeIn(counting.getResult());
        return isFloat(type) ? std::nullopt : evaluated(iota(type, shape, counting.getIotaDimension()));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The single value of the result of an op all of whose operands have a single value.
Evaluated computeSplat(Operation *op, ArrayRef<Tensor> values, const EvaluationLimits &limits) {
  auto isFirst = [&](const Tensor &value) { return llvm::equal(value.bytes(), values[0].bytes()); };
  if (movesOneOperand(op) || (isa<ConcatenateOp, PadOp>(op) && llvm::all_of(values, isFirst)))
    return values[0];
  return computeElements(op, values, limits);
}

/// The operands as tensors, or as scalars if each has a single value.
std::optional<SmallVector<Tensor>> readOperands(ArrayRef<DenseElementsAttr> constants, bool areSplats) {
  SmallVector<Tensor> tensors;
  for (DenseElementsAttr constant : constants) {
    Evaluated tensor =
        areSplats ? Evaluated(Tensor::scalar(*splatOf(constant))) : evaluated(tensorOf(constant));
    if (!tensor)
      return std::nullopt;
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

DenseElementsAttr dimensionSize(GetDimensionSizeOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t size = op.getOperand().getType().getDimSize(op.getDimension());
  bool fits = isKnown(size) && size <= std::numeric_limits<int32_t>::max();
  return fits ? DenseElementsAttr::get(type, static_cast<int32_t>(size)) : DenseElementsAttr();
}

/// The operands' values; none if an operand is not a constant that may be computed with.
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
  if (type.getElementType().isIndex()) // only constants produce these
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
  if (areSplats)
    if (auto values = readOperands(*constants, /*areSplats=*/true))
      if (Evaluated value = computeSplat(op, *values, limits))
        return constantOf(*value, type);
  if (!areSmall)
    return {};
  auto operands = readOperands(*constants, /*areSplats=*/false);
  if (!operands)
    return {};
  Evaluated result = moveElements(op, *operands);
  if (!result)
    result = computeElements(op, *operands, limits);
  if (!result || result->count() != type.getNumElements())
    return {};
  return constantOf(*result, type);
}

} // namespace torchere::evaluation
