// Implements arithmetic on pairs. Lengths and quotients of numbers with parts of f32 are
// computed in f64 and rounded once, as no square of these is out of range.
#include "cpu/frontend/complex_elements.h"

#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

#include <limits>

using namespace mlir;

namespace torchere::cpu {

namespace {

using Lane = VectorBuilder::Value;

bool isComplexValue(mlir::Value value) {
  return isa<ComplexType>(cast<RankedTensorType>(value.getType()).getElementType());
}

/// Of the parts, or of a number that has none.
DType partOf(mlir::Value value) {
  return *elementTypeInfo(partType(elementTypeOf(value))).dtype;
}

class Arithmetic {
public:
  Arithmetic(VectorBuilder &builder, DType type) : builder(builder), type(type) {}

  ElementParts product(const ElementParts &x, const ElementParts &y) {
    Lane a = x.real, b = x.imaginary, c = y.real, d = y.imaginary;
    return {sub(mul(a, c), mul(b, d)), add(mul(a, d), mul(b, c))};
  }

  /// Where both parts would be NaN: a divisor of zero gives what the limit is, infinite numbers over finite
  /// ones are infinite, and finite ones over infinite ones zero, as C's quotients are.
  ElementParts quotient(const ElementParts &x, const ElementParts &y) {
    Lane a = wide(x.real), b = wide(x.imaginary), c = wide(y.real), d = wide(y.imaginary);
    Lane zero = constant(0), infinity = constant(std::numeric_limits<double>::infinity());
    Lane longer = builder.apply(VectorOp::Maximum, abs(c), abs(d));
    Lane u = c, v = d, unit = longer;
    if (type != DType::F32) { // so that no square is out of range
      unit = select(equal(longer, zero), constant(1), longer);
      u = divide(c, unit);
      v = divide(d, unit);
    }
    Lane square = add(mul(u, u), mul(v, v));
    auto over = [&](Lane sum) {
      Lane ratio = divide(sum, square);
      return type == DType::F32 ? ratio : divide(ratio, unit);
    };
    Lane real = over(add(mul(a, u), mul(b, v))), imaginary = over(sub(mul(b, u), mul(a, v)));
    Lane areNan = both(isNan(real), isNan(imaginary));
    Lane isFiniteOverInfinite =
        both(both(isFinite(a), isFinite(b)), builder.apply(VectorOp::Or, isInfinity(c), isInfinity(d)));
    Lane isInfiniteOverFinite =
        both(builder.apply(VectorOp::Or, isInfinity(a), isInfinity(b)), both(isFinite(c), isFinite(d)));
    // Directions of infinite numbers.
    auto sign = [&](Lane part) {
      return select(isInfinity(part), builder.apply(VectorOp::Sign, part), zero);
    };
    Lane p = sign(a), q = sign(b);
    auto result = [&](Lane ratio, Lane direction, Lane overZero) {
      Lane limit = select(isInfiniteOverFinite, mul(infinity, direction), ratio);
      limit = select(isFiniteOverInfinite, zero, limit);
      limit = select(equal(longer, zero), overZero, limit);
      return narrow(select(areNan, limit, ratio));
    };
    return {result(real, add(mul(p, c), mul(q, d)), divide(a, c)),
            result(imaginary, sub(mul(q, c), mul(p, d)), divide(b, c))};
  }

  /// The larger part times sqrt(1 + ratio^2) where squares of f64 may overflow or vanish.
  Lane length(const ElementParts &x) {
    Lane a = builder.apply(VectorOp::Abs, wide(x.real)), b = builder.apply(VectorOp::Abs, wide(x.imaginary));
    Lane infinity = builder.constant(DType::F64, std::numeric_limits<double>::infinity());
    Lane isInfinite = builder.apply(VectorOp::Or, builder.apply(VectorOp::Equal, a, infinity),
                                    builder.apply(VectorOp::Equal, b, infinity));
    Lane finite;
    if (type == DType::F32) {
      finite = builder.apply(VectorOp::Sqrt, add(mul(a, a), mul(b, b)));
    } else {
      Lane longer = builder.apply(VectorOp::Maximum, a, b), shorter = builder.apply(VectorOp::Minimum, a, b);
      Lane ratio = builder.apply(VectorOp::Divide, shorter, longer);
      Lane one = builder.constant(DType::F64, 1), zero = builder.constant(DType::F64, 0);
      Lane scaled = mul(longer, builder.apply(VectorOp::Sqrt, add(one, mul(ratio, ratio))));
      finite = builder.apply(VectorOp::Select, builder.apply(VectorOp::Equal, longer, zero), zero, scaled);
    }
    return narrow(builder.apply(VectorOp::Select, isInfinite, infinity, finite));
  }

