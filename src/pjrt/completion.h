// Completion: the end of what a plugin does later, behind the events that it hands out.
#pragma once

#include "base/error.h"
#include "pjrt/types.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torchere::pjrt {

/// Set once, by whoever does the work; any thread may ask, wait or leave a callback.
class Completion {
public:
  using Callback = std::function<void(const Status &)>;

  /// One that is set already.
  static std::shared_ptr<Completion> done(Status status = {});

  /// Wakes those who wait, then runs the callbacks in this thread. False if it was set before.
  bool set(Status status);
  bool isSet() const;
  /// Waits.
  Status wait() const;
  /// Runs the callback when it is set: in the thread that sets it, or now.
  void onSet(Callback callback);

private:
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::optional<Status> result;
  std::vector<Callback> callbacks;
};

/// An event of the completion, which the caller of the plugin destroys.
Event *makeEvent(std::shared_ptr<Completion> completion);

} // namespace torchere::pjrt
