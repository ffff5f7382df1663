// Tensor: elements in memory, for the evaluation of ops.
#pragma once

#include "base/error.h"
#include "evaluation/element.h"
#include "evaluation/index_space.h"

#include <memory>

namespace torchere::evaluation {

/// Elements in row-major order. Copies share the elements, so a tensor that may be shared must not be
/// written.
class Tensor {
public:
  Tensor() = default;
  /// All bits zero. ResourceExhausted if there is not enough memory (see base/memory_share.h);
  /// InvalidArgument for a negative size.
  TORCHERE_EXPORT static Result<Tensor> create(ElementType type, Index shape);
  static Tensor scalar(const Element &element);
  /// The elements that lie in memory of others, which holds as many. For a shape that create() takes.
  TORCHERE_EXPORT static Tensor over(ElementType type, Index shape, std::shared_ptr<std::byte[]> memory);

  ElementType type() const { return elementType; }
  const Index &shape() const { return sizes; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t count() const { return elements; } ///< of elements

  Element at(int64_t position) const { return Element::load(elementType, data.get() + position * width); }
  Element at(IndexView index) const { return at(flatten(index, sizes)); }
  void set(int64_t position, const Element &element) { element.store(data.get() + position * width); }
  /// The integer elements of a tensor of sizes or indices.
  Index integers() const;

  std::span<const std::byte> bytes() const { return {data.get(), byteCount()}; }
  std::span<std::byte> writableBytes() { return {data.get(), byteCount()}; }
  /// Copies one element, which has this tensor's type, without decoding it.
  void copyFrom(int64_t position, const Tensor &source, int64_t sourcePosition);

  /// The same elements in another shape with as many.
  Tensor reshaped(Index shape) const;
  /// A copy with elements of its own.
  Result<Tensor> clone() const;
  /// "tensor<2x3xf32>".
  TORCHERE_EXPORT std::string typeText() const;
  /// The type and all elements, with a pair of brackets for each dimension.
  std::string text() const;

private:
  size_t byteCount() const { return static_cast<size_t>(elements) * width; }

  ElementType elementType = ElementType::Bool;
  Index sizes;
  int64_t elements = 0;
  int64_t width = 1; ///< bytes an element
  std::shared_ptr<std::byte[]> data;
};

} // namespace torchere::evaluation
