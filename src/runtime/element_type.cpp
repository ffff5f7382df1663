// The table between torch's dtypes and PJRT's element types.
#include "runtime/element_type.h"

#include <array>

namespace torchere::runtime {

namespace {
struct Row {
  DType dtype;
  pjrt::BufferType type;
};
} // namespace

static constexpr std::array<Row, 20> table = {{
    {DType::Bool, pjrt::BufferType::Pred},
    {DType::I8, pjrt::BufferType::S8},
    {DType::I16, pjrt::BufferType::S16},
    {DType::I32, pjrt::BufferType::S32},
    {DType::I64, pjrt::BufferType::S64},
    {DType::U8, pjrt::BufferType::U8},
    {DType::U16, pjrt::BufferType::U16},
    {DType::U32, pjrt::BufferType::U32},
    {DType::U64, pjrt::BufferType::U64},
    {DType::F16, pjrt::BufferType::F16},
    {DType::BF16, pjrt::BufferType::BF16},
    {DType::F32, pjrt::BufferType::F32},
    {DType::F64, pjrt::BufferType::F64},
    {DType::C64, pjrt::BufferType::C64},
    {DType::C128, pjrt::BufferType::C128},
    {DType::F8E4M3FN, pjrt::BufferType::F8E4M3FN},
    {DType::F8E4M3FNUZ, pjrt::BufferType::F8E4M3FNUZ},
    {DType::F8E5M2, pjrt::BufferType::F8E5M2},
    {DType::F8E5M2FNUZ, pjrt::BufferType::F8E5M2FNUZ},
    {DType::F8E8M0FNU, pjrt::BufferType::F8E8M0FNU},
}};

std::optional<pjrt::BufferType> bufferType(DType dtype) {
  for (const Row &row : table)
    if (row.dtype == dtype)
      return row.type;
  return std::nullopt;
}

std::optional<DType> dtypeFromBufferType(pjrt::BufferType type) {
  for (const Row &row : table)
    if (row.type == type)
      return row.dtype;
  return std::nullopt;
}

} // namespace torchere::runtime
