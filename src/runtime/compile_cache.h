// CompileCache: executables on disk, so that other processes need not compile them again.
#pragma once

#include "base/cache_folder.h"
#include "runtime/cache_entry.h"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace torchere::runtime {

/// Which cache a client has.
struct CacheChoice {
  enum class Use : uint8_t {
    Environment, ///< as CompileCache::fromEnvironment() says
    Off,
    On, ///< with the folder and the limit below
  };
  Use use = Use::Environment;
  std::filesystem::path folder = {}; ///< absolute; empty: the environment's
  uint64_t limit = 0;                ///< 0: the environment's, or the default if that is off
  auto operator<=>(const CacheChoice &) const = default;
};

/// A folder with one file for each executable, of at most `limit` bytes in all (CacheFolder); later damage is
/// detected by its digest.
///
/// No error here stops a program: without an entry, it is compiled.
class TORCHERE_EXPORT CompileCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t{1} << 30;

  explicit CompileCache(std::filesystem::path folder, uint64_t limit = defaultLimit);

  /// The cache that the environment configures; null if it is disabled.
  /// TORCHERE_CACHE: 0 or off disables it, 1 or on selects the default bound, anything else is the bound: a
  /// number of bytes, or of KiB, MiB or GiB with the suffix K, M or G. TORCHERE_CACHE_DIR: the folder; by
  /// default $XDG_CACHE_HOME/torchere, or else ~/.cache/torchere. Invalid values are logged and ignored.
  static std::shared_ptr<CompileCache> fromEnvironment();
  /// The cache that was chosen; null if it is off, or if no folder is known.
  static std::shared_ptr<CompileCache> choose(const CacheChoice &choice);

  const std::filesystem::path &folder() const { return files.folder(); }
  uint64_t limit() const { return files.limit(); }

  /// The checked file of an entry.
  struct Entry {
    std::string file;
    std::string_view executable() const { return std::string_view(file).substr(cacheEntryHeaderSize); }
  };
  /// The entry for this key, if there is one; marks it as most recently used. A damaged entry is removed. A
  /// folder that is writable by others than its user, or owned by another user, is not used, with a warning.
  std::optional<Entry> load(const CacheKey &key);

  /// Writes an entry, evicting others first to stay within the bound. Creates the folder, with mode 0700.
  /// Errors, which are logged as well: ResourceExhausted if the entry is larger than the bound or than the
  /// process may write, FailedPrecondition for an unsafe folder, and the system's errors.
  Status store(const CacheKey &key, std::string_view executable);

  /// Removes the entry, if there is one.
  void remove(const CacheKey &key) { files.remove(key); }

  using Contents = CacheFolder::Contents;
  /// What the folder holds; nothing if it does not exist.
  Result<Contents> contents() const { return files.contents(); }
  /// Removes all entries, and nothing else; returns what was removed.
  Result<Contents> clear() { return files.clear(); }

private:
  Status write(const CacheKey &key, std::string_view executable);

  CacheFolder files;
};

} // namespace torchere::runtime
