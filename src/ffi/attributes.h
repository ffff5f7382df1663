// Attributes: what a kernel is called with beside its operands, in the form that handlers read.
#pragma once

#include "base/element_type.h"
#include "ffi/abi.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace torchere::ffi {

/// A dictionary. Names are added once each; types are such as dataTypeOf() knows.
class Attributes {
public:
  Attributes() = default;
  Attributes(const Attributes &) = delete;
  Attributes &operator=(const Attributes &) = delete;

  void addScalar(std::string name, ElementType type, std::span<const std::byte> element);
  void addArray(std::string name, ElementType type, std::vector<std::byte> elements);
  void addString(std::string name, std::string text);
  /// An empty one, to be filled.
  Attributes &addDictionary(std::string name);

  /// The form for handlers, valid until something is added.
  const abi::Attributes &frame();

private:
  struct Entry {
    std::string name;
    abi::AttributeKind kind = abi::AttributeKind::Scalar;
    abi::DataType type = abi::DataType::Invalid;
    size_t count = 0; ///< of an array's elements
    std::vector<std::byte> elements;
    std::string text;
    std::unique_ptr<Attributes> dictionary;
    // What handlers read.
    abi::ByteSpan nameSpan{}, textSpan{};
    abi::Scalar scalar{};
    abi::Array array{};
  };
  static void *valueOf(Entry &entry);
  Entry &add(std::string name, abi::AttributeKind kind);

  std::deque<Entry> entries; ///< whose addresses stay
  std::vector<abi::AttributeKind> kinds;
  std::vector<abi::ByteSpan *> names;
  std::vector<void *> values;
  abi::Attributes made;
};

} // namespace torchere::ffi
