// Eight threads trace, sync, read and drop tensors of the device at once: run under ThreadSanitizer by
// scripts/lazy_tsan.sh. The values of each thread are checked; a race is the sanitizer's to report.
#include "lazy/device.h"
#include "lazy/settings.h"

#include <ATen/ATen.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static std::atomic<int> failures = 0;

static void expect(const at::Tensor &got, float wanted, const char *what) {
  at::Tensor host = got.cpu();
  for (int64_t i = 0; i < host.numel(); ++i)
    if (host.const_data_ptr<float>()[i] != wanted) {
      std::fprintf(stderr, "%s: got %f, expected %f\n", what, host.const_data_ptr<float>()[i], wanted);
      ++failures;
    }
}

static at::Tensor onDevice(float value, int64_t size) {
  return at::full({size}, value).to(at::Device("xla:0"));
}

static void work(int index, const at::Tensor &shared, Clock::time_point end) {
  torchere::lazy::Device &device = torchere::lazy::Device::get(0);
  for (int round = 0; round < 4 || Clock::now() < end; ++round) {
    auto start = static_cast<float>(index + round % 50);
    at::Tensor x = onDevice(start, 3 + index % 2);
    for (int step = 0; step < 4; ++step) {
      x = x * 2 + 1; // the arrays of the step before are donated
      if (index % 2)
        device.sync();
    }
    at::Tensor dropped = x * x;
    expect(x, 16 * start + 15, "own");
    expect(shared + start, 4 + start, "shared");
    if (round % 8 == 0)
      at::full({5 + round % 300}, 1.0F).to(at::Device("xla:0")).add(1); // calls to evict
  }
}

int main(int count, char **arguments) {
  auto seconds = count > 1 ? std::atoi(arguments[1]) : 3;
  torchere::lazy::changeSetting("calls", 20);
  torchere::lazy::changeSetting("programs", 8);
  torchere::lazy::changeSetting("numbers", 4);
  torchere::lazy::changeSetting("pending_ops", 40);
  at::Tensor shared = onDevice(4, 1);
  auto end = Clock::now() + std::chrono::seconds(seconds);
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index)
    threads.emplace_back(work, index, std::cref(shared), end);
  for (std::thread &thread : threads)
    thread.join();
  torchere::lazy::Device::waitForAll();
  std::printf("%d wrong values\n", failures.load());
  return failures.load() ? 1 : 0;
}
