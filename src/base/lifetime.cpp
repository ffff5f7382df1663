// Implements Lifetime.
#include "base/lifetime.h"

#include <atomic>

namespace torchere {

static uint64_t nextId() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Lifetime::Lifetime() : number(nextId()) {}

Lifetime::~Lifetime() {
  for (const std::weak_ptr<Listener> &listener : listeners)
    if (std::shared_ptr<Listener> told = listener.lock())
      told->onEnd(number);
}

void Lifetime::tell(const std::shared_ptr<Listener> &listener) const {
  std::lock_guard lock(mutex);
  for (const std::weak_ptr<Listener> &known : listeners)
    if (!known.owner_before(listener) && !listener.owner_before(known))
      return;
  std::erase_if(listeners, [](const std::weak_ptr<Listener> &known) { return known.expired(); });
  listeners.push_back(listener);
}

} // namespace torchere
