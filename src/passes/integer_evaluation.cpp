// Implements the evaluation of ops on small integer tensors.
#include "passes/integer_evaluation.h"

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <functional>

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Values = SmallVector<APInt>;

/// The operands' elements and the type of the result, which an evaluation fills.
struct Evaluation {
  Operation *op;
  SmallVector<Values> operands;
  RankedTensorType result; ///< static, integer
  bool isUnsigned = false; ///< of the first operand

  RankedTensorType operandType(unsigned index) const {
    return cast<RankedTensorType>(op->getOperand(index).getType());
  }
};

bool isSmallInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<IntegerType, IndexType>(tensor.getElementType()) && tensor.hasStaticShape() &&
         tensor.getNumElements() <= maxShapeElements;
}

/// Not inlined: gcc 12 takes the temporary's single bit for a pointer that is freed.
[[gnu::noinline]] APInt boolean(bool value) {
  return APInt(1, value);
}

/// Elements of a scalar or a full tensor, at a position of the result.
const APInt &at(const Values &values, size_t index) {
  return values.size() == 1 ? values[0] : values[index];
}

using BinaryFunction = std::function<std::optional<APInt>(const APInt &, const APInt &)>;

std::optional<Values> mapBinary(const Evaluation &evaluation, const BinaryFunction &function) {
  Values values;
  for (auto [lhs, rhs] : llvm::zip_equal(evaluation.operands[0], evaluation.operands[1])) {
    std::optional<APInt> value = function(lhs, rhs);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

/// The function of an arithmetic op on two elements; null for other ops. On booleans, addition and maximum
/// are `or`, multiplication and minimum are `and`.
BinaryFunction binaryFunction(Operation *op, bool isUnsigned) {
  bool isBool = isBoolean(elementType(op->getOperand(0).getType()));
  using Result = std::optional<APInt>;
  auto quotient = [](auto function) {
    return BinaryFunction([function](const APInt &lhs, const APInt &rhs) -> Result {
      return rhs.isZero() ? Result() : Result(function(lhs, rhs));
    });
  };
  auto orFunction = BinaryFunction([](const APInt &lhs, const APInt &rhs) -> Result { return lhs | rhs; });
  auto andFunction = BinaryFunction([](const APInt &lhs, const APInt &rhs) -> Result { return lhs & rhs; });
  return llvm::TypeSwitch<Operation *, BinaryFunction>(op)
      .Case([&](AddOp) {
        return isBool
                   ? orFunction
                   : BinaryFunction([](const APInt &lhs, const APInt &rhs) -> Result { return lhs + rhs; });
      })
      .Case([&](SubtractOp) {
        return BinaryFunction([](const APInt &lhs, const APInt &rhs) -> Result { return lhs - rhs; });
      })
      .Case([&](MulOp) {
        return isBool
                   ? andFunction
                   : BinaryFunction([](const APInt &lhs, const APInt &rhs) -> Result { return lhs * rhs; });
      })
      .Case([&](DivOp) {
        return quotient([=](const APInt &l, const APInt &r) { return isUnsigned ? l.udiv(r) : l.sdiv(r); });
      })
      .Case([&](RemOp) {
        return quotient([=](const APInt &l, const APInt &r) { return isUnsigned ? l.urem(r) : l.srem(r); });
      })
      .Case([&](MaxOp) {
        return BinaryFunction([=](const APInt &lhs, const APInt &rhs) -> Result {
          return (isUnsigned || isBool ? lhs.ugt(rhs) : lhs.sgt(rhs)) ? lhs : rhs;
        });
      })
      .Case([&](MinOp) {
        return BinaryFunction([=](const APInt &lhs, const APInt &rhs) -> Result {
          return (isUnsigned || isBool ? lhs.ult(rhs) : lhs.slt(rhs)) ? lhs : rhs;
        });
      })
      .Case([&](AndOp) { return andFunction; })
      .Case([&](OrOp) { return orFunction; })
      .Case([&](XorOp) {
        return BinaryFunction([](const APInt &lhs, const APInt &rhs) -> Result { return lhs ^ rhs; });
      })
      .Default([](Operation *) { return BinaryFunction(); });
}

bool compare(ComparisonDirection direction, const APInt &lhs, const APInt &rhs, bool isUnsigned) {
  bool less = isUnsigned ? lhs.ult(rhs) : lhs.slt(rhs);
  switch (direction) {
  case ComparisonDirection::EQ:
    return lhs == rhs;
  case ComparisonDirection::NE:
    return lhs != rhs;
  case ComparisonDirection::LT:
    return less;
  case ComparisonDirection::LE:
    return less || lhs == rhs;
  case ComparisonDirection::GT:
    return !less && lhs != rhs;
  case ComparisonDirection::GE:
    return !less;
  }
  return false;
}

Values convert(const Evaluation &evaluation) {
  auto from = cast<IntegerType>(evaluation.operandType(0).getElementType());
  auto to = cast<IntegerType>(evaluation.result.getElementType());
  bool zeroExtends = from.isUnsigned() || from.getWidth() == 1;
  Values values;
  for (const APInt &value : evaluation.operands[0]) {
    if (to.getWidth() == 1) // a boolean is whether the number is not zero
      values.push_back(boolean(!value.isZero()));
    else
      values.push_back(zeroExtends ? value.zextOrTrunc(to.getWidth()) : value.sextOrTrunc(to.getWidth()));
  }
  return values;
}

/// Calls `visit` with each index into a static shape, in row-major order.
void forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> visit) {
  int64_t count = ShapedType::getNumElements(shape);
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (int64_t dimension = shape.size() - 1; dimension >= 0 && ++index[dimension] == shape[dimension];
         --dimension)
      index[dimension] = 0;
  }
}

