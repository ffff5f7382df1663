// Lifetime: tells others when what it is a part of has gone.
#pragma once

#include "base/export.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace torchere {

class TORCHERE_EXPORT Lifetime {
public:
  class Listener {
  public:
    virtual ~Listener() = default;
    /// In the thread that ends it, which may be any.
    virtual void onEnd(uint64_t id) noexcept = 0;
  };

  Lifetime();
  ~Lifetime();
  Lifetime(const Lifetime &) = delete;
  Lifetime &operator=(const Lifetime &) = delete;

  /// Never given twice in a process.
  uint64_t id() const { return number; }
  /// The listener learns of the end, once, if it still exists by then.
  void tell(const std::shared_ptr<Listener> &listener) const;

private:
  const uint64_t number;
  mutable std::mutex mutex;
  mutable std::vector<std::weak_ptr<Listener>> listeners;
};

} // namespace torchere
