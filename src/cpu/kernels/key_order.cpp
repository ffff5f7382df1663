// Elements to keys whose order is that of unsigned integers, and their sort by digits.
#include "cpu/kernels/key_order.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace torchere::cpu {
namespace {

/// Below so many elements comparisons are faster than digits.
constexpr int64_t kFewElements = 256;
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;

struct Item {
  uint64_t key;
  uint32_t place; ///< in the order before
};

template <class Bits> struct FloatLayout;
template <> struct FloatLayout<uint64_t> {
  static constexpr uint64_t infinity = 0x7ff0000000000000u;
};
template <> struct FloatLayout<uint32_t> {
  static constexpr uint32_t infinity = 0x7f800000u;
};

template <class Bits> Bits integerKey(Bits bits, bool isSigned) {
  return static_cast<Bits>(isSigned ? bits ^ (Bits(1) << (8 * sizeof(Bits) - 1)) : bits);
}

/// False for a NaN that has no order.
template <class Bits> bool floatKey(Bits &bits, Bits infinity, FloatOrder order) {
  constexpr auto sign = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
  auto magnitude = static_cast<Bits>(bits & ~sign);
  if (order != FloatOrder::Total) {
    if (magnitude > infinity) {
      if (order == FloatOrder::Partial)
        return false;
      bits = static_cast<Bits>(~sign);
    }
    if (magnitude == 0)
      bits = 0;
  }
  bits = static_cast<Bits>(bits & sign ? ~bits : bits | sign);
  return true;
}

/// Calls fn with the key's order, which is Total for integers, as a constant.
template <class Fn> bool withOrder(const SortKey &key, const Fn &fn) {
  using enum FloatOrder;
  if (!dtypeInfo(key.type).isFloatingPoint || key.order == Total)
    return fn(std::integral_constant<FloatOrder, Total>());
  return key.order == NanLast ? fn(std::integral_constant<FloatOrder, NanLast>())
                              : fn(std::integral_constant<FloatOrder, Partial>());
}

/// Calls fn with an unsigned integer of the key's size.
template <class Fn> bool withBits(const SortKey &key, const Fn &fn) {
  switch (byteSize(key.type)) {
  case 1:
    return fn(uint8_t());
  case 2:
    return fn(uint16_t());
  case 4:
    return fn(uint32_t());
  default:
    return fn(uint64_t());
  }
}

/// The keys of a line's elements.
template <class Bits, FloatOrder kOrder> class KeyReader {
public:
  KeyReader(const SortKey &key, const void *line)
      : line_(static_cast<const char *>(line)), isFloat_(dtypeInfo(key.type).isFloatingPoint),
        isSigned_(dtypeInfo(key.type).isSigned),
        flipped_(key.descending ? static_cast<Bits>(~Bits(0)) : Bits(0)) {
    if constexpr (sizeof(Bits) >= 4)
      infinity_ = FloatLayout<Bits>::infinity;
    else
      infinity_ = static_cast<Bits>(key.type == DType::BF16 ? 0x7f80 : 0x7c00);
  }
  /// False for a NaN that has no order.
  bool read(int64_t at, Bits &bits) const {
    std::memcpy(&bits, line_ + at * int64_t(sizeof(Bits)), sizeof(Bits));
    if (kOrder == FloatOrder::Total && !isFloat_)
      bits = integerKey(bits, isSigned_);
    else if (!floatKey(bits, infinity_, kOrder))
      return false;
    bits = static_cast<Bits>(bits ^ flipped_);
    return true;
  }

private:
  const char *line_;
  const bool isFloat_, isSigned_;
  const Bits flipped_;
  Bits infinity_ = 0;
};

template <class Bits>
bool fillKeys(const SortKey &key, const void *line, int64_t n, const uint32_t *order, Item *items) {
  return withOrder(key, [&](auto kind) {
    KeyReader<Bits, kind()> reader(key, line);
    for (int64_t i = 0; i < n; ++i) {
      Bits bits;
      if (!reader.read(order[i], bits))
        return false;
      items[i] = {bits, static_cast<uint32_t>(i)};
    }
    return true;
  });
}

bool comesBefore(const Item &a, const Item &b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

/// The first `count` items, as a heap whose top comes last. Later elements of a key that is there do not come
/// before it.
template <class Bits>
bool fillHeap(const SortKey &key, const void *line, int64_t n, int64_t count, Item *heap) {
  return withOrder(key, [&](auto kind) {
    KeyReader<Bits, kind()> reader(key, line);
    Bits last = 0;
    for (int64_t i = 0; i < n; ++i) {
      Bits bits;
      if (!reader.read(i, bits))
        return false;
      if (i >= count && bits >= last)
        continue;
      if (i >= count)
        std::pop_heap(heap, heap + count, comesBefore);
      int64_t size = std::min(i + 1, count);
      heap[size - 1] = {bits, static_cast<uint32_t>(i)};
      std::push_heap(heap, heap + size, comesBefore);
      last = static_cast<Bits>(heap[0].key);
    }
    return true;
  });
}

/// By one digit after another, the lowest first. The result is in `items`.
void sortByDigits(Item *items, Item *other, int64_t n, int bytes) {
  Item *home = items;
  for (int digit = 0; digit < bytes; ++digit) {
    int shift = digit * kDigitBits;
    uint32_t counts[kDigits] = {};
    for (int64_t i = 0; i < n; ++i)
      ++counts[items[i].key >> shift & (kDigits - 1)];
    if (counts[items[0].key >> shift & (kDigits - 1)] == n)
      continue; // all have the same
    uint32_t sum = 0;
    for (uint32_t &count : counts)
      sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i)
      other[counts[items[i].key >> shift & (kDigits - 1)]++] = items[i];
    std::swap(items, other);
  }
  if (items != home)
    std::memcpy(static_cast<void *>(home), items, static_cast<size_t>(n) * sizeof(Item));
}

/// Of truths, in one pass without branches: each number goes to both halves, and stays in one.
void orderByTruth(const SortKey &key, const void *line, int64_t n, uint32_t *order, void *scratch) {
  const auto *truths = static_cast<const uint8_t *>(line);
  auto *first = static_cast<uint32_t *>(scratch), *second = first + n;
  const uint32_t isSecond = key.descending ? 0 : 1;
  int64_t inFirst = 0, inSecond = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint32_t number = order[i], goesSecond = truths[number] == isSecond;
    first[inFirst] = number;
    second[inSecond] = number;
    inFirst += 1 - goesSecond;
    inSecond += goesSecond;
  }
  std::memcpy(order, first, static_cast<size_t>(inFirst) * sizeof(uint32_t));
  std::memcpy(order + inFirst, second, static_cast<size_t>(inSecond) * sizeof(uint32_t));
}

} // namespace

