// Implements the mapping from elementwise ops to instructions.
#include "cpu/frontend/elementwise.h"

#include "cpu/frontend/comparison.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/fusion/kernel_call.h"
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
    // Calls of kernels, by their targets.
    {"torchere_cpu.erf", VectorOp::Erf, VectorOp::Erf},
    {"torchere_cpu.erfc", VectorOp::Erfc, VectorOp::Erfc},
    {"torchere_cpu.erf_inv", VectorOp::ErfInv, VectorOp::ErfInv},
    {"torchere_cpu.gelu", VectorOp::Gelu, VectorOp::Gelu},
    {"torchere_cpu.gelu_tanh", VectorOp::GeluTanh, VectorOp::GeluTanh},
    {"torchere_cpu.silu", VectorOp::Silu, VectorOp::Silu},
    {"torchere_cpu.three_fry", VectorOp::ThreeFry, VectorOp::ThreeFry},
};

StringRef rowNameOf(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call ? call.getCallTargetName() : op->getName().getStringRef();
}

const Row *findRow(StringRef name) {
  static const llvm::StringMap<const Row *> table = [] {
    llvm::StringMap<const Row *> made;
    for (const Row &row : rows)
      made[row.name] = &row;
    return made;
  }();
  return table.lookup(name);
}

/// An integer in the order of IEEE 754's total order: the bits, inverted but for the sign where that is set.
VectorBuilder::Value totalOrderKey(VectorBuilder &builder, VectorBuilder::Value value) {
  bool isDouble = builder.typeOf(value) == DType::F64;
  DType type = isDouble ? DType::I64 : DType::I32;
  VectorBuilder::Value bits = builder.bitcast(value, type);
  VectorBuilder::Value signs =
      builder.apply(VectorOp::ShiftRightArithmetic, bits, builder.constantBits(type, isDouble ? 63 : 31));
  uint64_t magnitude = isDouble ? ~uint64_t(0) >> 1 : ~uint32_t(0) >> 1;
  VectorBuilder::Value flips = builder.apply(VectorOp::And, signs, builder.constantBits(type, magnitude));
  return builder.apply(VectorOp::Xor, bits, flips);
}

VectorBuilder::Value compareElements(VectorBuilder &builder, stablehlo::CompareOp op,
                                     VectorBuilder::Value left, VectorBuilder::Value right) {
  bool isTotal = op.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  if (isTotal && isFloat(elementTypeOf(op->getOperand(0)))) {
    left = totalOrderKey(builder, left);
    right = totalOrderKey(builder, right);
  }
  return builder.apply(comparisonOf<VectorOp>(op.getComparisonDirection()), left, right);
}

bool isHalf(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16;
}

bool isByte(mlir::Value value) {
  return elementTypeInfo(elementTypeOf(value)).bytes() == 1;
}

} // namespace

std::vector<llvm::StringRef> elementwiseNames() {
  std::vector<llvm::StringRef> names{"stablehlo.bitcast_convert",
                                     "stablehlo.compare",
                                     "stablehlo.complex",
                                     "stablehlo.convert",
                                     "stablehlo.imag",
                                     "stablehlo.iota",
                                     "stablehlo.real",
                                     "stablehlo.reduce_precision"};
  for (const Row &row : rows)
    names.push_back(row.name);
  return names;
}

bool hasVectorType(mlir::Value value) {
  std::optional<DType> type = dtypeOf(value);
  if (!type)
    return false;
  ElementType element = elementTypeOf(value);
  bool isSmallFloat = isFloat(element) && elementTypeInfo(element).bits < 16;
  return !isComplex(element) && !isSmallFloat;
}

DType laneTypeOf(mlir::Value value) {
  return isByte(value) && !hasVectorType(value) ? DType::U8 : *dtypeOf(value);
}

bool joinsGroups(Operation *op) {
  if (hasComplex(op))
    return isComplexArithmetic(op);
  return (isa<stablehlo::SelectOp>(op) && isByte(op->getResult(0))) || isElementwise(op);
}

bool isElementwise(Operation *op) {
  if (!findRow(rowNameOf(op)) &&
      !isa<stablehlo::CompareOp, stablehlo::ConvertOp, stablehlo::IotaOp, stablehlo::BitcastConvertOp>(op))
    return false;
  if (isa<stablehlo::BitcastConvertOp>(op)) {
    ElementType from = elementTypeOf(op->getOperand(0)), to = elementTypeOf(op->getResult(0));
    if (elementTypeInfo(from).bits != elementTypeInfo(to).bits)
      return false; // another shape
    if (isHalf(from) || isHalf(to))
      return false; // vectors hold it as f32
  }
  return llvm::all_of(op->getOperands(), hasVectorType) && hasVectorType(op->getResult(0));
}

std::optional<VectorBuilder::Value> applyElementwise(VectorBuilder &builder, Operation *op,
                                                     ArrayRef<VectorBuilder::Value> operands) {
  DType type = laneTypeOf(op->getResult(0));
  if (isa<stablehlo::ConvertOp>(op))
    return builder.convert(operands[0], type);
  if (isa<stablehlo::BitcastConvertOp>(op))
    return builder.bitcast(operands[0], type);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    auto rank = static_cast<int>(shapeOf(op->getResult(0)).size());
    return builder.iota(type, rank - 1 - static_cast<int>(iota.getIotaDimension()));
  }
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op))
    return compareElements(builder, compare, operands[0], operands[1]);
  const Row &row = *findRow(rowNameOf(op));
  bool onBools = elementTypeOf(op->getOperand(0)) == ElementType::Bool;
  VectorOp instruction = onBools ? row.onBools : row.op;
  auto at = [&](size_t i) { return i < operands.size() ? operands[i] : VectorBuilder::Value(-1); };
  VectorBuilder::Value value = builder.apply(instruction, at(0), at(1), at(2));
  bool isHalf = type == DType::F16 || type == DType::BF16; // which is computed in f32, and rounded by each op
  return isHalf ? builder.convert(value, type) : value;
}

} // namespace torchere::cpu
