// How reductions join two elements, and the type in which they do.
#pragma once

#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

/// What is computed in: f32 for halves.
template <class T> struct SumOf {
  using Type = T;
};
template <> struct SumOf<BF16> {
  using Type = float;
};
template <> struct SumOf<F16> {
  using Type = float;
};
template <class T> using Sum = typename SumOf<T>::Type;
template <class T> constexpr bool kIsHalf = false;
template <> constexpr bool kIsHalf<BF16> = true;
template <> constexpr bool kIsHalf<F16> = true;

template <class T> TORCHERE_INLINE Sum<T> element(T x) {
  if constexpr (kIsHalf<T>)
    return toFloat(x);
  else
    return x;
}

constexpr auto kSum = [](auto a, auto b) { return a + b; };
constexpr auto kProduct = [](auto a, auto b) { return a * b; };
constexpr auto kMax = [](auto a, auto b) { return a != a ? a : a > b ? a : b; };
constexpr auto kMin = [](auto a, auto b) { return a != a ? a : a < b ? a : b; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };

/// put.template operator()<T>(type, reduction, fn) for each type and reduction that there is, in the order of
/// DType and Reduction. Sums of signed integers wrap, so they are of unsigned ones.
template <class Put> class JoinTable {
public:
  explicit JoinTable(Put put) : put_(put) {}
  void fill() {
    put_.template operator()<uint8_t>(0, 0, kOr);
    put_.template operator()<uint8_t>(0, 1, kAnd);
    put_.template operator()<uint8_t>(0, 2, kOr);
    put_.template operator()<uint8_t>(0, 3, kAnd);
    put_.template operator()<uint8_t>(0, 4, kAnd);
    put_.template operator()<uint8_t>(0, 5, kOr);
    addInteger<int8_t, uint8_t>(1);
    addInteger<int16_t, uint16_t>(2);
    addInteger<int32_t, uint32_t>(3);
    addInteger<int64_t, uint64_t>(4);
    addInteger<uint8_t, uint8_t>(5);
    addInteger<uint16_t, uint16_t>(6);
    addInteger<uint32_t, uint32_t>(7);
    addInteger<uint64_t, uint64_t>(8);
    addFloat<F16>(9);
    addFloat<BF16>(10);
    addFloat<float>(11);
    addFloat<double>(12);
  }

private:
  /// `W` is T unsigned.
  template <class T, class W> void addInteger(int type) {
    put_.template operator()<W>(type, 0, kSum);
    put_.template operator()<W>(type, 1, kProduct);
    put_.template operator()<T>(type, 2, kMax);
    put_.template operator()<T>(type, 3, kMin);
    put_.template operator()<W>(type, 4, kAnd);
    put_.template operator()<W>(type, 5, kOr);
  }
  template <class T> void addFloat(int type) {
    put_.template operator()<T>(type, 0, kSum);
    put_.template operator()<T>(type, 1, kProduct);
    put_.template operator()<T>(type, 2, kMax);
    put_.template operator()<T>(type, 3, kMin);
  }

  Put put_;
};

} // namespace torchere::cpu::TORCHERE_ISA
