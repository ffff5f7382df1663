// Context: types, constants and elementwise ops.
#include "lowering/context.h"

#include "stablehlo/element_type_conversion.h"
#include "stablehlo/elements.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace torchere::lowering {

void Context::beginOp(std::string name, std::vector<TensorType> types) {
  op = std::move(name);
  results = std::move(types);
}

// ---- types

mlir::Type Context::elementType(DType dtype) {
  if (std::optional<ElementType> element = elementTypeFromDType(dtype))
    return stablehlo::mlirTypeOf(*element, opBuilder.getContext());
  return mlir::ComplexType::get(opBuilder.getF16Type()); // complex32, which StableHLO lacks
}

mlir::Type Context::elementType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

/// The element type of a value must be one that elementType() returns; anything else is a programming error.
[[noreturn]] static void abortOn(mlir::Type type) {
  llvm::errs() << "[lowering] a value has an element type that no dtype has: " << type << "\n";
  std::abort();
}

DType Context::dtype(mlir::Value value) {
  mlir::Type type = elementType(value);
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type); complex && complex.getElementType().isF16())
    return DType::C32;
  std::optional<ElementType> element = stablehlo::elementTypeOf(type);
  std::optional<DType> dtype = element ? elementTypeInfo(*element).dtype : std::nullopt;
  if (!dtype)
    abortOn(type);
  return *dtype;
}

int64_t Context::rank(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getRank();
}

mlir::RankedTensorType Context::tensorType(llvm::ArrayRef<Dim> shape, mlir::Type element) {
  Integers sizes;
  for (const Dim &dim : shape)
    sizes.push_back(dim.isConstant() ? dim.constant() : mlir::ShapedType::kDynamic);
  return mlir::RankedTensorType::get(sizes, element);
}

mlir::RankedTensorType Context::tensorType(llvm::ArrayRef<Dim> shape, DType dtype) {
  return tensorType(shape, elementType(dtype));
}

Result<int64_t> Context::axis(int64_t dim, int64_t rank) {
  int64_t bound = rank == 0 ? 1 : rank;
  if (dim < -bound || dim >= bound)
    return invalid("dimension out of range: got {}, expected {} to {}", dim, -bound, bound - 1);
  return dim < 0 ? dim + bound : dim;
}

Result<Integers> Context::axes(llvm::ArrayRef<int64_t> dims, int64_t rank) {
  Integers result;
  for (int64_t dim : dims) {
    TORCHERE_ASSIGN(int64_t index, axis(dim, rank));
    result.push_back(index);
  }
  return result;
}

// ---- constants

namespace {

llvm::APFloat toFloat(double value, mlir::FloatType type) {
  llvm::APFloat result(value);
  bool lossy = false;
  result.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return result;
}

llvm::APInt toInt(const Scalar &value, mlir::IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 1)
    return llvm::APInt(1, toDouble(value) != 0.0);
  return llvm::APInt(64, static_cast<uint64_t>(toInteger(value))).sextOrTrunc(width);
}

mlir::DenseElementsAttr splat(const Scalar &value, mlir::RankedTensorType type) {
  mlir::Type element = type.getElementType();
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(element))
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<llvm::APInt>{toInt(value, integer)});
  if (auto floating = mlir::dyn_cast<mlir::FloatType>(element))
    return mlir::DenseElementsAttr::get(type,
                                        llvm::ArrayRef<llvm::APFloat>{toFloat(toDouble(value), floating)});
  auto part = mlir::cast<mlir::FloatType>(mlir::cast<mlir::ComplexType>(element).getElementType());
  std::complex<double> number = toDouble(value);
  if (const auto *complex = std::get_if<std::complex<double>>(&value))
    number = *complex;
  std::complex<llvm::APFloat> parts(toFloat(number.real(), part), toFloat(number.imag(), part));
  return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<std::complex<llvm::APFloat>>{parts});
}

} // namespace

mlir::Value Context::constant(const Scalar &value, mlir::Type element) {
  return stablehlo::ConstantOp::create(opBuilder, location,
                                       splat(value, mlir::RankedTensorType::get({}, element)))
      ->getResult(0);
}

mlir::Value Context::constant(const Scalar &value, DType dtype) {
  return constant(value, elementType(dtype));
}

mlir::Value Context::full(const Scalar &value, DType dtype, llvm::ArrayRef<Dim> shape) {
  mlir::RankedTensorType type = tensorType(shape, dtype);
  if (type.hasStaticShape())
    return stablehlo::ConstantOp::create(opBuilder, location, splat(value, type))->getResult(0);
  return broadcastInDim(constant(value, dtype), shape, {});
}

mlir::Value Context::fullLike(const Scalar &value, mlir::Value other) {
  return full(value, dtype(other), shape(other));
}

mlir::Value Context::number(const Scalar &value) {
  DType type = DType::F64;
  if (std::holds_alternative<bool>(value))
    type = DType::Bool;
  else if (std::holds_alternative<int64_t>(value))
    type = DType::I64;
  else if (std::holds_alternative<std::complex<double>>(value))
    type = DType::C128;
  mlir::Value result = constant(value, type);
  state.numbers.try_emplace(result, value);
  return result;
}

mlir::Value Context::programNumber(const Scalar &value, mlir::Type element) {
  if (state.numberSource)
    if (mlir::Value argument = state.numberSource->argumentFor(
            value, splat(value, mlir::RankedTensorType::get({}, element)), opBuilder))
      return argument;
  return constant(value, element);
}

mlir::Value Context::programNumberLike(const Scalar &value, mlir::Value other) {
  return broadcastTo(programNumber(value, elementType(other)), shape(other));
}

