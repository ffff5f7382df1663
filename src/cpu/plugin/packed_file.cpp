// Implements the layout of files of packed weights.
#include "cpu/plugin/packed_file.h"

#include "cpu/plan/plan.h"

#include <cstring>

namespace torchere::cpu {

namespace {
struct Header {
  char magic[8] = {'T', 'C', 'H', 'P', 'A', 'C', 'K', '\n'};
  uint32_t version = 1;
  uint32_t reserved = 0;
  uint64_t fileSize = 0;
  PackedHeader fields;
  Digest::Value checksum = {};
};
} // namespace
static_assert(sizeof(Header) == 184 && offsetof(Header, checksum) == 152);

static Digest::Value checksumOf(const Header &header) {
  return Digest().add(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum))).finish();
}

SectionLayout::SectionLayout(std::span<const int64_t> sizes) {
  fileSize = packedHeaderSize;
  for (int64_t size : sizes) {
    offsets.push_back(fileSize);
    fileSize += static_cast<uint64_t>(roundedToAlignment(size));
  }
}

std::string makePackedHeader(const PackedHeader &fields, uint64_t fileSize) {
  Header header;
  header.fileSize = fileSize;
  header.fields = fields;
  header.checksum = checksumOf(header);
  std::string bytes(packedHeaderSize, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<PackedHeader> parsePackedHeader(std::span<const std::byte> file, const Digest::Value &key,
                                       uint64_t fileSize, std::string_view subject) {
  Header header;
  const Header expected;
  if (file.size() < packedHeaderSize)
    return fail(ErrorCode::DataLoss, "[{}] shorter than its header: got {} bytes, expected at least {}",
                subject, file.size(), packedHeaderSize);
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
    return fail(ErrorCode::DataLoss, "[{}] holds no packed weights: its first bytes are others", subject);
  if (header.version != expected.version)
    return fail(ErrorCode::DataLoss, "[{}] another layout: got version {}, expected {}", subject,
                header.version, expected.version);
  if (header.fileSize != fileSize)
    return fail(ErrorCode::DataLoss, "[{}] for other sizes: got {} bytes, expected {}", subject,
                header.fileSize, fileSize);
  if (header.fileSize != file.size())
    return fail(ErrorCode::DataLoss, "[{}] cut short or extended: got {} bytes, expected {}", subject,
                file.size(), header.fileSize);
  if (header.fields.key != key)
    return fail(ErrorCode::DataLoss, "[{}] stored under another key: got {}, expected {}", subject,
                hexText(header.fields.key), hexText(key));
  std::string written = makePackedHeader(header.fields, fileSize);
  if (std::memcmp(file.data(), written.data(), packedHeaderSize) != 0)
    return fail(ErrorCode::DataLoss, "[{}] damaged: the digest of its header does not fit", subject);
  return header.fields;
}

} // namespace torchere::cpu
