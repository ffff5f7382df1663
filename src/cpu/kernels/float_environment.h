// The floating-point environment that kernels compute in: nearest even, denormals kept, no traps.
#pragma once

#include <cstdint>

namespace torchere::cpu {

/// Sets this environment in a thread, and restores the thread's own one at the end of the scope. A caller may
/// flush denormals (torch.set_flush_denormal, libraries built with -ffast-math), and threads begin as
/// those that start them: which thread computes a part must not show in the results.
class StandardFloats {
public:
  StandardFloats() : own_(current()) {
    if (own_ != kStandard)
      set(kStandard);
  }
  ~StandardFloats() {
    if (own_ != kStandard)
      set(own_);
  }
  StandardFloats(const StandardFloats &) = delete;
  StandardFloats &operator=(const StandardFloats &) = delete;

private:
#if defined(__x86_64__)
  static constexpr uint32_t kStandard = 0x1f80, kRaised = 0x3f; ///< MXCSR, without what was raised in it
  static uint32_t current() { return __builtin_ia32_stmxcsr() & ~kRaised; }
  static void set(uint32_t environment) { __builtin_ia32_ldmxcsr(environment); }
  uint32_t own_;
#elif defined(__aarch64__)
  static constexpr uint64_t kStandard = 0; ///< FPCR
  static uint64_t current() {
    uint64_t environment;
    asm volatile("mrs %0, fpcr" : "=r"(environment));
    return environment;
  }
  static void set(uint64_t environment) { asm volatile("msr fpcr, %0" : : "r"(environment)); }
  uint64_t own_;
#else // the thread's own is taken as it is
  static constexpr int kStandard = 0;
  static int current() { return kStandard; }
  static void set(int) {}
  int own_;
#endif
};

} // namespace torchere::cpu
