// Splits the sections.
#include "vhlo/container.h"

#include "vhlo/byte_cursor.h"

#include <array>
#include <bit>
#include <optional>

namespace torchere::vhlo {
namespace {

constexpr std::string_view magic = "ML\xefR";
using Sections = std::array<std::optional<std::string_view>, section::limit>;

class ContainerReader {
public:
  ContainerReader(std::string_view bytes, std::string_view name) : bytes(bytes), name(name) {}

  Result<Container> read();
  Result<Container> readHeader(ByteCursor &cursor);

private:
  Status readSections(ByteCursor &cursor);
  Status readStrings();
  Status readDialects();
  void readOpNames(ByteCursor &cursor);
  Status readOffsets();
  void readEntries(ByteCursor &offsets, ByteCursor &data, uint64_t count,
                   std::vector<Container::Entry> &entries);
  Status readProperties();
  std::string_view stringAt(ByteCursor &cursor, uint64_t index);
  std::string_view dialectAt(ByteCursor &cursor);
  tl::unexpected<Error> malformed(std::string_view part) const {
    return invalidArgument("[{}] not a portable artifact: its {} cannot be read", name, part);
  }

  std::string_view bytes, name;
  Container container;
  Sections sections;
  std::vector<std::string_view> dialects;
};

Result<Container> ContainerReader::readHeader(ByteCursor &cursor) {
  if (cursor.bytes(std::min(magic.size(), bytes.size())) != magic)
    return invalidArgument(
        "[{}] not a portable artifact: it does not begin with the magic bytes of MLIR's bytecode", name);
  container.bytecodeVersion = cursor.varInt();
  if (container.bytecodeVersion > bytecode::newest)
    return invalidArgument("[{}] its bytecode is newer than ours: got version {}, expected {} at most", name,
                           container.bytecodeVersion, bytecode::newest);
  container.producer = cursor.terminatedString();
  if (cursor.failed())
    return malformed("header");
  return container;
}

Result<Container> ContainerReader::read() {
  ByteCursor cursor(bytes);
  TORCHERE_ASSIGN(container, readHeader(cursor));
  TORCHERE_TRY(readSections(cursor));
  TORCHERE_TRY(readStrings());
  TORCHERE_TRY(readDialects());
  TORCHERE_TRY(readOffsets());
  TORCHERE_TRY(readProperties());
  container.ir = *sections[section::ir];
  return std::move(container);
}

Status ContainerReader::readSections(ByteCursor &cursor) {
  while (!cursor.atEnd()) {
    uint8_t idAndAlignment = cursor.byte(), id = idAndAlignment & 0x7f;
    uint64_t length = cursor.varInt();
    if (idAndAlignment & 0x80) {
      uint64_t alignment = cursor.varInt();
      if (!std::has_single_bit(alignment))
        return malformed("alignment");
      cursor.bytes((alignment - (bytes.size() - cursor.remaining()) % alignment) % alignment);
    }
    std::string_view data = cursor.bytes(length);
    if (cursor.failed() || id >= section::limit || sections[id])
      return malformed("sections");
    sections[id] = data;
  }
  for (uint8_t id :
       {section::strings, section::dialects, section::attributes, section::attributeOffsets, section::ir})
    if (!sections[id])
      return invalidArgument("[{}] not a portable artifact: section {} is missing", name, id);
  return {};
}

/// The lengths come first, the last string's first.
Status ContainerReader::readStrings() {
  ByteCursor cursor(*sections[section::strings]);
  std::vector<uint64_t> lengths(cursor.count());
  for (uint64_t &length : lengths)
    length = cursor.varInt();
  container.strings.reserve(lengths.size());
  for (size_t index = lengths.size(); index-- > 0;) {
    std::string_view text = cursor.bytes(lengths[index]);
    if (text.empty() || text.back() != '\0')
      return malformed("strings");
    container.strings.push_back(text.substr(0, text.size() - 1));
  }
  return cursor.failed() ? Status(malformed("strings")) : Status();
}

std::string_view ContainerReader::stringAt(ByteCursor &cursor, uint64_t index) {
  if (index < container.strings.size())
    return container.strings[index];
  cursor.fail();
  return {};
}

std::string_view ContainerReader::dialectAt(ByteCursor &cursor) {
  uint64_t index = cursor.varInt();
  if (index < dialects.size())
    return dialects[index];
  cursor.fail();
  return {};
}

Status ContainerReader::readDialects() {
  ByteCursor cursor(*sections[section::dialects]);
  size_t count = cursor.count();
  for (size_t index = 0; index < count && !cursor.failed(); ++index) {
    bool hasVersion = false;
    uint64_t string = container.bytecodeVersion >= bytecode::dialectVersions
                          ? cursor.varIntWithFlag(hasVersion)
                          : cursor.varInt();
    dialects.push_back(stringAt(cursor, string));
    std::string_view version;
    if (hasVersion && !readSection(cursor, section::dialectVersions, version))
      cursor.fail();
  }
  readOpNames(cursor);
  return cursor.failed() ? Status(malformed("dialects")) : Status();
}

void ContainerReader::readOpNames(ByteCursor &cursor) {
  if (container.bytecodeVersion >= bytecode::optionalArgumentLocations)
    cursor.count(); // how many ops there are in all
  while (!cursor.atEnd()) {
    std::string_view dialect = dialectAt(cursor);
    size_t count = cursor.count();
    for (size_t index = 0; index < count && !cursor.failed(); ++index) {
      bool isRegistered = false;
      uint64_t string = container.bytecodeVersion >= bytecode::properties
                            ? cursor.varIntWithFlag(isRegistered)
                            : cursor.varInt();
      container.opNames.push_back(Container::OpName{dialect, stringAt(cursor, string)});
    }
  }
}

/// Attributes and then types, in groups of one dialect each: the length of each encoding.
Status ContainerReader::readOffsets() {
  ByteCursor offsets(*sections[section::attributeOffsets]), data(*sections[section::attributes]);
  uint64_t attributes = offsets.varInt(), types = offsets.varInt();
  readEntries(offsets, data, attributes, container.attributes);
  readEntries(offsets, data, types, container.types);
  bool isWhole = !offsets.failed() && !data.failed() && offsets.atEnd();
  return isWhole ? Status() : Status(malformed("attributes and types"));
}

void ContainerReader::readEntries(ByteCursor &offsets, ByteCursor &data, uint64_t count,
                                  std::vector<Container::Entry> &entries) {
  while (entries.size() < count && !offsets.failed() && !data.failed()) {
    std::string_view dialect = dialectAt(offsets);
    uint64_t group = offsets.count();
    if (group > count - entries.size())
      return offsets.fail();
    for (uint64_t index = 0; index < group && !data.failed(); ++index) {
      bool hasCode = false;
      uint64_t length = offsets.varIntWithFlag(hasCode);
      entries.push_back(Container::Entry{dialect, data.bytes(length), !hasCode});
    }
  }
}

Status ContainerReader::readProperties() {
  if (!sections[section::properties])
    return {};
  ByteCursor cursor(*sections[section::properties]);
  size_t count = cursor.count();
  for (size_t index = 0; index < count && !cursor.failed(); ++index)
    container.properties.push_back(cursor.bytes(cursor.varInt()));
  return cursor.failed() ? Status(malformed("properties")) : Status();
}

} // namespace

Result<Container> readContainer(std::string_view bytes, std::string_view name) {
  return ContainerReader(bytes, name).read();
}

Result<Container> readHeader(std::string_view bytes, std::string_view name) {
  ByteCursor cursor(bytes);
  return ContainerReader(bytes, name).readHeader(cursor);
}

bool readSection(ByteCursor &cursor, uint8_t id, std::string_view &data) {
  bool isIt = cursor.byte() == id; // with an alignment the id's highest bit is set; none is needed here
  data = cursor.bytes(cursor.varInt());
  return isIt && !cursor.failed();
}

} // namespace torchere::vhlo
