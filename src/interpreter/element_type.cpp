// The table of StableHLO's element types.
#include "interpreter/element_type.h"

#include <array>

namespace torchere::interpreter {

using enum ElementKind;

static constexpr std::array<ElementTypeInfo, 30> table = {{
    {ElementType::Bool, "i1", Bool, 1, 1, nullptr, DType::Bool},
    {ElementType::I2, "i2", Signed, 2, 1, nullptr, {}},
    {ElementType::I4, "i4", Signed, 4, 1, nullptr, {}},
    {ElementType::I8, "i8", Signed, 8, 1, nullptr, DType::I8},
    {ElementType::I16, "i16", Signed, 16, 2, nullptr, DType::I16},
    {ElementType::I32, "i32", Signed, 32, 4, nullptr, DType::I32},
    {ElementType::I64, "i64", Signed, 64, 8, nullptr, DType::I64},
    {ElementType::U2, "ui2", Unsigned, 2, 1, nullptr, {}},
    {ElementType::U4, "ui4", Unsigned, 4, 1, nullptr, {}},
    {ElementType::U8, "ui8", Unsigned, 8, 1, nullptr, DType::U8},
    {ElementType::U16, "ui16", Unsigned, 16, 2, nullptr, DType::U16},
    {ElementType::U32, "ui32", Unsigned, 32, 4, nullptr, DType::U32},
    {ElementType::U64, "ui64", Unsigned, 64, 8, nullptr, DType::U64},
    {ElementType::F4E2M1FN, "f4E2M1FN", Float, 4, 1, &float4E2M1FN, {}},
    {ElementType::F6E2M3FN, "f6E2M3FN", Float, 6, 1, &float6E2M3FN, {}},
    {ElementType::F6E3M2FN, "f6E3M2FN", Float, 6, 1, &float6E3M2FN, {}},
    {ElementType::F8E3M4, "f8E3M4", Float, 8, 1, &float8E3M4, {}},
    {ElementType::F8E4M3, "f8E4M3", Float, 8, 1, &float8E4M3, {}},
    {ElementType::F8E4M3FN, "f8E4M3FN", Float, 8, 1, &float8E4M3FN, DType::F8E4M3FN},
    {ElementType::F8E4M3FNUZ, "f8E4M3FNUZ", Float, 8, 1, &float8E4M3FNUZ, DType::F8E4M3FNUZ},
    {ElementType::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", Float, 8, 1, &float8E4M3B11FNUZ, {}},
    {ElementType::F8E5M2, "f8E5M2", Float, 8, 1, &float8E5M2, DType::F8E5M2},
    {ElementType::F8E5M2FNUZ, "f8E5M2FNUZ", Float, 8, 1, &float8E5M2FNUZ, DType::F8E5M2FNUZ},
    {ElementType::F8E8M0FNU, "f8E8M0FNU", Float, 8, 1, &float8E8M0FNU, DType::F8E8M0FNU},
    {ElementType::BF16, "bf16", Float, 16, 2, &bfloat16, DType::BF16},
    {ElementType::F16, "f16", Float, 16, 2, &float16, DType::F16},
    {ElementType::F32, "f32", Float, 32, 4, nullptr, DType::F32},
    {ElementType::F64, "f64", Float, 64, 8, nullptr, DType::F64},
    {ElementType::C64, "complex<f32>", Complex, 64, 8, nullptr, DType::C64},
    {ElementType::C128, "complex<f64>", Complex, 128, 16, nullptr, DType::C128},
}};

const ElementTypeInfo &elementTypeInfo(ElementType type) {
  return table[static_cast<size_t>(type)];
}

std::optional<ElementType> elementTypeFromName(std::string_view name) {
  for (const ElementTypeInfo &info : table)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

} // namespace torchere::interpreter
