// GrowingList: elements in one piece of memory, which is asked to grow where it lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace torchere::program {

/// A vector that grows by realloc: large memory then takes other addresses instead of being copied, and its
/// pages stay. For elements that have no constructor to be run for that.
template <class T> class GrowingList {
public:
  GrowingList() = default;
  GrowingList(GrowingList &&other) noexcept { *this = std::move(other); }
  GrowingList &operator=(GrowingList &&other) noexcept {
    elements = std::move(other.elements);
    count = std::exchange(other.count, 0);
    capacity = std::exchange(other.capacity, 0);
    return *this;
  }

  void push_back(const T &element) {
    T copy = element; // may be one of the list
    if (count == capacity)
      grow();
    elements[count++] = copy;
  }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *begin() { return elements.get(); }
  T *end() { return elements.get() + count; }
  const T *begin() const { return elements.get(); }
  const T *end() const { return elements.get() + count; }
  T &operator[](size_t index) { return elements[index]; }
  const T &operator[](size_t index) const { return elements[index]; }

private:
  static_assert(std::is_trivially_copyable_v<T>);

  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };

  void grow() {
    size_t wanted = std::max<size_t>(16, 2 * capacity);
    void *memory = std::realloc(static_cast<void *>(elements.get()), wanted * sizeof(T));
    if (!memory)
      throw std::bad_alloc();
    (void)elements.release(); // realloc has freed it, or it is the same
    elements.reset(static_cast<T *>(memory));
    capacity = wanted;
  }

  std::unique_ptr<T[], Free> elements;
  size_t count = 0;
  size_t capacity = 0;
};

} // namespace torchere::program
