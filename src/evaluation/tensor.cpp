// Implements Tensor.
#include "evaluation/tensor.h"

#include "base/memory_share.h"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace torchere::evaluation {

static std::string shapeText(IndexView shape, ElementType type) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += fmt::format("{}x", size);
  return fmt::format("{}{}>", text, elementTypeInfo(type).name);
}

/// What clients of PJRT ask of memory that they share.
static constexpr size_t alignment = 64;

/// Zeroed memory; null if there is none. Not by `new`, whose handler may end the process, as LLVM's does; by
/// calloc, which leaves the pages that it gets from the system untouched.
static std::shared_ptr<std::byte[]> allocate(int64_t bytes) {
  Result<MemoryShare> share = MemoryShare::take(bytes);
  size_t space = static_cast<size_t>(std::max<int64_t>(bytes, 1)) + alignment;
  void *memory = share ? std::calloc(space, 1) : nullptr;
  if (!memory)
    return nullptr;
  void *aligned = memory;
  std::align(alignment, space - alignment, aligned, space);
  auto release = [share = *std::move(share), memory](std::byte *) { std::free(memory); };
  return std::shared_ptr<std::byte[]>(static_cast<std::byte *>(aligned), std::move(release));
}

Result<Tensor> Tensor::create(ElementType type, Index shape) {
  Tensor tensor;
  tensor.elementType = type;
  tensor.width = elementTypeInfo(type).bytes();
  int64_t bytes = tensor.width;
  bool isEmpty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return invalidArgument("a tensor cannot have the size {}", size);
    isEmpty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
      bytes = std::numeric_limits<int64_t>::max();
  }
  if (isEmpty)
    bytes = 0;
  tensor.data = allocate(bytes);
  if (!tensor.data)
    return fail(ErrorCode::ResourceExhausted, "no memory for a {}", shapeText(shape, type));
  tensor.elements = bytes / tensor.width;
  tensor.sizes = std::move(shape);
  return tensor;
}

Tensor Tensor::scalar(const Element &element) {
  Tensor tensor;
  tensor.elementType = element.type();
  tensor.width = elementTypeInfo(element.type()).bytes();
  tensor.elements = 1;
  tensor.data.reset(new std::byte[static_cast<size_t>(tensor.width)]);
  tensor.set(0, element);
  return tensor;
}

Tensor Tensor::over(ElementType type, Index shape, std::shared_ptr<std::byte[]> memory) {
  Tensor tensor;
  tensor.elementType = type;
  tensor.width = elementTypeInfo(type).bytes();
  tensor.elements = elementCount(shape);
  tensor.sizes = std::move(shape);
  tensor.data = std::move(memory);
  return tensor;
}

Index Tensor::integers() const {
  Index values;
  for (int64_t position = 0; position < elements; ++position)
    values.push_back(at(position).asSigned());
  return values;
}

void Tensor::copyFrom(int64_t position, const Tensor &source, int64_t sourcePosition) {
  std::memcpy(data.get() + position * width, source.data.get() + sourcePosition * width,
              static_cast<size_t>(width));
}

Tensor Tensor::reshaped(Index shape) const {
  Tensor tensor = *this;
  tensor.sizes = std::move(shape);
  return tensor;
}

Result<Tensor> Tensor::clone() const {
  TORCHERE_ASSIGN(Tensor copy, create(elementType, sizes));
  std::memcpy(copy.data.get(), data.get(), byteCount());
  return copy;
}

/// Prints the elements from `position` on that belong to `dimension` and the dimensions after it.
static void appendText(const Tensor &tensor, size_t dimension, int64_t position, std::string &text) {
  IndexView inner = IndexView(tensor.shape()).subspan(dimension);
  if (inner.empty()) {
    text += tensor.at(position).text();
    return;
  }
  bool isLine = inner.size() == 1;
  std::string indent(2 * (dimension + 1), ' ');
  int64_t step = elementCount(inner.subspan(1));
  text += "[";
  for (int64_t index = 0; index < inner[0]; ++index) {
    text += index == 0 ? "" : isLine ? ", " : ",";
    text += isLine ? "" : "\n" + indent + "  ";
    appendText(tensor, dimension + 1, position + index * step, text);
  }
  text += isLine || inner[0] == 0 ? "]" : "\n" + indent + "]";
}

std::string Tensor::text() const {
  std::string text = typeText() + " {\n  ";
  appendText(*this, 0, 0, text);
  return text + "\n}";
}

std::string Tensor::typeText() const {
  return shapeText(sizes, elementType);
}

} // namespace torchere::evaluation
