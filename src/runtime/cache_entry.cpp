// The file format of one executable in the compile cache: reading and writing its header.
#include "runtime/cache_entry.h"

#include <cstddef>
#include <cstring>

namespace torchere::runtime {

namespace {
struct Header {
  char magic[8] = {'T', 'C', 'H', 'E', 'X', 'E', 'C', '\n'};
  uint32_t version = 1;
  uint32_t reserved = 0;
  uint64_t executableSize = 0;
  CacheKey key = {};
  Digest::Value checksum = {};
};
} // namespace
static_assert(sizeof(Header) == cacheEntryHeaderSize && offsetof(Header, checksum) == 56);

static Digest::Value checksumOf(const Header &header, std::string_view executable) {
  Digest digest;
  digest.add(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum)));
  digest.add(std::as_bytes(std::span(executable.data(), executable.size())));
  return digest.finish();
}

std::string makeCacheEntry(const CacheKey &key, std::string_view executable) {
  Header header;
  header.executableSize = executable.size();
  header.key = key;
  header.checksum = checksumOf(header, executable);
  std::string file;
  file.reserve(sizeof(header) + executable.size());
  file.append(reinterpret_cast<const char *>(&header), sizeof(header));
  file.append(executable);
  return file;
}

Result<std::string_view> parseCacheEntry(std::string_view file, const CacheKey &key,
                                         std::string_view subject) {
  Header header;
  const Header expected;
  if (file.size() < sizeof(header))
    return fail(ErrorCode::DataLoss, "[{}] shorter than its header: got {} bytes, expected at least {}",
                subject, file.size(), sizeof(header));
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0)
    return fail(ErrorCode::DataLoss, "[{}] is no entry of the compile cache: its first bytes are others",
                subject);
  if (header.version != expected.version || header.reserved != 0)
    return fail(ErrorCode::DataLoss, "[{}] another layout: got version {}, expected {}", subject,
                header.version, expected.version);
  std::string_view executable = file.substr(sizeof(header));
  if (header.executableSize != executable.size())
    return fail(ErrorCode::DataLoss, "[{}] cut short or extended: got {} bytes after the header, expected {}",
                subject, executable.size(), header.executableSize);
  if (header.key != key)
    return fail(ErrorCode::DataLoss, "[{}] stored under another key: got {}, expected {}", subject,
                hexText(header.key), hexText(key));
  if (header.checksum != checksumOf(header, executable))
    return fail(ErrorCode::DataLoss, "[{}] damaged: its digest does not fit", subject);
  return executable;
}

} // namespace torchere::runtime
