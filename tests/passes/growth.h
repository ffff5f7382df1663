// How the work of a pass grows with the size of the module, measured so that a busy machine cannot fail a
// test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <limits>

namespace torchere::passes {

/// The CPU seconds of this thread alone, however often it is interrupted.
inline double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The ratio of the least times of several runs with `large` and with `small`. `run` does all its work with a
/// size and returns the CPU seconds of the part that counts. Linear work gives about large / small, quadratic
/// work its square, so a bound between the two tells them apart on any machine.
inline double growth(size_t small, size_t large, const std::function<double(size_t)> &run) {
  constexpr int runs = 5;
  double least[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (int i = 0; i < runs; ++i) {
    least[0] = std::min(least[0], run(small));
    least[1] = std::min(least[1], run(large));
  }
  return least[1] / least[0];
}

} // namespace torchere::passes
