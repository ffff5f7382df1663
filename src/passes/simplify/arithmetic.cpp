// Identities of elementwise ops. Those of floats are exact: x + 0 is not x when x is -0, x * 0 is not 0 when
// x is NaN, so neither is included. Complex numbers are excluded: (a+bi)*1 mixes infinities.
#include "evaluation/scalar_functions.h"
#include "passes/simplify/patterns.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Kind = ElementFormat::Kind;
using Test = bool (*)(const ElementFormat &format, const APInt &bits);

//===- constants of one value ---------------------------------------------===//

/// The constant behind ops that only repeat or move its elements.
DenseElementsAttr constantSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    DenseElementsAttr constant;
    if (matchPattern(op, m_Constant(&constant)))
      return constant;
    if (!isa<BroadcastInDimOp, DynamicBroadcastInDimOp, ReshapeOp, DynamicReshapeOp, TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

/// Whether every element is one value, and it passes the test.
template <Test test> bool holds(Value value) {
  DenseElementsAttr constant = constantSource(value);
  if (!constant || !constant.isSplat() || constant.getElementType() != elementType(value.getType()))
    return false;
  std::optional<ElementFormat> format = ElementFormat::of(constant.getElementType());
  if (!format)
    return false;
  return test(*format, format->isFloat() ? constant.getSplatValue<APFloat>().bitcastToAPInt()
                                         : constant.getSplatValue<APInt>());
}

bool isZeroInteger(const ElementFormat &format, const APInt &bits) {
  return !format.isFloat() && bits.isZero();
}

bool isAllOnes(const ElementFormat &format, const APInt &bits) {
  return !format.isFloat() && bits.isAllOnes();
}

/// The neutral element of addition: for floats -0, because -0 + 0 is 0.
bool isAdditiveZero(const ElementFormat &format, const APInt &bits) {
  return format.isFloat() ? APFloat(*format.semantics, bits).isNegZero() : bits.isZero();
}

/// The neutral element of subtraction: for floats 0, because -0 - -0 is 0.
bool isSubtractiveZero(const ElementFormat &format, const APInt &bits) {
  return format.isFloat() ? APFloat(*format.semantics, bits).isPosZero() : bits.isZero();
}

bool isOne(const ElementFormat &format, const APInt &bits) {
  return format.isFloat() ? bits == APFloat::getOne(*format.semantics).bitcastToAPInt() : bits.isOne();
}

bool isLeast(const ElementFormat &format, const APInt &bits) {
  switch (format.kind) {
  case Kind::Float: {
    APFloat number(*format.semantics, bits);
    return number.isInfinity() && number.isNegative();
  }
  case Kind::Signed:
    return bits.isMinSignedValue();
  case Kind::Boolean:
  case Kind::Unsigned:
    break;
  }
  return bits.isZero();
}

bool isGreatest(const ElementFormat &format, const APInt &bits) {
  switch (format.kind) {
  case Kind::Float: {
    APFloat number(*format.semantics, bits);
    return number.isInfinity() && !number.isNegative();
  }
  case Kind::Signed:
    return bits.isMaxSignedValue();
  case Kind::Boolean:
  case Kind::Unsigned:
    break;
  }
  return bits.isAllOnes();
}

bool isLeastInteger(const ElementFormat &format, const APInt &bits) {
  return !format.isFloat() && isLeast(format, bits);
}

bool isGreatestInteger(const ElementFormat &format, const APInt &bits) {
  return !format.isFloat() && isGreatest(format, bits);
}

//===- families of identities ---------------------------------------------===//

/// x op neutral = x.
template <class Op, Test neutral> Value dropRight(Op op, OpBuilder &) {
  return holds<neutral>(op.getRhs()) ? Value(op.getLhs()) : Value();
}

/// neutral op x = x.
template <class Op, Test neutral> Value dropLeft(Op op, OpBuilder &) {
  return holds<neutral>(op.getLhs()) ? Value(op.getRhs()) : Value();
}

/// x op absorbing = absorbing op x = absorbing.
template <class Op, Test absorbing> Value absorb(Op op, OpBuilder &) {
  if (holds<absorbing>(op.getRhs()))
    return op.getRhs();
  return holds<absorbing>(op.getLhs()) ? Value(op.getLhs()) : Value();
}

/// x op x = x.
template <class Op> Value mergeEqual(Op op, OpBuilder &) {
  return op.getLhs() == op.getRhs() ? Value(op.getLhs()) : Value();
}

Value constantOf(Operation *op, OpBuilder &builder, bool value) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  APInt bits(type.getElementTypeBitWidth(), value);
  return ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, bits));
}

/// x op x = 0, for integers.
template <class Op> Value cancelEqual(Op op, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(op.getType());
  if (op.getLhs() != op.getRhs() || !isa<IntegerType>(type.getElementType()) || !type.hasStaticShape())
    return {};
  return constantOf(op, builder, false);
}

/// op(op(x)) = x.
template <class Op> Value cancelTwice(Op op, OpBuilder &) {
  auto inner = op.getOperand().template getDefiningOp<Op>();
  return inner ? Value(inner.getOperand()) : Value();
}

/// op(op(x)) = op(x).
template <class Op> Value mergeTwice(Op op, OpBuilder &) {
  return op.getOperand().template getDefiningOp<Op>() ? Value(op.getOperand()) : Value();
}

//===- comparison and selection -------------------------------------------===//

