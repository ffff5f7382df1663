// Elements of any dtype, by way of double.
#pragma once

#include "base/dtype.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace torchere::cli {

/// An element's value; not of complex dtypes. Integers of more than 53 bits are rounded.
double readElement(DType dtype, const void *element);
/// Writes the nearest value of the dtype; not of complex dtypes.
void writeElement(DType dtype, double value, void *element);

/// Stands for the floats of 8 and 16 bits, which readElement() decodes.
struct SmallFloat {};

/// visit(std::type_identity<T>()), where T is the type of the dtype's elements; not of complex dtypes.
template <class Visit> auto visitElementType(DType dtype, Visit &&visit) {
  switch (dtype) {
  case DType::Bool:
    return visit(std::type_identity<bool>());
  case DType::I8:
    return visit(std::type_identity<int8_t>());
  case DType::I16:
    return visit(std::type_identity<int16_t>());
  case DType::I32:
    return visit(std::type_identity<int32_t>());
  case DType::I64:
    return visit(std::type_identity<int64_t>());
  case DType::U8:
    return visit(std::type_identity<uint8_t>());
  case DType::U16:
    return visit(std::type_identity<uint16_t>());
  case DType::U32:
    return visit(std::type_identity<uint32_t>());
  case DType::U64:
    return visit(std::type_identity<uint64_t>());
  case DType::F32:
    return visit(std::type_identity<float>());
  case DType::F64:
    return visit(std::type_identity<double>());
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0FNU:
  case DType::C32:
  case DType::C64:
  case DType::C128:
    break;
  }
  return visit(std::type_identity<SmallFloat>());
}

template <class T> T loadElement(const void *element) {
  if constexpr (std::is_same_v<T, bool>)
    return loadElement<uint8_t>(element) != 0; // any byte may be there
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

} // namespace torchere::cli
