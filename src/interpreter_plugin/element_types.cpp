// Implements the mapping of element types.
#include "interpreter_plugin/element_types.h"

namespace torchere::interpreter_plugin {

using pjrt::BufferType;

namespace {
struct Row {
  BufferType type;
  ElementType elementType;
};
} // namespace

static constexpr Row table[] = {
    {BufferType::Pred, ElementType::Bool},
    {BufferType::S2, ElementType::I2},
    {BufferType::S4, ElementType::I4},
    {BufferType::S8, ElementType::I8},
    {BufferType::S16, ElementType::I16},
    {BufferType::S32, ElementType::I32},
    {BufferType::S64, ElementType::I64},
    {BufferType::U2, ElementType::U2},
    {BufferType::U4, ElementType::U4},
    {BufferType::U8, ElementType::U8},
    {BufferType::U16, ElementType::U16},
    {BufferType::U32, ElementType::U32},
    {BufferType::U64, ElementType::U64},
    {BufferType::F4E2M1FN, ElementType::F4E2M1FN},
    {BufferType::F8E3M4, ElementType::F8E3M4},
    {BufferType::F8E4M3, ElementType::F8E4M3},
    {BufferType::F8E4M3FN, ElementType::F8E4M3FN},
    {BufferType::F8E4M3FNUZ, ElementType::F8E4M3FNUZ},
    {BufferType::F8E4M3B11FNUZ, ElementType::F8E4M3B11FNUZ},
    {BufferType::F8E5M2, ElementType::F8E5M2},
    {BufferType::F8E5M2FNUZ, ElementType::F8E5M2FNUZ},
    {BufferType::F8E8M0FNU, ElementType::F8E8M0FNU},
    {BufferType::BF16, ElementType::BF16},
    {BufferType::F16, ElementType::F16},
    {BufferType::F32, ElementType::F32},
    {BufferType::F64, ElementType::F64},
    {BufferType::C64, ElementType::C64},
    {BufferType::C128, ElementType::C128},
};

Result<ElementType> elementTypeOf(BufferType type) {
  for (const Row &row : table)
    if (row.type == type)
      return row.elementType;
  if (type == BufferType::Token)
    return fail(ErrorCode::Unimplemented, "buffers of tokens: expected an element type");
  return invalidArgument("no such element type: got {}", static_cast<int>(type));
}

Result<BufferType> bufferTypeOf(ElementType type) {
  for (const Row &row : table)
    if (row.elementType == type)
      return row.type;
  return fail(ErrorCode::Unimplemented, "PJRT has no element type {}", elementTypeInfo(type).name);
}

} // namespace torchere::interpreter_plugin
