// Arena: memory for objects that live as long as a program, allocated consecutively and freed as a whole.
#pragma once

#include "base/huge_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace torchere::program {

/// Stored objects keep their addresses until the arena is destroyed, even if it is moved.
class Arena {
public:
  Arena() = default;
  Arena(Arena &&other) noexcept { *this = std::move(other); }
  Arena &operator=(Arena &&other) noexcept {
    chunks = std::exchange(other.chunks, {});
    next = std::exchange(other.next, nullptr);
    end = std::exchange(other.end, nullptr);
    return *this;
  }

  template <class T> const T *store(const T &value) { return store(std::span<const T>(&value, 1)).data(); }
  template <class T> std::span<const T> store(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (values.empty())
      return {};
    void *place = allocate(values.size_bytes(), alignof(T));
    std::memcpy(place, values.data(), values.size_bytes());
    return {static_cast<const T *>(place), values.size()};
  }
  std::string_view store(std::string_view text) {
    std::span<const char> stored = store(std::span<const char>(text));
    return {stored.data(), stored.size()};
  }

private:
  void *allocate(size_t bytes, size_t alignment) {
    size_t padding = (0 - reinterpret_cast<uintptr_t>(next)) & (alignment - 1);
    if (padding + bytes > static_cast<size_t>(end - next)) {
      addChunk(bytes);
      padding = 0;
    }
    void *place = next + padding;
    next += padding + bytes;
    return place;
  }

  /// Each chunk is twice as large as the one before, up to 16 MiB.
  void addChunk(size_t least) {
    constexpr size_t first = 1 << 12, doublings = 12;
    size_t size = std::max(least, first << std::min(chunks.size(), doublings));
    next = HugePageAllocator<std::byte>().allocate(size);
    end = next + size;
    chunks.emplace_back(next);
  }

  struct Free {
    void operator()(std::byte *chunk) const { HugePageAllocator<std::byte>().deallocate(chunk, 0); }
  };

  std::vector<std::unique_ptr<std::byte[], Free>> chunks;
  std::byte *next = nullptr;
  std::byte *end = nullptr;
};

} // namespace torchere::program
