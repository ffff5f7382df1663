// Elements of any dtype, by way of double.
#include "cli/elements.h"

#include "base/element_type.h"

#include <cstdint>
#include <cstring>

namespace torchere::cli {

DType partOf(DType dtype) {
  if (dtype == DType::C32)
    return DType::F16;
  if (dtype == DType::C64)
    return DType::F32;
  return dtype == DType::C128 ? DType::F64 : dtype;
}

template <class T> static double load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return static_cast<double>(value);
}

template <class T> static void store(double value, void *element) {
  T converted = static_cast<T>(value);
  std::memcpy(element, &converted, sizeof converted);
}

static const FloatFormat &formatOf(DType dtype) {
  return *elementTypeInfo(*elementTypeFromDType(dtype)).format;
}

double readElement(DType dtype, const void *element) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return load<uint8_t>(element);
  case DType::I8:
    return load<int8_t>(element);
  case DType::I16:
    return load<int16_t>(element);
  case DType::I32:
    return load<int32_t>(element);
  case DType::I64:
    return load<int64_t>(element);
  case DType::U16:
    return load<uint16_t>(element);
  case DType::U32:
    return load<uint32_t>(element);
  case DType::U64:
    return load<uint64_t>(element);
  case DType::F32:
    return load<float>(element);
  case DType::F64:
    return load<double>(element);
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0FNU:
  case DType::C32: // partOf() gives no complex type
  case DType::C64:
  case DType::C128:
    break;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, element, byteSize(dtype));
  return decodeFloat(bits, formatOf(dtype));
}

void writeElement(DType dtype, double value, void *element) {
  switch (dtype) {
  case DType::Bool:
    return store<uint8_t>(value != 0, element);
  case DType::U8:
    return store<uint8_t>(value, element);
  case DType::I8:
    return store<int8_t>(value, element);
  case DType::I16:
    return store<int16_t>(value, element);
  case DType::I32:
    return store<int32_t>(value, element);
  case DType::I64:
    return store<int64_t>(value, element);
  case DType::U16:
    return store<uint16_t>(value, element);
  case DType::U32:
    return store<uint32_t>(value, element);
  case DType::U64:
    return store<uint64_t>(value, element);
  case DType::F32:
    return store<float>(value, element);
  case DType::F64:
    return store<double>(value, element);
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0FNU:
  case DType::C32: // partOf() gives no complex type
  case DType::C64:
  case DType::C128:
    break;
  }
  uint32_t bits = encodeFloat(value, formatOf(dtype));
  std::memcpy(element, &bits, byteSize(dtype));
}

} // namespace torchere::cli
