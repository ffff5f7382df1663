// ElementType: the types of StableHLO's tensor elements, and the one table of what they are made of.
#pragma once

#include "base/dtype.h"
#include "base/float_format.h"

#include <array>
#include <optional>
#include <string_view>

namespace torchere {

enum class ElementType : uint8_t {
  Bool,
  I2,
  I4,
  I8,
  I16,
  I32,
  I64,
  U2,
  U4,
  U8,
  U16,
  U32,
  U64,
  F4E2M1FN,
  F6E2M3FN,
  F6E3M2FN,
  F8E3M4,
  F8E4M3,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E4M3B11FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0FNU,
  BF16,
  F16,
  F32,
  F64,
  C64,
  C128,
};

enum class ElementKind : uint8_t { Bool, Signed, Unsigned, Float, Complex };

/// One row of the table.
struct ElementTypeInfo {
  ElementType type;
  std::string_view name; ///< as MLIR writes it: "ui8", "complex<f32>"
  ElementKind kind;
  int bits;
  const FloatFormat *format;  ///< of floats
  std::optional<DType> dtype; ///< torch's type of the same elements

  /// In memory an element takes whole bytes; what has fewer bits than that leaves the high ones zero, as
  /// ml_dtypes and MLIR do.
  constexpr int bytes() const { return (bits + 7) / 8; }
};

inline constexpr std::array<ElementTypeInfo, 30> elementTypes = {{
    {ElementType::Bool, "i1", ElementKind::Bool, 1, nullptr, DType::Bool},
    {ElementType::I2, "i2", ElementKind::Signed, 2, nullptr, {}},
    {ElementType::I4, "i4", ElementKind::Signed, 4, nullptr, {}},
    {ElementType::I8, "i8", ElementKind::Signed, 8, nullptr, DType::I8},
    {ElementType::I16, "i16", ElementKind::Signed, 16, nullptr, DType::I16},
    {ElementType::I32, "i32", ElementKind::Signed, 32, nullptr, DType::I32},
    {ElementType::I64, "i64", ElementKind::Signed, 64, nullptr, DType::I64},
    {ElementType::U2, "ui2", ElementKind::Unsigned, 2, nullptr, {}},
    {ElementType::U4, "ui4", ElementKind::Unsigned, 4, nullptr, {}},
    {ElementType::U8, "ui8", ElementKind::Unsigned, 8, nullptr, DType::U8},
    {ElementType::U16, "ui16", ElementKind::Unsigned, 16, nullptr, DType::U16},
    {ElementType::U32, "ui32", ElementKind::Unsigned, 32, nullptr, DType::U32},
    {ElementType::U64, "ui64", ElementKind::Unsigned, 64, nullptr, DType::U64},
    {ElementType::F4E2M1FN, "f4E2M1FN", ElementKind::Float, 4, &float4E2M1FN, {}},
    {ElementType::F6E2M3FN, "f6E2M3FN", ElementKind::Float, 6, &float6E2M3FN, {}},
    {ElementType::F6E3M2FN, "f6E3M2FN", ElementKind::Float, 6, &float6E3M2FN, {}},
    {ElementType::F8E3M4, "f8E3M4", ElementKind::Float, 8, &float8E3M4, {}},
    {ElementType::F8E4M3, "f8E4M3", ElementKind::Float, 8, &float8E4M3, {}},
    {ElementType::F8E4M3FN, "f8E4M3FN", ElementKind::Float, 8, &float8E4M3FN, DType::F8E4M3FN},
    {ElementType::F8E4M3FNUZ, "f8E4M3FNUZ", ElementKind::Float, 8, &float8E4M3FNUZ, DType::F8E4M3FNUZ},
    {ElementType::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", ElementKind::Float, 8, &float8E4M3B11FNUZ, {}},
    {ElementType::F8E5M2, "f8E5M2", ElementKind::Float, 8, &float8E5M2, DType::F8E5M2},
    {ElementType::F8E5M2FNUZ, "f8E5M2FNUZ", ElementKind::Float, 8, &float8E5M2FNUZ, DType::F8E5M2FNUZ},
    {ElementType::F8E8M0FNU, "f8E8M0FNU", ElementKind::Float, 8, &float8E8M0FNU, DType::F8E8M0FNU},
    {ElementType::BF16, "bf16", ElementKind::Float, 16, &bfloat16, DType::BF16},
    {ElementType::F16, "f16", ElementKind::Float, 16, &float16, DType::F16},
    {ElementType::F32, "f32", ElementKind::Float, 32, &float32, DType::F32},
    {ElementType::F64, "f64", ElementKind::Float, 64, &float64, DType::F64},
    {ElementType::C64, "complex<f32>", ElementKind::Complex, 64, nullptr, DType::C64},
    {ElementType::C128, "complex<f64>", ElementKind::Complex, 128, nullptr, DType::C128},
}};

constexpr const ElementTypeInfo &elementTypeInfo(ElementType type) {
  return elementTypes[static_cast<size_t>(type)];
}

/// The type of MLIR's name ("ui8"), if it is one of StableHLO's.
constexpr std::optional<ElementType> elementTypeFromName(std::string_view name) {
  for (const ElementTypeInfo &info : elementTypes)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

/// The type of torch's; none for complex32, which StableHLO has not.
constexpr std::optional<ElementType> elementTypeFromDType(DType dtype) {
  for (const ElementTypeInfo &info : elementTypes)
    if (info.dtype == dtype)
      return info.type;
  return std::nullopt;
}

constexpr bool isInteger(ElementType type) {
  ElementKind kind = elementTypeInfo(type).kind;
  return kind == ElementKind::Signed || kind == ElementKind::Unsigned;
}
constexpr bool isBool(ElementType type) {
  return type == ElementType::Bool;
}
constexpr bool isUnsigned(ElementType type) {
  return elementTypeInfo(type).kind == ElementKind::Unsigned;
}
constexpr bool isFloat(ElementType type) {
  return elementTypeInfo(type).kind == ElementKind::Float;
}
constexpr bool isComplex(ElementType type) {
  return elementTypeInfo(type).kind == ElementKind::Complex;
}
/// The type of a complex type's parts; any other type itself.
constexpr ElementType partType(ElementType type) {
  return type == ElementType::C64 ? ElementType::F32 : type == ElementType::C128 ? ElementType::F64 : type;
}
/// The complex type whose parts are of this type, f32 or f64.
constexpr ElementType complexType(ElementType part) {
  return part == ElementType::F64 ? ElementType::C128 : ElementType::C64;
}

} // namespace torchere
