// The table between torch's dtypes and PJRT's element types.
#include "runtime/element_type.h"

#include <array>

namespace torchere::runtime {

namespace {
struct Row {
  DType dtype;
  abi::BufferType type;
};
} // namespace

static constexpr std::array<Row, 20> table = {{
    {DType::Bool, abi::BufferType::Pred},
    {DType::I8, abi::BufferType::S8},
    {DType::I16, abi::BufferType::S16},
    {DType::I32, abi::BufferType::S32},
    {DType::I64, abi::BufferType::S64},
    {DType::U8, abi::BufferType::U8},
    {DType::U16, abi::BufferType::U16},
    {DType::U32, abi::BufferType::U32},
    {DType::U64, abi::BufferType::U64},
    {DType::F16, abi::BufferType::F16},
    {DType::BF16, abi::BufferType::BF16},
    {DType::F32, abi::BufferType::F32},
    {DType::F64, abi::BufferType::F64},
    {DType::C64, abi::BufferType::C64},
    {DType::C128, abi::BufferType::C128},
    {DType::F8E4M3FN, abi::BufferType::F8E4M3FN},
    {DType::F8E4M3FNUZ, abi::BufferType::F8E4M3FNUZ},
    {DType::F8E5M2, abi::BufferType::F8E5M2},
    {DType::F8E5M2FNUZ, abi::BufferType::F8E5M2FNUZ},
    {DType::F8E8M0FNU, abi::BufferType::F8E8M0FNU},
}};

std::optional<abi::BufferType> bufferType(DType dtype) {
  for (const Row &row : table)
    if (row.dtype == dtype)
      return row.type;
  return std::nullopt;
}

std::optional<DType> dtypeFromBufferType(abi::BufferType type) {
  for (const Row &row : table)
    if (row.type == type)
      return row.dtype;
  return std::nullopt;
}

} // namespace torchere::runtime