int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [position, size] : llvm::zip_equal(index, shape))
    flat = flat * size + position;
  return flat;
}

/// The result's elements, each taken from the first operand where `source` says.
Values take(const Evaluation &evaluation,
            function_ref<void(ArrayRef<int64_t>, SmallVectorImpl<int64_t> &)> source) {
  ArrayRef<int64_t> shape = evaluation.operandType(0).getShape();
  Values values;
  forEachIndex(evaluation.result.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from;
    source(index, from);
    values.push_back(evaluation.operands[0][flatten(from, shape)]);
  });
  return values;
}

Values slice(const Evaluation &evaluation, SliceOp op) {
  return take(evaluation, [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
    for (auto [position, start, stride] : llvm::zip_equal(index, op.getStartIndices(), op.getStrides()))
      from.push_back(start + position * stride);
  });
}

Values broadcast(const Evaluation &evaluation, BroadcastInDimOp op) {
  ArrayRef<int64_t> shape = evaluation.operandType(0).getShape();
  return take(evaluation, [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
    for (auto [dimension, size] : llvm::zip_equal(op.getBroadcastDimensions(), shape))
      from.push_back(size == 1 ? 0 : index[dimension]);
  });
}

Values transpose(const Evaluation &evaluation, TransposeOp op) {
  return take(evaluation, [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
    from.resize(index.size());
    for (auto [position, dimension] : llvm::zip_equal(index, op.getPermutation()))
      from[dimension] = position;
  });
}

Values reverse(const Evaluation &evaluation, ReverseOp op) {
  ArrayRef<int64_t> shape = evaluation.result.getShape();
  return take(evaluation, [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
    from.assign(index.begin(), index.end());
    for (int64_t dimension : op.getDimensions())
      from[dimension] = shape[dimension] - 1 - from[dimension];
  });
}

Values concatenate(const Evaluation &evaluation, ConcatenateOp op) {
  int64_t axis = op.getDimension();
  Values values;
  forEachIndex(evaluation.result.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from(index);
    unsigned operand = 0;
    while (from[axis] >= evaluation.operandType(operand).getDimSize(axis))
      from[axis] -= evaluation.operandType(operand++).getDimSize(axis);
    values.push_back(evaluation.operands[operand][flatten(from, evaluation.operandType(operand).getShape())]);
  });
  return values;
}

Values iota(const Evaluation &evaluation, IotaOp op) {
  unsigned width = evaluation.result.getElementTypeBitWidth();
  Values values;
  forEachIndex(evaluation.result.getShape(), [&](ArrayRef<int64_t> index) {
    values.push_back(APInt(64, index[op.getIotaDimension()]).trunc(width));
  });
  return values;
}

Values select(const Evaluation &evaluation) {
  Values values;
  for (int64_t i = 0, count = evaluation.result.getNumElements(); i < count; ++i)
    values.push_back(at(evaluation.operands[0], i).isZero() ? evaluation.operands[2][i]
                                                            : evaluation.operands[1][i]);
  return values;
}

