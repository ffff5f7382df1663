// What is done to a product's tile before it leaves the cache.
#pragma once

#include <cstdint>

namespace torchere::cpu {

enum class Activation : uint8_t {
  None,
  Relu,
  Relu6,
  Gelu,     ///< by the error function
  GeluTanh, ///< by the hyperbolic tangent
  Silu,
  Sigmoid,
  Tanh,
  HardSwish,
  HardSigmoid, ///< relu6(x + 3) / 6
};
constexpr int kActivations = 10;

/// Whether it costs so little that a tile of f32 applies it in registers.
constexpr bool isTileActivation(Activation activation) {
  return activation <= Activation::Relu6 || activation >= Activation::HardSwish;
}

/// In this order: the bias, the residual, the activation.
struct Epilogue {
  /// One value a column (an output channel), or null. f64 for f64, else f32. Blocked kernels read a whole
  /// number of blocks: pad it with zeros.
  const void *bias = nullptr;
  /// Added, or null; of the type of the result. May be the result itself.
  const void *residual = nullptr;
  int64_t residualRowStride = 0;
  int64_t residualBatchStride = 0;
  Activation activation = Activation::None;
};

} // namespace torchere::cpu
