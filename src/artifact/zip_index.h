// The entries of an uncompressed zip file, found and checked.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact {

struct ZipEntry {
  std::string name;
  uint64_t offset = 0; ///< of its first byte in the file
  uint64_t size = 0;
  uint32_t crc = 0;
};

/// The entries of a zip file, sorted by name; entries for folders are left out. Refused is whatever could be
/// read in two ways or is no plain file: compressed and encrypted entries, links, names that occur twice or
/// lead out of a directory, entries that overlap or do not lie within the file, headers that disagree,
/// several disks. `subject` (the file) starts the errors.
Result<std::vector<ZipEntry>> readZipIndex(std::span<const std::byte> file, std::string_view subject);

} // namespace torchere::artifact
