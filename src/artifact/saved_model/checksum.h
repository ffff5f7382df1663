// Crc32c: the checksum of the blocks of a checkpoint's index and of its tensors.
#pragma once

#include "base/export.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace torchere::artifact::saved_model {

/// CRC-32C (Castagnoli, RFC 3720) in table look-ups: the same on every processor, about 2 GB a second.
class TORCHERE_EXPORT Crc32c {
public:
  Crc32c &add(std::span<const std::byte> bytes);
  Crc32c &add(std::string_view text) { return add(std::as_bytes(std::span(text.data(), text.size()))); }

  uint32_t value() const { return ~state; }
  /// As checkpoints store it: rotated and offset, because a checksum of data that holds its own checksum is
  /// a constant.
  uint32_t masked() const;

private:
  uint32_t state = ~uint32_t(0);
};

} // namespace torchere::artifact::saved_model