Values clamp(const Evaluation &evaluation) {
  Values values;
  for (auto [i, value] : llvm::enumerate(evaluation.operands[1])) {
    const APInt &low = at(evaluation.operands[0], i), &high = at(evaluation.operands[2], i);
    APInt raised = compare(ComparisonDirection::LT, value, low, evaluation.isUnsigned) ? low : value;
    values.push_back(compare(ComparisonDirection::GT, raised, high, evaluation.isUnsigned) ? high : raised);
  }
  return values;
}

Values mapUnary(const Evaluation &evaluation, function_ref<APInt(const APInt &)> function) {
  return Values(llvm::map_range(evaluation.operands[0], function));
}

std::optional<Values> evaluate(const Evaluation &evaluation) {
  if (evaluation.operands.size() == 2)
    if (BinaryFunction function = binaryFunction(evaluation.op, evaluation.isUnsigned))
      return mapBinary(evaluation, function);
  using Result = std::optional<Values>;
  return llvm::TypeSwitch<Operation *, Result>(evaluation.op)
      .Case([&](CompareOp op) {
        return mapBinary(evaluation, [&](const APInt &lhs, const APInt &rhs) -> std::optional<APInt> {
          return boolean(compare(op.getComparisonDirection(), lhs, rhs, evaluation.isUnsigned));
        });
      })
      .Case([&](AbsOp) -> Result {
        return mapUnary(evaluation, [](const APInt &value) { return value.abs(); });
      })
      .Case([&](NegOp) -> Result { return mapUnary(evaluation, [](const APInt &value) { return -value; }); })
      .Case([&](NotOp) -> Result { return mapUnary(evaluation, [](const APInt &value) { return ~value; }); })
      .Case([&](SignOp) -> Result {
        return mapUnary(evaluation, [](const APInt &value) {
          return APInt(value.getBitWidth(), value.isNegative() ? -1 : !value.isZero(), /*isSigned=*/true);
        });
      })
      .Case([&](ConvertOp) -> Result { return convert(evaluation); })
      .Case([&](ReshapeOp) -> Result { return evaluation.operands[0]; })
      .Case([&](SelectOp) -> Result { return select(evaluation); })
      .Case([&](ClampOp) -> Result { return clamp(evaluation); })
      .Case([&](SliceOp op) -> Result { return slice(evaluation, op); })
      .Case([&](BroadcastInDimOp op) -> Result { return broadcast(evaluation, op); })
      .Case([&](TransposeOp op) -> Result { return transpose(evaluation, op); })
      .Case([&](ReverseOp op) -> Result { return reverse(evaluation, op); })
      .Case([&](ConcatenateOp op) -> Result { return concatenate(evaluation, op); })
      .Case([&](IotaOp op) -> Result { return iota(evaluation, op); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

DenseIntElementsAttr constantInteger(Value value) {
  DenseIntElementsAttr constant;
  if (!isSmallInteger(value.getType()) || !matchPattern(value, m_Constant(&constant)))
    return {};
  return constant;
}

DenseIntElementsAttr evaluateInteger(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || isa<ConstantOp>(op) ||
      !isSmallInteger(op->getResult(0).getType()))
    return {};
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (result.getElementType().isIndex()) // no op but a constant makes these
    return {};
  if (auto dimensionSize = dyn_cast<GetDimensionSizeOp>(op)) {
    int64_t size = dimensionSize.getOperand().getType().getDimSize(dimensionSize.getDimension());
    bool fits = isKnown(size) && size <= std::numeric_limits<int32_t>::max();
    return fits ? DenseIntElementsAttr::get(result, static_cast<int32_t>(size)) : DenseIntElementsAttr();
  }
  Evaluation evaluation{op, {}, result};
  for (Value operand : op->getOperands()) {
    DenseIntElementsAttr constant = constantInteger(operand);
    if (!constant)
      return {};
    evaluation.operands.push_back(Values(constant.getValues<APInt>()));
  }
  if (op->getNumOperands() != 0) {
    Type element = elementType(op->getOperand(0).getType());
    evaluation.isUnsigned = element.isUnsignedInteger() || isBoolean(element);
  }
  std::optional<Values> values = evaluate(evaluation);
  if (!values || static_cast<int64_t>(values->size()) != result.getNumElements())
    return {};
  return cast<DenseIntElementsAttr>(DenseElementsAttr::get(result, *values));
}

} // namespace torchere::passes
