// ArenaPool: memory for runs, which later runs use again, also of other plans of the program.
#pragma once

#include "cpu/plan/plan.h"

#include <mutex>

namespace torchere::cpu {

struct Arena {
  Memory memory;
  int64_t bytes = 0;
};

class ArenaPool {
public:
  /// At least `bytes`, not zeroed, for one run at a time.
  Result<Arena> take(int64_t bytes);
  void putBack(Arena arena);

private:
  void release();

  std::mutex mutex;
  std::vector<Arena> idle; ///< the largest last
  IdleMemory idleMemory{[this] { release(); }};
};

} // namespace torchere::cpu
