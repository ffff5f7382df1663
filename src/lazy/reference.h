// Reference: shared ownership with the count inside of the object.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace torchere::lazy {

/// The count of a class T that Reference<T> owns. T has a static `release(T *)`, called when nobody owns it
/// any more. References to const objects count as well.
class Counted {
public:
  void retain() const { count.fetch_add(1, std::memory_order_relaxed); }
  /// False if nobody owns the object any more: it is being destroyed by another thread.
  bool tryRetain() const {
    uint32_t seen = count.load(std::memory_order_relaxed);
    while (seen != 0)
      if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire))
        return true;
    return false;
  }
  /// True if this was the last owner.
  bool drop() const { return count.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  bool isOwned() const { return count.load(std::memory_order_acquire) != 0; }
  uint32_t owners() const { return count.load(std::memory_order_acquire); }

private:
  mutable std::atomic<uint32_t> count = 0;
};

template <class T> class Reference {
public:
  Reference() = default;
  explicit Reference(T *object) : object(object) {
    if (object)
      object->retain();
  }
  Reference(const Reference &other) : Reference(other.object) {}
  Reference(Reference &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Reference &operator=(Reference other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Reference() {
    if (object && object->drop())
      T::release(object);
  }

  /// Takes over an ownership that the caller has.
  static Reference adopt(T *owned) {
    Reference made;
    made.object = owned;
    return made;
  }
  /// Gives the ownership to the caller.
  T *detach() { return std::exchange(object, nullptr); }

  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }

private:
  T *object = nullptr;
};

} // namespace torchere::lazy
