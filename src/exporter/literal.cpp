// Tensor constants of a program as attributes of the module.
#include "exporter/literal.h"

#include <cstring>
#include <vector>

namespace torchere::exporter {

/// The elements in row-major order.
static std::vector<char> gather(const program::Weight &weight) {
  size_t width = byteSize(weight.dtype);
  auto count = static_cast<size_t>(weight.elementCount());
  std::vector<char> bytes(count * width);
  std::vector<int64_t> index(weight.shape.size(), 0);
  for (size_t element = 0; element < count; ++element) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * weight.strides[axis];
    std::memcpy(bytes.data() + element * width, weight.data() + offset * static_cast<int64_t>(width), width);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < weight.shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return bytes;
}

mlir::DenseElementsAttr literal(const program::Weight &weight, mlir::RankedTensorType type) {
  std::vector<char> bytes = gather(weight);
  if (weight.dtype != DType::Bool)
    return mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  llvm::SmallVector<bool> bits; // MLIR packs i1, torch does not
  for (char byte : bytes)
    bits.push_back(byte != 0);
  return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<bool>(bits));
}

} // namespace torchere::exporter
