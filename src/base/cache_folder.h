// CacheFolder: a folder of files that are found again by a digest, bounded in size.
#pragma once

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchere {

/// A number of bytes with K, M or G for powers of 1024, optionally followed by "iB" or "B"; none for anything
/// else.
TORCHERE_EXPORT std::optional<uint64_t> parseByteSize(std::string_view text);

/// The least recently used files are evicted first. Any number of processes and threads may share a folder,
/// and each may be killed at any time: a file appears under its name only when it is complete. Files of other
/// names are left alone.
class TORCHERE_EXPORT CacheFolder {
public:
  /// What its files are called, and what it is for people.
  struct Kind {
    std::string_view suffix; ///< ".executable"
    std::string_view name;   ///< "the compile cache"
  };
  CacheFolder(const Kind &kind, std::filesystem::path folder, uint64_t limit)
      : kind(kind), directory(std::move(folder)), byteLimit(limit) {}

  const std::filesystem::path &folder() const { return directory; }
  uint64_t limit() const { return byteLimit; }
  std::filesystem::path pathOf(const Digest::Value &key) const;

  /// FailedPrecondition for a folder that is writable by others than its user, or owned by another user;
  /// NotFound if there is none.
  Status check() const;
  /// Marks a file as most recently used. In a read-only folder the order stays as it is.
  static void touch(const std::filesystem::path &path);
  /// A file of `size` bytes, to be written and committed: creates the folder, with mode 0700, and evicts
  /// others to stay within the bound. ResourceExhausted if it is larger than the bound or than the process
  /// may write, and the errors of check() and of the system. The file is not synced to disk: its format must
  /// tell one that a system crash cut off.
  Result<FileReplacement> create(const Digest::Value &key, uint64_t size);
  void remove(const Digest::Value &key) const;
  /// Logs an error that stops nothing: an unsafe folder as a warning, but only once.
  void report(const Error &error);

  struct Contents {
    uint64_t entryCount = 0;
    uint64_t byteSize = 0; ///< including what interrupted processes left behind
  };
  /// What the folder holds; nothing if it does not exist.
  Result<Contents> contents() const;
  /// Removes all entries, and nothing else; returns what was removed.
  Result<Contents> clear();

private:
  struct File;
  bool isEntryName(std::string_view name) const;
  Status make() const;
  Result<std::vector<File>> list() const;
  Result<std::vector<File>> listChecked() const;
  static Contents summarize(const std::vector<File> &files);
  Status makeRoom(uint64_t size);

  Kind kind;
  std::filesystem::path directory;
  uint64_t byteLimit;
  std::atomic<bool> isReported = false; ///< whether the unsafe folder was reported
  std::mutex mutex;                     ///< guards the members below
  uint64_t freeBytes = 0;               ///< how much can be written before the folder has to be listed again
};

} // namespace torchere
