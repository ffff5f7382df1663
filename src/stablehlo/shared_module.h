// SharedModule: a module with several owners, who use it one at a time.
#pragma once

#include "stablehlo/module.h"

#include <mutex>
#include <utility>

namespace torchere::stablehlo {

/// The module stays as it is: who wants a changed one clones it. A clone shares the context, which is for one
/// thread at a time, so it has to be gone before `use` returns.
class SharedModule {
public:
  explicit SharedModule(Module module) : module(std::move(module)) {}

  /// What `use(const Module &)` gives; other threads wait meanwhile.
  template <class Use> auto read(Use &&use) const {
    std::lock_guard lock(mutex);
    return use(module);
  }

private:
  mutable std::mutex mutex;
  const Module module;
};

} // namespace torchere::stablehlo
