// ThreadClock: the processor time of the calling thread, which other programs do not lengthen.
#pragma once

#include <ctime>

namespace torchere::cpu {

class ThreadClock {
public:
  double milliseconds() const { return now() - start; }

private:
  static double now() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
  }
  double start = now();
};

} // namespace torchere::cpu