/// Of integers with themselves, and of booleans with constants.
Value simplifyCompare(CompareOp op, OpBuilder &builder) {
  ComparisonDirection direction = op.getComparisonDirection();
  if (op.getLhs() == op.getRhs() && isa<IntegerType>(elementType(op.getLhs().getType())) &&
      op.getType().hasStaticShape())
    return constantOf(op, builder,
                      direction == ComparisonDirection::EQ || direction == ComparisonDirection::GE ||
                          direction == ComparisonDirection::LE);
  if (!isBoolean(elementType(op.getLhs().getType())))
    return {};
  bool isIdentity = (direction == ComparisonDirection::EQ && holds<isAllOnes>(op.getRhs())) ||
                    (direction == ComparisonDirection::NE && holds<isZeroInteger>(op.getRhs()));
  return isIdentity ? op.getLhs() : Value();
}

Value simplifySelect(SelectOp op, OpBuilder &builder) {
  if (holds<isAllOnes>(op.getPred()))
    return op.getOnTrue();
  if (holds<isZeroInteger>(op.getPred()))
    return op.getOnFalse();
  if (holds<isAllOnes>(op.getOnTrue()) && holds<isZeroInteger>(op.getOnFalse()) &&
      op.getPred().getType() == op.getType())
    return op.getPred();
  if (auto negation = op.getPred().getDefiningOp<NotOp>())
    return SelectOp::create(builder, op.getLoc(), op.getType(), negation.getOperand(), op.getOnFalse(),
                            op.getOnTrue());
  return {};
}

//===- conversion ---------------------------------------------------------===//

bool isStandardFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// Whether `to` can represent every value of `from`.
bool isLossless(Type from, Type to) {
  std::optional<ElementFormat> source = ElementFormat::of(from), target = ElementFormat::of(to);
  if (!source || !target || (source->isFloat() && !isStandardFloat(from)) ||
      (target->isFloat() && !isStandardFloat(to)))
    return false;
  if (source->isFloat())
    return target->isFloat() && APFloat::isRepresentableBy(*source->semantics, *target->semantics);
  if (source->kind == Kind::Boolean)
    return true;
  bool isSigned = source->kind == Kind::Signed;
  if (target->isFloat())
    return source->width - isSigned <= APFloat::semanticsPrecision(*target->semantics);
  if (target->kind == Kind::Boolean)
    return false;
  if (isSigned)
    return target->kind == Kind::Signed && target->width >= source->width;
  return target->width >= source->width + (target->kind == Kind::Signed);
}

/// convert(convert(x)) = convert(x), if the inner one is lossless.
Value mergeConverts(ConvertOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ConvertOp>();
  if (!inner)
    return {};
  Value source = inner.getOperand();
  if (!isLossless(elementType(source.getType()), elementType(inner.getType())))
    return {};
  if (source.getType() == op.getType())
    return source;
  return ConvertOp::create(builder, op.getLoc(), op.getType(), source);
}

} // namespace

void addArithmeticSimplifications(RewritePatternSet &patterns) {
  addSimplifications<AddOp, AddOp, MulOp, MulOp, MulOp, SubtractOp, SubtractOp, DivOp, PowOp>(
      patterns, dropRight<AddOp, isAdditiveZero>, dropLeft<AddOp, isAdditiveZero>, dropRight<MulOp, isOne>,
      dropLeft<MulOp, isOne>, absorb<MulOp, isZeroInteger>, dropRight<SubtractOp, isSubtractiveZero>,
      cancelEqual<SubtractOp>, dropRight<DivOp, isOne>, dropRight<PowOp, isOne>);
  addSimplifications<MaxOp, MaxOp, MaxOp, MaxOp, MinOp, MinOp, MinOp, MinOp>(
      patterns, dropRight<MaxOp, isLeast>, dropLeft<MaxOp, isLeast>, absorb<MaxOp, isGreatestInteger>,
      mergeEqual<MaxOp>, dropRight<MinOp, isGreatest>, dropLeft<MinOp, isGreatest>,
      absorb<MinOp, isLeastInteger>, mergeEqual<MinOp>);
  addSimplifications<AndOp, AndOp, AndOp, AndOp, OrOp, OrOp, OrOp, OrOp, XorOp, XorOp, XorOp>(
      patterns, dropRight<AndOp, isAllOnes>, dropLeft<AndOp, isAllOnes>, absorb<AndOp, isZeroInteger>,
      mergeEqual<AndOp>, dropRight<OrOp, isZeroInteger>, dropLeft<OrOp, isZeroInteger>,
      absorb<OrOp, isAllOnes>, mergeEqual<OrOp>, dropRight<XorOp, isZeroInteger>,
      dropLeft<XorOp, isZeroInteger>, cancelEqual<XorOp>);
  addSimplifications<ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(
      patterns, dropRight<ShiftLeftOp, isZeroInteger>, dropRight<ShiftRightArithmeticOp, isZeroInteger>,
      dropRight<ShiftRightLogicalOp, isZeroInteger>);
  addSimplifications<NegOp, NotOp, AbsOp, CeilOp, FloorOp, RoundOp, RoundNearestEvenOp, SignOp>(
      patterns, cancelTwice<NegOp>, cancelTwice<NotOp>, mergeTwice<AbsOp>, mergeTwice<CeilOp>,
      mergeTwice<FloorOp>, mergeTwice<RoundOp>, mergeTwice<RoundNearestEvenOp>, mergeTwice<SignOp>);
  addSimplifications<CompareOp, SelectOp, ConvertOp>(patterns, simplifyCompare, simplifySelect,
                                                     mergeConverts);
}

} // namespace torchere::passes
