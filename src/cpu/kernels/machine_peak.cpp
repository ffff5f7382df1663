// Implements the measurement of the machine's peaks.
#include "cpu/kernels/machine_peak.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace torchere::cpu {

namespace {

struct Floats {
  explicit Floats(int64_t count)
      : data(static_cast<float *>(std::aligned_alloc(64, static_cast<size_t>(count * 4 + 127) / 64 * 64))) {
    if (data)
      std::fill_n(data, count, 0.5f);
  }
  ~Floats() { std::free(data); }
  Floats(const Floats &) = delete;
  Floats &operator=(const Floats &) = delete;
  float *const data; ///< null if there is no memory
};

/// The least of several calls. They take a while in all: the pool's threads may only be starting.
template <class Body> double leastSeconds(const Body &body) {
  using Clock = std::chrono::steady_clock;
  double least = 1e9, total = 0;
  for (int i = 0; i < 6 || total < 0.02; ++i) { // the first finds nothing in caches
    Clock::time_point begin = Clock::now();
    body();
    double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    least = std::min(least, taken);
    total += taken;
  }
  return least;
}

double measureBandwidth(const Context &context) {
  const int64_t bytes = 64 << 20, parts = 16;
  Floats from(bytes / 4), to(bytes / 4);
  if (!from.data || !to.data)
    return 0;
  double time = leastSeconds([&] {
    context.pool.parallelFor(parts, [&](int64_t part) {
      std::memcpy(to.data + part * (bytes / 4 / parts), from.data + part * (bytes / 4 / parts),
                  bytes / parts);
    });
  });
  return 2.0 * double(bytes) / time;
}

} // namespace

/// By the best tile, on operands that stay in the L1 cache.
double measureFlops(const Context &context) {
  const int64_t k = 128, repeats = 500;
  int threads = context.pool.threads(), lanes = floatLanes(context.isa);
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t rows = kernels.maxRows[2], each = rows * k + 2 * lanes * (k + rows);
  int64_t apart = each / 16 * 16 + 16;
  Floats memory(threads * apart);
  if (!memory.data)
    return 0;
  double time = leastSeconds([&] {
    context.pool.parallelFor(threads, [&](int64_t part) {
      float *data = memory.data + part * apart;
      TileArgs tile;
      tile.b = data;
      tile.bRowStride = 2 * lanes;
      tile.c = data + 2 * lanes * k;
      tile.cRowStride = 2 * lanes;
      tile.cVectorStride = lanes;
      tile.a = data + 2 * lanes * (k + rows);
      tile.aRowStride = tile.k = k;
      for (int64_t i = 0; i < repeats; ++i)
        kernels.tiles[kF32][2][rows](tile);
    });
  });
  return 2.0 * double(rows * k * 2 * lanes * repeats * threads) / time;
}

MachinePeak measurePeak(const Context &context) {
  return {measureFlops(context), measureBandwidth(context)};
}

const MachinePeak &measuredPeak(const Context &context) {
  static auto &mutex = *new std::mutex;
  static auto &peaks = *new std::map<std::pair<Isa, int>, MachinePeak>;
  std::lock_guard lock(mutex);
  auto [found, isNew] = peaks.try_emplace({context.isa, context.pool.threads()});
  if (isNew)
    found->second = measurePeak(context);
  return found->second;
}

} // namespace torchere::cpu
