// Implements the mapping from elementwise ops to instructions.
#include "cpu/frontend/elementwise.h"

#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

struct Row {
  StringRef name;
  VectorOp op;
  VectorOp onBools; ///< for ops whose meaning on bools is another
};

/// What has one instruction. Ops with attributes that change them are in apply().
const Row rows[] = {
    {"stablehlo.abs", VectorOp::Abs, VectorOp::Abs},
    {"stablehlo.add", VectorOp::Add, VectorOp::Or},
    {"stablehlo.and", VectorOp::And, VectorOp::And},
    {"stablehlo.atan2", VectorOp::Atan2, VectorOp::Atan2},
    {"stablehlo.cbrt", VectorOp::Cbrt, VectorOp::Cbrt},
    {"stablehlo.ceil", VectorOp::Ceil, VectorOp::Ceil},
    {"stablehlo.clamp", VectorOp::Clamp, VectorOp::Clamp},
    {"stablehlo.cosine", VectorOp::Cosine, VectorOp::Cosine},
    {"stablehlo.count_leading_zeros", VectorOp::CountLeadingZeros, VectorOp::CountLeadingZeros},
    {"stablehlo.divide", VectorOp::Divide, VectorOp::Divide},
    {"stablehlo.exponential", VectorOp::Exponential, VectorOp::Exponential},
    {"stablehlo.exponential_minus_one", VectorOp::ExponentialMinusOne, VectorOp::ExponentialMinusOne},
    {"stablehlo.floor", VectorOp::Floor, VectorOp::Floor},
    {"stablehlo.is_finite", VectorOp::IsFinite, VectorOp::IsFinite},
    {"stablehlo.log", VectorOp::Log, VectorOp::Log},
    {"stablehlo.log_plus_one", VectorOp::LogPlusOne, VectorOp::LogPlusOne},
    {"stablehlo.logistic", VectorOp::Logistic, VectorOp::Logistic},
    {"stablehlo.maximum", VectorOp::Maximum, VectorOp::Or},
    {"stablehlo.minimum", VectorOp::Minimum, VectorOp::And},
    {"stablehlo.multiply", VectorOp::Multiply, VectorOp::And},
    {"stablehlo.negate", VectorOp::Negate, VectorOp::Negate},
    {"stablehlo.not", VectorOp::Not, VectorOp::Not},
    {"stablehlo.or", VectorOp::Or, VectorOp::Or},
    {"stablehlo.popcnt", VectorOp::PopulationCount, VectorOp::PopulationCount},
    {"stablehlo.power", VectorOp::Power, VectorOp::Power},
    {"stablehlo.remainder", VectorOp::Remainder, VectorOp::Remainder},
    {"stablehlo.round_nearest_afz", VectorOp::RoundNearestAfz, VectorOp::RoundNearestAfz},
    {"stablehlo.round_nearest_even", VectorOp::RoundNearestEven, VectorOp::RoundNearestEven},
    {"stablehlo.rsqrt", VectorOp::Rsqrt, VectorOp::Rsqrt},
    {"stablehlo.select", VectorOp::Select, VectorOp::Select},
    {"stablehlo.shift_left", VectorOp::ShiftLeft, VectorOp::ShiftLeft},
    {"stablehlo.shift_right_arithmetic", VectorOp::ShiftRightArithmetic, VectorOp::ShiftRightArithmetic},
    {"stablehlo.shift_right_logical", VectorOp::ShiftRightLogical, VectorOp::ShiftRightLogical},
    {"stablehlo.sign", VectorOp::Sign, VectorOp::Sign},
    {"stablehlo.sine", VectorOp::Sine, VectorOp::Sine},
    {"stablehlo.sqrt", VectorOp::Sqrt, VectorOp::Sqrt},
    {"stablehlo.subtract", VectorOp::Subtract, VectorOp::Subtract},
    {"stablehlo.tan", VectorOp::Tan, VectorOp::Tan},
    {"stablehlo.tanh", VectorOp::Tanh, VectorOp::Tanh},
    {"stablehlo.xor", VectorOp::Xor, VectorOp::Xor},
};

const Row *findRow(StringRef name) {
  static const llvm::StringMap<const Row *> table = [] {
    llvm::StringMap<const Row *> made;
    for (const Row &row : rows)
      made[row.name] = &row;
    return made;
  }();
  return table.lookup(name);
}

bool hasKernelType(mlir::Value value) {
  std::optional<DType> type = dtypeOf(value);
  if (!type)
    return false;
  ElementType element = elementTypeOf(value);
  bool isSmallFloat = isFloat(element) && elementTypeInfo(element).bits < 16;
  return !isComplex(element) && !isSmallFloat;
}

std::optional<VectorOp> comparisonOf(stablehlo::CompareOp op) {
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return std::nullopt;
  switch (op.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::EQ:
    return VectorOp::Equal;
  case stablehlo::ComparisonDirection::NE:
    return VectorOp::NotEqual;
  case stablehlo::ComparisonDirection::GE:
    return VectorOp::GreaterEqual;
  case stablehlo::ComparisonDirection::GT:
    return VectorOp::Greater;
  case stablehlo::ComparisonDirection::LE:
    return VectorOp::LessEqual;
  case stablehlo::ComparisonDirection::LT:
    return VectorOp::Less;
  }
  return std::nullopt;
}

} // namespace

std::vector<llvm::StringRef> elementwiseNames() {
  std::vector<llvm::StringRef> names{"stablehlo.bitcast_convert", "stablehlo.compare", "stablehlo.convert",
                                     "stablehlo.iota"};
  for (const Row &row : rows)
    names.push_back(row.name);
  return names;
}

bool hasVectorType(mlir::Value value) {
  return hasKernelType(value);
}

bool isElementwise(Operation *op) {
  if (!findRow(op->getName().getStringRef()) &&
      !isa<stablehlo::CompareOp, stablehlo::ConvertOp, stablehlo::IotaOp, stablehlo::BitcastConvertOp>(op))
    return false;
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op); compare && !comparisonOf(compare))
    return false;
  if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op);
      cast && elementTypeInfo(elementTypeOf(op->getOperand(0))).bits !=
                  elementTypeInfo(elementTypeOf(op->getResult(0))).bits)
    return false; // another shape
  return llvm::all_of(op->getOperands(), hasKernelType) && hasKernelType(op->getResult(0));
}

std::optional<VectorBuilder::Value> applyElementwise(VectorBuilder &builder, Operation *op,
                                                     ArrayRef<VectorBuilder::Value> operands) {
  DType type = *dtypeOf(op->getResult(0));
  if (isa<stablehlo::ConvertOp>(op))
    return builder.convert(operands[0], type);
  if (isa<stablehlo::BitcastConvertOp>(op))
    return builder.bitcast(operands[0], type);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    auto rank = static_cast<int>(shapeOf(op->getResult(0)).size());
    return builder.iota(type, rank - 1 - static_cast<int>(iota.getIotaDimension()));
  }
  VectorOp instruction;
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    instruction = *comparisonOf(compare);
  } else {
    const Row &row = *findRow(op->getName().getStringRef());
    bool onBools = elementTypeOf(op->getOperand(0)) == ElementType::Bool;
    instruction = onBools ? row.onBools : row.op;
  }
  auto at = [&](size_t i) { return i < operands.size() ? operands[i] : VectorBuilder::Value(-1); };
  VectorBuilder::Value value = builder.apply(instruction, at(0), at(1), at(2));
  bool isHalf = type == DType::F16 || type == DType::BF16; // which is computed in f32, and rounded by each op
  return isHalf ? builder.convert(value, type) : value;
}

} // namespace torchere::cpu
