// The choice among instruction sets.
#include "cpu/kernels/isa.h"

#include "cpu/kernels/isa_dispatch.h"

#include <cstdlib>

#if defined(TORCHERE_CPU_X86) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace torchere::cpu {

const IsaKernels &kernelsOf(Isa isa) {
#ifdef TORCHERE_CPU_X86
  if (isa == Isa::Avx512)
    return avx512::isaKernels();
  if (isa == Isa::Avx2)
    return avx2::isaKernels();
#endif
  (void)isa;
  return baseline::isaKernels();
}

std::string_view isaName(Isa isa) {
  return isa == Isa::Avx512 ? "avx512" : isa == Isa::Avx2 ? "avx2" : "baseline";
}

Result<Isa> isaFromName(std::string_view name) {
  for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512})
    if (name == isaName(isa))
      return isa;
  return invalidArgument("[cpu] unknown instruction set: got {}, expected baseline, avx2 or avx512", name);
}

bool isSupported(Isa isa) {
#ifdef TORCHERE_CPU_X86
  // GCC's checks include the system's: whether it keeps the wide registers.
  if (isa == Isa::Avx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#ifdef TORCHERE_EMULATED_AVX512
  if (isa == Isa::Avx512)
    return isSupported(Isa::Avx2);
#endif
  if (isa == Isa::Avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && isSupported(Isa::Avx2);
#endif
  return isa == Isa::Baseline;
}

#if defined(TORCHERE_CPU_X86) && !defined(TORCHERE_EMULATED_AVX512)
/// Linux keeps a process from the registers of a matrix unit, which make its signals' frames larger, until it
/// asks (Documentation/arch/x86/xstate.rst).
static bool mayUseMatrixUnit() {
#ifdef __linux__
  constexpr int requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return true;
#endif
}
#endif

bool hasExtension([[maybe_unused]] IsaExtension extension) {
#if defined(TORCHERE_EMULATED_AVX512)
  return true;
#elif defined(TORCHERE_CPU_X86)
  switch (extension) {
  case IsaExtension::Avx512Vnni:
    return __builtin_cpu_supports("avx512vnni");
  case IsaExtension::Avx512Bf16:
    // On Intel's Sapphire Rapids it takes twice as long as to widen both factors.
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
  case IsaExtension::Amx:
    return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
           __builtin_cpu_supports("amx-int8") && mayUseMatrixUnit();
  }
  return false;
#else
  return false;
#endif
}

std::vector<Isa> supportedIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512})
    if (isSupported(isa))
      isas.push_back(isa);
  return isas;
}

Result<Isa> chosenIsa() {
  const char *name = std::getenv("TORCHERE_CPU_ISA");
  if (!name || !*name)
    return supportedIsas().back();
  auto isa = isaFromName(name);
  if (!isa)
    return invalidArgument(
        "[TORCHERE_CPU_ISA] unknown instruction set: got {}, expected baseline, avx2 or avx512", name);
  if (!isSupported(*isa))
    return fail(ErrorCode::FailedPrecondition,
                "[TORCHERE_CPU_ISA] this processor cannot run it: got {}, expected {} or less", name,
                isaName(supportedIsas().back()));
  return *isa;
}

} // namespace torchere::cpu
