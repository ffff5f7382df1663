// Identities of elementwise ops. Those of floats are exact: x + 0 is not x when x is -0, x * 0 is not 0 when
// x is NaN, so neither is included. Complex numbers are excluded: (a+bi)*1 mixes infinities.
#include "evaluation/constants.h"
#include "passes/simplify/patterns.h"
#include "stablehlo/element_type_conversion.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Test = bool (*)(const Element &element);

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
  std::optional<Element> element = splatOf(constant);
  return element && test(*element);
}

/// Of a float; the zeros differ.
bool isNumber(const Element &element, double number) {
  return isFloat(element.type()) && element.asDouble() == number &&
         std::signbit(element.asDouble()) == std::signbit(number);
}

/// Of an integer or bool.
bool isValue(const Element &element, uint64_t value) {
  return !isFloat(element.type()) && !isComplex(element.type()) &&
         element.asUnsigned() == Element::integer(element.type(), value).asUnsigned();
}

uint64_t leastValue(ElementType type) {
  const ElementTypeInfo &info = elementTypeInfo(type);
  return info.kind == ElementKind::Signed ? uint64_t(1) << (info.bits - 1) : 0;
}

bool isZeroInteger(const Element &element) {
  return isValue(element, 0);
}

bool isAllOnes(const Element &element) {
  return isValue(element, ~uint64_t(0));
}

/// The neutral element of addition: for floats -0, because -0 + 0 is 0.
bool isAdditiveZero(const Element &element) {
  return isNumber(element, -0.0) || isZeroInteger(element);
}

/// The neutral element of subtraction: for floats 0, because -0 - -0 is 0.
bool isSubtractiveZero(const Element &element) {
  return isNumber(element, 0.0) || isZeroInteger(element);
}

bool isOne(const Element &element) {
  return isNumber(element, 1.0) || isValue(element, 1);
}

bool isLeastInteger(const Element &element) {
  return isValue(element, leastValue(element.type()));
}

bool isGreatestInteger(const Element &element) {
  return isValue(element, ~leastValue(element.type()));
}

bool isLeast(const Element &element) {
  return isNumber(element, -HUGE_VAL) || isLeastInteger(element);
}

bool isGreatest(const Element &element) {
  return isNumber(element, HUGE_VAL) || isGreatestInteger(element);
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

bool isStandardFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64;
}

/// Whether `to` can represent every value of `from`.
bool isLossless(Type from, Type to) {
  std::optional<ElementType> source = elementTypeOf(from), target = elementTypeOf(to);
  if (!source || !target || isComplex(*source) || isComplex(*target) ||
      (isFloat(*source) && !isStandardFloat(*source)) || (isFloat(*target) && !isStandardFloat(*target)))
    return false;
  const ElementTypeInfo &narrow = elementTypeInfo(*source), &wide = elementTypeInfo(*target);
  if (narrow.kind == ElementKind::Float)
    return wide.kind == ElementKind::Float && narrow.format->exponentBits <= wide.format->exponentBits &&
           narrow.format->mantissaBits <= wide.format->mantissaBits;
  if (narrow.kind == ElementKind::Bool)
    return true;
  bool isSigned = narrow.kind == ElementKind::Signed;
  if (wide.kind == ElementKind::Float)
    return narrow.bits - isSigned <= wide.format->mantissaBits + 1;
  if (wide.kind == ElementKind::Bool)
    return false;
  if (isSigned)
    return wide.kind == ElementKind::Signed && wide.bits >= narrow.bits;
  return wide.bits >= narrow.bits + (wide.kind == ElementKind::Signed);
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
