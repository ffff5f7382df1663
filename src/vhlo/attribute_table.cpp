// Decodes entries on demand, within bounds of depth and size.
#include "vhlo/attribute_table.h"

#include "vhlo/byte_cursor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace torchere::vhlo {

// Deeper than any program's call stack in locations; a frame of the decoder takes less than a kilobyte.
static constexpr uint64_t maximumDepth = 1000;
static constexpr uint64_t maximumSize = 1 << 24;

AttributeTable::AttributeTable(MLIRContext *context, const Container &container)
    : context(context), container(container), attributes(container.attributes.size()),
      types(container.types.size()) {}

std::nullptr_t AttributeTable::fail(std::string text) {
  if (message.empty())
    message = std::move(text);
  return nullptr;
}

Attribute AttributeTable::attribute(uint64_t index) {
  return resolve(attributes, container.attributes, index, &AttributeTable::decodeAttribute);
}

Type AttributeTable::type(uint64_t index) {
  return resolve(types, container.types, index, &AttributeTable::decodeType);
}

template <class T>
T AttributeTable::resolve(Slots<T> &slots, const std::vector<Container::Entry> &entries, uint64_t index,
                          T (AttributeTable::*decode)(const Container::Entry &, ByteCursor &)) {
  if (!message.empty())
    return {};
  if (index >= slots.size())
    return T(fail(fmt::format("index {} of {} attributes or types", index, slots.size())));
  Slot<T> &slot = slots[index];
  if (!slot.value) {
    if (slot.isOpen)
      return T(fail("an attribute or type that holds itself"));
    if (open.size() >= maximumDepth)
      return T(fail("attributes nested too deeply"));
    slot.isOpen = true;
    open.push_back({.isPortable = entries[index].dialect == "vhlo"});
    ByteCursor cursor(entries[index].bytes);
    slot.value = (this->*decode)(entries[index], cursor);
    slot.extent = open.back();
    open.pop_back();
    slot.isOpen = false;
    if (!slot.value || cursor.failed() || !cursor.atEnd())
      return T(fail(
          fmt::format("an attribute or type of dialect {} that cannot be read", entries[index].dialect)));
  }
  if (!open.empty()) {
    Extent &outer = open.back();
    outer.depth = std::max(outer.depth, slot.extent.depth + 1);
    outer.size += slot.extent.size;
    outer.isPortable = outer.isPortable || slot.extent.isPortable;
    if (outer.depth > maximumDepth || outer.size > maximumSize)
      return T(fail("attributes nested too deeply"));
  }
  return slot.value;
}

Attribute AttributeTable::decodeAttribute(const Container::Entry &entry, ByteCursor &cursor) {
  PartReader reader(*this, cursor);
  // Shardings are only looked for by their name, so their bytes will do.
  if (entry.dialect == "sdy")
    return StringAttr::get(context, cursor.bytes(cursor.remaining()));
  if (entry.isText)
    return fail(fmt::format("an attribute of dialect {}, which artifacts do not hold", entry.dialect));
  if (entry.dialect == "vhlo")
    return readPortableAttribute(reader);
  if (entry.dialect == "builtin")
    return readBuiltinAttribute(reader);
  return fail(fmt::format("an attribute of dialect {}, which artifacts do not hold", entry.dialect));
}

Type AttributeTable::decodeType(const Container::Entry &entry, ByteCursor &cursor) {
  PartReader reader(*this, cursor);
  if (!entry.isText && entry.dialect == "vhlo")
    return readPortableType(reader);
  if (!entry.isText && entry.dialect == "builtin")
    return readBuiltinType(reader);
  return fail(fmt::format("a type of dialect {}, which artifacts do not hold", entry.dialect));
}

uint64_t PartReader::index() {
  uint64_t value = cursor.varInt();
  return cursor.failed() ? ~uint64_t(0) : value;
}

std::pair<bool, Attribute> PartReader::optionalAttribute() {
  bool isThere = false;
  uint64_t place = cursor.varIntWithFlag(isThere);
  return {isThere, isThere ? table.attribute(place) : Attribute()};
}

bool PartReader::attributes(SmallVectorImpl<Attribute> &list) {
  size_t count = cursor.count();
  for (size_t index = 0; index < count; ++index) {
    list.push_back(attribute());
    if (!list.back())
      return false;
  }
  return !cursor.failed();
}

bool PartReader::types(SmallVectorImpl<Type> &list) {
  size_t count = cursor.count();
  for (size_t index = 0; index < count; ++index) {
    list.push_back(type());
    if (!list.back())
      return false;
  }
  return !cursor.failed();
}

bool PartReader::integers(SmallVectorImpl<int64_t> &list) {
  size_t count = cursor.count();
  for (size_t index = 0; index < count; ++index)
    list.push_back(cursor.signedVarInt());
  return !cursor.failed();
}

Attribute PartReader::dictionary() {
  NamedAttrList entries;
  size_t count = cursor.count(2);
  for (size_t index = 0; index < count; ++index) {
    auto name = attribute<StringAttr>();
    Attribute value = attribute();
    if (!name || name.empty() || !value)
      return {};
    entries.append(name, value);
  }
  return entries.findDuplicate() ? Attribute() : entries.getDictionary(table.context);
}

std::optional<std::string_view> PartReader::string() {
  uint64_t place = index();
  if (place < table.container.strings.size())
    return table.container.strings[place];
  table.fail("a string that is not there");
  return std::nullopt;
}

uint64_t PartReader::bits(unsigned width) {
  uint64_t value = width <= 8 ? cursor.byte() : static_cast<uint64_t>(cursor.signedVarInt());
  return width >= 64 ? value : value & ((uint64_t(1) << width) - 1);
}

} // namespace torchere::vhlo
