// Crc32: the checksum of zip files (the polynomial 0xEDB88320), computed piece by piece.
#pragma once

#include "base/export.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace torchere {

class TORCHERE_EXPORT Crc32 {
public:
  Crc32 &add(std::span<const std::byte> bytes);
  /// Of everything added so far.
  uint32_t value() const { return ~state; }

private:
  uint32_t state = 0xFFFFFFFF;
};

} // namespace torchere
