// Completion: the end of an asynchronous operation of a plugin, behind the events that it hands out.
#pragma once

#include "base/error.h"
#include "pjrt/types.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torchere::pjrt {

/// Set once, by whoever does the work; any thread may poll, wait or add a callback.
class Completion {
public:
  using Callback = std::function<void(const Status &)>;

  /// A completion that is already set.
  static std::shared_ptr<Completion> done(Status status = {});

  /// Wakes the waiting threads, then runs the callbacks in this thread. False if it was already set.
  bool set(Status status);
  bool isSet() const;
  /// Waits.
  Status wait() const;
  /// Runs the callback once the completion is set: in the thread that sets it, or at once.
  void onSet(Callback callback);

private:
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::optional<Status> result;
  std::atomic<bool> isResultSet = false; ///< then the result stays, and is read without the lock
  std::vector<Callback> callbacks;
};

/// An event for the completion, which the plugin's caller destroys.
Event *makeEvent(std::shared_ptr<Completion> completion);

} // namespace torchere::pjrt