  /// In two factors, so that a large one and a small cosine give what is in range. Numbers on the real axis
  /// stay there; infinities in no direction are zero on the left, and infinite on the right.
  ElementParts exponential(const ElementParts &x) {
    Lane a = x.real, b = x.imaginary, zero = builder.constant(type, 0);
    Lane infinity = builder.constant(type, std::numeric_limits<double>::infinity());
    Lane root = builder.apply(VectorOp::Exponential, mul(a, builder.constant(type, 0.5)));
    auto part = [&](VectorOp direction) { return mul(mul(root, builder.apply(direction, b)), root); };
    Lane isZero = equal(a, builder.apply(VectorOp::Negate, infinity)), hasDirection = isFinite(b);
    Lane rest = select(isZero, zero, mul(b, zero)); // NaN where there is no direction
    Lane real = select(hasDirection, part(VectorOp::Cosine), select(equal(a, infinity), infinity, rest));
    Lane imaginary = select(hasDirection, part(VectorOp::Sine), rest);
    return {real, select(equal(b, zero), b, imaginary)};
  }

private:
  Lane wide(Lane x) { return builder.convert(x, DType::F64); }
  Lane narrow(Lane x) { return builder.convert(x, type); }
  Lane add(Lane x, Lane y) { return builder.apply(VectorOp::Add, x, y); }
  Lane abs(Lane x) { return builder.apply(VectorOp::Abs, x); }
  Lane divide(Lane x, Lane y) { return builder.apply(VectorOp::Divide, x, y); }
  Lane equal(Lane x, Lane y) { return builder.apply(VectorOp::Equal, x, y); }
  Lane both(Lane x, Lane y) { return builder.apply(VectorOp::And, x, y); }
  Lane isNan(Lane x) { return builder.apply(VectorOp::NotEqual, x, x); }
  Lane isFinite(Lane x) { return builder.apply(VectorOp::IsFinite, x); }
  Lane isInfinity(Lane x) { return equal(abs(x), constant(std::numeric_limits<double>::infinity())); }
  Lane select(Lane chosen, Lane x, Lane y) { return builder.apply(VectorOp::Select, chosen, x, y); }
  Lane constant(double number) { return builder.constant(DType::F64, number); }
  Lane sub(Lane x, Lane y) { return builder.apply(VectorOp::Subtract, x, y); }
  Lane mul(Lane x, Lane y) { return builder.apply(VectorOp::Multiply, x, y); }

  VectorBuilder &builder;
  DType type;
};

ElementParts convertParts(VectorBuilder &builder, Operation *op, const ElementParts &operand) {
  mlir::Value from = op->getOperand(0), to = op->getResult(0);
  ElementParts parts{builder.convert(operand.real, partOf(to)), -1};
  if (isComplexValue(to))
    parts.imaginary = isComplexValue(from) ? builder.convert(operand.imaginary, partOf(to))
                                           : builder.constant(partOf(to), 0);
  return parts;
}

} // namespace

View partsView(const View &view, bool isImaginary) {
  View parts = view;
  parts.type = partType(view.type);
  parts.offset = 2 * view.offset + (isImaginary ? 1 : 0);
  for (int64_t &stride : parts.strides)
    stride *= 2;
  return parts;
}

bool hasComplex(Operation *op) {
  return llvm::any_of(op->getOperands(), isComplexValue) || llvm::any_of(op->getResults(), isComplexValue);
}

bool isComplexArithmetic(Operation *op) {
  if (isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::ComplexOp, stablehlo::DivOp, stablehlo::ExpOp,
          stablehlo::ImagOp, stablehlo::MulOp, stablehlo::NegOp, stablehlo::RealOp, stablehlo::SelectOp,
          stablehlo::SubtractOp>(op))
    return true;
  if (isa<stablehlo::ConvertOp>(op)) // small floats and integers have no vectors
    return llvm::all_of(SmallVector<mlir::Value>{op->getOperand(0), op->getResult(0)}, [](mlir::Value value) {
      ElementType type = partType(elementTypeOf(value));
      return dtypeOf(value) && !(isFloat(type) && elementTypeInfo(type).bits < 16);
    });
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  return compare && (compare.getComparisonDirection() == stablehlo::ComparisonDirection::EQ ||
                     compare.getComparisonDirection() == stablehlo::ComparisonDirection::NE);
}

ElementParts applyComplex(VectorBuilder &builder, Operation *op, ArrayRef<ElementParts> operands) {
  Arithmetic arithmetic(builder, partOf(op->getOperands().back()));
  auto eachPart = [&](VectorOp instruction) -> ElementParts {
    bool isUnary = operands.size() == 1;
    return {builder.apply(instruction, operands[0].real, isUnary ? -1 : operands[1].real),
            builder.apply(instruction, operands[0].imaginary, isUnary ? -1 : operands[1].imaginary)};
  };
  if (isa<stablehlo::AddOp>(op))
    return eachPart(VectorOp::Add);
  if (isa<stablehlo::SubtractOp>(op))
    return eachPart(VectorOp::Subtract);
  if (isa<stablehlo::NegOp>(op))
    return eachPart(VectorOp::Negate);
  if (isa<stablehlo::MulOp>(op))
    return arithmetic.product(operands[0], operands[1]);
  if (isa<stablehlo::DivOp>(op))
    return arithmetic.quotient(operands[0], operands[1]);
  if (isa<stablehlo::ExpOp>(op))
    return arithmetic.exponential(operands[0]);
  if (isa<stablehlo::AbsOp>(op))
    return {arithmetic.length(operands[0]), -1};
  if (isa<stablehlo::ComplexOp>(op))
    return {operands[0].real, operands[1].real};
  if (isa<stablehlo::RealOp>(op))
    return {operands[0].real, -1};
  if (isa<stablehlo::ImagOp>(op))
    return {operands[0].imaginary, -1};
  if (isa<stablehlo::SelectOp>(op)) {
    Lane chosen = operands[0].real;
    return {builder.apply(VectorOp::Select, chosen, operands[1].real, operands[2].real),
            builder.apply(VectorOp::Select, chosen, operands[1].imaginary, operands[2].imaginary)};
  }
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    bool isEqual = compare.getComparisonDirection() == stablehlo::ComparisonDirection::EQ;
    ElementParts each = eachPart(isEqual ? VectorOp::Equal : VectorOp::NotEqual);
    return {builder.apply(isEqual ? VectorOp::And : VectorOp::Or, each.real, each.imaginary), -1};
  }
  return convertParts(builder, op, operands[0]);
}

} // namespace torchere::cpu
