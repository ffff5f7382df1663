// SortedTable: LevelDB's file of sorted keys and values, which a checkpoint's index is.
#pragma once

#include "base/cyclic_checksum.h"
#include "base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact::saved_model {

/// A checksum as files store it: rotated and offset, because a checksum of data that holds its own checksum
/// is a constant.
TORCHERE_EXPORT uint32_t masked(const Crc32c &checksum);

/// Collects entries in memory and gives the file's bytes. Blocks are not compressed.
class TORCHERE_EXPORT SortedTable {
public:
  /// Keys must be added in the order of their bytes.
  void add(std::string_view key, std::string_view value);
  /// The whole file; nothing may be added afterwards.
  std::string finish();

private:
  /// Entries share the beginnings of their keys; every so many of them one is written in full.
  class Block {
  public:
    explicit Block(int restartInterval) : restartInterval(restartInterval) {}
    void add(std::string_view key, std::string_view value);
    /// The contents, with the places of the full keys at the end; the block is then empty.
    std::string take();
    size_t size() const { return contents.size(); }
    const std::string &lastKey() const { return previousKey; }

  private:
    int restartInterval;
    int sinceRestart = 0;
    std::string contents;
    std::string previousKey;
    std::vector<uint32_t> restarts;
  };

  struct Place {
    uint64_t offset = 0;
    uint64_t size = 0; ///< without the trailer
  };

  void flush();
  Place append(std::string contents);
  static constexpr int dataRestartInterval = 16;
  Block data{dataRestartInterval};
  Block index{1};
  std::string file;
};

} // namespace torchere::artifact::saved_model
