// The numbers of dtypes in the C ABI, which stay what they are whatever becomes of the enum DType.
#pragma once

#include "base/dtype.h"

#include <torchere/torchere.h>

#include <optional>

namespace torchere::capi {

inline constexpr torchere_dtype numberOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return TORCHERE_BOOL;
  case DType::I8:
    return TORCHERE_INT8;
  case DType::I16:
    return TORCHERE_INT16;
  case DType::I32:
    return TORCHERE_INT32;
  case DType::I64:
    return TORCHERE_INT64;
  case DType::U8:
    return TORCHERE_UINT8;
  case DType::U16:
    return TORCHERE_UINT16;
  case DType::U32:
    return TORCHERE_UINT32;
  case DType::U64:
    return TORCHERE_UINT64;
  case DType::F16:
    return TORCHERE_FLOAT16;
  case DType::BF16:
    return TORCHERE_BFLOAT16;
  case DType::F32:
    return TORCHERE_FLOAT32;
  case DType::F64:
    return TORCHERE_FLOAT64;
  case DType::C32:
    return TORCHERE_COMPLEX32;
  case DType::C64:
    return TORCHERE_COMPLEX64;
  case DType::C128:
    return TORCHERE_COMPLEX128;
  case DType::F8E4M3FN:
    return TORCHERE_FLOAT8_E4M3FN;
  case DType::F8E4M3FNUZ:
    return TORCHERE_FLOAT8_E4M3FNUZ;
  case DType::F8E5M2:
    return TORCHERE_FLOAT8_E5M2;
  case DType::F8E5M2FNUZ:
    return TORCHERE_FLOAT8_E5M2FNUZ;
  case DType::F8E8M0FNU:
    return TORCHERE_FLOAT8_E8M0FNU;
  }
  return 0;
}

inline std::optional<DType> dtypeOf(torchere_dtype number) {
  for (int value = 0; value <= static_cast<int>(DType::F8E8M0FNU); ++value)
    if (numberOf(static_cast<DType>(value)) == number)
      return static_cast<DType>(value);
  return std::nullopt;
}

} // namespace torchere::capi
