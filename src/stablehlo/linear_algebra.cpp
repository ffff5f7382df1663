// Contractions, factorizations and Fourier transforms: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/convolution_shape.h"
#include "stablehlo/dialect.h"
#include "stablehlo/dot_shape.h"
#include "stablehlo/quantized_types.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/linear_algebra.cpp.inc"

namespace torchere::stablehlo {

void addLinearAlgebraOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/linear_algebra.cpp.inc"
      >();
}

//===- dot_general --------------------------------------------------------===//

static LogicalResult verifyQuantizedDot(DotGeneralOp op, Type lhs, Type rhs, Type result) {
  Reporter reporter(op);
  ContractionConstraints constraints{"C14", "C17", "C18", "C19", "C20"};
  if (failed(verifyQuantizedContraction(reporter, constraints, lhs, rhs, result)) ||
      failed(verifyZeroPoints(reporter, "C15", "rhs", rhs)))
    return failure();
  std::optional<int64_t> dimension = quantizedDimension(rhs);
  if (dimension && llvm::is_contained(op.getDotDimensionNumbers().getRhsContractingDimensions(), *dimension))
    return reporter.violation("C16", "quantized dimension ", *dimension, " of rhs is contracted");
  return success();
}

LogicalResult DotGeneralOp::verify() {
  Reporter reporter(*this);
  FailureOr<SmallVector<int64_t>> shape = inferDotGeneral(*this);
  if (failed(shape))
    return failure();
  if (std::optional<ArrayAttr> precision = getPrecisionConfig())
    if (!precision->empty() && failed(reporter.size("C11", "precision_config", precision->size(), 2)))
      return failure();
  if (getAlgorithm() && getPrecisionConfig())
    for (auto precision : getPrecisionConfig()->getAsRange<PrecisionAttr>())
      if (precision.getValue() != Precision::DEFAULT)
        return reporter.violation("C21", "precision_config with an algorithm: got ",
                                  stringifyEnum(precision.getValue()), ", expected DEFAULT");
  if (failed(verifyCompatibleShape(*shape, getType().getShape())))
    return reporter.violation("C12", "result has the wrong shape: got ", getType(), ", expected ",
                              getType().clone(*shape));
  Type lhs = getLhs().getType().getElementType(), rhs = getRhs().getType().getElementType();
  Type result = getType().getElementType();
  if (isQuantized(lhs) || isQuantized(rhs) || isQuantized(result))
    return verifyQuantizedDot(*this, lhs, rhs, result);
  return success(); // (C13), equal element types: upstream accepts any two, for integer weights
}

//===- convolution --------------------------------------------------------===//

LogicalResult ConvolutionOp::verify() {
  ConvolutionShape convolution = describeConvolution(*this);
  convolution.padding = getPaddingAttr();
  return verifyConvolution(Reporter(*this), convolution, getType());
}

//===- dot ----------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  Reporter reporter(*this);
  auto lhs = getLhs().getType(), rhs = getRhs().getType();
  auto isVectorOrMatrix = [](RankedTensorType type) { return type.getRank() == 1 || type.getRank() == 2; };
  if (!isVectorOrMatrix(lhs) || !isVectorOrMatrix(rhs))
    return reporter.violation("", "ranks of lhs and rhs: got ", lhs, " and ", rhs, ", expected 1 or 2");
  if (!mayEqual(lhs.getShape().back(), rhs.getShape().front()))
    return reporter.violation("", "contracting dimensions differ in size: lhs dimension ", lhs.getRank() - 1,
                              " has ", lhs.getShape().back(), ", rhs dimension 0 has ",
                              rhs.getShape().front());
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  if (failed(verifyCompatibleShape(shape, getType().getShape())))
    return reporter.violation("", "result has the wrong shape: got ", getType(), ", expected ",
                              getType().clone(shape));
  return success();
}

//===- cholesky -----------------------------------------------------------===//

