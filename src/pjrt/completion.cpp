// Implements Completion.
#include "pjrt/completion.h"

namespace torchere::pjrt {

std::shared_ptr<Completion> Completion::done(Status status) {
  auto completion = std::make_shared<Completion>();
  completion->result = std::move(status);
  completion->isResultSet = true;
  return completion;
}

bool Completion::set(Status status) {
  std::vector<Callback> waiting;
  {
    std::lock_guard lock(mutex);
    if (result)
      return false;
    result = status;
    isResultSet.store(true, std::memory_order_release);
    waiting.swap(callbacks);
    changed.notify_all();
  }
  for (const Callback &callback : waiting)
    callback(status);
  return true;
}

bool Completion::isSet() const {
  return isResultSet.load(std::memory_order_acquire);
}

Status Completion::wait() const {
  if (isSet())
    return *result;
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return result.has_value(); });
  return *result;
}

void Completion::onSet(Callback callback) {
  {
    std::lock_guard lock(mutex);
    if (!result) {
      callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(*result); // without the lock: a result is set only once
}

} // namespace torchere::pjrt
