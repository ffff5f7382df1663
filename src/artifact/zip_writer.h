// ZipWriter: an uncompressed zip file, written entry by entry.
#pragma once

#include "base/cyclic_checksum.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace torchere::artifact {

/// The entries are stored as they are, their data starts at multiples of 64 bytes, and nothing depends on the
/// time or the user: equal entries give equal files. Sizes beyond 32 bits are written as ZIP64. Needs a file
/// in which it can seek. Errors name `shown`.
class ZipWriter {
public:
  ZipWriter(const Descriptor &file, std::filesystem::path shown) : file(file), shown(std::move(shown)) {}

  /// An entry of that many bytes, which `fill` writes.
  Status add(const std::string &name, uint64_t size, const std::function<Status(const WriteBytes &)> &fill);
  /// The directory of the entries; nothing may be added afterwards.
  Status finish();

private:
  struct Entry {
    std::string name;
    uint64_t header = 0; ///< the offset of its local header
    uint64_t size = 0;
    uint32_t crc = 0;
  };
  std::string localHeader(const Entry &entry) const;
  static std::string centralHeader(const Entry &entry);
  Status write(std::span<const std::byte> bytes);
  Status writeAt(uint64_t offset, std::span<const std::byte> bytes) const;

  const Descriptor &file;
  std::filesystem::path shown;
  uint64_t position = 0;
  std::vector<Entry> entries;
};

} // namespace torchere::artifact