const Scalar *Context::asNumber(mlir::Value value) const {
  auto found = state.numbers.find(value);
  return found == state.numbers.end() ? nullptr : &found->second;
}

mlir::Value Context::lowest(mlir::Type element) {
  if (mlir::isa<mlir::FloatType>(element))
    return constant(-std::numeric_limits<double>::infinity(), element);
  auto type = mlir::cast<mlir::IntegerType>(element);
  if (type.isUnsigned() || type.getWidth() == 1)
    return constant(int64_t{0}, element);
  return constant(llvm::APInt::getSignedMinValue(type.getWidth()).getSExtValue(), element);
}

mlir::Value Context::highest(mlir::Type element) {
  if (mlir::isa<mlir::FloatType>(element))
    return constant(std::numeric_limits<double>::infinity(), element);
  auto type = mlir::cast<mlir::IntegerType>(element);
  if (type.getWidth() == 1)
    return constant(true, element);
  if (type.isUnsigned())
    return constant(int64_t{-1}, element);
  return constant(llvm::APInt::getSignedMaxValue(type.getWidth()).getSExtValue(), element);
}

// ---- elementwise ops

/// Whether a value is the real number 1, or a tensor of nothing else.
static bool isOne(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  if (mlir::isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto elements = mlir::isa_and_nonnull<stablehlo::ConstantOp>(op)
                      ? op->getAttrOfType<mlir::DenseElementsAttr>("value")
                      : mlir::DenseElementsAttr();
  if (!elements || !elements.isSplat())
    return false;
  mlir::Type element = elements.getElementType();
  if (element.isIntOrIndex())
    return elements.getSplatValue<llvm::APInt>().isOne();
  return mlir::isa<mlir::FloatType>(element) && elements.getSplatValue<llvm::APFloat>().isExactlyValue(1.0);
}

// Not of complex numbers, of which the product by 1 may be NaN where one part is infinite.
mlir::Value Context::factorOfOne(mlir::ValueRange operands) {
  if (isOne(operands[0]))
    return operands[1];
  return isOne(operands[1]) ? operands[0] : mlir::Value();
}

/// For conversions to float8_e4m3fn: torch's saturate, also for infinities, where StableHLO's give NaN.
static mlir::Value clampToFloat8(Context &cx, mlir::Value number) {
  constexpr double greatest = 448;
  mlir::Value low = cx.constant(-greatest, DType::F32), high = cx.constant(greatest, DType::F32);
  return cx.withShape(cx.create<stablehlo::ClampOp>(number.getType(), {low, number, high}), cx.shape(number));
}

/// To float8_e8m0fnu, which has neither sign nor zero: torch drops the sign and turns zero into the smallest
/// number.
static mlir::Value convertToPower(Context &cx, mlir::Value number) {
  Dims shape = cx.shape(number);
  number = cx.withShape(cx.create<stablehlo::AbsOp>(number.getType(), number), shape);
  mlir::Type element = cx.elementType(DType::F8E8M0FNU);
  mlir::RankedTensorType type = mlir::cast<mlir::RankedTensorType>(number.getType()).clone(element);
  mlir::Value power = cx.withShape(cx.create<stablehlo::ConvertOp>(type, number), shape);
  mlir::Value isZero = cx.compare(stablehlo::ComparisonDirection::EQ, number, cx.fullLike(0.0, number));
  return cx.select(isZero, cx.fullLike(std::ldexp(1.0, -127), power), power);
}

mlir::Value Context::convert(mlir::Value value, mlir::Type element) {
  if (const Scalar *number = asNumber(value))
    return programNumber(*number, element);
  if (elementType(value) == element)
    return value;
  // StableHLO's convert drops the imaginary part; in torch, a bool is whether either part is not zero.
  if (element.isInteger(1) && mlir::isa<mlir::ComplexType>(elementType(value)))
    return compare(stablehlo::ComparisonDirection::NE, value, fullLike(0.0, value));
  mlir::RankedTensorType type = mlir::cast<mlir::RankedTensorType>(value.getType()).clone(element);
  if (mlir::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    value = convert(value, DType::F32); // as torch does, which rounds 64-bit values twice
  if (mlir::isa<mlir::Float8E4M3FNType>(element))
    value = clampToFloat8(*this, value);
  if (mlir::isa<mlir::Float8E8M0FNUType>(element))
    return convertToPower(*this, value);
  return withShape(create<stablehlo::ConvertOp>(type, value), shape(value));
}

mlir::Value Context::convert(mlir::Value value, DType dtype) {
  return convert(value, elementType(dtype));
}

mlir::Value Context::compare(stablehlo::ComparisonDirection direction, mlir::Value lhs, mlir::Value rhs) {
  stablehlo::ComparisonType kind = stablehlo::naturalComparison(elementType(lhs));
  mlir::MLIRContext *context = opBuilder.getContext();
  mlir::Type type = mlir::cast<mlir::RankedTensorType>(lhs.getType()).clone(opBuilder.getI1Type());
  return withShape(
      create<stablehlo::CompareOp>(
          type, {lhs, rhs},
          {attribute("comparison_direction", stablehlo::ComparisonDirectionAttr::get(context, direction)),
           attribute("compare_type", stablehlo::ComparisonTypeAttr::get(context, kind))}),
      shape(lhs));
}

mlir::Value Context::select(mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse) {
  return withShape(create<stablehlo::SelectOp>(onTrue.getType(), {predicate, onTrue, onFalse}),
                   shape(onTrue));
}

Integers allAxes(mlir::Value value) {
  Integers axes(Context::rank(value));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

} // namespace torchere::lowering
