// Primitives between types and between complex numbers and their parts, and the table.
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// As C does where the value fits. A float beyond the type goes to its nearest bound, and NaN to 0.
template <class From, class To> TORCHERE_INLINE To convertValue(From x) {
  constexpr bool fromFloat = From(0.5f) != From(0), toFloat = To(0.5f) != To(0);
  if constexpr (fromFloat && !toFloat) {
    constexpr bool isSigned = To(-1) < To(0);
    constexpr int bits = sizeof(To) * 8 - isSigned;
    // Powers of two, which both types have.
    constexpr From above = From(2) * From(uint64_t(1) << (bits - 1)), below = isSigned ? -above : From(0);
    constexpr To highest = static_cast<To>(~uint64_t(0) >> (64 - bits)),
                 lowest = isSigned ? To(-highest - 1) : To(0);
    if (!(x == x))
      return 0;
    return x >= above ? highest : x <= below ? lowest : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To, class Fn> void setConvert(Primitives &table, int to, Fn) {
  table.converts[kPrimitiveOf<From>][to] = &map1<From, To, Fn>;
  table.scalarConverts[kPrimitiveOf<From>][to] = &scalar1<From, To, Fn>;
}
template <class From, class To> void addPair(Primitives &table) {
  setConvert<From, To>(table, kPrimitiveOf<To>, [](From x) { return convertValue<From, To>(x); });
}
template <class From> void addFrom(Primitives &table) {
  addPair<From, int8_t>(table);
  addPair<From, int16_t>(table);
  addPair<From, int32_t>(table);
  addPair<From, int64_t>(table);
  addPair<From, uint8_t>(table);
  addPair<From, uint16_t>(table);
  addPair<From, uint32_t>(table);
  addPair<From, uint64_t>(table);
  addPair<From, float>(table);
  addPair<From, double>(table);
  setConvert<From, uint8_t>(table, kBool, [](From x) { return x != From(0); });
}
void addFromBool(Primitives &table) {
  addFrom<uint8_t>(table);
  for (int to = 0; to < kPrimitiveTypes; ++to) {
    table.converts[kBool][to] = table.converts[kU8][to];
    table.scalarConverts[kBool][to] = table.scalarConverts[kU8][to];
  }
}

template <class T> void broadcast(void *result, const void *a, const void *, const void *, int64_t n) {
  T x = *static_cast<const T *>(a);
  T *r = static_cast<T *>(result);
  for (int64_t i = 0; i < n; ++i)
    r[i] = x;
}

template <class T> void toFloats(void *result, const void *a, const void *, const void *, int64_t n) {
  float *r = static_cast<float *>(result);
  const T *x = static_cast<const T *>(a);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(r + i, loadFloats(x + i));
  for (; i < n; ++i)
    r[i] = toFloat(x[i]);
}
template <class T> void fromFloats(void *result, const void *a, const void *, const void *, int64_t n) {
  T *r = static_cast<T *>(result);
  const float *x = static_cast<const float *>(a);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    storeFloats(r + i, load(x + i));
  for (; i < n; ++i)
    r[i] = fromFloat<T>(x[i]);
}

/// Every second element of two vectors, from one on.
template <int kFirst, class V, int... kNumbers> TORCHERE_INLINE V everySecond(V a, V b, Lanes<kNumbers...>) {
  return __builtin_shufflevector(a, b, (2 * kNumbers + kFirst)...);
}
/// A half of two vectors' elements in turns, from one of each on.
template <int kFirst, class V, int... kNumbers> TORCHERE_INLINE V inTurns(V a, V b, Lanes<kNumbers...>) {
  return __builtin_shufflevector(a, b, (kFirst + kNumbers / 2 + kNumbers % 2 * int(sizeof...(kNumbers)))...);
}

template <class T> void splitParts(const void *numbers, void *real, void *imaginary, int64_t n) {
  constexpr int lanes = kLanesOf<T>;
  using All = typename LanesBelow<lanes>::Type;
  const T *from = static_cast<const T *>(numbers);
  T *x = static_cast<T *>(real), *y = static_cast<T *>(imaginary);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Vec<T> a = load(from + 2 * i), b = load(from + 2 * i + lanes);
    store(x + i, everySecond<0>(a, b, All()));
    store(y + i, everySecond<1>(a, b, All()));
  }
  for (; i < n; ++i) {
    x[i] = from[2 * i];
    y[i] = from[2 * i + 1];
  }
}
template <class T> void joinParts(const void *real, const void *imaginary, void *numbers, int64_t n) {
  constexpr int lanes = kLanesOf<T>;
  using All = typename LanesBelow<lanes>::Type;
  const T *x = static_cast<const T *>(real), *y = static_cast<const T *>(imaginary);
  T *to = static_cast<T *>(numbers);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Vec<T> a = load(x + i), b = load(y + i);
    store(to + 2 * i, inTurns<0>(a, b, All()));
    store(to + 2 * i + lanes, inTurns<lanes / 2>(a, b, All()));
  }
  for (; i < n; ++i) {
    to[2 * i] = x[i];
    to[2 * i + 1] = y[i];
  }
}

} // namespace

void addConversions(Primitives &table) {
  addFromBool(table);
  addFrom<int8_t>(table);
  addFrom<int16_t>(table);
  addFrom<int32_t>(table);
  addFrom<int64_t>(table);
  addFrom<uint16_t>(table);
  addFrom<uint32_t>(table);
  addFrom<uint64_t>(table);
  addFrom<float>(table);
  addFrom<double>(table);
  table.broadcasts[0] = &broadcast<uint8_t>;
  table.broadcasts[1] = &broadcast<uint16_t>;
  table.broadcasts[2] = &broadcast<uint32_t>;
  table.broadcasts[3] = &broadcast<uint64_t>;
  table.splitParts[0] = &splitParts<uint32_t>;
  table.splitParts[1] = &splitParts<uint64_t>;
  table.joinParts[0] = &joinParts<uint32_t>;
  table.joinParts[1] = &joinParts<uint64_t>;
  table.halfToFloat[0] = &toFloats<F16>;
  table.halfToFloat[1] = &toFloats<BF16>;
  table.floatToHalf[0] = &fromFloats<F16>;
  table.floatToHalf[1] = &fromFloats<BF16>;
}

const Primitives &primitives() {
  static const Primitives table = [] {
    Primitives made;
    addArithmetic(made);
    addElementary(made);
    addProducts(made);
    addConversions(made);
    addRandom(made);
    addDivisions(made);
    addPairs(made);
    return made;
  }();
  return table;
}

} // namespace torchere::cpu::TORCHERE_ISA
