// The instruction sets that kernels are compiled for, and the choice among them at run time.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace torchere::cpu {

/// In order of preference. Packed weights and blocked tensors depend on it: they are of use to the same one
/// only.
enum class Isa : uint8_t {
  Baseline, ///< what the compiler assumes of the target: SSE2, or NEON; vectors of 16 bytes
  Avx2,     ///< AVX2, FMA and F16C
  Avx512,   ///< AVX-512 F, BW, DQ and VL
};

std::string_view isaName(Isa isa);
Result<Isa> isaFromName(std::string_view name);

/// Whether this build holds kernels for it and this processor (and its system) can run them.
bool isSupported(Isa isa);

/// All that are supported, the baseline first.
std::vector<Isa> supportedIsas();

/// The last supported one, or the one that the environment's TORCHERE_CPU_ISA names; an error if that is
/// unknown or not supported.
Result<Isa> chosenIsa();

/// The f32 elements of a vector, which are also the channels of a block of a blocked tensor.
constexpr int floatLanes(Isa isa) {
  return isa == Isa::Avx512 ? 16 : isa == Isa::Avx2 ? 8 : 4;
}

} // namespace torchere::cpu
