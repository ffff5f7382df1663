// How long a line of the cache takes from one core to another and back, in nanoseconds: one JSON number, the
// median of several rounds, between the first and the last core that the process may use; null if it has one.
// Cores that share a cache take 50 to 100 ns, others several times as long; then what one thread computes
// costs the next one more to read, and engines that divide each op among threads are slower. The host of a
// virtual machine may move its cores from one case to the other at any time.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <sched.h>
#include <thread>

namespace {

constexpr int kRounds = 9;
constexpr int kTrips = 20'000;
constexpr int kSpins = 10'000;

struct alignas(64) Line {
  std::atomic<int> value{0};
};

/// Gives way after a while: the other thread may need this core.
void waitFor(const Line &line, int value) {
  for (int spin = 0; line.value.load(std::memory_order_acquire) != value; ++spin)
    if (spin > kSpins)
      std::this_thread::yield();
}

void runOn(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  sched_setaffinity(0, sizeof only, &only);
}

/// The thread on the other core answers every odd number with the next one.
double secondsOfRound(Line &line, int otherCore) {
  using Clock = std::chrono::steady_clock;
  line.value.store(0);
  std::thread other([&] {
    runOn(otherCore);
    for (int trip = 0; trip < kTrips; ++trip) {
      waitFor(line, 2 * trip + 1);
      line.value.store(2 * trip + 2, std::memory_order_release);
    }
  });
  Clock::time_point begin;
  for (int trip = 0; trip < kTrips; ++trip) {
    if (trip == kTrips / 10) // the thread has begun
      begin = Clock::now();
    line.value.store(2 * trip + 1, std::memory_order_release);
    waitFor(line, 2 * trip + 2);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  other.join();
  return seconds / (kTrips - kTrips / 10);
}

} // namespace

int main() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  if (CPU_COUNT(&cores) < 2) {
    std::puts("null");
    return 0;
  }
  int first = 0, last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(first, &cores))
    ++first;
  while (!CPU_ISSET(last, &cores))
    --last;
  runOn(first);
  static Line line;
  std::array<double, kRounds> rounds;
  for (double &round : rounds)
    round = secondsOfRound(line, last);
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  std::printf("%.0f\n", rounds[kRounds / 2] * 1e9);
  return 0;
}
