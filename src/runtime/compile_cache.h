// CompileCache: executables on disk, so that another process need not compile them again.
#pragma once

#include "runtime/cache_entry.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::runtime {

/// A folder with one file for each executable, of at most `limit` bytes in all: what was not used for longest
/// goes first. Any number of processes and threads may use one folder at once, and each may be killed at any
/// time: a file appears whole under its name or not at all, and what was damaged since is found out by its
/// digest.
///
/// Nothing that goes wrong here stops a program: without an entry it is compiled.
class TORCHERE_EXPORT CompileCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t{1} << 30;

  explicit CompileCache(std::filesystem::path folder, uint64_t limit = defaultLimit)
      : directory(std::move(folder)), byteLimit(limit) {}

  /// The cache that the environment asks for; null when it asks for none.
  /// TORCHERE_CACHE: 0 or off for none, 1 or on for the default, or the bound: a number of bytes, of KiB, MiB
  /// or GiB with K, M or G behind it. TORCHERE_CACHE_DIR: the folder; without it $XDG_CACHE_HOME/torchere,
  /// and else
  /// ~/.cache/torchere. Values that are neither are reported in the log and count as absent.
  static std::shared_ptr<CompileCache> fromEnvironment();

  const std::filesystem::path &folder() const { return directory; }
  uint64_t limit() const { return byteLimit; }

  /// The file of an entry, which was checked.
  struct Entry {
    std::string file;
    std::string_view executable() const { return std::string_view(file).substr(cacheEntryHeaderSize); }
  };
  /// The entry of this key, from now on the one used last; none when there is none. A damaged one is removed.
  /// A folder that others than its user can write to, or that is another user's, is left alone, with a
  /// warning.
  std::optional<Entry> load(const CacheKey &key);

  /// Writes an entry, and removes others before it to stay within the bound. Creates the folder, with mode
  /// 0700. Errors, which are in the log as well: ResourceExhausted when the entry is larger than the bound or
  /// than what the process may write, FailedPrecondition for a folder that is not safe, and what the system
  /// answers.
  Status store(const CacheKey &key, std::string_view executable);

  /// Removes the entry, if there is one.
  void remove(const CacheKey &key);

  struct Contents {
    uint64_t entryCount = 0;
    uint64_t byteSize = 0; ///< with what interrupted processes left behind
  };
  /// What the folder holds: nothing when it is not there.
  Result<Contents> contents() const;
  /// Removes all entries, and nothing else; says what there was.
  Result<Contents> clear();

private:
  struct File;
  std::filesystem::path pathOf(const CacheKey &key) const;
  Status makeFolder() const;
  Status checkFolder() const;
  Status write(const CacheKey &key, std::string_view executable);
  Result<std::vector<File>> list() const;
  Result<std::vector<File>> listChecked() const;
  static Contents summarize(const std::vector<File> &files);
  Status makeRoom(uint64_t size);
  void report(const Error &error);

  std::filesystem::path directory;
  uint64_t byteLimit;
  std::atomic<bool> isReported = false; ///< that the folder is not safe
  std::mutex mutex;                     ///< guards what follows
  uint64_t freeBytes = 0;               ///< that can be written before the folder has to be listed again
};

} // namespace torchere::runtime
