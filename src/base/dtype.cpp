// DType: the table of torch's element types.
#include "base/dtype.h"

#include "base/element_type.h"

#include <array>

namespace torchere {

/// complex32 is torch's alone.
static constexpr DTypeInfo complex32 = {DType::C32, "complex32", "c32", "", "|V4", 4, false, true, true};

static constexpr bool isSigned(const ElementTypeInfo &info) {
  // By its kind: with UBSan, GCC takes a comparison of the format's address with null for no constant.
  bool isPower = info.kind == ElementKind::Float && info.format->specials == FloatSpecials::PowerOnly;
  return info.kind != ElementKind::Bool && info.kind != ElementKind::Unsigned && !isPower;
}

/// The names that torch and numpy have, with what StableHLO's type of the same elements is made of.
static constexpr DTypeInfo row(DType dtype, std::string_view torchName, std::string_view shortName,
                               std::string_view descr) {
  const ElementTypeInfo &info = elementTypeInfo(elementTypeFromDType(dtype).value());
  return {dtype,
          torchName,
          shortName,
          info.name,
          descr,
          static_cast<size_t>(info.bytes()),
          info.kind == ElementKind::Float,
          info.kind == ElementKind::Complex,
          isSigned(info)};
}

static constexpr std::array<DTypeInfo, 21> table = {{
    row(DType::Bool, "bool", "b8", "|b1"),
    row(DType::I8, "int8", "i8", "|i1"),
    row(DType::I16, "int16", "i16", "<i2"),
    row(DType::I32, "int32", "i32", "<i4"),
    row(DType::I64, "int64", "i64", "<i8"),
    row(DType::U8, "uint8", "u8", "|u1"),
    row(DType::U16, "uint16", "u16", "<u2"),
    row(DType::U32, "uint32", "u32", "<u4"),
    row(DType::U64, "uint64", "u64", "<u8"),
    row(DType::F16, "float16", "f16", "<f2"),
    row(DType::BF16, "bfloat16", "bf16", "|V2"),
    row(DType::F32, "float32", "f32", "<f4"),
    row(DType::F64, "float64", "f64", "<f8"),
    complex32,
    row(DType::C64, "complex64", "c64", "<c8"),
    row(DType::C128, "complex128", "c128", "<c16"),
    row(DType::F8E4M3FN, "float8_e4m3fn", "f8e4m3fn", "|V1"),
    row(DType::F8E4M3FNUZ, "float8_e4m3fnuz", "f8e4m3fnuz", "|V1"),
    row(DType::F8E5M2, "float8_e5m2", "f8e5m2", "|V1"),
    row(DType::F8E5M2FNUZ, "float8_e5m2fnuz", "f8e5m2fnuz", "|V1"),
    row(DType::F8E8M0FNU, "float8_e8m0fnu", "f8e8m0fnu", "|V1"),
}};

const DTypeInfo &dtypeInfo(DType dtype) {
  return table[static_cast<size_t>(dtype)];
}

std::optional<DType> dtypeFromTorchName(std::string_view name) {
  for (const DTypeInfo &info : table)
    if (info.torchName == name)
      return info.dtype;
  return std::nullopt;
}

} // namespace torchere
