// Elements of any dtype, as integers of their size: what moves them looks at nothing else.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace torchere::cpu {

/// Calls fn with a value of the unsigned integer type of `size` bytes: 1, 2, 4, 8, or 16 of complex numbers.
template <class Fn> auto withElement(int64_t size, const Fn &fn) {
  return size == 1   ? fn(uint8_t())
         : size == 2 ? fn(uint16_t())
         : size == 4 ? fn(uint32_t())
         : size == 8 ? fn(uint64_t())
                     : fn(static_cast<unsigned __int128>(0));
}

/// Of an element's size, by which tables of kernels are ordered.
inline int log2Of(int64_t size) {
  return std::countr_zero(static_cast<uint64_t>(size));
}

/// to[i * step] = from[offsets[i]], of n elements of `size` bytes; `offsets` count elements.
inline void gatherElements(int64_t size, const char *from, const int64_t *offsets, char *to, int64_t n,
                           int64_t step = 1) {
  withElement(size, [&](auto element) {
    constexpr auto bytes = static_cast<int64_t>(sizeof(element));
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(to + i * step * bytes, from + offsets[i] * bytes, bytes);
  });
}

/// to[offsets[i]] = from[i], likewise, one after the other.
inline void scatterElements(int64_t size, const char *from, char *to, const int64_t *offsets, int64_t n) {
  withElement(size, [&](auto element) {
    constexpr auto bytes = static_cast<int64_t>(sizeof(element));
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(to + offsets[i] * bytes, from + i * bytes, bytes);
  });
}

} // namespace torchere::cpu
