// Crc32 and Crc32c: the checksums of zip files and of TensorFlow's checkpoints, computed piece by piece.
#pragma once

#include "base/export.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace torchere {

/// A CRC of 32 bits by table look-ups, which are the same on every processor. `polynomial` is bit-reversed.
template <uint32_t polynomial> class CyclicChecksum {
public:
  CyclicChecksum &add(std::span<const std::byte> bytes);
  CyclicChecksum &add(std::string_view text) {
    return add(std::as_bytes(std::span(text.data(), text.size())));
  }
  /// Of everything added so far.
  uint32_t value() const { return ~state; }

private:
  uint32_t state = ~uint32_t(0);
};

using Crc32 = CyclicChecksum<0xEDB88320>;  ///< ISO 3309; zip files
using Crc32c = CyclicChecksum<0x82F63B78>; ///< Castagnoli's, RFC 3720; checkpoints

extern template class TORCHERE_EXPORT CyclicChecksum<0xEDB88320>;
extern template class TORCHERE_EXPORT CyclicChecksum<0x82F63B78>;

} // namespace torchere
