// ReadAhead: values that a second thread reads while their taker does something else first.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace torchere::artifact {

/// What `read(index)` gives for each index. A thread reads them from the last one on; who takes them, from
/// the first one on, reads what the thread has not begun, so they meet in between. `read` may run in both
/// threads at once.
template <class Value, class Read> class ReadAhead {
public:
  ReadAhead(size_t count, Read read) : slots(count), read(std::move(read)) {
    constexpr size_t fewest = 32; // that take longer than a thread to start
    if (count < fewest || std::thread::hardware_concurrency() < 2)
      return;
    try {
      thread = std::thread([this] { readBackwards(); });
    } catch (const std::system_error &) { // no more threads: the taker reads all
    }
  }
  ~ReadAhead() {
    isStopped.store(true, std::memory_order_relaxed);
    if (thread.joinable())
      thread.join();
  }
  ReadAhead(const ReadAhead &) = delete;
  ReadAhead &operator=(const ReadAhead &) = delete;

  /// Each once, in order.
  Value take(size_t index) {
    Slot &slot = slots[index];
    if (slot.isBegun.exchange(true, std::memory_order_relaxed)) {
      slot.isDone.wait(false, std::memory_order_acquire);
      if (slot.value)
        return *std::exchange(slot.value, std::nullopt);
    }
    return read(index);
  }

private:
  struct Slot {
    std::atomic<bool> isBegun{false}; ///< by either thread
    std::atomic<bool> isDone{false};  ///< by the thread of its own
    std::optional<Value> value;       ///< none where memory was missing: the taker meets the error
  };

  void readBackwards() {
    for (size_t index = slots.size(); index-- > 0 && !isStopped.load(std::memory_order_relaxed);) {
      Slot &slot = slots[index];
      if (slot.isBegun.exchange(true, std::memory_order_relaxed))
        return;
      try {
        slot.value.emplace(read(index));
      } catch (const std::bad_alloc &) {
      }
      slot.isDone.store(true, std::memory_order_release);
      slot.isDone.notify_one();
    }
  }

  std::vector<Slot> slots;
  Read read;
  std::atomic<bool> isStopped{false};
  std::thread thread; ///< the last member: it reads the others
};

} // namespace torchere::artifact
