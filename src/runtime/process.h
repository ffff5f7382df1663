// ProcessMark: detects that the process was forked after something was made. A fork copies a plugin's memory
// but not its threads, so nothing that a plugin made survives fork(): using it hangs or crashes.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace torchere::runtime {

class TORCHERE_EXPORT ProcessMark {
public:
  ProcessMark();
  /// True in a child that was forked after the mark was made. One atomic load.
  bool isForked() const;
  /// FailedPrecondition if isForked(): `[subject] made before fork() ...`, with both process ids.
  Status check(std::string_view subject) const { return isForked() ? error(subject) : Status{}; }

private:
  Status error(std::string_view subject) const;
  uint64_t generation;
  pid_t process;
};

} // namespace torchere::runtime
