// DType: the table of torch's element types.
#include "base/dtype.h"

#include <array>

namespace torchere {

static constexpr std::array<DTypeInfo, 21> table = {{
    {DType::Bool, "bool", "b8", "i1", "|b1", 1, false, false, false},
    {DType::I8, "int8", "i8", "i8", "|i1", 1, false, false, true},
    {DType::I16, "int16", "i16", "i16", "<i2", 2, false, false, true},
    {DType::I32, "int32", "i32", "i32", "<i4", 4, false, false, true},
    {DType::I64, "int64", "i64", "i64", "<i8", 8, false, false, true},
    {DType::U8, "uint8", "u8", "ui8", "|u1", 1, false, false, false},
    {DType::U16, "uint16", "u16", "ui16", "<u2", 2, false, false, false},
    {DType::U32, "uint32", "u32", "ui32", "<u4", 4, false, false, false},
    {DType::U64, "uint64", "u64", "ui64", "<u8", 8, false, false, false},
    {DType::F16, "float16", "f16", "f16", "<f2", 2, true, false, true},
    {DType::BF16, "bfloat16", "bf16", "bf16", "|V2", 2, true, false, true},
    {DType::F32, "float32", "f32", "f32", "<f4", 4, true, false, true},
    {DType::F64, "float64", "f64", "f64", "<f8", 8, true, false, true},
    {DType::C32, "complex32", "c32", "", "|V4", 4, false, true, true},
    {DType::C64, "complex64", "c64", "complex<f32>", "<c8", 8, false, true, true},
    {DType::C128, "complex128", "c128", "complex<f64>", "<c16", 16, false, true, true},
    {DType::F8E4M3FN, "float8_e4m3fn", "f8e4m3fn", "f8E4M3FN", "|V1", 1, true, false, true},
    {DType::F8E4M3FNUZ, "float8_e4m3fnuz", "f8e4m3fnuz", "f8E4M3FNUZ", "|V1", 1, true, false, true},
    {DType::F8E5M2, "float8_e5m2", "f8e5m2", "f8E5M2", "|V1", 1, true, false, true},
    {DType::F8E5M2FNUZ, "float8_e5m2fnuz", "f8e5m2fnuz", "f8E5M2FNUZ", "|V1", 1, true, false, true},
    {DType::F8E8M0FNU, "float8_e8m0fnu", "f8e8m0fnu", "f8E8M0FNU", "|V1", 1, true, false, false},
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
