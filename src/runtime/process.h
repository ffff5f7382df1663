// ProcessMark: notices that the process was forked since something was made. A fork copies the memory of a
// plugin but not its threads, so that whatever a plugin made before the fork hangs or crashes after it.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace torchere::runtime {

class TORCHERE_EXPORT ProcessMark {
public:
  ProcessMark();
  /// True in a child that was forked since the mark was made. One atomic load.
  bool isForked() const;
  /// FailedPrecondition when isForked(): `[subject] made before fork() ...`, with both process ids.
  Status check(std::string_view subject) const { return isForked() ? error(subject) : Status{}; }

private:
  Status error(std::string_view subject) const;
  uint64_t generation;
  pid_t process;
};

} // namespace torchere::runtime
