// Memory on huge pages, for large data that is filled from front to back.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace torchere {

/// An allocator for containers of plain data. From 2 MiB on, memory begins at a huge page and the kernel is
/// asked for those: filling it then takes one page fault for 2 MiB instead of 512, which cost more than what
/// is stored.
template <class T> struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <class Other> HugePageAllocator(const HugePageAllocator<Other> &) {}
  template <class Other> bool operator==(const HugePageAllocator<Other> &) const { return true; }

  T *allocate(size_t count) {
    constexpr size_t hugePage = size_t{2} << 20;
    if (count > (~size_t{0} - hugePage) / sizeof(T))
      throw std::bad_array_new_length();
    size_t bytes = count * sizeof(T);
    void *memory = bytes < hugePage ? std::malloc(bytes)
                                    : std::aligned_alloc(hugePage, (bytes + hugePage - 1) & ~(hugePage - 1));
    if (!memory)
      throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (bytes >= hugePage)
      (void)madvise(memory, bytes, MADV_HUGEPAGE); // advice: if it fails, pages are small
#endif
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, size_t) { std::free(memory); }

private:
  static_assert(alignof(T) <= alignof(std::max_align_t));
};

} // namespace torchere
