// WeightStore: a program's weights on the device, each made once and shared by all entry points.
#pragma once

#include "program/entry_point.h"
#include "runtime/executable.h"
#include "session/tensor_view.h"

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

/// A weight. Names of tied weights share one slot. The buffer of a slot that is no state never changes once
/// makeResident() has put it there; a state slot is read and written under the store's lock().
struct WeightSlot {
  std::string name; ///< one of its names
  const program::Weight *weight = nullptr;
  bool isState = false; ///< some entry point writes it
  bool isLost = false;  ///< its buffer was donated to a call that failed
  std::shared_ptr<runtime::Buffer> buffer;
};

/// Refers to the weights, which must outlive it. Not copied: a weight that is dense and aligned to 64 bytes
/// is read where it lies. State is copied, because the device may write into it.
class WeightStore {
public:
  WeightStore(std::shared_ptr<runtime::Client> client, const runtime::Device *device)
      : client(std::move(client)), device(device) {}

  /// The slot of a weight of the state dict; tied ones get the same.
  WeightSlot &add(const std::string &name, const program::Weight &weight);
  /// The slot of a constant, which find() does not see; a weight's if it is the same view.
  WeightSlot &addConstant(const std::string &name, const program::Weight &weight);
  /// The slot of a name that was added; null when there is none.
  WeightSlot *find(std::string_view name) const;
  /// Puts the weight on the device unless it is there. FailedPrecondition when the slot is lost.
  Status makeResident(WeightSlot &slot);
  /// Guards the state slots, and the residence of all.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex); }
  /// The error of a slot that is lost.
  static Status checkNotLost(const WeightSlot &slot);

private:
  using View = std::tuple<const std::byte *, DType, std::vector<int64_t>, std::vector<int64_t>>;

  std::shared_ptr<runtime::Client> client;
  const runtime::Device *device;
  std::mutex mutex;
  std::deque<WeightSlot> slots;
  std::map<View, WeightSlot *> views;
  std::map<std::string, WeightSlot *, std::less<>> names;
};

} // namespace torchere::session
