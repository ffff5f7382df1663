// Where packed weights are kept on disk, as variables of the environment say.
#pragma once

#include "base/cache_folder.h"

namespace torchere {

/// The files in it, and what it is for people.
inline constexpr CacheFolder::Kind packedFolderKind = {".packed", "the cache of packed weights"};
inline constexpr uint64_t defaultPackedLimit = uint64_t{8} << 30;

struct PackedFolder {
  std::filesystem::path path; ///< empty: none is asked for
  uint64_t limit = defaultPackedLimit;
  /// TORCHERE_CPU_PACKED_CACHE and TORCHERE_CPU_PACKED_CACHE_SIZE. Invalid values are logged and ignored.
  static TORCHERE_EXPORT PackedFolder fromEnvironment();
};

} // namespace torchere
