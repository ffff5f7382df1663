// The file that holds one executable in the compile cache. All of it is checked before a plugin sees any of
// it.
//
//   offset  bytes
//        0      8  "TCHEXEC\n"
//        8      4  version of this layout, 1
//       12      4  0
//       16      8  size of the executable in bytes
//       24     32  the key that it is stored under
//       56     32  digest of bytes 0 to 55 and of the executable
//       88         the executable, as the plugin serialized it
//
// Numbers are little-endian.
#pragma once

#include "base/digest.h"
#include "base/error.h"

#include <string>
#include <string_view>

namespace torchere::runtime {

/// The key of an executable: the digest of everything that it depends on.
using CacheKey = Digest::Value;

inline constexpr size_t cacheEntryHeaderSize = 88;

TORCHERE_EXPORT std::string makeCacheEntry(const CacheKey &key, std::string_view executable);

/// The executable in a file. DataLoss, `[subject] what is wrong: got X, expected Y`, unless the whole file is
/// what makeCacheEntry() writes for this key.
TORCHERE_EXPORT Result<std::string_view> parseCacheEntry(std::string_view file, const CacheKey &key,
                                                         std::string_view subject);

} // namespace torchere::runtime
