// The unsigned integers that are as large as other elements.
#pragma once

#include <stdint.h>

namespace torchere::cpu::TORCHERE_ISA {

template <int kBytes> struct UnsignedOfSize;
template <> struct UnsignedOfSize<1> {
  using Type = uint8_t;
};
template <> struct UnsignedOfSize<2> {
  using Type = uint16_t;
};
template <> struct UnsignedOfSize<4> {
  using Type = uint32_t;
};
template <> struct UnsignedOfSize<8> {
  using Type = uint64_t;
};
/// Arithmetic on it wraps, and of floats it has the bits.
template <class T> using Unsigned = typename UnsignedOfSize<sizeof(T)>::Type;

} // namespace torchere::cpu::TORCHERE_ISA
