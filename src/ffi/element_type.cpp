// The table between the FFI's types of elements and ours.
#include "ffi/element_type.h"

namespace torchere::ffi {

using abi::DataType;

std::optional<DataType> dataTypeOf(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return DataType::Pred;
  case ElementType::I2:
    return DataType::S2;
  case ElementType::I4:
    return DataType::S4;
  case ElementType::I8:
    return DataType::S8;
  case ElementType::I16:
    return DataType::S16;
  case ElementType::I32:
    return DataType::S32;
  case ElementType::I64:
    return DataType::S64;
  case ElementType::U2:
    return DataType::U2;
  case ElementType::U4:
    return DataType::U4;
  case ElementType::U8:
    return DataType::U8;
  case ElementType::U16:
    return DataType::U16;
  case ElementType::U32:
    return DataType::U32;
  case ElementType::U64:
    return DataType::U64;
  case ElementType::F4E2M1FN:
    return DataType::F4E2M1FN;
  case ElementType::F6E2M3FN:
  case ElementType::F6E3M2FN:
    return std::nullopt;
  case ElementType::F8E3M4:
    return DataType::F8E3M4;
  case ElementType::F8E4M3:
    return DataType::F8E4M3;
  case ElementType::F8E4M3FN:
    return DataType::F8E4M3FN;
  case ElementType::F8E4M3FNUZ:
    return DataType::F8E4M3FNUZ;
  case ElementType::F8E4M3B11FNUZ:
    return DataType::F8E4M3B11FNUZ;
  case ElementType::F8E5M2:
    return DataType::F8E5M2;
  case ElementType::F8E5M2FNUZ:
    return DataType::F8E5M2FNUZ;
  case ElementType::F8E8M0FNU:
    return DataType::F8E8M0FNU;
  case ElementType::BF16:
    return DataType::BF16;
  case ElementType::F16:
    return DataType::F16;
  case ElementType::F32:
    return DataType::F32;
  case ElementType::F64:
    return DataType::F64;
  case ElementType::C64:
    return DataType::C64;
  case ElementType::C128:
    return DataType::C128;
  }
  return std::nullopt;
}

} // namespace torchere::ffi
