// Digest: the compression function of BLAKE2b, as RFC 7693 defines it.
#include "base/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace torchere {

static_assert(std::endian::native == std::endian::little, "words are read from memory as they lie");

/// The fractional parts of the square roots of the first eight primes.
static constexpr std::array<uint64_t, 8> initialState = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/// The order in which each round takes the words of a block; the last two of twelve repeat the first two.
static constexpr uint8_t wordOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline void mix(uint64_t &a, uint64_t &b, uint64_t &c, uint64_t &d, uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

Digest::Digest() : state(initialState), pending{} {
  // The parameter block of an unkeyed, sequential hash: fanout 1, depth 1, and the length of the result.
  state[0] ^= 0x01010000 ^ sizeof(Value);
}

void Digest::compress(const std::byte *block, bool isLast) {
  uint64_t m[16], v[16];
  std::memcpy(m, block, blockSize);
  std::copy(state.begin(), state.end(), v);
  std::copy(initialState.begin(), initialState.end(), v + 8);
  v[12] ^= byteCount; // the upper half of the count stays 0: 2^64 bytes are never reached
  if (isLast)
    v[14] = ~v[14];
  for (size_t round = 0; round < 12; ++round) {
    const uint8_t *order = wordOrder[round % 10];
    mix(v[0], v[4], v[8], v[12], m[order[0]], m[order[1]]);
    mix(v[1], v[5], v[9], v[13], m[order[2]], m[order[3]]);
    mix(v[2], v[6], v[10], v[14], m[order[4]], m[order[5]]);
    mix(v[3], v[7], v[11], v[15], m[order[6]], m[order[7]]);
    mix(v[0], v[5], v[10], v[15], m[order[8]], m[order[9]]);
    mix(v[1], v[6], v[11], v[12], m[order[10]], m[order[11]]);
    mix(v[2], v[7], v[8], v[13], m[order[12]], m[order[13]]);
    mix(v[3], v[4], v[9], v[14], m[order[14]], m[order[15]]);
  }
  for (size_t i = 0; i < 8; ++i)
    state[i] ^= v[i] ^ v[i + 8];
}

Digest &Digest::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (pendingSize == blockSize) {
      byteCount += blockSize;
      compress(pending.data(), false);
      pendingSize = 0;
    }
    while (pendingSize == 0 && bytes.size() > blockSize) { // whole blocks, none of them the last
      byteCount += blockSize;
      compress(bytes.data(), false);
      bytes = bytes.subspan(blockSize);
    }
    size_t count = std::min(bytes.size(), blockSize - pendingSize);
    std::copy_n(bytes.begin(), count, pending.begin() + pendingSize);
    pendingSize += count;
    bytes = bytes.subspan(count);
  }
  return *this;
}

Digest &Digest::addField(uint64_t number) {
  return add(std::as_bytes(std::span(&number, 1)));
}

Digest &Digest::addField(std::string_view text) {
  addField(uint64_t{text.size()});
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

Digest::Value Digest::finish() {
  byteCount += pendingSize;
  std::fill(pending.begin() + pendingSize, pending.end(), std::byte{0});
  compress(pending.data(), true);
  Value value;
  std::memcpy(value.data(), state.data(), value.size());
  return value;
}

std::string hexText(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes)
    text += fmt::format("{:02x}", byte);
  return text;
}

} // namespace torchere
