// The file that holds what a plan has packed of its weights. Its sections are not described: the plan that it
// was stored for knows how many there are and how large.
//
//   offset  bytes
//        0      8  "TCHPACK\n"
//        8      4  version of this layout, 1
//       12      4  0
//       16      8  size of the file in bytes
//       24     32  the key that it is stored under
//       56     32  seed of the digests of weights and sections
//       88     32  digest of the weights' contents
//      120     32  digest of the sections' contents
//      152     32  digest of bytes 0 to 151
//      184         zeros
//     4096         the sections, each at the next multiple of 64, with zeros between them
//
// Numbers are little-endian.
#pragma once

#include "base/digest.h"
#include "base/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::cpu {

struct PackedHeader {
  Digest::Value key = {};
  Digest::Value seed = {};
  Digest::Value weights = {};
  Digest::Value sections = {};
};

/// Where the sections of these sizes lie, and where the file ends.
struct SectionLayout {
  explicit SectionLayout(std::span<const int64_t> sizes);
  std::vector<uint64_t> offsets;
  uint64_t fileSize = 0;
};

inline constexpr size_t packedHeaderSize = 4096;

/// All of the file before the sections.
std::string makePackedHeader(const PackedHeader &header, uint64_t fileSize);
/// What makePackedHeader() has written for this key and size at the beginning of `file`, which has that size.
/// DataLoss, `[subject] what is wrong: got X, expected Y`, for any other file.
Result<PackedHeader> parsePackedHeader(std::span<const std::byte> file, const Digest::Value &key,
                                       uint64_t fileSize, std::string_view subject);

} // namespace torchere::cpu
