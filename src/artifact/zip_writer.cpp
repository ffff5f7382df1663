// ZipWriter: local headers, data, the central directory and its end.
#include "artifact/zip_writer.h"

#include "artifact/zip_format.h"
#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace torchere::artifact {

using namespace zip;

static constexpr uint16_t version = 45;        // needed to read ZIP64
static constexpr uint16_t madeByUnix = 3 << 8; // what the attributes mean
static constexpr uint16_t firstDay = 0x0021;   // 1980-01-01, the earliest that there is
static constexpr uint32_t fileMode = 0100644u << 16;
static constexpr uint64_t crcOffset = 14; // in a local header

static std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

/// What a 32-bit field holds.
static uint32_t narrow(uint64_t number) {
  return number >= max32 ? max32 : static_cast<uint32_t>(number);
}

/// What the local and the central header have in common.
static void addCommonFields(Record &record, uint64_t size, uint32_t crc, const std::string &name) {
  record.add(version).add(isUtf8).add(stored).add(uint16_t{0}).add(firstDay).add(crc);
  record.add(narrow(size)).add(narrow(size)).add(static_cast<uint16_t>(name.size()));
}

std::string ZipWriter::localHeader(const Entry &entry) const {
  Record extra;
  if (entry.size >= max32)
    extra.add(zip64Extra).add(uint16_t{16}).add(entry.size).add(entry.size);
  constexpr size_t leastPadding = 6; // its id, its size, and the alignment that it says
  size_t begin = position + localSize + entry.name.size() + extra.text().size() + leastPadding;
  size_t padding = (dataAlignment - begin % dataAlignment) % dataAlignment;
  extra.add(alignmentExtra).add(static_cast<uint16_t>(2 + padding)).add(static_cast<uint16_t>(dataAlignment));
  extra.add(std::string(padding, '\0'));
  Record header;
  header.add(localSignature);
  addCommonFields(header, entry.size, entry.crc, entry.name);
  header.add(static_cast<uint16_t>(extra.text().size())).add(entry.name).add(extra.text());
  return header.text();
}

std::string ZipWriter::centralHeader(const Entry &entry) {
  Record wide;
  if (entry.size >= max32)
    wide.add(entry.size).add(entry.size);
  if (entry.header >= max32)
    wide.add(entry.header);
  Record extra;
  if (!wide.text().empty())
    extra.add(zip64Extra).add(static_cast<uint16_t>(wide.text().size())).add(wide.text());
  Record header;
  header.add(centralSignature).add(static_cast<uint16_t>(madeByUnix | version));
  addCommonFields(header, entry.size, entry.crc, entry.name);
  header.add(static_cast<uint16_t>(extra.text().size()));
  header.add(uint16_t{0}).add(uint16_t{0}).add(uint16_t{0}).add(fileMode); // no comment, disk 0
  header.add(narrow(entry.header)).add(entry.name).add(extra.text());
  return header.text();
}

Status ZipWriter::writeAt(uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    ssize_t count = ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(shown, "cannot be written", errno);
    offset += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status ZipWriter::write(std::span<const std::byte> bytes) {
  TORCHERE_TRY(writeAt(position, bytes));
  position += bytes.size();
  return {};
}

Status ZipWriter::add(const std::string &name, uint64_t size,
                      const std::function<Status(const WriteBytes &)> &fill) {
  if (name.size() > max16)
    return invalidArgument("[{}] a name is too long for a zip file: got {} bytes, expected {} at most",
                           shown.string(), name.size(), max16);
  Entry entry{name, position, size, 0};
  TORCHERE_TRY(write(bytesOf(localHeader(entry))));
  uint64_t begin = position;
  Crc32 crc;
  TORCHERE_TRY(fill([&](std::span<const std::byte> bytes) {
    crc.add(bytes);
    return write(bytes);
  }));
  if (position - begin != size)
    return fail(ErrorCode::Internal, "[{}] wrong size of {}: got {} bytes, expected {}", shown.string(), name,
                position - begin, size);
  entry.crc = crc.value();
  TORCHERE_TRY(writeAt(entry.header + crcOffset, bytesOf(Record().add(entry.crc).text())));
  entries.push_back(std::move(entry));
  return {};
}

Status ZipWriter::finish() {
  uint64_t begin = position, count = entries.size();
  for (const Entry &entry : entries)
    TORCHERE_TRY(write(bytesOf(centralHeader(entry))));
  uint64_t size = position - begin;
  Record end;
  if (count >= max16 || size >= max32 || begin >= max32) {
    end.add(end64Signature).add(uint64_t{end64Size - 12}).add(static_cast<uint16_t>(madeByUnix | version));
    end.add(version).add(uint32_t{0}).add(uint32_t{0}).add(count).add(count).add(size).add(begin);
    end.add(locator64Signature).add(uint32_t{0}).add(position).add(uint32_t{1});
  }
  auto shortCount = static_cast<uint16_t>(std::min<uint64_t>(count, max16));
  end.add(endSignature).add(uint16_t{0}).add(uint16_t{0}).add(shortCount).add(shortCount);
  end.add(narrow(size)).add(narrow(begin)).add(uint16_t{0});
  return write(bytesOf(end.text()));
}

} // namespace torchere::artifact
