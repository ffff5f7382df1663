// What this machine can do at most: f32 multiply-adds and reads from memory, on the threads that are asked
// for.
//
// Usage: machine_peak THREADS. Prints one JSON object: GFLOP/s (a multiply-add counts as two) and GB/s, the
// best of several rounds each. Compile it with -O3 -march=native, so that the vectors are as wide as the
// processor's.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
constexpr int kChains = 24; // as many as there are registers, but for a few
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
constexpr int kChains = 12;
#else
constexpr std::size_t kVectorBytes = 16;
constexpr int kChains = 12;
#endif
using Vector = float __attribute__((vector_size(kVectorBytes)));
constexpr std::size_t kLanes = kVectorBytes / sizeof(float);

constexpr int kRounds = 7;
constexpr long kSteps = 4'000'000;
constexpr std::size_t kBytesAThread = std::size_t{256} << 20; // far beyond any cache

// Seconds that the slowest of the threads takes for `work`, which all begin together.
double secondsTogether(int threads, const std::function<void(int)> &work) {
  using Clock = std::chrono::steady_clock;
  std::barrier start(threads);
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  std::vector<std::thread> team;
  for (int thread = 0; thread < threads; ++thread) {
    team.emplace_back([&, thread] {
      start.arrive_and_wait();
      const auto begin = Clock::now();
      work(thread);
      seconds[static_cast<std::size_t>(thread)] = std::chrono::duration<double>(Clock::now() - begin).count();
    });
  }
  for (std::thread &member : team)
    member.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

// Independent chains of multiply-adds, so that no one waits for the one before; what they come to is returned
// so that none is left out.
float multiplyAdd(float seed) {
  Vector sums[kChains];
  for (int chain = 0; chain < kChains; ++chain)
    sums[chain] = Vector{} + (seed + static_cast<float>(chain));
  const Vector factor = Vector{} + 0.999F;
  const Vector term = Vector{} + seed;
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 32
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = sums[chain] * factor + term;
  }
  Vector total{};
  for (const Vector &sum : sums)
    total += sum;
  return total[0];
}

float readThrough(const Vector *data, std::size_t count) {
  Vector sums[8] = {};
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < 8; ++j)
      sums[j] += data[i + j];
  }
  Vector total{};
  for (const Vector &sum : sums)
    total += sum;
  return total[0];
}

struct Freed {
  void operator()(void *memory) const { std::free(memory); }
};

double peakGigaflops(int threads, volatile float *sink) {
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = secondsTogether(
        threads, [&](int thread) { sink[thread] = multiplyAdd(1e-3F * static_cast<float>(thread + 1)); });
    const double flops = 2.0 * static_cast<double>(kLanes) * kChains * static_cast<double>(kSteps) * threads;
    best = std::max(best, flops / seconds * 1e-9);
  }
  return best;
}

double peakGigabytes(int threads, volatile float *sink) {
  std::vector<std::unique_ptr<Vector, Freed>> blocks;
  for (int thread = 0; thread < threads; ++thread) {
    auto *block = static_cast<Vector *>(std::aligned_alloc(kVectorBytes, kBytesAThread));
    if (block == nullptr)
      return 0;
    std::memset(block, 0, kBytesAThread); // each page is there
    blocks.emplace_back(block);
  }
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = secondsTogether(threads, [&](int thread) {
      sink[thread] =
          readThrough(blocks[static_cast<std::size_t>(thread)].get(), kBytesAThread / kVectorBytes);
    });
    best = std::max(best, static_cast<double>(kBytesAThread) * threads / seconds * 1e-9);
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  if (threads < 1 || threads > 1024) {
    std::fprintf(stderr, "usage: machine_peak THREADS (1 to 1024)\n");
    return 2;
  }
  std::vector<float> sink(static_cast<std::size_t>(threads));
  const double gigaflops = peakGigaflops(threads, sink.data());
  const double gigabytes = peakGigabytes(threads, sink.data());
  std::printf("{\"gigaflops\": %.1f, \"gigabytes_per_second\": %.2f}\n", gigaflops, gigabytes);
  return 0;
}
