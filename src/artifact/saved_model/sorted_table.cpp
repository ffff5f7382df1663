// Blocks of entries, each with its checksum; a block that lists them by their last keys; a footer.
#include "artifact/saved_model/sorted_table.h"

#include "artifact/saved_model/wire_format.h"

#include <algorithm>
#include <utility>

namespace torchere::artifact::saved_model {

uint32_t masked(const Crc32c &checksum) {
  uint32_t value = checksum.value();
  return ((value >> 15) | (value << 17)) + 0xA282EAD8;
}

static constexpr size_t blockSize = 32 << 10;
static constexpr uint32_t magicLow = 0x8b80fb57, magicHigh = 0xdb477524;
static constexpr char uncompressed = 0;

void SortedTable::Block::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (restarts.empty() || sinceRestart == restartInterval) {
    restarts.push_back(static_cast<uint32_t>(contents.size()));
    sinceRestart = 0;
  } else {
    size_t limit = std::min(key.size(), previousKey.size());
    shared = static_cast<size_t>(
        std::mismatch(key.begin(), key.begin() + static_cast<ptrdiff_t>(limit), previousKey.begin()).first -
        key.begin());
  }
  appendVarint(contents, shared);
  appendVarint(contents, key.size() - shared);
  appendVarint(contents, value.size());
  contents += key.substr(shared);
  contents += value;
  previousKey = key;
  ++sinceRestart;
}

std::string SortedTable::Block::take() {
  if (restarts.empty())
    restarts.push_back(0);
  for (uint32_t restart : restarts)
    appendFixed32(contents, restart);
  appendFixed32(contents, static_cast<uint32_t>(restarts.size()));
  restarts.clear();
  previousKey.clear();
  return std::exchange(contents, {});
}

SortedTable::Place SortedTable::append(std::string contents) {
  Place place{file.size(), contents.size()};
  contents.push_back(uncompressed);
  uint32_t checksum = masked(Crc32c().add(contents));
  file += contents;
  appendFixed32(file, checksum);
  return place;
}

void SortedTable::add(std::string_view key, std::string_view value) {
  data.add(key, value);
  if (data.size() >= blockSize)
    flush();
}

void SortedTable::flush() {
  if (data.size() == 0)
    return;
  std::string lastKey = data.lastKey();
  Place place = append(data.take());
  std::string handle;
  appendVarint(handle, place.offset);
  appendVarint(handle, place.size);
  index.add(lastKey, handle);
}

/// A number in ten bytes, the most that a varint has.
static void appendLongVarint(std::string &bytes, uint64_t number) {
  constexpr int byteCount = 10;
  for (int count = 1; count < byteCount; ++count, number >>= 7)
    bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

// The footer has room for the places of two blocks in full length: of the index, and before it of a block of
// metadata, which nobody reads. It names the index, so that there is no such block whose damage nobody sees.
// Long varints leave few bytes unused. The size is a short one: readers allocate what it says, and no damage
// to a byte of it makes it great.
std::string SortedTable::finish() {
  constexpr size_t roomForPlaces = 40;
  flush();
  Place place = append(index.take());
  size_t end = file.size() + roomForPlaces;
  appendLongVarint(file, place.offset);
  appendLongVarint(file, place.size);
  appendLongVarint(file, place.offset);
  appendVarint(file, place.size);
  file.resize(end);
  appendFixed32(file, magicLow);
  appendFixed32(file, magicHigh);
  return std::move(file);
}

} // namespace torchere::artifact::saved_model
