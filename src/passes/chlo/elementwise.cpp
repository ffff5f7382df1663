// The expansions that are formulas.
#include "passes/chlo/complex.h"
#include "passes/chlo/expansions.h"
#include "passes/chlo/functions.h"

#include <limits>

using namespace mlir;

namespace torchere::passes {

namespace {

using stablehlo::elementType;

FailureOr<Values> expandComplex(Operation *op, OpBuilder &builder, Complex (*formula)(const Complex &)) {
  Value operand = op->getOperand(0);
  Type part = cast<ComplexType>(elementType(operand.getType())).getElementType();
  FormulaBuilder parts(builder, op->getLoc(), operand);
  Elements real(parts, parts.retyped<stablehlo::RealOp>(operand, part));
  Elements imaginary(parts, parts.retyped<stablehlo::ImagOp>(operand, part));
  Complex result = formula({real, imaginary});
  return Values{parts.retyped<stablehlo::ComplexOp>({result.real, result.imaginary}, ComplexType::get(part))};
}

using RealFunction = Elements (*)(const Elements &);
using ComplexFunction = Complex (*)(const Complex &);

/// A function of real numbers and, if there is one, of complex numbers.
template <class Op>
void addFunction(Expansions &table, RealFunction real, ComplexFunction complex = nullptr) {
  addExpansion<Op>(table, [=](Op op, OpBuilder &builder) -> FailureOr<Values> {
    if (!isa<ComplexType>(elementType(op.getOperand().getType())))
      return Values{buildFormula(builder, op, [&](auto operands) { return real(operands[0]); })};
    if (complex)
      return expandComplex(op, builder, complex);
    return op.emitOpError("of complex numbers has no expansion to StableHLO");
  });
}

template <class Op>
void addFunction(Expansions &table, Elements (*function)(const Elements &, const Elements &)) {
  addExpansion<Op>(table, [=](Op op, OpBuilder &builder) -> FailureOr<Values> {
    return Values{
        buildFormula(builder, op, [&](auto operands) { return function(operands[0], operands[1]); })};
  });
}

/// Whether the magnitude is infinite, or the number itself is `infinity`. Some types of 8 bits have no
/// infinity.
template <class Op> void addPredicate(Expansions &table, bool ofMagnitude, double infinity) {
  addExpansion<Op>(table, [=](Op op, OpBuilder &builder) -> FailureOr<Values> {
    FormulaBuilder formula(builder, op.getLoc(), op.getOperand());
    Elements x(formula, op.getOperand());
    auto element = cast<FloatType>(elementType(op.getOperand().getType()));
    if (!APFloat::semanticsHasInf(element.getFloatSemantics())) {
      auto type = cast<RankedTensorType>(op.getOperand().getType()).clone(builder.getI1Type());
      return Values{fullOf(builder, op.getLoc(), type, builder.getBoolAttr(false),
                           [&] { return shapeOf(builder, op.getLoc(), op.getOperand()); })};
    }
    return Values{equal(ofMagnitude ? abs(x) : x, infinity)};
  });
}

/// Ops that StableHLO has under another name.
template <class Op, class Plain> void addRenamed(Expansions &table) {
  addExpansion<Op>(table, [](Op op, OpBuilder &builder) -> FailureOr<Values> {
    FormulaBuilder formula(builder, op.getLoc(), op.getOperand());
    return Values{formula.elementwise<Plain>(op.getOperand())};
  });
}

FailureOr<Values> expandSquare(chlo::SquareOp op, OpBuilder &builder) {
  if (isa<ComplexType>(elementType(op.getOperand().getType())))
    return expandComplex(op, builder, square);
  FormulaBuilder formula(builder, op.getLoc(), op.getOperand());
  return Values{formula.elementwise<stablehlo::MulOp>({op.getOperand(), op.getOperand()})};
}

Elements same(const Elements &x) {
  return x;
}

} // namespace

void addElementwiseExpansions(Expansions &table) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  addFunction<chlo::AcosOp>(table, arcCosine, arcCosine);
  addFunction<chlo::AcoshOp>(table, hyperbolicArcCosine, hyperbolicArcCosine);
  addFunction<chlo::AsinOp>(table, arcSine, arcSine);
  addFunction<chlo::AsinhOp>(table, hyperbolicArcSine, hyperbolicArcSine);
  addFunction<chlo::AtanOp>(table, arcTangent, arcTangent);
  addFunction<chlo::AtanhOp>(table, hyperbolicArcTangent, hyperbolicArcTangent);
  addFunction<chlo::BesselI1eOp>(table, besselI1e);
  addFunction<chlo::AsinAcosKernelOp>(table, nullptr, inverseSineKernel);
  addFunction<chlo::ConjOp>(table, same, conjugate);
  addFunction<chlo::CoshOp>(table, hyperbolicCosine, hyperbolicCosine);
  addFunction<chlo::DigammaOp>(table, digamma);
  addFunction<chlo::ErfInvOp>(table, inverseErrorFunction);
  addFunction<chlo::ErfOp>(table, errorFunction);
  addFunction<chlo::ErfcOp>(table, complementaryErrorFunction);
  addFunction<chlo::LgammaOp>(table, logGamma);
  addFunction<chlo::PolygammaOp>(table, polygamma);
  addFunction<chlo::SinhOp>(table, hyperbolicSine, hyperbolicSine);
  addFunction<chlo::ZetaOp>(table, zeta);
  addPredicate<chlo::IsInfOp>(table, true, infinity);
  addPredicate<chlo::IsNegInfOp>(table, false, -infinity);
  addPredicate<chlo::IsPosInfOp>(table, false, infinity);
  addExpansion<chlo::SquareOp>(table, expandSquare);
  addRenamed<chlo::TanOp, stablehlo::TanOp>(table);
}

} // namespace torchere::passes
