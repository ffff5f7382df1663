// How far two arrays are apart, and whether rounding explains it.
#include "cli/array_difference.h"

#include "base/error.h"
#include "cli/elements.h"
#include "program/entry_point.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace torchere::cli {

/// What two compilers may differ by, over a whole program.
static double defaultTolerance(DType part) {
  if (part == DType::F64)
    return 1e-10;
  if (part == DType::F32)
    return 1e-4;
  if (part == DType::F16)
    return 1e-2;
  return part == DType::BF16 ? 6e-2 : 0.3; // of 8 bits
}

static constexpr double mask = 1e30;

namespace {

/// Elements of two arrays of one type; a complex number is two of them.
class Elements {
public:
  Elements(const runtime::HostArray &got, const runtime::HostArray &expected)
      : part(partType(got.type->dtype)), size(byteSize(part)), got(static_cast<const std::byte *>(got.data)),
        expected(static_cast<const std::byte *>(expected.data)) {
    count = byteSize(got.type->dtype) / size;
    for (int64_t axis : got.type->shape)
      count *= static_cast<size_t>(axis);
  }

  double gotAt(size_t index) const { return readElement(part, got + index * size); }
  double expectedAt(size_t index) const { return readElement(part, expected + index * size); }
  bool areEqual(size_t index) const {
    return std::memcmp(got + index * size, expected + index * size, size) == 0;
  }

  DType part;
  size_t count = 0;

private:
  size_t size;
  const std::byte *got;
  const std::byte *expected;
};

} // namespace

static ArrayDifference compareIntegers(const Elements &elements) {
  ArrayDifference difference;
  size_t differing = 0;
  for (size_t i = 0; i < elements.count; ++i)
    if (!elements.areEqual(i)) {
      ++differing;
      difference.error = std::max(difference.error, std::abs(elements.gotAt(i) - elements.expectedAt(i)));
    }
  difference.relative = difference.error;
  if (differing)
    difference.verdict = fmt::format("{} of {} elements differ", differing, elements.count);
  return difference;
}

static ArrayDifference compareFloats(const Elements &elements, double tolerance) {
  ArrayDifference difference;
  double scale = 0;
  for (size_t i = 0; i < elements.count; ++i)
    if (double size = std::abs(elements.expectedAt(i)); size < mask)
      scale = std::max(scale, size);
  size_t misplaced = 0;
  for (size_t i = 0; i < elements.count; ++i) {
    double got = elements.gotAt(i), expected = elements.expectedAt(i);
    if (std::isfinite(got) && std::isfinite(expected)) {
      double error = std::abs(got - expected), own = std::abs(expected) < mask ? scale : std::abs(expected);
      difference.error = std::max(difference.error, error);
      difference.relative =
          std::max(difference.relative, error / std::max(own, std::numeric_limits<float>::min() * 1.0));
    } else if (got != expected && !(std::isnan(got) && std::isnan(expected))) {
      ++misplaced;
    }
  }
  if (misplaced) {
    difference.error = difference.relative = std::numeric_limits<double>::infinity();
    difference.verdict =
        fmt::format("{} of {} elements are finite in one of them alone", misplaced, elements.count);
  } else if (!(difference.relative <= tolerance)) {
    difference.verdict = fmt::format("got {:.1e}, expected at most {:.1e}", difference.relative, tolerance);
  }
  return difference;
}

ArrayDifference compareArrays(const runtime::HostArray &got, const runtime::HostArray &expected,
                              std::optional<double> tolerance) {
  const runtime::ArrayType &type = *got.type, &other = *expected.type;
  double infinity = std::numeric_limits<double>::infinity();
  if (type.dtype != other.dtype)
    return {infinity, infinity,
            fmt::format("another dtype: got {}, expected {}", dtypeInfo(type.dtype).torchName,
                        dtypeInfo(other.dtype).torchName)};
  if (type.shape != other.shape)
    return {infinity, infinity,
            fmt::format("another shape: got {}, expected {}", program::shapeText(type.shape),
                        program::shapeText(other.shape))};
  Elements elements(got, expected);
  if (!dtypeInfo(elements.part).isFloatingPoint)
    return compareIntegers(elements);
  return compareFloats(elements, tolerance.value_or(defaultTolerance(elements.part)));
}

} // namespace torchere::cli