/// The last two dimensions are those of square matrices.
static LogicalResult verifySquare(const Reporter &reporter, StringRef constraint, RankedTensorType a) {
  int64_t rows = a.getDimSize(a.getRank() - 2), columns = a.getDimSize(a.getRank() - 1);
  if (mayEqual(rows, columns))
    return success();
  return reporter.violation(constraint, "matrices of a are not square: got ", rows, " by ", columns);
}

LogicalResult CholeskyOp::verify() {
  Reporter reporter(*this);
  auto a = getA().getType();
  if (a.getRank() < 2)
    return reporter.violation("C2", "rank of a: got ", a.getRank(), ", expected at least 2");
  return verifySquare(reporter, "C3", a);
}

//===- triangular_solve ---------------------------------------------------===//

LogicalResult TriangularSolveOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  int64_t rank = a.getRank();
  if (failed(reporter.sameElements("C1", "a", adaptor.getA(), "b", adaptor.getB())))
    return failure();
  if (rank < 2 || rank != b.getRank())
    return reporter.violation("C2", "ranks of a and b: got ", a, " and ", b,
                              ", expected the same of at least 2");
  if (failed(verifySquare(reporter, "C3", a)))
    return failure();
  if (failed(verifyCompatibleShape(a.getShape().drop_back(2), b.getShape().drop_back(2))))
    return reporter.violation("C3", "batch dimensions of a and b differ: got ", a, " and ", b);
  int64_t side = adaptor.getLeftSide() ? rank - 2 : rank - 1;
  if (!mayEqual(a.getDimSize(rank - 1), b.getDimSize(side)) ||
      !mayEqual(a.getDimSize(rank - 2), b.getDimSize(side)))
    return reporter.violation("C3", "size of b's dimension ", side, ": got ", b.getDimSize(side),
                              ", expected that of a's matrices, ", a);
  types.push_back(b);
  return success();
}

//===- fft ----------------------------------------------------------------===//

namespace {

/// (C2): the elements of the result.
FailureOr<Type> inferFftElement(const Reporter &reporter, Type element, FftType type) {
  bool takesReal = type == FftType::RFFT;
  bool fits = takesReal ? isa<Float32Type, Float64Type>(element) : isComplex(element);
  if (!fits)
    return reporter.violation("C2", "elements of the operand of ", stringifyEnum(type), ": got ", element,
                              takesReal ? ", expected f32 or f64" : ", expected a complex type");
  if (takesReal)
    return Type(ComplexType::get(element));
  return type == FftType::IRFFT ? cast<ComplexType>(element).getElementType() : element;
}

/// The number of complex values that a real transform of `length` values needs.
int64_t halfLength(int64_t length) {
  return length == 0 ? 0 : length / 2 + 1;
}

} // namespace

LogicalResult FftOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  FftType type = adaptor.getFftType();
  ArrayRef<int64_t> length = adaptor.getFftLength();
  int64_t rank = operand.getRank(), count = length.size();
  FailureOr<Type> element = inferFftElement(reporter, operand.getElementType(), type);
  if (failed(element))
    return failure();
  if (count < 1 || count > 3)
    return reporter.violation("C3", "number of elements of fft_length: got ", count,
                              ", expected it in [1, 3]");
  if (count > rank)
    return reporter.violation("C1", "fft_length has more elements than the operand has dimensions: got ",
                              count, " and ", rank);
  SmallVector<int64_t> shape(operand.getShape());
  if (type == FftType::RFFT || type == FftType::IRFFT) {
    if (failed(reporter.atLeast("C4", "fft_length", length, 0)))
      return failure();
    if (type == FftType::IRFFT) {
      if (!mayEqual(shape.back(), halfLength(length.back())))
        return reporter.violation("C5", "size of the operand's last dimension: got ", shape.back(),
                                  ", expected ", halfLength(length.back()));
      shape.back() = length.back();
    }
    if (failed(verifyCompatibleShape(ArrayRef(shape).take_back(count), length)))
      return reporter.violation("C4", "last dimensions of the real tensor: got ", operand,
                                ", expected the sizes [", length, "]");
    if (type == FftType::RFFT)
      shape.back() = halfLength(length.back());
  }
  types.push_back(RankedTensorType::get(shape, *element));
  return success();
}

} // namespace torchere::stablehlo
