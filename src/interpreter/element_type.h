// ElementType: the types of StableHLO's tensor elements, and the one table of what they are made of.
#pragma once

#include "base/dtype.h"
#include "base/error.h"
#include "base/float_format.h"

#include <optional>
#include <string_view>

namespace torchere::interpreter {

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

/// One row of the table. In memory an element takes whole bytes; what has fewer bits than that leaves the
/// high ones zero, as ml_dtypes and MLIR do.
struct ElementTypeInfo {
  ElementType type;
  std::string_view name; ///< as MLIR writes it: "ui8", "complex<f32>"
  ElementKind kind;
  int bits;
  int bytes;
  const FloatFormat *format;  ///< of floats up to 16 bits
  std::optional<DType> dtype; ///< torch's type of the same elements
};

TORCHERE_EXPORT const ElementTypeInfo &elementTypeInfo(ElementType type);
/// The type of MLIR's name ("ui8"), if it is one of StableHLO's.
TORCHERE_EXPORT std::optional<ElementType> elementTypeFromName(std::string_view name);

inline bool isInteger(ElementType type) {
  ElementKind kind = elementTypeInfo(type).kind;
  return kind == ElementKind::Signed || kind == ElementKind::Unsigned;
}
inline bool isBool(ElementType type) {
  return type == ElementType::Bool;
}
inline bool isUnsigned(ElementType type) {
  return elementTypeInfo(type).kind == ElementKind::Unsigned;
}
inline bool isFloat(ElementType type) {
  return elementTypeInfo(type).kind == ElementKind::Float;
}
inline bool isComplex(ElementType type) {
  return elementTypeInfo(type).kind == ElementKind::Complex;
}
/// The type of a complex type's parts; any other type itself.
inline ElementType partType(ElementType type) {
  return type == ElementType::C64 ? ElementType::F32 : type == ElementType::C128 ? ElementType::F64 : type;
}

} // namespace torchere::interpreter
