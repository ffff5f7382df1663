// An activation chosen at run time.
#pragma once

#include "cpu/kernels/isa/math.h"

namespace torchere::cpu::TORCHERE_ISA {

/// body(fn), where fn is the activation of a vector.
template <class Body> TORCHERE_INLINE void withActivation(Activation activation, Body body) {
  switch (activation) {
  case Activation::None:
    return body([](F x) { return x; });
  case Activation::Relu:
    return body([](F x) { return activate<Activation::Relu>(x); });
  case Activation::Relu6:
    return body([](F x) { return activate<Activation::Relu6>(x); });
  case Activation::Gelu:
    return body([](F x) { return activate<Activation::Gelu>(x); });
  case Activation::GeluTanh:
    return body([](F x) { return activate<Activation::GeluTanh>(x); });
  case Activation::Silu:
    return body([](F x) { return activate<Activation::Silu>(x); });
  case Activation::Sigmoid:
    return body([](F x) { return activate<Activation::Sigmoid>(x); });
  case Activation::Tanh:
    return body([](F x) { return activate<Activation::Tanh>(x); });
  case Activation::HardSwish:
    return body([](F x) { return activate<Activation::HardSwish>(x); });
  case Activation::HardSigmoid:
    return body([](F x) { return activate<Activation::HardSigmoid>(x); });
  }
}

/// body(fn) of one of isTileActivation(), but not of none.
template <class Body> TORCHERE_INLINE void withTileActivation(Activation activation, Body body) {
  if (activation == Activation::Relu)
    body([](F x) { return activate<Activation::Relu>(x); });
  else if (activation == Activation::HardSwish)
    body([](F x) { return activate<Activation::HardSwish>(x); });
  else if (activation == Activation::Relu6)
    body([](F x) { return activate<Activation::Relu6>(x); });
  else if (activation == Activation::HardSigmoid)
    body([](F x) { return activate<Activation::HardSigmoid>(x); });
}

TORCHERE_INLINE F activateBy(Activation activation, F x) {
  if (activation == Activation::None)
    return x;
  if (activation == Activation::Relu)
    return activate<Activation::Relu>(x);
  F y = x;
  withActivation(activation, [&](auto fn) { y = fn(x); });
  return y;
}

TORCHERE_INLINE double activateDouble(Activation activation, double x) {
  double sixth = x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3;
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Relu:
    return x < 0 ? 0 : x;
  case Activation::Relu6:
    return x < 0 ? 0 : x > 6 ? 6 : x;
  case Activation::Gelu:
    return 0.5 * x * (1 + __builtin_erf(x * 0.70710678118654752440));
  case Activation::GeluTanh:
    return 0.5 * x * (1 + __builtin_tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  case Activation::Silu:
    return x / (1 + __builtin_exp(-x));
  case Activation::Sigmoid:
    return 1 / (1 + __builtin_exp(-x));
  case Activation::Tanh:
    return __builtin_tanh(x);
  case Activation::HardSwish:
    return x * sixth / 6;
  case Activation::HardSigmoid:
    return sixth / 6;
  }
  return x;
}
TORCHERE_INLINE Vec<double> activateDoubles(Activation activation, Vec<double> x) {
  if (activation != Activation::None)
    for (int i = 0; i < kLanesOf<double>; ++i)
      x[i] = activateDouble(activation, x[i]);
  return x;
}

} // namespace torchere::cpu::TORCHERE_ISA
