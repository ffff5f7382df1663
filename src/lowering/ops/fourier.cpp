// Discrete Fourier transforms, and the frequencies of their results.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace torchere::lowering {

namespace {

using stablehlo::FftType;

/// How many dimensions one stablehlo.fft transforms at most.
constexpr size_t mostAxes = 3;

/// StableHLO's lengths are attributes, so a transformed dimension cannot be dynamic.
Result<Integers> constantLengths(Context &cx, llvm::ArrayRef<Dim> sizes) {
  Integers lengths;
  for (const Dim &size : sizes) {
    if (!size.isConstant())
      return cx.unimplemented("the size of a transformed dimension must be known at export: got a dynamic "
                              "size, expected a constant");
    lengths.push_back(size.constant());
  }
  return lengths;
}

Dims sizesOf(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  Dims shape = cx.shape(value), sizes;
  for (int64_t axis : axes)
    sizes.push_back(shape[axis]);
  return sizes;
}

/// The element type of a transform's result.
mlir::Type transformedElement(FftType type, mlir::Type element) {
  if (type == FftType::RFFT)
    return mlir::ComplexType::get(element);
  return type == FftType::IRFFT ? mlir::cast<mlir::ComplexType>(element).getElementType() : element;
}

/// One stablehlo.fft over at most three axes, which it wants to be the last ones.
mlir::Value transformTogether(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                              llvm::ArrayRef<int64_t> lengths, FftType type) {
  Integers order;
  for (int64_t axis = 0; axis < Context::rank(value); ++axis)
    if (!llvm::is_contained(axes, axis))
      order.push_back(axis);
  order.append(axes.begin(), axes.end());
  value = cx.transpose(value, order);
  Dims shape = cx.shape(value);
  if (type == FftType::RFFT)
    shape.back() = lengths.back() / 2 + 1;
  else if (type == FftType::IRFFT)
    shape.back() = lengths.back();
  mlir::Type result = cx.tensorType(shape, transformedElement(type, Context::elementType(value)));
  auto typeAttribute = stablehlo::FftTypeAttr::get(cx.builder().getContext(), type);
  value = cx.withShape(cx.create<stablehlo::FftOp>(result, value,
                                                   {cx.attribute("fft_type", typeAttribute),
                                                    cx.integersAttribute("fft_length", lengths)}),
                       shape);
  Integers inverse(order.size());
  for (auto [place, axis] : llvm::enumerate(order))
    inverse[axis] = static_cast<int64_t>(place);
  return cx.transpose(value, inverse);
}

/// Transforms of complex numbers over any number of axes.
mlir::Value transformComplex(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                             llvm::ArrayRef<int64_t> lengths, FftType type) {
  for (size_t first = 0; first < axes.size(); first += mostAxes)
    value = transformTogether(cx, value, axes.slice(first).take_front(mostAxes),
                              lengths.slice(first).take_front(mostAxes), type);
  return value;
}

/// torch's normalization: 0 leaves the sum as it is, 1 divides by the root of the number of points, 2 by the
/// number. StableHLO's inverse transforms have divided by the number already.
Result<mlir::Value> normalized(Context &cx, const Args &args, mlir::Value value,
                               llvm::ArrayRef<int64_t> lengths, bool isInverse) {
  int64_t mode = args.integer("normalization");
  if (mode < 0 || mode > 2)
    return cx.invalid("unknown normalization: got {}, expected 0, 1 or 2", mode);
  double points = 1;
  for (int64_t length : lengths)
    points *= static_cast<double>(length);
  double divisor = mode == 0 ? 1 : mode == 1 ? std::sqrt(points) : points;
  double factor = (isInverse ? points : 1) / divisor;
  return factor == 1 ? value : cx.elementwise<stablehlo::MulOp>({value, cx.fullLike(factor, value)});
}

Result<mlir::Value> complexToComplex(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Integers axes, cx.axes(args.integers("dim"), Context::rank(self)));
  TORCHERE_ASSIGN(Integers lengths, constantLengths(cx, sizesOf(cx, self, axes)));
  bool isForward = args.boolean("forward");
  mlir::Value result = transformComplex(cx, self, axes, lengths, isForward ? FftType::FFT : FftType::IFFT);
  return normalized(cx, args, result, lengths, !isForward);
}

