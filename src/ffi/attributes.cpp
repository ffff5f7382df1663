// Implements the attributes of a call.
#include "ffi/attributes.h"

#include "ffi/element_type.h"

#include <algorithm>

namespace torchere::ffi {

using abi::AttributeKind;

Attributes::Entry &Attributes::add(std::string name, AttributeKind kind) {
  Entry &entry = entries.emplace_back();
  entry.name = std::move(name);
  entry.kind = kind;
  return entry;
}

void Attributes::addScalar(std::string name, ElementType type, std::span<const std::byte> element) {
  Entry &entry = add(std::move(name), AttributeKind::Scalar);
  entry.type = dataTypeOf(type).value_or(abi::DataType::Invalid);
  entry.elements.assign(element.begin(), element.end());
}

void Attributes::addArray(std::string name, ElementType type, std::vector<std::byte> elements) {
  Entry &entry = add(std::move(name), AttributeKind::Array);
  entry.type = dataTypeOf(type).value_or(abi::DataType::Invalid);
  entry.count = elements.size() / static_cast<size_t>(elementTypeInfo(type).bytes());
  entry.elements = std::move(elements);
}

void Attributes::addString(std::string name, std::string text) {
  add(std::move(name), AttributeKind::String).text = std::move(text);
}

Attributes &Attributes::addDictionary(std::string name) {
  Entry &entry = add(std::move(name), AttributeKind::Dictionary);
  entry.dictionary = std::make_unique<Attributes>();
  return *entry.dictionary;
}

void *Attributes::valueOf(Entry &entry) {
  switch (entry.kind) {
  case AttributeKind::Scalar:
    entry.scalar = {entry.type, entry.elements.data()};
    return &entry.scalar;
  case AttributeKind::Array:
    entry.array = {entry.type, entry.count, entry.elements.data()};
    return &entry.array;
  case AttributeKind::String:
    entry.textSpan = {entry.text.data(), entry.text.size()};
    return &entry.textSpan;
  case AttributeKind::Dictionary:
    break;
  }
  return const_cast<abi::Attributes *>(&entry.dictionary->frame()); // handlers only read it
}

const abi::Attributes &Attributes::frame() {
  std::vector<Entry *> sorted;
  for (Entry &entry : entries)
    sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, [](const Entry *entry) -> const std::string & { return entry->name; });
  kinds.clear();
  names.clear();
  values.clear();
  for (Entry *entry : sorted) {
    entry->nameSpan = {entry->name.data(), entry->name.size()};
    kinds.push_back(entry->kind);
    names.push_back(&entry->nameSpan);
    values.push_back(valueOf(*entry));
  }
  made.size = static_cast<int64_t>(sorted.size());
  made.kinds = kinds.data();
  made.names = names.data();
  made.values = values.data();
  return made;
}

} // namespace torchere::ffi
