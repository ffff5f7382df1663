// SegmentedVector: a vector that grows by another piece of memory instead of moving its elements.
#pragma once

#include "base/huge_pages.h"

#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace torchere {

/// Elements keep their addresses until the vector is destroyed, even if it is moved. Segment i has room for
/// 16 * 2^i elements, so that an index says its segment. For plain data: no constructors, no destructors.
template <class T> class SegmentedVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  struct Free {
    void operator()(T *memory) const { HugePageAllocator<T>().deallocate(memory, 0); }
  };
  using Segment = std::unique_ptr<T[], Free>;

  static constexpr size_t first = 16; ///< elements of the first segment

public:
  template <class Element> class Iterator {
  public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    /// At the first element of a segment, of which `left` elements are to come in all.
    Iterator(const Segment *segment, size_t left) : segment(segment), left(left) { enter(first); }
    Element &operator*() const { return *place; }
    Element *operator->() const { return place; }
    Iterator &operator++() {
      --left;
      if (++place == end) {
        ++segment;
        enter(2 * room);
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator &other) const { return left == other.left; }

  private:
    void enter(size_t segmentRoom) {
      room = segmentRoom;
      place = left == 0 ? nullptr : segment->get();
      end = left == 0 ? nullptr : place + room;
    }

    const Segment *segment = nullptr;
    size_t left = 0; ///< elements from here to the vector's end
    size_t room = 0; ///< of the segment
    Element *place = nullptr;
    Element *end = nullptr; ///< of the segment
  };

  SegmentedVector() = default;
  SegmentedVector(SegmentedVector &&other) noexcept { *this = std::move(other); }
  SegmentedVector &operator=(SegmentedVector &&other) noexcept {
    segments = std::exchange(other.segments, {});
    count = std::exchange(other.count, 0);
    return *this;
  }

  void push_back(const T &element) {
    Place place = placeOf(count);
    if (!segments[place.segment])
      segments[place.segment] = Segment(HugePageAllocator<T>().allocate(first << place.segment));
    std::construct_at(segments[place.segment].get() + place.index, element);
    ++count;
  }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T &operator[](size_t index) { return *at(index); }
  const T &operator[](size_t index) const { return *at(index); }
  auto begin() { return Iterator<T>(segments.data(), count); }
  auto end() { return Iterator<T>(nullptr, 0); }
  auto begin() const { return Iterator<const T>(segments.data(), count); }
  auto end() const { return Iterator<const T>(nullptr, 0); }

private:
  struct Place {
    size_t segment, index;
  };

  static Place placeOf(size_t index) {
    size_t shifted = index + first; // segment i begins at 16 * 2^i of these
    size_t segment =
        static_cast<size_t>(std::bit_width(shifted)) - static_cast<size_t>(std::bit_width(first));
    return {segment, shifted - (first << segment)};
  }
  T *at(size_t index) const {
    Place place = placeOf(index);
    return segments[place.segment].get() + place.index;
  }

  std::array<Segment, 32> segments; // more elements than any memory holds
  size_t count = 0;
};

} // namespace torchere