/// The last of `dim` is transformed first: real numbers have a spectrum of half the size there.
Result<mlir::Value> realToComplex(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Integers axes, cx.axes(args.integers("dim"), Context::rank(self)));
  TORCHERE_ASSIGN(Integers lengths, constantLengths(cx, sizesOf(cx, self, axes)));
  TORCHERE_ASSIGN(mlir::Value scaled, normalized(cx, args, self, lengths, /*isInverse=*/false));
  llvm::ArrayRef<int64_t> allAxes(axes), allLengths(lengths);
  if (!args.boolean("onesided"))
    return transformComplex(cx, cx.convert(scaled, cx.resultType().dtype), axes, lengths, FftType::FFT);
  size_t together = std::min(mostAxes, axes.size()), others = axes.size() - together;
  mlir::Value half = transformTogether(cx, scaled, allAxes.take_back(together),
                                       allLengths.take_back(together), FftType::RFFT);
  return transformComplex(cx, half, allAxes.take_front(others), allLengths.take_front(others), FftType::FFT);
}

/// The inverse of the one-sided transform: of the last of `dim`, as much is read as half the result needs.
Result<mlir::Value> complexToReal(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Integers axes, cx.axes(args.integers("dim"), Context::rank(self)));
  if (axes.empty())
    return cx.invalid("no dimension to transform: got an empty dim");
  Dims sizes = sizesOf(cx, self, axes);
  sizes.back() = args.dim("last_dim_size");
  TORCHERE_ASSIGN(Integers lengths, constantLengths(cx, sizes));
  int64_t half = lengths.back() / 2 + 1;
  if (Dim size = cx.size(self, axes.back()); !size.is(half)) {
    if (size.isConstant() && size.constant() < half)
      return cx.invalid("the last transformed dimension is too short: got {}, expected {}", size.constant(),
                        half);
    self = cx.sliceAxis(self, axes.back(), 0, half);
  }
  llvm::ArrayRef<int64_t> allAxes(axes), allLengths(lengths);
  size_t together = std::min(mostAxes, axes.size()), others = axes.size() - together;
  self = transformComplex(cx, self, allAxes.take_front(others), allLengths.take_front(others), FftType::IFFT);
  mlir::Value result = transformTogether(cx, self, allAxes.take_back(together),
                                         allLengths.take_back(together), FftType::IRFFT);
  return normalized(cx, args, result, lengths, /*isInverse=*/true);
}

/// i / (n d), where of all frequencies the second half are the negative ones.
template <bool isHalf> mlir::Value frequencies(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  int64_t points = args.integer("n");
  mlir::Value index = cx.iota(type.shape, DType::I64, 0);
  if (!isHalf) {
    mlir::Value isNegative =
        cx.compare(stablehlo::ComparisonDirection::GE, index, cx.fullLike((points + 1) / 2, index));
    mlir::Value below = cx.elementwise<stablehlo::SubtractOp>({index, cx.fullLike(points, index)});
    index = cx.select(isNegative, below, index);
  }
  DType compute = computeType(type.dtype);
  mlir::Value number = cx.convert(index, compute);
  double step = 1.0 / (static_cast<double>(points) * args.floating("d"));
  return cx.convert(cx.elementwise<stablehlo::MulOp>({number, cx.fullLike(step, number)}), type.dtype);
}

} // namespace

void addFourier(OpTable &table) {
  table.add("aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
            complexToComplex);
  table.add("aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
            realToComplex);
  table.add("aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
            complexToReal);
#define TORCHERE_FREQUENCIES                                                                                 \
  "(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "               \
  "bool? pin_memory=None) -> Tensor"
  table.add("aten::fft_fftfreq" TORCHERE_FREQUENCIES, frequencies<false>);
  table.add("aten::fft_rfftfreq" TORCHERE_FREQUENCIES, frequencies<true>);
#undef TORCHERE_FREQUENCIES
}

} // namespace torchere::lowering
