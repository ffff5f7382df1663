// The numbers of types.proto, for the dtypes of torch that TensorFlow has variables of.
#include "artifact/saved_model/tensor_type.h"

#include <algorithm>
#include <array>
#include <utility>

namespace torchere::artifact::saved_model {

static constexpr std::array<std::pair<DType, int>, 17> dataTypes = {{
    {DType::F32, 1},
    {DType::F64, 2},
    {DType::I32, 3},
    {DType::U8, 4},
    {DType::I16, 5},
    {DType::I8, 6},
    {DType::C64, 8},
    {DType::I64, 9},
    {DType::Bool, 10},
    {DType::BF16, 14},
    {DType::U16, 17},
    {DType::C128, 18},
    {DType::F16, 19},
    {DType::U32, 22},
    {DType::U64, 23},
    {DType::F8E5M2, 24},
    {DType::F8E4M3FN, 25},
}};

Result<DataType> dataTypeOf(DType dtype, std::string_view subject) {
  auto found = std::ranges::find(dataTypes, dtype, &std::pair<DType, int>::first);
  if (found == dataTypes.end())
    return fail(ErrorCode::Unimplemented, "[{}] TensorFlow cannot hold the dtype {}", subject,
                dtypeInfo(dtype).torchName);
  return static_cast<DataType>(found->second);
}

std::vector<int64_t> knownSizes(const std::vector<program::SymInt> &shape) {
  std::vector<int64_t> sizes;
  for (program::SymInt size : shape)
    sizes.push_back(size.isConstant() ? size.constant() : -1);
  return sizes;
}

Message shapeMessage(const std::vector<int64_t> &shape) {
  Message message;
  for (int64_t size : shape)
    message.message(2, Message().number(1, size));
  return message;
}

} // namespace torchere::artifact::saved_model