int64_t keyOrderScratch(int64_t n) {
  return n * static_cast<int64_t>(2 * sizeof(Item) + sizeof(uint32_t));
}

bool orderByKey(const SortKey &key, const void *line, int64_t n, uint32_t *order, void *scratch) {
  if (n < 2)
    return true;
  if (key.type == DType::Bool) {
    orderByTruth(key, line, n, order, scratch);
    return true;
  }
  Item *items = static_cast<Item *>(scratch), *other = items + n;
  if (!withBits(key, [&](auto bits) { return fillKeys<decltype(bits)>(key, line, n, order, items); }))
    return false;
  if (n < kFewElements)
    std::sort(items, items + n, comesBefore);
  else
    sortByDigits(items, other, n, static_cast<int>(byteSize(key.type)));
  auto *before = reinterpret_cast<uint32_t *>(other + n);
  std::memcpy(before, order, static_cast<size_t>(n) * sizeof(uint32_t));
  for (int64_t i = 0; i < n; ++i)
    order[i] = before[items[i].place];
  return true;
}

bool firstByKey(const SortKey &key, const void *line, int64_t n, int64_t count, uint32_t *order,
                void *scratch) {
  Item *heap = static_cast<Item *>(scratch);
  if (!withBits(key, [&](auto bits) { return fillHeap<decltype(bits)>(key, line, n, count, heap); }))
    return false;
  std::sort_heap(heap, heap + count, comesBefore);
  for (int64_t i = 0; i < count; ++i)
    order[i] = heap[i].place;
  return true;
}

} // namespace torchere::cpu
