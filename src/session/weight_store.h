// WeightStore: a program's weights on the device, each made once and shared by all entry points.
#pragma once

#include "program/entry_point.h"
#include "runtime/executable.h"
#include "session/tensor_view.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace torchere::session {

/// A weight's value on the device. Leases on a state's value are held by calls that read it and by arrays
/// that were read from it.
struct WeightValue {
  explicit WeightValue(runtime::Buffer buffer) : buffer(std::move(buffer)) {}
  runtime::Buffer buffer;
  std::atomic<int64_t> leases = 0;
};

/// While a lease lives, no call may overwrite the value. Taken under the store's lock(), dropped in any
/// thread at any time; a call that sees no lease also sees that all reads under it are over.
class Lease {
public:
  explicit Lease(std::shared_ptr<WeightValue> leased) : value(std::move(leased)) {
    value->leases.fetch_add(1, std::memory_order_relaxed);
  }
  ~Lease() {
    if (value)
      value->leases.fetch_sub(1, std::memory_order_release);
  }
  Lease(Lease &&) = default;
  Lease &operator=(Lease &&) = delete;
  const runtime::Buffer &buffer() const { return value->buffer; }

private:
  std::shared_ptr<WeightValue> value;
};

/// A weight. Names of tied weights share one slot. If the slot is not a state, its value never changes once
/// makeResident() has set it; a state slot is read and written under the store's lock().
struct WeightSlot {
  std::string name; ///< one of its names
  const program::Weight *weight = nullptr;
  bool isState = false; ///< some entry point writes it
  bool isLost = false;  ///< its value was donated to a call that failed
  std::shared_ptr<WeightValue> value;

  /// Whether a call must not overwrite the value. Under the store's lock(), because leases are taken under
  /// it.
  bool isLeased() const { return value->leases.load(std::memory_order_acquire) > 0; }
};

/// Refers to the weights, which must outlive it. A weight that is dense, and aligned as the plugin wants
/// it, is used in place, without a copy. State is copied, because the device may write into it.
class WeightStore {
public:
  WeightStore(std::shared_ptr<runtime::Client> client, const runtime::Device *device)
      : client(std::move(client)), device(device) {}

  /// The slot of a weight of the state dict; tied weights get the same one.
  WeightSlot &add(const std::string &name, const program::Weight &weight);
  /// The slot of a constant, which find() does not see; that of a weight if it is the same view.
  WeightSlot &addConstant(const std::string &name, const program::Weight &weight);
  /// The slot of a name that was added; null if there is none.
  WeightSlot *find(std::string_view name) const;
  /// Takes over the values of weights that are the other store's too. State has its own.
  void shareValues(WeightStore &other);
  /// Puts the weight on the device unless it is there already. FailedPrecondition if the slot is lost.
  Status makeResident(WeightSlot &slot);
  /// Guards the state slots, and whether any slot is resident.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex); }
  /// States have moved to another store: from now on checkPresent() fails. Both with the lock held.
  void giveUp() { isGivenUp = true; }
  Status checkPresent() const;
  /// The error of a slot whose value is lost: it was donated to a call that failed, or was to be computed by
  /// an asynchronous call that is known to have failed.
  static Status checkNotLost(const WeightSlot &slot);
  /// The error of a state whose value an asynchronous call failed to compute.
  static Error lost(const std::string &name, const Error &failure);

private:
  using View = std::tuple<const std::byte *, DType, std::vector<int64_t>, std::vector<int64_t>>;

  std::shared_ptr<runtime::Client> client;
  const runtime::Device *device;
  std::mutex mutex;
  std::deque<WeightSlot> slots;
  std::map<View, WeightSlot *> views;
  std::map<std::string, WeightSlot *, std::less<>> names;
  bool isGivenUp = false;
};

} // namespace torchere::session
